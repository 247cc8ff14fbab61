//! What is reported of a store, of the matches in it, and of an append.

use serde::Serialize;

use crate::backup::part::Totals;
use crate::entry::Seq;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// What [`StoreReader::matches`](crate::StoreReader::matches) returns of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchInfo {
    /// Its name.
    pub name: MatchName,
    /// How it begins.
    pub genesis: Genesis,
    /// The number of the last entry of `main`.
    pub head: Seq,
    /// How many branches it has, `main` among them.
    pub branches: u64,
}

/// Something stored that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The match concerned; `None` when it concerns the store as a whole.
    #[serde(rename = "match")]
    pub match_name: Option<MatchName>,
    /// The branch concerned; `None` when it concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The entry concerned, where it is one.
    pub seq: Option<Seq>,
    /// What is wrong.
    #[serde(rename = "message")]
    pub reason: String,
}

/// What an audit of a store found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheck {
    /// What is sound.
    pub sound: Totals,
    /// What is wrong; nothing, if all is well.
    pub damage: Vec<Damage>,
}

/// How much a store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Matches, branches and entries.
    pub totals: Totals,
    /// The pages, and the entries on them.
    pub pages: u64,
    /// The entries on pages.
    pub entries_on_pages: u64,
    /// The entries in records of their own.
    pub tails: u64,
    /// The bytes of pages and tails, without what the database needs for itself.
    pub entry_bytes: u64,
    /// The largest matches, the largest first.
    pub largest: Vec<MatchStats>,
}

/// How much a match holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchStats {
    /// Its name.
    #[serde(rename = "match")]
    pub name: MatchName,
    /// Its branches, `main` among them.
    pub branches: u64,
    /// Its entries, each counted on the branch that holds it.
    pub entries: u64,
    /// The bytes of its pages and tails.
    pub entry_bytes: u64,
}

/// Where appended entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the first.
    pub first: Seq,
    /// The number of the last, which was the branch's head when they were appended.
    pub last: Seq,
    /// Whether an earlier append with the same idempotency key did it, and this one nothing.
    pub repeated: bool,
}
