//! Parts: what a store consists of, in an order in which each can be checked against those before it.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use super::error::RescueError;
use crate::entry::{Entry, Seq};
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::note::Note;

/// The bytes of entries in a part, which is a little more than that.
const PART_BYTES: usize = 64 * 1024;

pub(crate) type Sink<'a> = &'a mut dyn FnMut(&Part<'_>) -> Result<(), RescueError>;

/// A part of a store. Variant and field order are the format of backups.
///
/// Each match is followed by its branches, parents before those that begin on them, and each branch by the entries
/// that are its own.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part<'a> {
    Match(MatchPart<'a>),
    Branch(BranchPart),
    /// The encoded entries of the branch that follow those before.
    Entries(#[serde(borrow)] Vec<&'a [u8]>),
    /// Nothing follows.
    End(Totals),
    /// The module that is recorded for the match, where one is (MD-9); it comes right after the match.
    Module(Digest),
    /// A note of the match (SV-61); notes come after its branches.
    Note(Note),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MatchPart<'a> {
    pub(crate) name: MatchName,
    pub(crate) branches: u64,
    pub(crate) genesis: &'a [u8],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BranchPart {
    pub(crate) name: BranchName,
    /// The branch it begins on, and after which entry; nothing for `main`.
    pub(crate) parent: Option<(BranchName, Seq)>,
    /// The link before its first own entry.
    pub(crate) before: Digest,
    /// Its last entry, and the link after it.
    pub(crate) head: Seq,
    pub(crate) link: Digest,
}

impl BranchPart {
    pub(crate) fn forked_at(&self) -> Seq {
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
    pub(crate) fn count(&mut self, part: &Part<'_>) {
        match part {
            Part::Match(_) => self.matches += 1,
            Part::Branch(_) => self.branches += 1,
            Part::Entries(entries) => self.entries += entries.len() as u64,
            Part::End(_) | Part::Module(_) | Part::Note(_) => {}
        }
    }
}

/// Sends entries on as parts, a few at a time.
pub(crate) fn send_entries(
    entries: impl Iterator<Item = Result<Entry, StoreError>>,
    sink: Sink<'_>,
) -> Result<(), RescueError> {
    let mut batch: Vec<Vec<u8>> = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?.encode();
        bytes += entry.len();
        batch.push(entry);
        if bytes >= PART_BYTES {
            sink(&Part::Entries(batch.iter().map(Vec::as_slice).collect()))?;
            batch.clear();
            bytes = 0;
        }
    }
    if batch.is_empty() { Ok(()) } else { sink(&Part::Entries(batch.iter().map(Vec::as_slice).collect())) }
}
