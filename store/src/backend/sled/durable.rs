//! Makes sled durable on Linux.
//!
//! After each write sled 0.34.7 calls `sync_file_range`, which starts the writing of a file's pages and waits for it,
//! but syncs neither the file's metadata nor the disk's own cache: after a power cut the database is damaged, or opens
//! empty. This module defines that symbol, so that the linker binds sled's call to it, and calls `fdatasync` instead.
//! It counts its calls, because a build may bind the symbol elsewhere; the disk backend then syncs by itself.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static CALLS: AtomicU64 = AtomicU64::new(0);
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Returns the number of times that sled's sync came here and succeeded.
pub(super) fn calls() -> u64 {
    CALLS.load(Ordering::Acquire)
}

/// Returns `true` if a sync has failed in this process.
pub(super) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Acquire)
}

/// Stands in for the C library's `sync_file_range` and makes all written data of the file durable, not just a range.
///
/// Whoever else in this process calls it gets more than was asked for, never less.
#[expect(unsafe_code, reason = "the only way to make sled 0.34.7 durable; see the module's documentation")]
// SAFETY: the signature is the C library's. The symbol is defined once in the process, and every caller expects at
// most what `fdatasync` does.
#[unsafe(no_mangle)]
extern "C" fn sync_file_range(fd: c_int, _offset: i64, _bytes: i64, _flags: u32) -> c_int {
    // SAFETY: `fdatasync` takes any number, and answers one that is no open file with an error.
    let result = unsafe { libc::fdatasync(fd) };
    if result == 0 {
        CALLS.fetch_add(1, Ordering::Release);
    } else {
        HAS_FAILED.store(true, Ordering::Release);
    }
    result
}
