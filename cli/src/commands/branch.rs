//! `turnfold branch`: begin a new line of play, or delete one.

use serde::Serialize;
use turnfold_store::BranchName;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};
use crate::revision::Revision;

/// Begin a new line of play from any point, or delete one
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold branch duel:6 caution")]
#[command(override_usage = "turnfold branch REV NAME\n       turnfold branch --delete MATCH@NAME")]
pub(crate) struct Args {
    /// Where the new branch parts; with `--delete`, the branch to delete
    #[arg(value_name = "REV")]
    revision: Revision,

    /// Name of the new branch
    #[arg(value_name = "NAME", required_unless_present = "delete", conflicts_with = "delete")]
    name: Option<BranchName>,

    /// Delete the branch instead
    #[arg(long)]
    delete: bool,
}

#[derive(Serialize)]
struct BranchJson {
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    seq: Option<u64>,
    deleted: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let store = context.open_store()?;
    let Revision { match_name, branch, seq } = &args.revision;
    let (name, at) = match &args.name {
        Some(name) => {
            let at = match seq {
                Some(seq) => *seq,
                None => store.head(match_name, branch)?,
            };
            store.create_branch(match_name, name, branch, at)?;
            (name, Some(at))
        }
        None if seq.is_some() => {
            return Err(Failure::usage("`--delete` takes a whole branch, written MATCH@NAME"));
        }
        None => {
            store.delete_branch(match_name, branch)?;
            (branch, None)
        }
    };
    drop(store);
    if context.output.is_json() {
        context.output.json(&BranchJson {
            match_name: match_name.to_string(),
            branch: name.to_string(),
            seq: at,
            deleted: at.is_none(),
        })?;
        return Ok(Answer::Yes);
    }
    let new = paint(Tone::Strong, format_args!("{match_name}@{name}"));
    match at {
        Some(at) => context.output.line(format_args!("{new} begins after {}", args.revision.at(at)))?,
        None => context.output.line(format_args!("deleted {new}"))?,
    }
    Ok(Answer::Yes)
}
