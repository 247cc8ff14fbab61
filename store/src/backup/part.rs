//! Parts: the contents of a store, in an order in which each part can be checked against the earlier ones.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use super::error::RescueError;
use crate::entry::{Entry, Seq};
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::note::Note;

/// The bytes of entries from which on a part is complete. The last entry may exceed it.
const PART_BYTES: usize = 64 * 1024;

pub(crate) type Sink<'a> = &'a mut dyn FnMut(&BackupPart<'_>) -> Result<(), RescueError>;

/// A part of a store. Variant and field order are the format of backups.
///
/// Each match is followed by its branches, parents first, and each branch by its own entries.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BackupPart<'a> {
    Match {
        name: MatchName,
        branches: u64,
        genesis: &'a [u8],
    },
    Branch(BackupBranch),
    /// The next encoded entries of the branch.
    Entries(#[serde(borrow)] Vec<&'a [u8]>),
    /// The end of the backup, with the totals of all parts.
    End(Totals),
    /// The module recorded for the match, if there is one (MD-9). It follows the match directly.
    Module(Digest),
    /// A note on the match (SV-61). Notes follow the branches of their match.
    Note(Note),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackupBranch {
    pub(crate) name: BranchName,
    /// The parent branch, and the entry after which this one begins; `None` for `main`.
    pub(crate) parent: Option<(BranchName, Seq)>,
    /// The link before its first own entry.
    pub(crate) before: Digest,
    /// The seq of its last entry, and the link after that entry.
    pub(crate) head: Seq,
    pub(crate) link: Digest,
}

impl BackupBranch {
    pub(crate) fn forked_at(&self) -> Seq {
        self.parent.as_ref().map_or(0, |(_, at)| *at)
    }
}

/// Numbers of matches, branches and entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The number of matches.
    pub matches: u64,
    /// The number of their branches, `main` included.
    pub branches: u64,
    /// The number of their entries, each counted only on the branch that it belongs to.
    pub entries: u64,
}

impl Totals {
    pub(crate) fn count(&mut self, part: &BackupPart<'_>) {
        match part {
            BackupPart::Match { .. } => self.matches += 1,
            BackupPart::Branch(_) => self.branches += 1,
            BackupPart::Entries(entries) => self.entries += entries.len() as u64,
            BackupPart::End(_) | BackupPart::Module(_) | BackupPart::Note(_) => {}
        }
    }
}

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
            sink(&BackupPart::Entries(batch.iter().map(Vec::as_slice).collect()))?;
            batch.clear();
            bytes = 0;
        }
    }
    if batch.is_empty() {
        return Ok(());
    }
    sink(&BackupPart::Entries(batch.iter().map(Vec::as_slice).collect()))
}
