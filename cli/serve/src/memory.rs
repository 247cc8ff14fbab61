//! The memory of open branches, counted against one limit (SV-27).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of an open branch without states: its names, locks, watches and its place in the cache.
pub(crate) const BRANCH_BYTES: u64 = 3_072;

/// The memory of a state: `STATE_BYTES`, and `STATE_TIMES` times its encoded bytes.
const STATE_BYTES: u64 = 1_024;
const STATE_TIMES: u64 = 4;

/// Estimates the memory of a state of `bytes` encoded bytes.
pub(crate) fn state_memory(bytes: u64) -> u64 {
    bytes.saturating_mul(STATE_TIMES).saturating_add(STATE_BYTES)
}

/// The memory of all open branches.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<AtomicU64>);

impl Memory {
    /// Returns how many bytes are held.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts the bytes of one holder until the returned share is dropped.
    pub(crate) fn share(&self, bytes: u64) -> MemoryShare {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        MemoryShare { bytes, memory: self.clone() }
    }
}

/// The counted bytes of one holder.
pub(crate) struct MemoryShare {
    pub(crate) bytes: u64,
    memory: Memory,
}

impl MemoryShare {
    /// Replaces the counted bytes.
    pub(crate) fn set(&mut self, bytes: u64) {
        self.memory.0.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.set(0);
    }
}
