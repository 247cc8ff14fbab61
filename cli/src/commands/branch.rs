//! `turnfold branch`: begin a new history, rename or delete one.

use serde::Serialize;
use turnfold_replay::Revision;
use turnfold_replay::signing::Signers;
use turnfold_store::{BranchName, StoreReader};

use super::play::require_not_by_mail;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, plain, strong};

/// Begin a new history from any point, rename or delete one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold branch duel:6 caution\n  turnfold branch --rename duel@caution retreat"
)]
#[command(
    override_usage = "turnfold branch REV NAME\n       turnfold branch --rename MATCH@OLD NAME\n       turnfold branch --delete MATCH@NAME"
)]
pub(crate) struct Args {
    /// Revision to branch from, or the branch to rename or delete
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

/// A branch that was created, renamed or deleted.
#[derive(Serialize)]
struct Changed {
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    /// The entry after which a new branch begins.
    seq: Option<u64>,
    renamed_from: Option<String>,
    deleted: bool,
    /// The revision from which a new branch begins.
    #[serde(skip)]
    from: Option<Revision>,
}

impl Report for Changed {
    fn lines(&self) -> Vec<Line> {
        let Self { match_name, branch, renamed_from, from, .. } = self;
        let new = strong(format_args!("{match_name}@{branch}"));
        vec![match (from, renamed_from) {
            (Some(from), _) => Line::from([new, plain(format_args!(" begins after {from}"))]),
            (None, Some(old)) => Line::from([plain(format_args!("renamed {match_name}@{old} to ")), new]),
            (None, None) => Line::from([plain("deleted "), new]),
        }]
    }
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
    let mut changed = Changed {
        match_name: match_name.to_string(),
        branch: args.name.as_ref().unwrap_or(branch).to_string(),
        seq: None,
        renamed_from: None,
        deleted: false,
        from: None,
    };
    match &args.name {
        Some(name) if args.rename => {
            store.rename_branch(match_name, branch, name)?;
            changed.renamed_from = Some(branch.to_string());
        }
        Some(name) => {
            let at = match seq {
                Some(seq) => *seq,
                None => store.head(match_name, branch)?,
            };
            store.create_branch(match_name, name, branch, at)?;
            (changed.seq, changed.from) = (Some(at), Some(args.revision.at(at)));
        }
        None => {
            if !args.force {
                require_unsigned(&args.revision, &store)?;
            }
            store.delete_branch(match_name, branch)?;
            changed.deleted = true;
        }
    }
    drop(store);
    context.output.report(&changed)?;
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
