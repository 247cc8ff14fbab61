//! What every part of the service uses: the store, rules, clock, limits and metrics, but no branch in memory.

use std::path::Path;
use std::sync::OnceLock;

use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use turnfold_core::{Digest, Registry};
use turnfold_history::tfl::Replay;
use turnfold_history::{ReplayError, Sources};
use turnfold_store::{Store, StoreReader};

use crate::auth::{KnownGrants, LastSeen};
use crate::limits::ServiceLimits;
use crate::metrics::Metrics;
use crate::options::{Outside, Settings};
use crate::problem::{ApiResult, Problem, ProblemCode};

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) outside: Outside,
    pub(crate) limits: ServiceLimits,
    pub(crate) metrics: Metrics,
    pub(crate) grants: KnownGrants,
    pub(crate) seen: LastSeen,
    /// Changes when grants are revoked, so that streams check theirs.
    revoked: watch::Sender<u64>,
    /// Whether the service is shutting down.
    closing: watch::Sender<bool>,
    /// Why a directory accepts no more writes until it is opened again (SV-28).
    pub(crate) stopped: OnceLock<Problem>,
    pub(crate) database: Mutex<Database>,
}

/// The last health check of the database, for load balancers (SV-28).
#[derive(Default)]
pub(crate) struct Database {
    pub(crate) answer: Option<(Instant, ApiResult<()>)>,
    /// The check that is running; there is never a second one.
    pub(crate) asked: Option<JoinHandle<ApiResult<()>>>,
}

impl World {
    pub(crate) fn new(store: Store, registry: Registry, outside: Outside, settings: &Settings) -> Self {
        Self {
            store,
            registry,
            outside,
            limits: ServiceLimits::new(settings),
            metrics: Metrics::default(),
            grants: KnownGrants::default(),
            seen: LastSeen::default(),
            revoked: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            stopped: OnceLock::new(),
            database: Mutex::default(),
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.outside.now_ms)()
    }

    pub(crate) fn revoke(&self) {
        self.grants.forget();
        self.revoked.send_modify(|count| *count += 1);
    }

    pub(crate) fn revoked(&self) -> watch::Receiver<u64> {
        self.revoked.subscribe()
    }

    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    pub(crate) fn note(&self, problem: &Problem) {
        // A database server whose disk is full refuses one request after another; it does not stop.
        if !problem.is_of_store() || (problem.code() == ProblemCode::Full && self.store.is_shared()) {
            return;
        }
        self.metrics.store_failed.set(1);
        if !self.store.is_shared() {
            // The first problem is the cause.
            let _ = self.stopped.set(problem.clone().with_next_step(false));
        }
    }

    pub(crate) fn note_answer(&self) {
        // A database recovers without a restart.
        if self.store.is_shared() {
            self.metrics.store_failed.set(0);
        }
    }

    pub(crate) fn explain(&self, problem: Problem) -> Problem {
        // After the disk was full, later failures have that cause.
        let problem = match self.stopped.get().filter(|stopped| stopped.code() == ProblemCode::Full) {
            Some(stopped) if problem.code() == ProblemCode::Store && !problem.is_of_store() => {
                stopped.clone()
            }
            _ => problem,
        };
        problem.with_next_step(self.store.is_shared())
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
