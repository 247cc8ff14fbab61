//! `turnfold branch`: creates, lists, renames and deletes branches, in a store here or at a service.

use std::env;

use serde::Deserialize;
use serde_json::json;
use turnfold_core::text::as_text;
use turnfold_history::{Revision, SourceName, Sources};
use turnfold_mail::current_branch;
use turnfold_proof::signing::Signers;
use turnfold_show::render::ListedBranch;
use turnfold_show::render::branches::lines;
use turnfold_store::{BranchName, MatchName, StoreError, StoreReader};

use super::delete::{is_confirmed, require_attended};
use super::play::require_not_by_mail;
use crate::client::{Sent, ServiceRequest};
use crate::context::{Context, Workspace};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Format, Line, counted, plain, strong};
use crate::program;
use crate::remote::{document, items, read, unusable};
use crate::sources::Several;

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
        if seq.is_some() || *branch != BranchName::main() {
            let message = format!("the new branch from `{}` needs a name", args.revision);
            return Err(
                Failure::usage(message).hint(format!("`turnfold branch {match_name}` lists branches"))
            );
        }
        let branches = context.branches(match_name)?;
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
        let store = context.open_store()?;
        require_not_by_mail(&store, &args.revision)?;
        require_not_current(&store, &args.revision)?;
        store.rename_branch(match_name, branch, name)?;
        renamed_from = Some(branch);
        Line::from([plain(format_args!("renamed {match_name}@{branch} to ")), new])
    } else if args.delete {
        if let Some(client) = context.service()? {
            let path = format!("/v1/matches/{match_name}/branches/{branch}");
            let asked = ServiceRequest::of(path, Vec::new(), Format::Json);
            client.change(&asked, &Sent { body: None, key: None, may_repeat: false })?;
        } else {
            let store = context.open_store()?;
            require_not_by_mail(&store, &args.revision)?;
            require_not_current(&store, &args.revision)?;
            store.delete_branch(match_name, branch)?;
        }
        Line::from([plain("deleted "), new])
    } else {
        let at = create(&args.revision, name, context)?;
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
    if context.service()?.is_none() {
        let store = context.read_store()?;
        require_not_by_mail(&store, revision)?;
        require_unsigned(revision, &store)?;
        store.head(match_name, branch)?;
    }
    let Some(listed) = context.branches(match_name)?.into_iter().find(|listed| listed.branch == *branch)
    else {
        let (match_name, branch) = (match_name.clone(), branch.clone());
        return Err(StoreError::NoSuchBranch { match_name, branch }.into());
    };
    require_attended(format_args!("branch `{revision}`"), context)?;
    let own = listed.entries.saturating_sub(listed.from.map_or(0, |fork| fork.seq));
    let own = counted(own, "entry of its own", "entries of its own");
    is_confirmed(format_args!("{match_name}@{branch}"), own, context)
}

/// Creates a branch that begins after a revision, and returns the number of the entry there.
fn create(from: &Revision, name: &BranchName, workspace: &Workspace) -> Result<u64> {
    let Revision { match_name, branch, seq } = from;
    if let Some(client) = workspace.service()? {
        let from = match seq {
            Some(seq) => format!("{branch}:{seq}"),
            None => branch.to_string(),
        };
        let body = json!({ "name": name.as_str(), "from": from });
        let path = format!("/v1/matches/{match_name}/branches");
        let asked = ServiceRequest::of(path, Vec::new(), Format::Json);
        let reply = client.change(&asked, &Sent { body: Some(&body), key: None, may_repeat: false })?;
        return match document::<ListedBranch>(&reply)?.from {
            Some(fork) => Ok(fork.seq),
            None => Err(unusable("expected where the branch begins")),
        };
    }
    let store = workspace.open_store()?;
    let at = match seq {
        Some(seq) => *seq,
        None => store.head(match_name, branch)?,
    };
    store.create_branch(match_name, name, branch, at, Vec::new())?;
    Ok(at)
}

/// SV-65: requires a branch on which the match does not go on. Of `main`, the store says more.
fn require_not_current(store: &StoreReader, revision: &Revision) -> Result<()> {
    if revision.branch.is_main() || current_branch(store, &revision.match_name)? != revision.branch {
        return Ok(());
    }
    let message = format!("`{}` continues on branch `{}`", revision.match_name, revision.branch);
    Err(Failure::usage(message)
        .hint("take back on the page or by the service first; then the match continues on another"))
}

/// Requires that the key in `$TURNFOLD_KEY`, if there is one, has not signed a branch that is to be deleted. The key
/// would not sign another branch of that name.
fn require_unsigned(revision: &Revision, store: &StoreReader) -> Result<()> {
    let Some(path) = env::var_os("TURNFOLD_KEY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let signers = Signers::open(&[path.into()])?;
    if signers.remembered(&signers.origin(store, revision)?)?.is_empty() {
        return Ok(());
    }
    let message = format!("`{revision}` is signed, and the key will sign no other branch under its name");
    Err(Failure::usage(message).hint("`--force` deletes it"))
}

impl Workspace {
    /// Returns the branches of a match. A seat of a service has them in its own numbering, without links.
    pub(crate) fn branches(&self, match_name: &MatchName) -> Result<Vec<ListedBranch>> {
        if let Some(client) = self.service()? {
            return items(client, &format!("/v1/matches/{match_name}/branches"));
        }
        let store = self.read_store()?;
        let current = current_branch(&store, match_name)?;
        let mut branches = Vec::new();
        for info in store.branches(match_name)? {
            branches.push(ListedBranch::of(info, &current));
        }
        Ok(branches)
    }

    /// Returns the branch on which a match continues (SV-65).
    pub(crate) fn current_branch(&self, match_name: &MatchName) -> Result<BranchName> {
        match self.service()? {
            Some(client) => {
                let found: MatchReply = read(client, format!("/v1/matches/{match_name}"), Vec::new())?;
                Ok(found.current)
            }
            None => Ok(current_branch(&self.read_store()?, match_name)?),
        }
    }

    pub(crate) fn all_branches(&self) -> Result<Several<SourceName>> {
        let mut all = Several { sources: Vec::new(), failures: Vec::new() };
        if let Some(client) = self.service()? {
            for found in items::<MatchReply>(client, "/v1/matches")? {
                for listed in self.branches(&found.match_name)? {
                    all.sources.push(branch_of(&found.match_name, listed.branch));
                }
            }
            return Ok(all);
        }
        let store = self.read_store()?;
        for found in store.matches()? {
            match store.branches(&found.name) {
                Ok(branches) => {
                    all.sources.extend(branches.into_iter().map(|info| branch_of(&found.name, info.name)));
                }
                Err(error) => all.failures.push(Failure::from(error).about(found.name.as_str())),
            }
        }
        Ok(all)
    }
}

fn branch_of(match_name: &MatchName, branch: BranchName) -> SourceName {
    SourceName::Revision(Revision { match_name: match_name.clone(), branch, seq: None })
}

#[derive(Deserialize)]
struct MatchReply {
    #[serde(rename = "match", with = "as_text")]
    match_name: MatchName,
    #[serde(with = "as_text")]
    current: BranchName,
}
