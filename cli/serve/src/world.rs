//! What everything in the service works with: the store and what stands beside it, but no branch in memory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use turnfold_core::{Digest, Registry};
use turnfold_replay::{Replay, ReplayError, Sources};
use turnfold_store::{Store, StoreReader};

use crate::known_grants::KnownGrants;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::outside::Outside;
use crate::problem::{Code, Problem};

/// The store, the rules, the outside, and what is counted.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) outside: Outside,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) grants: KnownGrants,
    /// Counts grants that were revoked, so that streams look after theirs.
    revoked: watch::Sender<u64>,
    /// Whether the service is shutting down.
    closing: watch::Sender<bool>,
    /// Whether the store has refused to write.
    has_failed: AtomicBool,
}

impl World {
    pub(crate) fn new(store: Store, registry: Registry, outside: Outside) -> Self {
        Self {
            store,
            registry,
            outside,
            limits: Limits::default(),
            metrics: Metrics::default(),
            grants: KnownGrants::default(),
            revoked: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Returns the time now in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        (self.outside.now_ms)()
    }

    /// Says that grants were revoked, which count no more from now on.
    pub(crate) fn revoke(&self) {
        self.grants.forget();
        self.revoked.send_modify(|count| *count += 1);
    }

    /// Returns a watch on whether grants were revoked.
    pub(crate) fn revoked(&self) -> watch::Receiver<u64> {
        self.revoked.subscribe()
    }

    /// Says that the service shuts down.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Returns a watch on whether the service shuts down.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Returns `true` if the service takes requests and its store accepts writes.
    pub(crate) fn is_ready(&self) -> bool {
        !*self.closing.borrow() && !self.has_failed.load(Ordering::Relaxed)
    }

    /// Notes that the store failed, if that is the problem. On a full disk only a directory stops accepting writes.
    pub(crate) fn note(&self, problem: &Problem) {
        let has_stopped = match problem.code() {
            Code::Store => true,
            Code::Full => !self.store.is_shared(),
            _ => false,
        };
        if has_stopped {
            self.has_failed.store(true, Ordering::Relaxed);
            self.metrics.store_failed.set(1);
        }
    }

    /// Notes that the store did what it was asked for. A database comes back by itself; a directory that failed is to be
    /// opened again.
    pub(crate) fn note_answer(&self) {
        if self.store.is_shared() && self.has_failed.swap(false, Ordering::Relaxed) {
            self.metrics.store_failed.set(0);
        }
    }

    /// Asks a database that did not answer whether it does now.
    pub(crate) fn ask_again(&self) {
        if self.store.is_shared()
            && self.has_failed.load(Ordering::Relaxed)
            && self.store.find_grants(&[]).is_ok()
        {
            self.note_answer();
        }
    }
}

impl Sources for World {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn read_store(&self) -> Result<StoreReader, ReplayError> {
        Ok((*self.store).clone())
    }

    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError> {
        Err(ReplayError::NoReplays(path.into()))
    }

    fn build(&self) -> Option<Digest> {
        self.outside.build
    }
}
