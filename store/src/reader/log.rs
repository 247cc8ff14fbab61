//! Logs: the entries of a branch, one after another or all at once.

use std::ops::RangeInclusive;

use turnfold_core::Digest;

use super::entries::Entries;
use super::store_reader::StoreReader;
use crate::entry::{Entry, Seq};
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// The entries of a branch up to its head or to an earlier entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The setup of the match.
    pub genesis: Genesis,
    /// The branch's head when it was read, even if `entries` ends earlier.
    pub head: Seq,
    /// The entries, from the first one on.
    pub entries: Vec<Entry>,
}

impl StoreReader {
    /// Reads entries one after another, the ancestors' entries first. Iteration ends with the first error.
    ///
    /// Each entry is checked against the chain from the nearest stored link before the range. If the range begins at
    /// the first entry, the whole chain is checked.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], [`StoreError::NoSuchSeq`] if the range ends
    /// behind the head, or any error of reading. The iterator returns [`StoreError::Corrupt`] if the log is damaged.
    pub fn entries(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        range: RangeInclusive<Seq>,
    ) -> Result<Entries<'_>, StoreError> {
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        branch.require(*range.end())?;
        branch.entries(self.engine.as_ref(), range)
    }

    /// Returns the link after each entry of a range, checked like [`entries`](StoreReader::entries). If the range
    /// begins at 0, the link of the setup is the first.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](StoreReader::entries) and of its iterator.
    pub fn links(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Digest>, StoreError> {
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        branch.require(*range.end())?;
        let mut links = Vec::new();
        if range.contains(&0) {
            links.push(branch.link_at(self.engine.as_ref(), 0)?);
        }
        let mut entries = branch.entries(self.engine.as_ref(), range)?;
        while let Some(linked) = entries.next_linked() {
            links.push(linked?.1);
        }
        Ok(links)
    }

    /// Reads a branch from its first entry to `to`, or to its head.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](StoreReader::entries) and of its iterator.
    pub fn read(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        to: Option<Seq>,
    ) -> Result<Log, StoreError> {
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        let to = to.unwrap_or(branch.head.seq);
        branch.require(to)?;
        let genesis = branch.found_match.genesis()?;
        let entries = branch.entries(self.engine.as_ref(), 1..=to)?;
        Ok(Log { genesis, head: branch.head.seq, entries: entries.collect::<Result<_, _>>()? })
    }
}
