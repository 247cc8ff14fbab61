//! A backend that fails on purpose, for tests of what survives.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Backend, BackendError, Change, Record, Watermark};

/// Which call fails; calls of each sort are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A write leaves nothing behind.
    Write(u64),
    /// A write finds the disk full.
    DiskFull(u64),
    /// A flush makes nothing durable.
    Flush(u64),
    /// A flush makes everything durable and fails all the same.
    FlushLate(u64),
    /// The watermark is not replaced.
    Watermark(u64),
    /// A read fails.
    Read(u64),
}

/// Passes calls on to another backend, except the one that fails.
pub struct FaultyBackend<B> {
    inner: B,
    fault: Fault,
    writes: AtomicU64,
    flushes: AtomicU64,
    watermarks: AtomicU64,
    reads: AtomicU64,
}

impl<B: Backend> FaultyBackend<B> {
    /// Wraps a backend.
    pub fn new(inner: B, fault: Fault) -> Self {
        let [writes, flushes, watermarks, reads] = [(); 4].map(|()| AtomicU64::new(0));
        Self { inner, fault, writes, flushes, watermarks, reads }
    }

    fn read<T>(&self, read: impl FnOnce(&B) -> Result<T, BackendError>) -> Result<T, BackendError> {
        if self.fault == Fault::Read(count(&self.reads)) {
            return Err(failed("read", io::ErrorKind::Other));
        }
        read(&self.inner)
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
        self.read(|inner| inner.get(key))
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<Record>, BackendError> {
        self.read(|inner| inner.scan(range, limit))
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<Record>, BackendError> {
        self.read(|inner| inner.last(range))
    }

    fn write(&self, changes: &[Change]) -> Result<(), BackendError> {
        let call = count(&self.writes);
        if self.fault == Fault::Write(call) {
            return Err(failed("write", io::ErrorKind::Other));
        }
        if self.fault == Fault::DiskFull(call) {
            return Err(failed("write", io::ErrorKind::StorageFull));
        }
        self.inner.write(changes)
    }

    fn flush(&self) -> Result<(), BackendError> {
        let call = count(&self.flushes);
        if self.fault == Fault::Flush(call) {
            return Err(failed("flush", io::ErrorKind::Other));
        }
        self.inner.flush()?;
        if self.fault == Fault::FlushLate(call) {
            return Err(failed("flush", io::ErrorKind::Other));
        }
        Ok(())
    }

    fn watermark(&self) -> Result<Option<Watermark>, BackendError> {
        self.read(Backend::watermark)
    }

    fn set_watermark(&self, watermark: &Watermark) -> Result<(), BackendError> {
        if self.fault == Fault::Watermark(count(&self.watermarks)) {
            return Err(failed("write the watermark", io::ErrorKind::Other));
        }
        self.inner.set_watermark(watermark)
    }
}
