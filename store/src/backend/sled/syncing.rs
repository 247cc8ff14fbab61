//! Who makes sled's writes durable, and when.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::backend::BackendError;

/// Without a bound `sync_file_range`, so much may be written between two syncs: sled may then have started to use
/// segments again whose successors are not on disk yet.
const UNSYNCED_BYTES_MAX: usize = 128 * 1024;

/// What has been written to sled's file and not yet been synced.
pub(super) struct Syncing {
    sled_file: PathBuf,
    by: Mutex<By>,
}

enum By {
    /// Our `sync_file_range`; so many calls had been counted before the writes that are not flushed yet.
    Binding { calls_before: Option<u64> },
    /// A second handle on sled's file, because nothing was bound; so many bytes have been written since.
    Handle { handle: File, unsynced_bytes: usize },
}

impl Syncing {
    pub(super) fn of(sled_file: PathBuf) -> Self {
        Self { sled_file, by: Mutex::new(By::Binding { calls_before: None }) }
    }

    /// Notes that so many bytes are about to be written; returns `true` if everything before must be flushed first.
    pub(super) fn begin_write(&self, bytes: usize) -> bool {
        match &mut *self.by.lock().unwrap_or_else(PoisonError::into_inner) {
            By::Binding { calls_before } => {
                calls_before.get_or_insert_with(calls);
                false
            }
            By::Handle { unsynced_bytes, .. } => {
                let before = *unsynced_bytes;
                *unsynced_bytes = before.saturating_add(bytes);
                before > 0 && *unsynced_bytes > UNSYNCED_BYTES_MAX
            }
        }
    }

    /// Completes a flush of sled.
    pub(super) fn end_flush(&self) -> Result<(), BackendError> {
        let mut by = self.by.lock().unwrap_or_else(PoisonError::into_inner);
        if let By::Binding { calls_before } = &mut *by {
            match calls_before.take() {
                Some(before) if calls() <= before => {
                    tracing::warn!(
                        "sled's sync is not bound to fdatasync in this build; syncing its file ourselves"
                    );
                    *by = self.by_handle()?;
                }
                _ => return Ok(()),
            }
        }
        if let By::Handle { handle, unsynced_bytes } = &mut *by {
            handle.sync_data().map_err(|source| BackendError::Unsynced { source })?;
            *unsynced_bytes = 0;
        }
        Ok(())
    }

    /// Goes on as in a build in which nothing is bound.
    pub(super) fn distrust_binding(&self) -> Result<(), BackendError> {
        *self.by.lock().unwrap_or_else(PoisonError::into_inner) = self.by_handle()?;
        Ok(())
    }

    fn by_handle(&self) -> Result<By, BackendError> {
        let path: &Path = &self.sled_file;
        let handle = File::options().read(true).write(true).open(path);
        let handle = handle.map_err(|source| BackendError::io("open", path, source))?;
        Ok(By::Handle { handle, unsynced_bytes: 0 })
    }
}

#[cfg(target_os = "linux")]
pub(super) use super::durable::has_failed;

#[cfg(target_os = "linux")]
use super::durable::calls;

/// Elsewhere nothing is bound, so the second handle is used from the first flush on.
#[cfg(not(target_os = "linux"))]
fn calls() -> u64 {
    0
}

/// Elsewhere sled itself syncs, and does not say whether that or the write before it failed.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_failed() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syncing() -> (tempfile::NamedTempFile, Syncing) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let syncing = Syncing::of(file.path().to_owned());
        (file, syncing)
    }

    #[test]
    fn a_flush_without_a_counted_call_leads_to_a_second_handle() {
        let (_file, syncing) = syncing();
        assert!(!syncing.begin_write(usize::MAX));
        // Nobody has called our `sync_file_range`, at least not for this file.
        *syncing.by.lock().unwrap() = By::Binding { calls_before: Some(u64::MAX) };
        syncing.end_flush().unwrap();
        assert!(matches!(*syncing.by.lock().unwrap(), By::Handle { .. }));
    }

    #[test]
    fn without_the_binding_a_flush_comes_before_too_much_is_unsynced() {
        let (_file, syncing) = syncing();
        syncing.distrust_binding().unwrap();
        let half = UNSYNCED_BYTES_MAX / 2;
        // What is written at once cannot be divided.
        assert!(!syncing.begin_write(3 * half));
        assert!(syncing.begin_write(1));
        syncing.end_flush().unwrap();
        assert!(!syncing.begin_write(half));
        assert!(!syncing.begin_write(half));
        assert!(syncing.begin_write(1));
    }
}
