//! Finds the last snapshot of a branch.

use turnfold_core::Digest;

use super::store_reader::StoreReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshot};

impl StoreReader {
    /// Returns `true` if the store can keep snapshots. A store in a database cannot.
    #[must_use]
    pub fn has_snapshots(&self) -> bool {
        self.engine.snapshots().is_some()
    }

    /// Finds the last snapshot of a branch at or before entry `to` that `build` made.
    ///
    /// The snapshot was kept after exactly these entries. Only folding them can prove that its state is right.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading the log. An
    /// unreadable snapshot is no error.
    pub fn find_snapshot(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        to: Seq,
        build: &Digest,
    ) -> Result<Option<Snapshot>, StoreError> {
        let Some(snapshots) = self.engine.snapshots().filter(|snapshots| snapshots.exist()) else {
            return Ok(None);
        };
        let branch = self.engine.found_branch(match_name, branch)?;
        let to = to.min(branch.head.seq);
        let mut seq = to - to % SNAPSHOT_INTERVAL;
        while seq > 0 {
            let name = branch.link_at(self.engine.as_ref(), seq)?;
            if let Some(snapshot) = snapshots.read(&name, seq, Some(build)) {
                return Ok(Some(snapshot));
            }
            seq -= SNAPSHOT_INTERVAL;
        }
        Ok(None)
    }
}
