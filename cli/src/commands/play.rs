//! `turnfold play`: appends commands to a match.

mod remote;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::slice;

use clap::ValueEnum;
use turnfold_core::DicePolicy;
use turnfold_history::history::require_rules;
use turnfold_history::history::snapshots::keep_snapshots;
use turnfold_history::session::play::{
    AcceptedCall, PlayCall, PlayCaller, PlayOutcome, PlayPosition, RepeatedCall,
};
use turnfold_history::session::script::{ScriptCommands, lines_of as script_lines};
use turnfold_history::{
    History, HistorySource, NotPlayed, Record, RejectedCommand, ReplayError, Revision, Roller, ScriptCommand,
    SeatHistory, SourceName, Sources, Tail, Viewer,
};
use turnfold_mail::current_branch;
use turnfold_show::render::NothingPlayed;
use turnfold_store::{IdempotencyKey, NewEntries, PackedEntries, Store, StoreReader};

use crate::advice::after_not_played;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories::warn_unless_current;
use crate::program;
use crate::{clock, files, random};

const SAFETY: &str = "Options for scripts and shared matches";

/// The most records of a call that are held in memory until they are printed. The records of a longer call are read
/// again from the store.
const RECORDS_HELD_MAX: u64 = 10_000;

const DICE: &str = "Dice options";

/// Append commands to a match and print their outcomes
///
/// Records all commands of a call or, if one is rejected, none of them. In a seeded match, due rolls are made at once, also
/// before the first command; without a command, only they are made. With `--dry-run` nothing is recorded. `play` refuses a history that is played by mail: only
/// `mail take` and `mail run` append to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold play duel 'p1: click 0,2' 'p1: move 0,1'")]
pub(crate) struct Args {
    /// The history, MATCH[@BRANCH]
    #[arg(value_name = "REV")]
    revision: Revision,

    /// Commands, each `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", conflicts_with = "script")]
    commands: Vec<String>,

    /// Give all commands as this seat, and print only what it may know [default: the seat of each command]
    #[arg(long = "seat", value_name = "SEAT")]
    viewer: Option<Viewer>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Judge the commands and print their outcomes, but append nothing
    #[arg(long, conflicts_with = "key")]
    dry_run: bool,

    /// Append only if the last entry is number N
    #[arg(long, help_heading = SAFETY, value_name = "N")]
    expect: Option<u64>,

    /// Idempotency key: a repeated call with this key appends nothing and prints the result of the first
    #[arg(long = "once", help_heading = SAFETY, value_name = "KEY")]
    key: Option<IdempotencyKey>,

    /// Do not make due rolls
    #[arg(long, help_heading = DICE)]
    no_auto_roll: bool,

    /// Make due rolls of a match with recorded dice, by the operating system
    #[arg(long, help_heading = DICE, value_enum, value_name = "SOURCE")]
    dice: Option<DiceSource>,
}

/// Dice from outside a recorded match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiceSource {
    /// The operating system's randomness
    System,
}

pub(crate) fn before_colon(place: Option<String>) -> String {
    place.map_or_else(String::new, |place| format!("{place}: "))
}

/// Returns the commands of a call, from its arguments or its script. With a viewer, that seat gives all of them.
pub(crate) fn lines_of(
    commands: &[String],
    script: Option<&PathBuf>,
    viewer: Option<Viewer>,
) -> Result<Vec<ScriptCommand>, Failure> {
    let mut lines = match script {
        Some(path) => files::read_script(path)?,
        None => commands.iter().map(|command| ScriptCommand::parse(command)).collect(),
    };
    if let Some(viewer) = viewer {
        viewer.give(&mut lines).map_err(ReplayError::from)?;
    }
    Ok(lines)
}

fn require_own(script: &str, viewer: Option<Viewer>) -> Result<(), Failure> {
    let Some(viewer) = viewer else { return Ok(()) };
    for mut given in script_lines(script) {
        viewer.give(slice::from_mut(&mut given)).map_err(ReplayError::from)?;
    }
    Ok(())
}

/// PM-2: requires that the branch is not played by mail.
pub(crate) fn require_not_by_mail(store: &StoreReader, revision: &Revision) -> Result<(), Failure> {
    turnfold_mail::require_not_by_mail(store, revision)?.map_err(|reason| failure(&reason, None, None))
}

fn failure(reason: &NotPlayed, asked: Option<Viewer>, place: Option<String>) -> Failure {
    let failure = match reason {
        NotPlayed::ByMail { .. } => Failure::usage(reason.to_string()),
        _ => Failure::negative(format!("{}{reason}", before_colon(place))),
    };
    failure.maybe_hint(after_not_played(reason, asked))
}

struct Player<'a> {
    args: &'a Args,
    whole: &'a Revision,
    store: &'a StoreReader,
    /// The store that keeps snapshots; `None` if nothing is to be recorded.
    keeper: Option<&'a Store>,
    context: &'a Context,
    /// The player's history; `None` for the host, who needs only the state.
    seen: Option<SeatHistory>,
    /// The accepted entries, to be recorded if the whole call is accepted.
    entries: PackedEntries,
}

impl PlayCaller for Player<'_> {
    type Error = Failure;

    fn position(&mut self) -> Result<PlayPosition, Failure> {
        let Self { args, whole, store, keeper, context, .. } = *self;
        let registry = &context.registry;
        if args.viewer().sees_all() {
            let source = HistorySource::of_branch(whole, store, registry, context.build())?;
            let position = source.position(keeper)?;
            require_rules(&*position.rules)?;
            return Ok(position);
        }
        let history = History::of_branch(whole, store, registry)?;
        let rules = history.rules.clone();
        let dice = history.dice;
        let head = history.head();
        let seen = SeatHistory::of(args.viewer(), history)?;
        let state = seen.state()?;
        if args.dry_run && (state.has_secrets() || dice != DicePolicy::Recorded) {
            // A trial would reveal secrets, or a roll that no one may know yet.
            let what = if state.has_secrets() { rules.name() } else { "a match with seeded or fair dice" };
            let message = format!("`--dry-run` is for the host: {what} has secrets");
            return Err(Failure::usage(message).hint("leave out `--seat`"));
        }
        self.seen = Some(seen);
        require_rules(&*rules)?;
        Ok(PlayPosition { rules, dice, head, state })
    }

    fn head_seen(&self, head: u64) -> u64 {
        self.seen.as_ref().map_or(head, SeatHistory::head)
    }

    fn roller(&mut self, dice: &DicePolicy) -> Result<Roller, Failure> {
        random::roller(dice, self.args.no_auto_roll, self.args.dice.is_some())
    }

    fn take(&mut self, record: Record) -> Option<Record> {
        // The time is set once all commands are accepted.
        record.to_store(0).iter().for_each(|entry| self.entries.push(entry));
        (self.args.dry_run || self.entries.count() <= RECORDS_HELD_MAX).then_some(record)
    }
}

impl Args {
    /// Returns a command line with quotes, if the words of a malformed command were probably given without them.
    fn whole_command(&self, record: &Record, index: usize) -> Option<String> {
        let words = self.commands.get(index..).filter(|words| words.len() > 1)?;
        let are_words = words.iter().all(|word| !word.contains(' '));
        let is_malformed = record.outcome.code() == Some("malformed");
        let words = words.iter().map(String::as_str).collect::<Vec<_>>();
        (are_words && is_malformed)
            .then(|| format!("{} play {} \"{}\"", program::name(), self.revision, words.join(" ")))
    }

    fn viewer(&self) -> Viewer {
        self.viewer.unwrap_or(Viewer::HOST)
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some(client) = context.workspace.service()? {
        return remote::play(args, client, &mut context.output);
    }
    let script = args.script.as_ref().map(|path| files::read_script_text(path)).transpose()?;
    let read = if script.is_some() { Vec::new() } else { lines_of(&args.commands, None, args.viewer)? };
    let lines = match &script {
        Some(text) => {
            require_own(text, args.viewer)?;
            ScriptCommands::Text(text, args.viewer)
        }
        None => ScriptCommands::Read(&read),
    };
    // A dry run only reads, so that it works while another process has the store open for writing.
    let store = if args.dry_run { None } else { Some(context.open_store()?) };
    let reader = match &store {
        Some(store) => StoreReader::clone(store),
        None => context.read_store()?,
    };
    let whole = &Revision { seq: None, ..args.revision.clone() };
    require_not_by_mail(&reader, whole)?;
    warn_unless_current(whole, || Ok(current_branch(&reader, &whole.match_name)?))?;
    let expected: Vec<_> = args.expect.into_iter().chain(args.revision.seq).collect();
    let call = PlayCall {
        revision: whole,
        viewer: args.viewer(),
        alone: None,
        commands: lines,
        expected: &expected,
        key: args.key.as_ref(),
    };
    let mut player = Player {
        args,
        whole,
        store: &reader,
        keeper: store.as_ref(),
        context: &*context,
        seen: None,
        entries: PackedEntries::default(),
    };
    let judged = call.judge(&mut player, store.as_ref(), &context.workspace)?;
    let Player { seen, mut entries, .. } = player;
    let AcceptedCall { before, records: accepted, position } = match judged {
        PlayOutcome::Accepted(accepted) => accepted,
        PlayOutcome::Repeated(repeated) => return repeat(&repeated, args, context),
        PlayOutcome::NotPlayed(reason) => return Err(failure(&reason, args.viewer, None)),
        PlayOutcome::Rejected { rejected: RejectedCommand { index, record }, reason } => {
            context.output.record(&record)?;
            context.output.flush()?;
            if let Some(whole) = args.whole_command(&record, index) {
                let failure = failure(&reason, args.viewer, None);
                return Err(failure.hint(format!("a command with spaces needs quotes: `{whole}`")));
            }
            let given = lines.iter().nth(index);
            let place = given.and_then(|given| files::place_in_script(&given, args.script.as_ref()));
            return Err(failure(&reason, args.viewer, place));
        }
    };
    drop((script, read));
    if !entries.is_empty() {
        entries = entries.recorded_at(clock::now_ms()?);
    }
    let is_held = seen.is_some() || accepted.len() as u64 == entries.count();
    let records = match seen {
        Some(seen) => seen.play_on(&entries)?,
        None => accepted,
    };
    let mut last = before;
    if let Some(store) = &store
        && !entries.is_empty()
    {
        let entries = NewEntries { entries, module: position.rules.module() };
        let name = &whole.match_name;
        let branch = &whole.branch;
        last = store.append(name, branch, before, entries, args.key.as_ref())?.last;
        keep_snapshots(whole, before, last, &context.workspace, store);
    }
    // The entries are durable now. If closing the store fails, that is a warning, and the outcomes are still printed.
    drop((reader, store));
    if !is_held {
        return print_recorded(whole, before + 1..=last, context);
    }
    records.iter().try_for_each(|record| context.output.record(record))?;
    if records.is_empty() {
        let nothing = NothingPlayed::in_state(position.state.as_ref());
        context.output.show(&nothing, || vec![nothing.line()])?;
    }
    Ok(ExitStatus::Yes)
}

fn print_recorded(
    revision: &Revision,
    range: RangeInclusive<u64>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let recorded = SourceName::Revision(revision.at(*range.end()));
    let history = SeatHistory::open(Viewer::HOST, &recorded, &context.workspace)?;
    let output = &mut context.output;
    let mut printed = Ok(());
    history.show_last(Tail { count: u64::MAX, first: *range.start() }, &mut |seen| {
        if printed.is_ok() {
            printed = output.record(&seen.record());
        }
    })?;
    Ok(printed.map(|()| ExitStatus::Yes)?)
}

fn repeat(repeated: &RepeatedCall, args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if args.viewer().sees_all() {
        let first = repeated.range.start();
        let last = repeated.range.end();
        tracing::info!(first, last, "the key was used before; these entries were recorded then");
    }
    repeated.records.iter().try_for_each(|record| context.output.record(record))?;
    Ok(ExitStatus::Yes)
}
