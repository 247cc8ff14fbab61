//! `turnfold play`: append commands to a match.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::ValueEnum;
use turnfold_core::{AnyRules, AnyState, DicePolicy};
use turnfold_replay::mail::desk_naming;
use turnfold_replay::{
    Detail, History, NotPlayed, Position, RejectedLine, ReplayError, Revision, ScriptLine, SeatHistory,
    Session, Sources, Tail, Viewer, play::repeated, position::keep_snapshots, render::NothingPlayed,
};
use turnfold_store::{IdempotencyKey, Store, StoreReader};

use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::remote::{append, client::Client, look::require_unused};
use crate::{files, random};

/// The heading of the options that keep two writers apart.
const SAFETY: &str = "Options for scripts and shared matches";

/// The heading of the options about rolls.
const DICE: &str = "Dice options";

/// Append commands to a match and print their outcomes
///
/// Records all commands of a call or, if one is rejected, none of them. In a seeded match, due rolls are made at once, also
/// before the first command; without a command, only they are made. `play` refuses a history that is played by mail: only
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
    #[arg(long = "as", value_name = "SEAT")]
    viewer: Option<Viewer>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Append only if the last entry is number N
    #[arg(long, help_heading = SAFETY, value_name = "N")]
    expect: Option<u64>,

    /// Idempotency key: a repeated call with this key appends nothing and prints the result of the first
    #[arg(long, help_heading = SAFETY, value_name = "KEY")]
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

/// Writes a place in a script before the error there.
pub(crate) fn before_colon(place: Option<String>) -> String {
    place.map_or_else(String::new, |place| format!("{place}: "))
}

/// Returns the commands of a call, from its arguments or its script; with `--as` all are that seat's.
pub(crate) fn lines_of(
    commands: &[String],
    script: Option<&PathBuf>,
    viewer: Option<Viewer>,
) -> Result<Vec<ScriptLine>, Failure> {
    let mut lines = match script {
        Some(path) => files::read_script(path)?,
        None => commands.iter().map(|command| ScriptLine::parse(command)).collect(),
    };
    if let Some(viewer) = viewer {
        viewer.give(&mut lines).map_err(ReplayError::from)?;
    }
    Ok(lines)
}

/// PM-2: requires a line that no desk names.
pub(crate) fn require_not_by_mail(store: &StoreReader, line: &Revision) -> Result<(), Failure> {
    let Revision { match_name, branch, .. } = line;
    if desk_naming(store, match_name, branch)?.is_none() {
        return Ok(());
    }
    let line = Revision { seq: None, ..line.clone() };
    let failure =
        Failure::usage(format!("`{line}` is played by mail; only `turnfold mail` can append to it"));
    Err(failure.hint(format!(
        "record orders with `turnfold mail take`; to try something out, branch off with \
         `turnfold branch {line} NAME`"
    )))
}

/// The end of the history, on which commands are played.
struct End {
    rules: &'static dyn AnyRules,
    state: Box<dyn AnyState>,
    dice: DicePolicy,
    /// The number of the last entry in the log.
    head: u64,
    /// All that a player may know of; the host's seat need no more than the state.
    sight: Option<SeatHistory>,
}

impl End {
    fn of(viewer: Viewer, whole: &Revision, store: &Store, context: &Context) -> Result<Self, Failure> {
        if viewer.see_all() {
            let Position { rules, state, dice, head, .. } = Position::before_entries_of(
                Tail::last(0),
                whole,
                &context.registry,
                store,
                context.build().as_ref(),
                Some(store),
            )?;
            return Ok(Self { rules, state, dice, head, sight: None });
        }
        let line =
            History::of_log(whole, store.read(&whole.match_name, &whole.branch, None)?, &context.registry)?;
        let (rules, dice, head) = (line.rules, line.dice, line.head());
        let sight = SeatHistory::of(viewer, line)?;
        Ok(Self { rules, state: sight.state()?, dice, head, sight: Some(sight) })
    }

    /// Requires the last entry to be the expected one, as the viewer counts.
    fn expect(&self, expected: impl IntoIterator<Item = u64>, whole: &Revision) -> Result<(), NotPlayed> {
        let head = self.sight.as_ref().map_or(self.head, SeatHistory::head);
        match expected.into_iter().find(|expected| *expected != head) {
            None => Ok(()),
            Some(expected) => Err(NotPlayed::OtherHead { line: whole.clone(), expected, head }),
        }
    }
}

impl Args {
    fn viewer(&self) -> Viewer {
        self.viewer.unwrap_or(Viewer::HOST)
    }

    /// Explains why nothing is recorded, after the place in a script if there is one.
    fn failure(&self, not_played: &NotPlayed, place: Option<String>) -> Failure {
        let failure = Failure::negative(format!("{}{not_played}", before_colon(place)));
        match not_played.hint(self.viewer) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let lines = lines_of(&args.commands, args.script.as_ref(), args.viewer)?;
    if let Some(client) = context.service()? {
        return play_on_service(args, &lines, &client, context);
    }
    let store = context.open_store()?;
    require_not_by_mail(&store, &args.revision)?;
    let Revision { match_name, branch, .. } = &args.revision;
    if let Some(key) = &args.key
        && let Some(range) = store.find_idempotency_key(match_name, branch, key)?
    {
        return repeat(args, &lines, range, &store, context);
    }
    let whole = Revision { seq: None, ..args.revision.clone() };
    let end = End::of(args.viewer(), &whole, &store, context)?;
    let expected = args.expect.into_iter().chain(args.revision.seq);
    end.expect(expected, &whole).map_err(|not_played| args.failure(&not_played, None))?;
    let End { rules, state, dice, head, sight } = end;
    let roller = random::roller(&dice, args.no_auto_roll, args.dice.is_some())?;
    let mut session = Session::new(state, dice, roller, head + 1, Detail::new(args.viewer()));
    let played = match session.submit_all(&lines)? {
        Ok(played) => played,
        Err(RejectedLine { index, record }) => {
            context.output.report(record.as_ref())?;
            context.output.flush()?;
            let place = lines.get(index).and_then(|line| files::place_in_script(line, args.script.as_ref()));
            return Err(args.failure(&NotPlayed::rejected(&record, lines.len(), rules), place));
        }
    };
    let recorded_at_ms = if played.is_empty() { 0 } else { clock::now_ms()? };
    let entries: Vec<_> = played.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
    let records = match sight {
        Some(sight) => sight.play_on(&entries)?,
        None => played,
    };
    if !entries.is_empty() {
        let appended = store.append(match_name, branch, head, entries, args.key.as_ref())?;
        keep_snapshots(&whole, (head, appended.last), context, &store);
    }
    // What was acknowledged is durable: trouble with closing is a warning, and the outcomes are printed all the same.
    drop(store);
    records.iter().try_for_each(|record| context.output.report(record))?;
    if records.is_empty() {
        let nothing = NothingPlayed::in_state(session.state.as_ref());
        context.output.show(&nothing, || vec![nothing.line(&whole, args.viewer)])?;
    }
    Ok(ExitStatus::Yes)
}

fn play_on_service(
    args: &Args,
    lines: &[ScriptLine],
    client: &Client,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    require_unused(&[("`--dice`", args.dice.is_some())])?;
    let key = args.key.as_ref().map(ToString::to_string);
    let call = append::Call {
        line: &args.revision,
        expect: args.expect,
        lines,
        viewer: args.viewer,
        rolls: !args.no_auto_roll,
        key: key.as_deref(),
    };
    let place = |line: &ScriptLine| before_colon(files::place_in_script(line, args.script.as_ref()));
    append::play(client, &call, place, &mut context.output)
}

/// Prints again what the first call with this key recorded.
fn repeat(
    args: &Args,
    lines: &[ScriptLine],
    range: RangeInclusive<u64>,
    store: &Store,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let (viewer, (first, last)) = (args.viewer(), (*range.start(), *range.end()));
    let records = repeated(&args.revision, viewer, lines, range, context, store)?
        .map_err(|not_played| args.failure(&not_played, None))?;
    if viewer.see_all() {
        tracing::info!(first, last, "the key was used before; these entries were recorded then");
    }
    records.iter().try_for_each(|record| context.output.report(record))?;
    Ok(ExitStatus::Yes)
}
