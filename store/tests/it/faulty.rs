//! A backend that fails on purpose, for tests of what survives a failure.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use turnfold_store::backend::{Backend, BackendError, RecordChange, StoredRecord};

/// Which call fails, counted from 1. Reads and writes are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A write leaves nothing behind.
    Write(u64),
    /// A write finds the disk full.
    DiskFull(u64),
    /// A write leaves everything behind and still fails.
    WriteLate(u64),
    /// A read fails.
    Read(u64),
    /// A read that finds a value returns it with a flipped bit.
    FlippedBit(u64),
}

/// A kind of fault, for a call whose number is chosen.
pub(crate) type Kind = fn(u64) -> Fault;

impl Fault {
    /// Every kind of fault that makes a call fail.
    pub(crate) const FAILING: [Kind; 4] = [Self::Write, Self::DiskFull, Self::WriteLate, Self::Read];
}

/// Passes calls on to another backend, except those that fail.
pub(crate) struct FaultyBackend<B> {
    inner: B,
    faults: Vec<Fault>,
    writes: AtomicU64,
    reads: AtomicU64,
}

impl<B: Backend> FaultyBackend<B> {
    /// Wraps a backend.
    pub(crate) fn new(inner: B, faults: impl Into<Vec<Fault>>) -> Self {
        let [writes, reads] = [(); 2].map(|()| AtomicU64::new(0));
        Self { inner, faults: faults.into(), writes, reads }
    }

    fn fails(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Reads, fails, or flips a bit in one of the values that `values` finds in the answer.
    fn read<T>(
        &self,
        read: impl FnOnce(&B) -> Result<T, BackendError>,
        values: impl FnOnce(&mut T) -> Option<&mut Vec<u8>>,
    ) -> Result<T, BackendError> {
        let call = count(&self.reads);
        if self.fails(Fault::Read(call)) {
            return Err(failed("read", io::ErrorKind::Other));
        }
        let mut answer = read(&self.inner)?;
        if self.fails(Fault::FlippedBit(call))
            && let Some(value) = values(&mut answer)
        {
            let place = usize::try_from(call).unwrap_or(0) % value.len().max(1);
            if let Some(byte) = value.get_mut(place) {
                *byte ^= 1 << (call % 8);
            }
        }
        Ok(answer)
    }
}

fn count(calls: &AtomicU64) -> u64 {
    calls.fetch_add(1, Ordering::Relaxed) + 1
}

fn failed(action: &str, kind: io::ErrorKind) -> BackendError {
    BackendError::Io { action: action.to_owned(), source: io::Error::new(kind, "injected fault") }
}

impl<B: Backend> Backend for FaultyBackend<B> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.read(|inner| inner.get(key), Option::as_mut)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.read(|inner| inner.scan(range, limit), |found| found.last_mut().map(|(_, value)| value))
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.read(|inner| inner.last(range), |found| found.as_mut().map(|(_, value)| value))
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        let call = count(&self.writes);
        if self.fails(Fault::Write(call)) {
            return Err(failed("write", io::ErrorKind::Other));
        }
        if self.fails(Fault::DiskFull(call)) {
            return Err(failed("write", io::ErrorKind::StorageFull));
        }
        self.inner.write(changes)?;
        if self.fails(Fault::WriteLate(call)) {
            return Err(failed("sync", io::ErrorKind::Other));
        }
        Ok(())
    }
}
