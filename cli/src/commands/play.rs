//! `turnfold play`: appends commands to a match, in a store here or at a service.

use std::io;
use std::path::PathBuf;
use std::slice;

use clap::ValueEnum;
use serde_json::{Value, json};
use turnfold_core::DicePolicy;
use turnfold_history::session::{
    AcceptedCall, NotPlayed, PlayCall, PlayPosition, RejectedCommand, RepeatedCall, ScriptCommand,
    ScriptCommands,
};
use turnfold_history::{
    History, HistorySource, Record, Revision, SeatHistory, SourceName, Sources, Viewer, require_rules,
};
use turnfold_mail::current_branch;
use turnfold_serve::TokenKind;
use turnfold_show::render::{NothingPlayed, rejected_line};
use turnfold_store::{IdempotencyKey, NewEntries, PackedEntries, Store, StoreReader};

use crate::advice::{after_not_played, explains};
use crate::client::{Client, NotAnswered, Sent, ServiceRequest, path_of};
use crate::context::{Context, Workspace};
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::warn_unless_current;
use crate::output::{Format, Output};
use crate::remote::{ask, needs_store, print_page, read, require_unused, seen_at};
use crate::{clock, files, program, random};

/// The most records of a call that are held in memory until they are printed. The records of a longer call are read
/// again from the store.
const RECORDS_HELD_MAX: u64 = 10_000;

const SAFETY: &str = "Options for scripts and shared matches";

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

/// Dice from outside a recorded match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiceSource {
    /// The operating system's randomness
    System,
}

/// Prints the outcomes of the commands. The outcome of a rejected command is printed before the failure is returned.
pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Context { workspace, output, .. } = context;
    let played = match workspace.service()? {
        Some(client) => play_far(args, client, output),
        None => play_near(args, workspace, output),
    };
    output.flush()?;
    played?;
    Ok(ExitStatus::Yes)
}

fn play_near(args: &Args, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let script = args.script.as_ref().map(|path| files::read_script_text(path)).transpose()?;
    let read =
        if script.is_some() { Vec::new() } else { files::commands_of(&args.commands, None, args.viewer)? };
    let lines = match &script {
        Some(text) => {
            require_own(text, args.viewer)?;
            ScriptCommands::Text(text, args.viewer)
        }
        None => ScriptCommands::Read(&read),
    };
    // A dry run only reads, so that it works while another process has the store open for writing.
    let store = if args.dry_run { None } else { Some(workspace.open_store()?) };
    let reader = match &store {
        Some(store) => StoreReader::clone(store),
        None => workspace.read_store()?,
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
    if let Some(store) = &store {
        match call.repeated(store, workspace)? {
            Some(Ok(repeated)) => return print_repeated(&repeated, args, output),
            Some(Err(reason)) => return Err(failure(&reason, args.viewer)),
            None => {}
        }
    }
    let (position, seen) = find_position(args, whole, &reader, store.as_ref(), workspace)?;
    let head = seen.as_ref().map_or(position.head, SeatHistory::head);
    call.require_head(head).map_err(|reason| failure(&reason, args.viewer))?;
    let roller = random::roller(&position.dice, args.no_auto_roll, args.dice.is_some())?;
    // The accepted entries get their time once all commands are accepted.
    let mut entries = PackedEntries::default();
    let judged = call.judge::<Failure>(position, roller, &mut |_, _| Ok(()), &mut |record| {
        record.to_store(0).iter().for_each(|entry| entries.push(entry));
        (args.dry_run || entries.count() <= RECORDS_HELD_MAX).then_some(record)
    })?;
    let AcceptedCall { before, records: accepted, position } = match judged {
        Ok(accepted) => accepted,
        Err(RejectedCommand { index, record, reason }) => {
            output.record(&record)?;
            if let Some(whole) = args.whole_command(&record, index) {
                let failure = failure(&reason, args.viewer);
                return Err(failure.hint(format!("a command with spaces needs quotes: `{whole}`")));
            }
            return Err(failure(&reason, args.viewer).at(place_of(index, lines, args)));
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
        HistorySource::keep_snapshots(whole, before, last, workspace, store);
    }
    // The entries are durable now. If closing the store fails, that is a warning, and the outcomes are still printed.
    drop((reader, store));
    if !is_held {
        return print_recorded(whole, before + 1, last, workspace, output);
    }
    for record in &records {
        output.record(record)?;
    }
    if records.is_empty() {
        let nothing = NothingPlayed::in_state(position.state.as_ref());
        output.show(&nothing, || vec![nothing.line()])?;
    }
    Ok(())
}

fn print_recorded(
    revision: &Revision,
    first: u64,
    last: u64,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let recorded = SourceName::Revision(revision.at(last));
    let history = SeatHistory::open(Viewer::HOST, &recorded, workspace)?;
    let mut printed = Ok(());
    history.show(first - 1, last, &mut |seen| {
        if printed.is_ok() {
            printed = output.record(&seen.record());
        }
    })?;
    Ok(printed?)
}

fn print_repeated(repeated: &RepeatedCall, args: &Args, output: &mut Output) -> Result<()> {
    if args.viewer().sees_all() {
        let first = repeated.range.start();
        let last = repeated.range.end();
        tracing::info!(first, last, "the key was used before; these entries were recorded then");
    }
    for record in &repeated.records {
        output.record(record)?;
    }
    Ok(())
}

/// Returns the place in the script of the command with this index.
fn place_of(index: usize, commands: ScriptCommands, args: &Args) -> Option<String> {
    let given = commands.iter().nth(index)?;
    files::place_in_script(&given, args.script.as_ref())
}

fn require_own(script: &str, viewer: Option<Viewer>) -> Result<()> {
    let Some(viewer) = viewer else { return Ok(()) };
    for mut given in ScriptCommand::each_in(script) {
        viewer.give(slice::from_mut(&mut given))?;
    }
    Ok(())
}

/// PM-2: requires that the branch is not played by mail.
pub(crate) fn require_not_by_mail(store: &StoreReader, revision: &Revision) -> Result<()> {
    turnfold_mail::require_not_by_mail(store, revision)?.map_err(|reason| failure(&reason, None))
}

fn failure(reason: &NotPlayed, asked: Option<Viewer>) -> Failure {
    let failure = match reason {
        NotPlayed::ByMail { .. } => Failure::usage(reason.to_string()),
        _ => Failure::negative(reason.to_string()),
    };
    failure.maybe_hint(after_not_played(reason, asked))
}

/// Returns the position at the end of a branch, and a player's history; `None` for the host, who needs only the state.
/// `keeper` keeps snapshots.
fn find_position(
    args: &Args,
    whole: &Revision,
    store: &StoreReader,
    keeper: Option<&Store>,
    workspace: &Workspace,
) -> Result<(PlayPosition, Option<SeatHistory>)> {
    let registry = &workspace.registry;
    if args.viewer().sees_all() {
        let source = HistorySource::of_branch(whole, store, registry, workspace.build())?;
        let position = source.position(keeper)?;
        require_rules(&*position.rules)?;
        return Ok((position, None));
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
    require_rules(&*rules)?;
    Ok((PlayPosition { rules, dice, head, state }, Some(seen)))
}

fn play_far(args: &Args, client: &Client, output: &mut Output) -> Result<()> {
    let lines = files::commands_of(&args.commands, args.script.as_ref(), args.viewer)?;
    require_sendable(args, &lines, client)?;
    let commands: Vec<_> = lines.iter().map(written).collect();
    let body = json!({ "commands": commands, "roll": !args.no_auto_roll });
    let key = match &args.key {
        Some(key) => key.to_string(),
        None => random::key()?,
    };
    let expected = args.expect.or(args.revision.seq);
    let query = expected.map(|expected| ("expect", expected.to_string())).into_iter().collect();
    let asked = ServiceRequest::of(path_of(&args.revision, "entries"), query, output.format());
    let problem = match client.change(&asked, &Sent { body: Some(&body), key: Some(&key), may_repeat: true })
    {
        Ok(reply) => {
            print_page(&reply, &["nothing", "entries"], None, output)?;
            return Ok(());
        }
        Err(NotAnswered::ApiError(problem)) => problem,
        Err(not_answered) => return Err(not_answered.into()),
    };
    let Some((index, record)) = &problem.command else { return Err(problem.failure) };
    print_rejected(record, output)?;
    // The hint may take another request, so the outcome is shown before it.
    output.flush()?;
    let place = place_of(*index, ScriptCommands::Read(&lines), args);
    Err(problem.failure.at(place).maybe_hint(explained_by(record, &args.revision, client)))
}

/// The ruleset is asked for only now, because most commands are not rejected.
fn explained_by(record: &Value, revision: &Revision, client: &Client) -> Option<String> {
    let reason = record.get("reason")?.as_str()?;
    let found: Value = read(client, format!("/v1/matches/{}", revision.match_name), Vec::new()).ok()?;
    let ruleset = found.get("ruleset")?.as_str()?;
    Some(explains(ruleset, reason))
}

fn require_sendable(args: &Args, lines: &[ScriptCommand], client: &Client) -> Result<()> {
    require_unused(&[("`--dice`", args.dice.is_some()), ("`--dry-run`", args.dry_run)])?;
    let revision = &args.revision;
    if client.kind == TokenKind::Seat && lines.len() > 1 {
        return Err(needs_store("a call with several commands of a seat"));
    }
    if args.expect.is_some() && revision.seq.is_some() && args.expect != revision.seq {
        return Err(Failure::usage(format!("`--expect` and `{revision}` name two entries as the last")));
    }
    let key = args.key.as_ref().map(ToString::to_string);
    if key.is_some_and(|key| key.len() > 120 || !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Failure::usage(
            "expected a key of 1 to 120 graphic ASCII characters, as a service takes it",
        ));
    }
    match args.viewer {
        // The service answers the host with everything, whatever seat gives the commands.
        Some(viewer) if client.kind != TokenKind::Seat && !viewer.sees_all() => {
            Err(needs_store(&format!("`--seat {viewer}` without that seat's token")))
        }
        // Without commands, only a view can show whether the token is of this seat.
        Some(viewer) if lines.is_empty() => {
            ask(client, revision, "view", seen_at(None, Some(viewer)), Format::Json)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn written(given: &ScriptCommand) -> String {
    let ScriptCommand { seat, command, .. } = given;
    seat.map_or_else(|| command.clone(), |seat| format!("{seat}: {command}"))
}

fn print_rejected(record: &Value, output: &mut Output) -> io::Result<()> {
    let text = |member| record.get(member).and_then(Value::as_str);
    let outcome = format!("rejected {}", text("reason").unwrap_or_default());
    let command = text("command").unwrap_or_default();
    output.show(record, || vec![rejected_line(text("seat"), command, &outcome, text("message"))])
}
