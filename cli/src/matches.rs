//! The branches of matches, in a store here or at a service.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use turnfold_core::text::as_text;
use turnfold_history::{Revision, SourceName, Sources};
use turnfold_mail::current_branch;
use turnfold_show::render::ListedBranch;
use turnfold_store::{BranchName, MatchName};

use crate::client::Client;
use crate::context::Workspace;
use crate::failure::{Failure, Result};
use crate::remote::{items, read, unusable};
use crate::sources::Several;

/// An entry with the match or file that it is from; the JSON form is stable.
#[derive(Serialize)]
pub(crate) struct Sourced<'a, T> {
    pub(crate) source: &'a str,
    #[serde(flatten)]
    pub(crate) item: &'a T,
}

impl Workspace {
    /// Opens the store, or the client of the service, so that a missing one is one failure and not one of each source.
    pub(crate) fn require_store(&self) -> Result<()> {
        if self.service()?.is_none() {
            self.read_store()?;
        }
        Ok(())
    }

    /// Returns the branches of a match. A seat of a service has them in its own numbering, without links.
    pub(crate) fn branches(&self, match_name: &MatchName) -> Result<Vec<ListedBranch>> {
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
    pub(crate) fn current_branch(&self, match_name: &MatchName) -> Result<BranchName> {
        match self.service()? {
            Some(client) => {
                let found = read(client, format!("/v1/matches/{match_name}"), Vec::new())?;
                Ok(reply_of::<MatchReply>(found)?.current)
            }
            None => Ok(current_branch(&self.read_store()?, match_name)?),
        }
    }

    pub(crate) fn all_branches(&self) -> Result<Several<SourceName>> {
        let mut all = Several { sources: Vec::new(), failures: Vec::new() };
        if let Some(client) = self.service()? {
            for found in items(client, "/v1/matches")? {
                let match_name = reply_of::<MatchReply>(found)?.match_name;
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
}

fn branch_of(match_name: &MatchName, branch: BranchName) -> SourceName {
    SourceName::Revision(Revision { match_name: match_name.clone(), branch, seq: None })
}

fn fetched(client: &Client, match_name: &MatchName) -> Result<Vec<ListedBranch>> {
    let found = items(client, &format!("/v1/matches/{match_name}/branches"))?;
    reply_of(Value::Array(found))
}

#[derive(Deserialize)]
struct MatchReply {
    #[serde(rename = "match", with = "as_text")]
    match_name: MatchName,
    #[serde(with = "as_text")]
    current: BranchName,
}

fn reply_of<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(unusable)
}
