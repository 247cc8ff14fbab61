//! Parts: what a store consists of, in an order in which each can be checked against those before it.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::entry::Seq;
use crate::names::{BranchName, MatchName};

/// A part of a store. Variant and field order are the format of backups.
///
/// Each match is followed by its branches, parents before those that begin on them, and each branch by the entries
/// that are its own.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Part<'a> {
    Match(MatchPart<'a>),
    Branch(BranchPart),
    /// The encoded entries of the branch that follow those before.
    Entries(#[serde(borrow)] Vec<&'a [u8]>),
    /// Nothing follows.
    End(Totals),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MatchPart<'a> {
    pub(super) name: MatchName,
    pub(super) branches: u64,
    pub(super) genesis: &'a [u8],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BranchPart {
    pub(super) name: BranchName,
    /// The branch it begins on, and after which entry; nothing for `main`.
    pub(super) parent: Option<(BranchName, Seq)>,
    /// The link before its first own entry.
    pub(super) before: Digest,
    /// Its last entry, and the link after it.
    pub(super) head: Seq,
    pub(super) link: Digest,
}

impl BranchPart {
    pub(super) fn forked_at(&self) -> Seq {
        self.parent.as_ref().map_or(0, |(_, at)| *at)
    }
}

/// How much there is of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The matches.
    pub matches: u64,
    /// Their branches, `main` among them.
    pub branches: u64,
    /// Their entries, each counted on the branch that holds it.
    pub entries: u64,
}

impl Totals {
    /// Counts a part.
    pub(super) fn count(&mut self, part: &Part<'_>) {
        match part {
            Part::Match(_) => self.matches += 1,
            Part::Branch(_) => self.branches += 1,
            Part::Entries(entries) => self.entries += entries.len() as u64,
            Part::End(_) => {}
        }
    }
}
