//! Who makes sled's writes durable, and when.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::log::UNSYNCED_BYTES_MAX;
use crate::local::backend::BackendError;

/// What has been written to sled's file and not yet been synced.
pub(super) struct Syncing {
    /// A second handle on sled's file.
    file: File,
    deferred: Deferred,
    unflushed: Mutex<Unflushed>,
}

/// What the store has written since the last flush.
struct Unflushed {
    /// How many calls of our `sync_file_range` had been counted before; `None` when nothing was written.
    calls_before: Option<u64>,
    /// When our `sync_file_range` is not called: so many bytes have been written.
    unbound_bytes: Option<u64>,
}

impl Syncing {
    pub(super) fn of(sled_file: &Path) -> Result<Self, BackendError> {
        let opened = File::options().read(true).write(true).open(sled_file);
        let opened = opened.and_then(|file| Ok((Deferred::of(&file)?, file)));
        let (deferred, file) = opened.map_err(|source| BackendError::io("open", sled_file, source))?;
        let unflushed = Unflushed { calls_before: None, unbound_bytes: None };
        Ok(Self { file, deferred, unflushed: Mutex::new(unflushed) })
    }

    /// Notes that so many bytes are about to be written; returns `true` if everything before must be flushed first.
    pub(super) fn begin_write(&self, bytes: usize) -> bool {
        let mut unflushed = self.unflushed();
        unflushed.calls_before.get_or_insert_with(|| self.deferred.calls());
        let Some(unbound_bytes) = &mut unflushed.unbound_bytes else { return false };
        let before = *unbound_bytes;
        *unbound_bytes = before.saturating_add(bytes as u64);
        before > 0 && *unbound_bytes > UNSYNCED_BYTES_MAX
    }

    /// Completes a flush of sled.
    pub(super) fn end_flush(&self) -> Result<(), BackendError> {
        let mut unflushed = self.unflushed();
        let Some(before) = unflushed.calls_before.take() else { return Ok(()) };
        if unflushed.unbound_bytes.is_none() && self.deferred.calls() <= before {
            tracing::warn!("sled's sync is not bound in this build; large commands are flushed more often");
            unflushed.unbound_bytes = Some(0);
        }
        self.deferred.sync(&self.file).map_err(|source| BackendError::Unsynced { source })?;
        if let Some(unbound_bytes) = &mut unflushed.unbound_bytes {
            *unbound_bytes = 0;
        }
        Ok(())
    }

    /// Goes on as in a build in which nothing is bound.
    pub(super) fn distrust_binding(&self) {
        self.unflushed().unbound_bytes = Some(0);
    }

    fn unflushed(&self) -> MutexGuard<'_, Unflushed> {
        self.unflushed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(target_os = "linux")]
pub(super) use super::durable::has_failed;

#[cfg(target_os = "linux")]
use super::durable::Deferred;

/// Elsewhere nothing is bound: sled itself syncs after each write.
#[cfg(not(target_os = "linux"))]
struct Deferred;

#[cfg(not(target_os = "linux"))]
impl Deferred {
    fn of(_file: &File) -> std::io::Result<Self> {
        Ok(Self)
    }

    fn calls(&self) -> u64 {
        0
    }

    fn sync(&self, file: &File) -> std::io::Result<()> {
        file.sync_data()
    }
}

/// Elsewhere sled does not say whether its sync or the write before it failed.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_failed() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syncing() -> (tempfile::NamedTempFile, Syncing) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let syncing = Syncing::of(file.path()).unwrap();
        (file, syncing)
    }

    #[test]
    fn a_flush_without_a_counted_call_is_one_of_a_build_without_the_binding() {
        let (_file, syncing) = syncing();
        assert!(!syncing.begin_write(usize::MAX));
        // Nobody has called our `sync_file_range` for this file.
        syncing.end_flush().unwrap();
        assert_eq!(syncing.unflushed().unbound_bytes, Some(0));
    }

    #[test]
    fn without_the_binding_a_flush_comes_before_too_much_is_unsynced() {
        let (_file, syncing) = syncing();
        syncing.distrust_binding();
        let half = usize::try_from(UNSYNCED_BYTES_MAX).unwrap() / 2;
        // What is written at once cannot be divided.
        assert!(!syncing.begin_write(3 * half));
        assert!(syncing.begin_write(1));
        syncing.end_flush().unwrap();
        assert!(!syncing.begin_write(half));
        assert!(!syncing.begin_write(half));
        assert!(syncing.begin_write(1));
    }
}
