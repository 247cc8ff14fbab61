//! `turnfold amend`: change one entry and play the rest again on top.

mod amendment_report;

use std::path::PathBuf;

use turnfold_core::{Digest, Seat};
use turnfold_history::{
    Amending, Amendment, EntryName, FileName, History, Replay, Revision, ScriptCommand, SourceName, Sources,
    golden::amend,
    golden::bless::{bless, bless_if_true},
    history::snapshots::keep_snapshots,
    program,
};
use turnfold_store::{BranchName, NewEntries};

use self::amendment_report::Amended;
use super::play::require_not_by_mail;
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::output::counted;
use crate::stderr::progress;

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
pub(crate) struct Args {
    /// The entry to change
    #[arg(value_name = "REV:SEQ|FILE:SEQ")]
    entry: EntryName,

    #[command(flatten)]
    change: ChangeArgs,

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

/// What happens to the entry
#[derive(Debug, clap::Args)]
struct ChangeArgs {
    /// The new command, `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", required_unless_present = "drop", conflicts_with = "drop")]
    command: Option<String>,

    /// Put the command before the entry instead
    #[arg(long, conflicts_with = "drop")]
    insert: bool,

    /// Leave the entry out instead
    #[arg(long)]
    drop: bool,
}

impl Args {
    fn amend(&self, original: &Replay, context: &mut Context) -> Result<Amendment, Failure> {
        let EntryName { source, seq } = &self.entry;
        if *seq == 0 {
            return Err(Failure::usage(format!("`{}` is the setup", self.entry)).hint("entries count from 1"));
        }
        let head = original.entries().last().map_or(0, |entry| entry.seq);
        if *seq > head {
            return Err(Failure::usage(format!("`{source}` has no entry {seq}; its last is {head}"))
                .hint("to go on at the end, `branch` and `play`"));
        }
        let change = match &self.change.command {
            None if self.change.drop => Amending::Drop,
            None => return Err(Failure::usage("`amend` needs a command or `--drop`")),
            Some(command) if self.change.insert => Amending::Insert(ScriptCommand::parse(command)),
            Some(command) => Amending::Replace(ScriptCommand::parse(command)),
        };
        let rest = original.entries().filter(|entry| entry.seq >= *seq).count();
        let bar = progress(rest as u64, "playing again {bar:30} {pos}/{len} {eta}");
        match amend::amend(original, *seq, &change, self.seat, &mut || bar.inc(1))? {
            Ok(amendment) => Ok(amendment),
            Err(record) => {
                context.output.record(&record)?;
                context.output.flush()?;
                Err(Failure::negative("the command was rejected; nothing was created"))
            }
        }
    }

    fn write(&self, amendment: &Amendment, module: Option<Digest>, context: &Context) -> Result<(), Failure> {
        match (&self.entry.source, &self.branch, &self.output) {
            (_, _, Some(path)) => files::write_whole(path, bless(&amendment.replay)?.to_string().as_bytes()),
            (SourceName::Revision(Revision { match_name, branch: from, .. }), Some(branch), None) => {
                let now = clock::now_ms()?;
                let entries = amendment.entries.iter().filter_map(|entry| entry.to_store(now)).collect();
                let entries = NewEntries { entries, module };
                let store = context.open_store()?;
                let before = self.entry.seq - 1;
                store.create_branch(match_name, branch, from, before, entries)?;
                let revision = Revision { match_name: match_name.clone(), branch: branch.clone(), seq: None };
                keep_snapshots(&revision, before, amendment.head(), &context.workspace, &store);
                Ok(())
            }
            _ => Err(Failure::usage("`amend` needs `--branch` or `--output`")),
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
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
        SourceName::File(FileName { path, .. }) => bless_if_true(&context.read_replay(path)?.whole()?)
            .map_err(|error| Failure::undone(error, "nothing was written"))?,
    };
    let amendment = args.amend(&original, context)?;
    let is_refused = !amendment.conflicts.is_empty() && !args.keep_going;
    if !is_refused {
        args.write(&amendment, original.header.rules.module(), context)?;
    }
    let source = source.to_string();
    let is_branch = args.branch.is_some();
    let amended = Amended { amendment: &amendment, source, target, is_branch, is_created: !is_refused };
    context.output.show(&amended.document(), || amended.lines())?;
    if is_refused {
        context.output.flush()?;
        let count = amendment.conflicts.len() as u64;
        let conflicts = counted(count, "line no longer applies", "lines no longer apply");
        return Err(Failure::negative(format!("{conflicts}, nothing was created"))
            .hint("`--keep-going` leaves them out"));
    }
    Ok(ExitStatus::Yes)
}
