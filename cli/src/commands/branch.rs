//! `turnfold branch`: begin a new history, rename or delete one.

use serde::Serialize;
use turnfold_replay::Revision;
use turnfold_replay::signing::Signers;
use turnfold_store::{BranchName, StoreReader};

use super::play::require_not_by_mail;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Output, Tone, paint};

/// Begin a new history from any point, rename or delete one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold branch duel:6 caution\n  turnfold branch --rename duel@caution retreat"
)]
#[command(
    override_usage = "turnfold branch REV NAME\n       turnfold branch --rename MATCH@OLD NAME\n       turnfold branch --delete MATCH@NAME"
)]
pub(crate) struct Args {
    /// Where the new branch parts; with `--rename` or `--delete`, the branch
    #[arg(value_name = "REV")]
    revision: Revision,

    /// Name of the new branch, or new name
    #[arg(value_name = "NAME", required_unless_present = "delete", conflicts_with = "delete")]
    name: Option<BranchName>,

    /// Give the branch this name instead
    #[arg(long, conflicts_with = "delete")]
    rename: bool,

    /// Delete the branch instead
    #[arg(long)]
    delete: bool,

    /// Delete it though the key in `$TURNFOLD_KEY` has signed it
    #[arg(long, requires = "delete")]
    force: bool,
}

#[derive(Serialize)]
struct BranchJson {
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    seq: Option<u64>,
    renamed_from: Option<String>,
    deleted: bool,
}

/// What became of a branch.
enum Done {
    Created { at: u64 },
    Renamed,
    Deleted,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Revision { match_name, branch, seq } = &args.revision;
    if (args.rename || args.delete) && seq.is_some() {
        let option = if args.rename { "rename" } else { "delete" };
        return Err(Failure::usage(format!("`--{option}` takes a whole branch, written MATCH@NAME")));
    }
    let store = context.open_store()?;
    if args.rename || args.delete {
        require_not_by_mail(&store, &args.revision)?;
    }
    let (name, done) = match &args.name {
        Some(name) if args.rename => {
            store.rename_branch(match_name, branch, name)?;
            (name, Done::Renamed)
        }
        Some(name) => {
            let at = match seq {
                Some(seq) => *seq,
                None => store.head(match_name, branch)?,
            };
            store.create_branch(match_name, name, branch, at)?;
            (name, Done::Created { at })
        }
        None => {
            if !args.force {
                require_unsigned(&args.revision, &store)?;
            }
            store.delete_branch(match_name, branch)?;
            (branch, Done::Deleted)
        }
    };
    drop(store);
    report(args, name, &done, &mut context.output)?;
    Ok(ExitStatus::Yes)
}

/// Requires that the usual key, if there is one, has not signed a branch that is to be deleted: it will not sign another
/// one under its name.
fn require_unsigned(revision: &Revision, store: &StoreReader) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("TURNFOLD_KEY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let signers = Signers::open(&[path.into()])?;
    if signers.remembered(&signers.origin(store, revision)?)?.is_empty() {
        return Ok(());
    }
    let message = format!("`{revision}` is signed, and the key will sign no other branch under its name");
    Err(Failure::usage(message).hint("`--force` deletes it"))
}

fn report(args: &Args, name: &BranchName, done: &Done, output: &mut Output) -> Result<(), Failure> {
    let Revision { match_name, branch, .. } = &args.revision;
    if output.is_json() {
        output.json(&BranchJson {
            match_name: match_name.to_string(),
            branch: name.to_string(),
            seq: if let Done::Created { at } = done { Some(*at) } else { None },
            renamed_from: matches!(done, Done::Renamed).then(|| branch.to_string()),
            deleted: matches!(done, Done::Deleted),
        })?;
        return Ok(());
    }
    let new = paint(Tone::Strong, format_args!("{match_name}@{name}"));
    match done {
        Done::Created { at } => output.line(format_args!("{new} begins after {}", args.revision.at(*at)))?,
        Done::Renamed => output.line(format_args!("renamed {match_name}@{branch} to {new}"))?,
        Done::Deleted => output.line(format_args!("deleted {new}"))?,
    }
    Ok(())
}
