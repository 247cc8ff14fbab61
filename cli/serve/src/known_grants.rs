//! Grants that were read lately, so that a request need not wait for a thread that reads its grant (SV-22).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use turnfold_core::Digest;
use turnfold_store::{Grant, Store, StoreError};

/// How long a grant is used without being read again.
const KNOWN_TIME: Duration = Duration::from_secs(1);

const KNOWN_MAX: usize = 16_384;

/// The grants that were read lately.
#[derive(Default)]
pub(crate) struct KnownGrants(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Grants and when they were read; the time is `None` once they were forgotten.
    grants: BTreeMap<Digest, (Option<Instant>, Grant)>,
    /// How often grants were forgotten. A grant that was being read at that time is not kept.
    forgotten: u64,
}

impl KnownGrants {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the grant of a token's hash if it was read lately.
    pub(crate) fn find(&self, hash: &Digest) -> Option<Grant> {
        let known = self.lock();
        let (read_at, grant) = known.grants.get(hash)?;
        is_fresh(*read_at).then(|| grant.clone())
    }

    /// Returns `true` if a token with this hash had a grant, even if the grant was forgotten.
    pub(crate) fn has_known(&self, hash: &Digest) -> bool {
        self.lock().grants.contains_key(hash)
    }

    /// Reads the grant of a token's hash.
    pub(crate) fn read(&self, store: &Store, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        let forgotten = self.lock().forgotten;
        let read_at = Instant::now();
        let found = store.find_grant(hash)?;
        let mut known = self.lock();
        if found.is_none() {
            known.grants.remove(hash);
        }
        if let Some(grant) = &found
            && known.forgotten == forgotten
        {
            if known.grants.len() >= KNOWN_MAX {
                known.grants.retain(|_, (read_at, _)| is_fresh(*read_at));
            }
            if known.grants.len() < KNOWN_MAX {
                known.grants.insert(*hash, (Some(read_at), grant.clone()));
            }
        }
        Ok(found)
    }

    /// Forgets all grants after one was changed. Their hashes stay known.
    pub(crate) fn forget(&self) {
        let mut known = self.lock();
        known.grants.values_mut().for_each(|(read_at, _)| *read_at = None);
        known.forgotten += 1;
    }
}

fn is_fresh(read_at: Option<Instant>) -> bool {
    read_at.is_some_and(|read_at| read_at.elapsed() < KNOWN_TIME)
}
