//! What a salvage could not save.

use serde::Serialize;

use crate::entry::Seq;
use crate::names::{BranchName, MatchName};

/// Something that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostEntries {
    /// The match; `None` when it is not known, or when this concerns the store as a whole.
    #[serde(rename = "match")]
    pub match_name: Option<MatchName>,
    /// The branch; `None` when it concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The first entry that is lost, where it is known.
    pub from: Option<Seq>,
    /// The last, as far as anything still shows it.
    pub to: Option<Seq>,
    /// Why.
    pub reason: String,
}

impl LostEntries {
    /// Something that concerns the store as a whole.
    pub(super) fn of_store(reason: impl Into<String>) -> Self {
        Self { match_name: None, branch: None, from: None, to: None, reason: reason.into() }
    }
}
