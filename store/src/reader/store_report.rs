//! Reports on a store, on its matches and on an append.

use serde::Serialize;

use crate::backup::part::Totals;
use crate::entry::Seq;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// A match, as [`StoreReader::matches`](crate::StoreReader::matches) returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchInfo {
    /// Its name.
    pub name: MatchName,
    /// Its setup.
    pub genesis: Genesis,
    /// The seq of the last entry of `main`.
    pub head: Seq,
    /// The number of its branches, `main` included.
    pub branches: u64,
}

/// Something stored that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The match; `None` if the damage concerns the store as a whole.
    #[serde(rename = "match")]
    pub match_name: Option<MatchName>,
    /// The branch; `None` if the damage concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The entry, if the damage concerns one.
    pub seq: Option<Seq>,
    /// What is wrong.
    #[serde(rename = "message")]
    pub reason: String,
}

/// The result of an audit of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheck {
    /// What is sound.
    pub sound: Totals,
    /// What is damaged; empty if nothing is.
    pub damage: Vec<Damage>,
}

/// The size of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// The numbers of matches, branches and entries.
    pub totals: Totals,
    /// The number of pages.
    pub pages: u64,
    /// The number of entries on pages.
    pub entries_on_pages: u64,
    /// The number of entries in records of their own. This build writes none, so it is 0.
    pub tails: u64,
    /// The bytes of keys and values with entries, without overhead of the database.
    pub entry_bytes: u64,
    /// The largest matches, largest first.
    pub largest: Vec<MatchStats>,
}

/// The size of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchStats {
    /// Its name.
    #[serde(rename = "match")]
    pub name: MatchName,
    /// The number of its branches, `main` included.
    pub branches: u64,
    /// The number of its entries, each counted only on the branch that it belongs to.
    pub entries: u64,
    /// The bytes of keys and values with its entries.
    pub entry_bytes: u64,
}

/// The place of appended entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The seq of the first entry.
    pub first: Seq,
    /// The seq of the last entry, which was the branch's head right after the append.
    pub last: Seq,
    /// Whether an earlier append with the same idempotency key had appended the entries, so that this one did nothing.
    pub repeated: bool,
}
