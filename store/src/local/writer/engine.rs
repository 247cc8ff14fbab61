//! The engine on disk: the committer writes, and other threads read the records.

use std::sync::Arc;

use turnfold_core::Digest;

use super::append;
use super::committer::Committer;
use super::{create, delete, grants, rename};
use crate::engine::{Append, Engine, EngineReader, NewBranch, Then};
use crate::entry::NewEntry;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, JoinedSeat, NewGrant};
use crate::local::backend::Backend;
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};
use crate::reader::appended::Appended;
use crate::snapshots::Snapshots;

/// A store on disk or in memory.
pub(crate) struct Local {
    // The committer's thread ends before the backend closes.
    committer: Committer,
    records: Arc<Records>,
}

impl Local {
    pub(crate) fn start(backend: Box<dyn Backend>, snapshots: Option<Snapshots>) -> Result<Self, StoreError> {
        let records = Arc::new(Records::new(backend, snapshots));
        let record = records.store_record()?;
        let committer = Committer::start(Arc::clone(&records), record)?;
        Ok(Self { committer, records })
    }

    pub(crate) fn records(&self) -> &Records {
        &self.records
    }

    /// Writes grants of a match as they were in another store.
    pub(crate) fn keep_grants(
        &self,
        match_name: &MatchName,
        grants: Vec<(Digest, Grant)>,
    ) -> Result<(), StoreError> {
        grants::keep(self.both(), match_name, grants)
    }

    /// Closes it, so that its journal says that nothing is missing at its end.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        let Self { mut committer, records } = self;
        committer.stop()?;
        // The committer's thread had the only other handle, and has ended.
        Arc::into_inner(records).map_or(Ok(()), |records| Ok(records.backend.close()?))
    }

    fn both(&self) -> (&Committer, &Records) {
        (&self.committer, &self.records)
    }
}

impl Engine for Local {
    fn reader(&self) -> Arc<dyn EngineReader> {
        Arc::<Records>::clone(&self.records)
    }

    fn create_match(
        &self,
        name: &MatchName,
        genesis: Vec<u8>,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        create::create_match(&self.committer, name.clone(), genesis, entries)
    }

    fn create_branch(&self, new: NewBranch, entries: Vec<NewEntry>) -> Result<(), StoreError> {
        create::create_branch(&self.committer, new, entries)
    }

    fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        delete::delete_branch(self.both(), match_name.clone(), name.clone())
    }

    fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError> {
        rename::rename_branch(self.both(), (match_name.clone(), name.clone()), new.clone())
    }

    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        delete::delete_matches(self.both(), names.to_vec())
    }

    fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        rename::rename_matches(self.both(), names.to_vec())
    }

    fn append(&self, append: Append) -> Result<Appended, StoreError> {
        append::append(&self.committer, append)
    }

    fn append_then(&self, append: Append, then: Then) {
        append::append_then(&self.committer, append, then);
    }

    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        grants::grant(self.both(), hash, new, now_ms)
    }

    fn join(&self, invitation: &Digest, token: &Digest, now_ms: i64) -> Result<JoinedSeat, StoreError> {
        grants::join(self.both(), invitation, token, now_ms)
    }

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError> {
        grants::revoke(self.both(), match_name, id, now_ms)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Self::close(*self)
    }
}
