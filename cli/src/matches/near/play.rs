//! Plays commands in a store here.

use std::slice;

use turnfold_core::DicePolicy;
use turnfold_history::session::{
    AcceptedCall, NotPlayed, PlayCall, PlayPosition, RejectedCommand, RepeatedCall, ScriptCommand,
    ScriptCommands,
};
use turnfold_history::{
    History, HistorySource, Revision, SeatHistory, SourceName, Sources, Viewer, require_rules,
};
use turnfold_mail::current_branch;
use turnfold_show::render::NothingPlayed;
use turnfold_store::{NewEntries, PackedEntries, Store, StoreReader};

use crate::advice::after_not_played;
use crate::commands::play::Args;
use crate::context::Workspace;
use crate::failure::{Failure, Result};
use crate::histories::warn_unless_current;
use crate::output::Output;
use crate::{clock, files, random};

/// The most records of a call that are held in memory until they are printed. The records of a longer call are read
/// again from the store.
const RECORDS_HELD_MAX: u64 = 10_000;

pub(super) fn play(args: &Args, workspace: &Workspace, output: &mut Output) -> Result<()> {
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
            return Err(failure(&reason, args.viewer).at(args.place_of(index, lines)));
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
