//! Makes sled durable on Linux.
//!
//! After each write sled 0.34.7 calls `sync_file_range`, which starts the writing of a file's pages and waits for it,
//! but syncs neither the file's metadata nor the disk's own cache: after a power cut the database is damaged, or opens
//! empty. This module defines that symbol, so that the linker binds sled's call to it, and calls `fdatasync` instead.
//!
//! Where somebody syncs the file after each flush, a commit of several writes needs that one sync only. So for a file
//! that is [`Deferred`] the symbol syncs less often, but often enough that what sled believes to be durable and is not
//! lies within [`UNSYNCED_BYTES_MAX`] of one segment. It counts its calls, because a build may bind it elsewhere.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::log::{SEGMENT_BYTES, UNSYNCED_BYTES_MAX};

/// What tells files apart: the device and the number of the file on it.
type FileId = (u64, u64);

static DEFERRED: Mutex<BTreeMap<FileId, Arc<Written>>> = Mutex::new(BTreeMap::new());
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// The most segments that sled's threads write at once.
const SEGMENTS_AT_ONCE_MAX: usize = 4;

/// What sled has written to a file.
#[derive(Default)]
struct Written {
    calls: AtomicU64,
    /// Held while the file is synced.
    unsynced: Mutex<Unsynced>,
}

#[derive(Default)]
struct Unsynced {
    bytes: u64,
    /// Where those segments begin whose ends were written last. Another thread may still write what stands before such
    /// an end; once it has, sled believes the whole segment to be durable.
    ended: VecDeque<u64>,
}

impl Written {
    fn unsynced(&self) -> MutexGuard<'_, Unsynced> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unsynced {
    /// Adds written bytes; returns `true` if they may not stay unsynced.
    fn add(&mut self, offset: u64, bytes: u64) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        let segment = offset - offset % SEGMENT_BYTES;
        let is_late = self.ended.contains(&segment);
        // sled believes nothing of the next segment to be durable before the call for the end of this one returns.
        let ends_segment = offset.saturating_add(bytes).is_multiple_of(SEGMENT_BYTES);
        if ends_segment && !is_late {
            self.ended.push_back(segment);
            if self.ended.len() > SEGMENTS_AT_ONCE_MAX {
                self.ended.pop_front();
            }
        }
        is_late || ends_segment || self.bytes > UNSYNCED_BYTES_MAX
    }
}

/// A file that is synced after each flush, as long as this lives.
pub(super) struct Deferred {
    id: FileId,
    written: Arc<Written>,
}

impl Deferred {
    /// Defers the syncs of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        let (id, written) = ((found.dev(), found.ino()), Arc::<Written>::default());
        deferred().insert(id, Arc::clone(&written));
        Ok(Self { id, written })
    }

    /// Returns the number of times that sled asked for a sync.
    pub(super) fn calls(&self) -> u64 {
        self.written.calls.load(Ordering::Acquire)
    }

    /// Makes everything durable that sled has written so far.
    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        let mut unsynced = self.written.unsynced();
        file.sync_data()?;
        unsynced.bytes = 0;
        Ok(())
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        deferred().remove(&self.id);
    }
}

fn deferred() -> MutexGuard<'static, BTreeMap<FileId, Arc<Written>>> {
    DEFERRED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns `true` if a sync that sled asked for has failed in this process.
pub(super) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Acquire)
}

/// Stands in for the C library's `sync_file_range` and makes all written data of the file durable, not just a range;
/// or notes that it has to be.
///
/// Whoever else in this process calls it gets more than was asked for, never less.
#[expect(unsafe_code, reason = "the only way to make sled 0.34.7 durable; see the module's documentation")]
// SAFETY: the signature is the C library's. The symbol is defined once in the process, and every caller expects at
// most what `fdatasync` does; but sled, whose own files are the only deferred ones.
#[unsafe(no_mangle)]
extern "C" fn sync_file_range(fd: c_int, offset: i64, bytes: i64, _flags: u32) -> c_int {
    let written = id_of(fd).and_then(|id| deferred().get(&id).cloned());
    let Some(written) = written else { return sync(fd) };
    written.calls.fetch_add(1, Ordering::Release);
    let mut unsynced = written.unsynced();
    if !unsynced.add(offset.cast_unsigned(), bytes.cast_unsigned()) {
        return 0;
    }
    let result = sync(fd);
    if result == 0 {
        unsynced.bytes = 0;
    }
    result
}

#[expect(unsafe_code, reason = "sled hands over a number, not a file")]
fn sync(fd: c_int) -> c_int {
    // SAFETY: `fdatasync` takes any number, and answers one that is no open file with an error.
    let result = unsafe { libc::fdatasync(fd) };
    HAS_FAILED.fetch_or(result != 0, Ordering::Release);
    result
}

#[expect(unsafe_code, reason = "sled hands over a number, not a file")]
fn id_of(fd: c_int) -> Option<FileId> {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `fstat` takes any number, and writes to the structure only if it is an open file, all of it.
    let found = unsafe { (libc::fstat(fd, found.as_mut_ptr()) == 0).then(|| found.assume_init()) }?;
    Some((found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_deferred_file_is_synced_when_a_segment_ends_or_much_is_unsynced() {
        let file = tempfile::tempfile().unwrap();
        let deferred = Deferred::of(&file).unwrap();
        let unsynced_after = |offset: u64, bytes: u64| {
            let range = [offset, bytes].map(u64::cast_signed);
            assert_eq!(sync_file_range(file.as_raw_fd(), range[0], range[1], 0), 0);
            deferred.written.unsynced().bytes
        };
        assert_eq!(unsynced_after(0, UNSYNCED_BYTES_MAX), UNSYNCED_BYTES_MAX);
        assert_eq!(unsynced_after(UNSYNCED_BYTES_MAX, 1), 0);
        assert_eq!(unsynced_after(SEGMENT_BYTES - 9, 8), 8);
        assert_eq!(unsynced_after(SEGMENT_BYTES - 1, 1), 0);
        assert_eq!(unsynced_after(SEGMENT_BYTES - 9, 8), 0, "its end was written before it");
        assert_eq!(unsynced_after(SEGMENT_BYTES, 5), 5);
        deferred.sync(&file).unwrap();
        assert_eq!(unsynced_after(SEGMENT_BYTES + 5, 0), 0);
        assert_eq!(deferred.calls(), 7);
    }

    #[test]
    fn every_other_file_is_synced_at_once() {
        let (file, other) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let deferred = Deferred::of(&file).unwrap();
        assert_eq!(sync_file_range(other.as_raw_fd(), 0, 1, 0), 0);
        assert_eq!(deferred.calls(), 0);
        drop(deferred);
        assert_eq!(sync_file_range(file.as_raw_fd(), 0, 1, 0), 0);
        assert!(!has_failed());
        assert_eq!(sync_file_range(-1, 0, 1, 0), -1);
    }
}
