//! Keeping snapshots.

use turnfold_core::Digest;

use super::store::Store;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::snapshots::{Snapshot, has_snapshot};

impl Store {
    /// Keeps the state after an entry, if it can and the entry is one that has a snapshot.
    ///
    /// # Errors
    /// Every error of [`entries`](crate::StoreReader::entries). Trouble with the snapshot is no error.
    pub fn keep_snapshot(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        snapshot: &Snapshot,
        build: &Digest,
    ) -> Result<(), StoreError> {
        let seq = snapshot.seq;
        let Some(snapshots) = self.engine().snapshots().filter(|_| has_snapshot(seq)) else {
            return Ok(());
        };
        let mut entries = self.entries(match_name, branch, seq..=seq)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        if let Err(error) = snapshots.write(&entries.link(), snapshot, build) {
            tracing::debug!(%error, seq, "a snapshot could not be kept");
        }
        Ok(())
    }
}
