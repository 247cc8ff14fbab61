//! `turnfold branch`: creates, lists, renames and deletes branches.

use serde_json::json;
use turnfold_history::Revision;
use turnfold_show::render::branches::lines;
use turnfold_store::{BranchName, StoreError};

use super::delete::{is_confirmed, require_attended};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::matches::rename_branch;
use crate::output::{Line, counted, plain, strong};
use crate::program;

/// Begin a new history from any point, list, rename or delete them
///
/// With the name of a match alone, lists its branches.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold branch duel\n  turnfold branch duel:6 caution\n  turnfold branch --rename duel@caution retreat"
)]
#[command(
    override_usage = program::in_help("turnfold branch MATCH\n       turnfold branch REV NAME\n       turnfold branch --rename MATCH@OLD NAME\n       turnfold branch --delete MATCH@NAME").into_owned()
)]
pub(crate) struct Args {
    /// Match whose branches to list, revision to branch from, or the branch to rename or delete
    #[arg(value_name = "MATCH|REV")]
    revision: Revision,

    /// Name of the new branch, or new name
    #[arg(value_name = "NAME", required_if_eq("rename", "true"), conflicts_with = "delete")]
    name: Option<BranchName>,

    /// Give the branch this name instead
    #[arg(long, conflicts_with = "delete")]
    rename: bool,

    /// Delete the branch instead; asks for confirmation on a terminal, elsewhere `--force` is required
    #[arg(long)]
    delete: bool,

    /// Delete without asking, also what the key in `$TURNFOLD_KEY` has signed
    #[arg(long, requires = "delete")]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Revision { match_name, branch, seq } = &args.revision;
    if args.name.is_none() && !args.delete {
        if seq.is_some() || !branch.is_main() {
            let message = format!("the new branch from `{}` needs a name", args.revision);
            return Err(
                Failure::usage(message).hint(format!("`turnfold branch {match_name}` lists branches"))
            );
        }
        let branches = context.matches()?.branches(match_name)?;
        context.output.list(&branches, lines)?;
        return Ok(ExitStatus::Yes);
    }
    if (args.rename || args.delete) && seq.is_some() {
        let option = if args.rename { "rename" } else { "delete" };
        return Err(Failure::usage(format!("`--{option}` takes a whole branch, written MATCH@NAME")));
    }
    if args.delete && !args.force && !may_delete(&args.revision, context)? {
        return Ok(ExitStatus::No);
    }
    let mut seq = None;
    let mut renamed_from = None;
    let name = args.name.as_ref().unwrap_or(branch);
    let new = strong(format_args!("{match_name}@{name}"));
    let line = if args.rename {
        rename_branch(&args.revision, name, context)?;
        renamed_from = Some(branch);
        Line::from([plain(format_args!("renamed {match_name}@{branch} to ")), new])
    } else if args.delete {
        context.matches()?.delete_branch(&args.revision)?;
        Line::from([plain("deleted "), new])
    } else {
        let at = context.matches()?.create_branch(&args.revision, name)?;
        seq = Some(at);
        Line::from([new, plain(format_args!(" begins after {}", args.revision.at(at)))])
    };
    let changed = json!({
        "match": match_name.as_str(),
        "branch": name.as_str(),
        "seq": seq,
        "renamed_from": renamed_from.map(BranchName::as_str),
        "deleted": args.delete,
    });
    context.output.answer(&changed, || vec![line])
}

/// Asks whether to delete a branch, because only a backup brings it back. Refuses first what is known to fail.
fn may_delete(revision: &Revision, context: &mut Context) -> Result<bool> {
    let Revision { match_name, branch, .. } = revision;
    context.matches()?.require_deletable(revision)?;
    let Some(listed) =
        context.matches()?.branches(match_name)?.into_iter().find(|listed| listed.branch == *branch)
    else {
        let (match_name, branch) = (match_name.clone(), branch.clone());
        return Err(StoreError::NoSuchBranch { match_name, branch }.into());
    };
    require_attended(format_args!("branch `{revision}`"), context)?;
    let own = listed.entries.saturating_sub(listed.from.map_or(0, |fork| fork.seq));
    let own = counted(own, "entry of its own", "entries of its own");
    is_confirmed(format_args!("{match_name}@{branch}"), own, context)
}
