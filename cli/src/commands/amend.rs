//! `turnfold amend`: change one entry and play the rest again on top.

use std::path::PathBuf;

use serde_json::{Value, json};
use turnfold_core::{Digest, Outcome, Seat};
use turnfold_history::compare::{Claim, Difference, Divergence};
use turnfold_history::golden::{Amending, Amendment, ChangedRoll, Conflict};
use turnfold_history::session::ScriptCommand;
use turnfold_history::tfl::Replay;
use turnfold_history::{
    EntryName, FileName, History, HistorySource, Record, Revision, SourceName, Sources, Viewer,
};
use turnfold_show::render;
use turnfold_store::{BranchName, NewEntries};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::matches::require_not_by_mail;
use crate::output::{Line, added, counted, dim, plain, removed, strong, warning};
use crate::stderr::progress;
use crate::{clock, files, program};

/// Change one entry and play the rest again, as a branch or file
///
/// Replaces the entry with the command; `--insert` inserts the command before it, `--drop` removes the entry. The new
/// history branches off before the entry; the original is never changed.
///
/// Later entries that the rules now reject are listed with their reasons, and nothing is created unless `--keep-going`
/// drops them. Later entries that still apply but have a different outcome are kept and listed.
///
/// Rolls of seeded dice are made again from the seed as they fall due, because their values depend on the numbers of the
/// entries. Recorded rolls keep their values. A recorded roll that is no longer due does not apply any more; if a roll is
/// due that was never recorded, the entries before the next recorded roll do not apply.
///
/// Replayed entries keep the time at which they were first recorded, but not their idempotency keys. In files, comments
/// stay, and attempts (`!`) are tried again: one that is now accepted no longer applies.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = program::in_help("turnfold amend [OPTIONS] REV:SEQ|FILE:SEQ [COMMAND] --branch NAME\n       \
                      turnfold amend [OPTIONS] REV:SEQ|FILE:SEQ [COMMAND] --output FILE").into_owned(),
    after_help = "Examples: turnfold amend duel:7 'p1: stand' --branch caution\n          \
                  turnfold amend duel.tfl:7 --drop -o without.tfl"
)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["branch", "output"]))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Args {
    /// The entry to change
    #[arg(value_name = "REV:SEQ|FILE:SEQ")]
    entry: EntryName,

    /// The new command, `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", required_unless_present = "drop", conflicts_with = "drop")]
    command: Option<String>,

    /// Put the command before the entry instead
    #[arg(long, conflicts_with = "drop")]
    insert: bool,

    /// Leave the entry out instead
    #[arg(long)]
    drop: bool,

    /// Seat of a command that names none [default: whose command it is]
    #[arg(long, value_name = "SEAT")]
    seat: Option<Seat>,

    /// Leave out the later entries that no longer apply
    #[arg(long)]
    keep_going: bool,

    /// Create this branch, which begins after the entry before
    #[arg(long, value_name = "NAME")]
    branch: Option<BranchName>,

    /// Write the whole history, blessed, to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long, conflicts_with = "branch")]
    force: bool,
}

impl Args {
    fn amend(&self, original: &Replay, context: &mut Context) -> Result<Amendment> {
        let EntryName { source, seq } = &self.entry;
        if *seq == 0 {
            return Err(Failure::usage(format!("`{}` is the setup", self.entry)).hint("entries count from 1"));
        }
        let head = original.entries().last().map_or(0, |entry| entry.seq);
        if *seq > head {
            return Err(Failure::usage(format!("`{source}` has no entry {seq}; its last is {head}"))
                .hint("to go on at the end, `branch` and `play`"));
        }
        let change = match &self.command {
            // The grammar requires `--drop` without a command.
            None => Amending::Drop,
            Some(command) if self.insert => Amending::Insert(ScriptCommand::parse(command)),
            Some(command) => Amending::Replace(ScriptCommand::parse(command)),
        };
        let rest = original.entries().filter(|entry| entry.seq >= *seq).count();
        let bar = progress(rest as u64, "playing again {bar:30} {pos}/{len} {eta}");
        match original.amend(*seq, &change, self.seat, &mut || bar.inc(1))? {
            Ok(amendment) => Ok(amendment),
            Err(record) => {
                context.output.record(&record)?;
                context.output.flush()?;
                Err(Failure::negative("the command was rejected; nothing was created"))
            }
        }
    }

    fn write(&self, amendment: &Amendment, module: Option<Digest>, context: &Context) -> Result<()> {
        match (&self.entry.source, &self.branch, &self.output) {
            (_, _, Some(path)) => files::write_whole(path, amendment.replay.bless()?.to_string().as_bytes()),
            (SourceName::Revision(Revision { match_name, branch: from, .. }), Some(branch), None) => {
                let now = clock::now_ms()?;
                let entries = amendment.entries.iter().filter_map(|entry| entry.to_store(now)).collect();
                let entries = NewEntries { entries, module };
                let store = context.open_store()?;
                let before = self.entry.seq - 1;
                store.create_branch(match_name, branch, from, before, entries)?;
                let revision = Revision { match_name: match_name.clone(), branch: branch.clone(), seq: None };
                HistorySource::keep_snapshots(
                    &revision,
                    before,
                    amendment.head(),
                    &context.workspace,
                    &store,
                );
                Ok(())
            }
            _ => Err(Failure::usage("`amend` needs `--branch` or `--output`")),
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    if let Some(path) = &args.output {
        files::check_new(path, args.force)?;
    }
    let source = &args.entry.source;
    let mut target = args.output.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let original = match source {
        SourceName::Revision(revision) => {
            if let Some(branch) = &args.branch {
                require_not_by_mail(&context.read_store()?, revision)?;
                target = format!("{}@{branch}", revision.match_name);
            }
            History::load(source, &context.workspace)?.to_replay()?
        }
        SourceName::File(file) if args.branch.is_some() => {
            return Err(Failure::usage(format!("`{file}` is a file, it has no branches"))
                .hint("name a new file with `--output`"));
        }
        SourceName::File(FileName { path, .. }) => context
            .read_replay(path)?
            .whole()?
            .bless_if_true()
            .map_err(|error| Failure::undone(error, "nothing was written"))?,
    };
    let amendment = args.amend(&original, context)?;
    let is_refused = !amendment.conflicts.is_empty() && !args.keep_going;
    if !is_refused {
        args.write(&amendment, original.header.rules.module(), context)?;
    }
    let document = args.document(&amendment, &target, !is_refused);
    context.output.show(&document, || args.lines(&amendment, &target, !is_refused))?;
    if is_refused {
        context.output.flush()?;
        let count = amendment.conflicts.len() as u64;
        let conflicts = counted(count, "line no longer applies", "lines no longer apply");
        return Err(Failure::negative(format!("{conflicts}, nothing was created"))
            .hint("`--keep-going` leaves them out"));
    }
    Ok(ExitStatus::Yes)
}

/// The most rolls, and the most outcomes that turned, that text shows; JSON has all.
const SHOWN_MAX: usize = 10;

impl Args {
    fn document(&self, amendment: &Amendment, target: &str, is_created: bool) -> Value {
        let mut outcomes = Vec::new();
        for (changed, new_seq) in &amendment.outcomes {
            let (seat, command) = changed.subject.command().unzip();
            outcomes.push(json!({
                "seq": changed.subject.seq(), "new_seq": new_seq, "seat": seat, "command": command,
                "old": changed.recorded, "new": changed.computed,
            }));
        }
        json!({
            "created": is_created,
            "source": self.entry.source.to_string(),
            "seq": amendment.seq,
            "target": target,
            "removed": amendment.removed,
            "added": amendment.added,
            "entries": amendment.head(),
            "kept": amendment.kept,
            "state_hash": amendment.after().state_hash(),
            "conflicts": amendment.conflicts,
            "outcomes": outcomes,
            "rolls": amendment.rolls,
            "state": state_differences(amendment),
        })
    }

    fn lines(&self, amendment: &Amendment, target: &str, is_created: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(Record { seq: Some(seq), seat: Some(seat), command, .. }) = &amendment.removed {
            lines.push(removed(format_args!("- {seq} {seat} {command}")).into());
        }
        if let Some(record) = &amendment.added {
            lines.push(Line::from("+ ").then(render::record(record)));
        }
        if !amendment.conflicts.is_empty() {
            lines.push(strong("no longer applies (each was left out before the next was tried)").into());
        }
        for Conflict { seq, seat, command, reason, message } in &amendment.conflicts {
            let (number, outcome) = match seq {
                Some(seq) => (seq.to_string(), format!("rejected {reason}")),
                None => ("!".into(), reason.clone()),
            };
            let given = plain(format_args!("  {number} {seat} {command} => "));
            lines.push([given, removed(outcome), plain(format_args!(" ({message})"))].into());
        }
        if is_created {
            add_rolls(&amendment.rolls, &mut lines);
            add_outcomes(&amendment.outcomes, &mut lines);
            let differences = state_differences(amendment);
            let heading = if !differences.is_empty() {
                format!("state, {} → {target}", self.entry.source)
            } else if amendment.before.state_hash() == amendment.after().state_hash() {
                "the states at the end are equal".into()
            } else {
                "the views at the end are equal".into()
            };
            lines.push(strong(heading).into());
            lines.extend(differences.iter().map(|difference| Line::from(format!("  {difference}"))));
            let written = if self.branch.is_some() {
                let place = format!(", which begins after {}:{}", self.entry.source, amendment.seq - 1);
                Line::from([plain("created "), strong(target), plain(place)])
            } else {
                Line::from(format!("wrote `{target}`"))
            };
            let entries = counted(amendment.head(), "entry", "entries");
            let played = plain(format_args!(": {entries}, {} of them played again ", amendment.kept));
            let hash = dim(format_args!("#{:.16}", amendment.after().state_hash()));
            lines.push(written.then(played).then(hash));
        }
        lines
    }
}

fn state_differences(amendment: &Amendment) -> Vec<Difference> {
    let before = Viewer::HOST.view(amendment.before.as_ref());
    Difference::between(&before, &Viewer::HOST.view(amendment.after()))
}

fn add_rolls(rolls: &[ChangedRoll], lines: &mut Vec<Line>) {
    if !rolls.is_empty() {
        lines.push(strong("rolled again by the seed").into());
    }
    for ChangedRoll { seq, new_seq, old, new } in rolls.iter().take(SHOWN_MAX) {
        let [old, new] = [(seq, old), (new_seq, new)].map(|roll| match roll {
            (Some(seq), Some(command)) => format!("{seq} {command}"),
            _ => "(none)".into(),
        });
        lines.push(format!("  {old} → {new}").into());
    }
    lines.extend(rest(rolls.len()));
}

fn add_outcomes(outcomes: &[(Divergence, Option<u64>)], lines: &mut Vec<Line>) {
    let Some((first, others)) = outcomes.split_first() else { return };
    let changed = counted(outcomes.len() as u64, "outcome differs", "outcomes differ");
    lines.push(strong(format_args!("{changed}, first that of {}", place(first))).into());
    lines.push(removed(format_args!("- {}", first.0.expected())).into());
    lines.push(added(format_args!("+ {}", first.0.computed)).into());
    let mut turned = 0;
    for other in others {
        let (changed, _) = other;
        let is_now_ignored = is_ignored(Some(&changed.computed));
        if is_ignored(changed.recorded.as_ref()) == is_now_ignored {
            continue;
        }
        turned += 1;
        if turned > SHOWN_MAX {
            continue;
        }
        let place = place(other);
        lines.push(if is_now_ignored {
            let before = plain(format_args!("  {place} was applied, is "));
            [before, warning(&changed.computed), plain(" now")].into()
        } else {
            let before = plain(format_args!("  {place} was "));
            [before, warning(changed.expected()), plain(", is applied now")].into()
        });
    }
    lines.extend(rest(turned));
}

fn rest(all: usize) -> Option<Line> {
    let more = all.checked_sub(SHOWN_MAX).filter(|more| *more > 0)?;
    Some(dim(format_args!("  and {more} more")).into())
}

fn place((changed, new_seq): &(Divergence, Option<u64>)) -> String {
    match (changed.subject.seq(), new_seq) {
        (Some(old), Some(new)) if old != *new => format!("entry {old}, now {new} ({})", given(changed)),
        (Some(_), _) => changed.subject.to_string(),
        (None, _) => format!("the {}", changed.subject),
    }
}

fn given(changed: &Divergence) -> String {
    let (seat, command) = changed.subject.command().unwrap_or((Seat::Host, ""));
    format!("{seat} {command}")
}

fn is_ignored(claim: Option<&Claim>) -> bool {
    matches!(claim, Some(Claim::Outcome(Outcome::Ignored(_))))
}
