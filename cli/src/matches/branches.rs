//! The branches of matches, near or far.

use std::fmt::Display;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use turnfold_history::{Revision, SourceName, Sources};
use turnfold_mail::current_branch;
use turnfold_proof::signing::Signers;
use turnfold_show::render::ListedBranch;
use turnfold_store::{BranchName, MatchName, StoreReader};

use super::require_not_by_mail;
use crate::context::Workspace;
use crate::failure::Failure;
use crate::output::Format;
use crate::remote::client::{Client, Sent, ServiceRequest};
use crate::remote::look::{document, items, read, unusable};
use crate::sources::Several;

impl Workspace {
    /// Returns the branches of a match. A seat of a service has them in its own numbering, without links.
    pub(crate) fn branches(&self, match_name: &MatchName) -> Result<Vec<ListedBranch>, Failure> {
        if let Some(client) = self.service()? {
            return fetched(client, match_name);
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
    pub(crate) fn current_branch(&self, match_name: &MatchName) -> Result<BranchName, Failure> {
        match self.service()? {
            Some(client) => {
                let found = read(client, format!("/v1/matches/{match_name}"), Vec::new())?;
                parsed(&reply_of::<MatchReply>(found)?.current)
            }
            None => Ok(current_branch(&self.read_store()?, match_name)?),
        }
    }

    pub(crate) fn all_branches(&self) -> Result<Several<SourceName>, Failure> {
        let mut all = Several { sources: Vec::new(), failures: Vec::new() };
        if let Some(client) = self.service()? {
            for found in items(client, "/v1/matches")? {
                let match_name = parsed(&reply_of::<MatchReply>(found)?.match_name)?;
                for listed in fetched(client, &match_name)? {
                    all.sources.push(branch_of(&match_name, listed.branch));
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

    /// Creates a branch that begins after a revision, and returns the number of the entry there.
    pub(crate) fn create_branch(&self, from: &Revision, name: &BranchName) -> Result<u64, Failure> {
        let Revision { match_name, branch, seq } = from;
        if let Some(client) = self.service()? {
            let from = match seq {
                Some(seq) => format!("{branch}:{seq}"),
                None => branch.to_string(),
            };
            let body = json!({ "name": name.as_str(), "from": from });
            let path = format!("/v1/matches/{match_name}/branches");
            let asked = ServiceRequest::of(path, Vec::new(), Format::Json);
            let reply = client.change(&asked, &Sent { body: Some(&body), key: None, may_repeat: false })?;
            return match reply_of::<BranchReply>(document(&reply)?)?.from {
                Some(fork) => Ok(fork.seq),
                None => Err(unusable("expected where the branch begins")),
            };
        }
        let store = self.open_store()?;
        let at = match seq {
            Some(seq) => *seq,
            None => store.head(match_name, branch)?,
        };
        store.create_branch(match_name, name, branch, at, Vec::new())?;
        Ok(at)
    }

    pub(crate) fn delete_branch(&self, revision: &Revision) -> Result<(), Failure> {
        let Revision { match_name, branch, .. } = revision;
        if let Some(client) = self.service()? {
            let path = format!("/v1/matches/{match_name}/branches/{branch}");
            let asked = ServiceRequest::of(path, Vec::new(), Format::Json);
            client.change(&asked, &Sent { body: None, key: None, may_repeat: false })?;
            return Ok(());
        }
        let store = self.open_store()?;
        require_not_by_mail(&store, revision)?;
        require_not_current(&store, revision)?;
        Ok(store.delete_branch(match_name, branch)?)
    }

    /// Requires that a branch may be deleted, as far as that can be known before the user is asked.
    pub(crate) fn require_deletable(&self, revision: &Revision) -> Result<(), Failure> {
        if self.service()?.is_some() {
            return Ok(());
        }
        let store = self.read_store()?;
        require_not_by_mail(&store, revision)?;
        require_unsigned(revision, &store)?;
        store.head(&revision.match_name, &revision.branch)?;
        Ok(())
    }

    pub(crate) fn rename_branch(&self, revision: &Revision, name: &BranchName) -> Result<(), Failure> {
        let store = self.open_store()?;
        require_not_by_mail(&store, revision)?;
        require_not_current(&store, revision)?;
        Ok(store.rename_branch(&revision.match_name, &revision.branch, name)?)
    }
}

/// SV-65: requires a branch on which the match does not go on. Of `main`, the store says more.
fn require_not_current(store: &StoreReader, revision: &Revision) -> Result<(), Failure> {
    if revision.branch.is_main() || current_branch(store, &revision.match_name)? != revision.branch {
        return Ok(());
    }
    let message = format!("`{}` continues on branch `{}`", revision.match_name, revision.branch);
    Err(Failure::usage(message)
        .hint("take back on the page or by the service first; then the match continues on another"))
}

/// Requires that the key in `$TURNFOLD_KEY`, if there is one, has not signed a branch that is to be deleted. The key
/// would not sign another branch of that name.
fn require_unsigned(revision: &Revision, store: &StoreReader) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("TURNFOLD_KEY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let signers = Signers::open(&[path.into()])?;
    if signers.remembered(&signers.origin(store, revision)?)?.is_empty() {
        return Ok(());
    }
    let message = format!("`{revision}` is signed, and the key will sign no other branch under its name");
    Err(Failure::usage(message).hint("`--force` deletes it"))
}

fn branch_of(match_name: &MatchName, branch: BranchName) -> SourceName {
    SourceName::Revision(Revision { match_name: match_name.clone(), branch, seq: None })
}

fn fetched(client: &Client, match_name: &MatchName) -> Result<Vec<ListedBranch>, Failure> {
    let mut branches = Vec::new();
    for item in items(client, &format!("/v1/matches/{match_name}/branches"))? {
        let BranchReply { branch, entries, from, current, link } = reply_of(item)?;
        let from = match from {
            Some(fork) => Some((parsed(&fork.branch)?, fork.seq)),
            None => None,
        };
        let link = match link {
            Some(link) => Some(parsed(&link)?),
            None => None,
        };
        branches.push(ListedBranch { branch: parsed(&branch)?, entries, from, current, link });
    }
    Ok(branches)
}

#[derive(Deserialize)]
struct MatchReply {
    #[serde(rename = "match")]
    match_name: String,
    current: String,
}

#[derive(Deserialize)]
struct BranchReply {
    branch: String,
    entries: u64,
    from: Option<ForkReply>,
    current: bool,
    link: Option<String>,
}

#[derive(Deserialize)]
struct ForkReply {
    branch: String,
    seq: u64,
}

fn reply_of<T: DeserializeOwned>(answer: Value) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(unusable)
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(unusable)
}
