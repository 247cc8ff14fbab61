//! What open branches hold in memory, counted against one limit (SV-27).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an open branch takes whatever it holds: its names, its locks, what is watched, and its place among the others.
pub(crate) const BRANCH_BYTES: u64 = 3_072;

/// What a state takes whatever it holds, and how many times its bytes.
const STATE_BYTES: u64 = 1_024;
const STATE_TIMES: u64 = 4;

/// Returns what a state of `bytes` bytes takes in memory.
pub(crate) fn state_memory(bytes: u64) -> u64 {
    bytes.saturating_mul(STATE_TIMES).saturating_add(STATE_BYTES)
}

/// What all open branches hold.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<AtomicU64>);

impl Memory {
    /// Returns how many bytes are held.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts what one holder holds, until it is dropped.
    pub(crate) fn share(&self, bytes: u64) -> MemoryShare {
        let mut share = MemoryShare { bytes: 0, memory: self.clone() };
        share.set(bytes);
        share
    }
}

/// The part of one holder.
pub(crate) struct MemoryShare {
    bytes: u64,
    memory: Memory,
}

impl MemoryShare {
    /// Counts what it holds now.
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
