//! What all handlers share.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use turnfold_core::{Digest, Registry};
use turnfold_replay::{Replay, ReplayError, Sources};
use turnfold_store::{Store, StoreReader};

use crate::around::Ids;
use crate::auth::{Access, Bearer};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::outside::Outside;
use crate::problem::{Answer, Code, Problem};
use crate::tables::Tables;

/// The service: one store, and what is kept in memory beside it.
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) outside: Outside,
    pub(crate) tables: Tables,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) ids: Ids,
    /// Where clients find the service, such as `https://play.example`.
    pub(crate) origin: String,
    /// Counts grants that were revoked, so that streams look after theirs.
    pub(crate) revoked: watch::Sender<u64>,
    admin: Digest,
    /// Whether the service is shutting down.
    closing: watch::Sender<bool>,
    /// Whether the store has refused to write.
    has_failed: AtomicBool,
}

impl App {
    pub(crate) fn new(
        store: Store,
        registry: Registry,
        outside: Outside,
        origin: String,
        options: &Options,
    ) -> io::Result<Self> {
        let mut random = [0; 8];
        (outside.fill_random)(&mut random).map_err(io::Error::other)?;
        Ok(Self {
            store,
            registry,
            outside,
            tables: Tables::new(options.cache_bytes),
            limits: Limits::default(),
            metrics: Metrics::default(),
            ids: Ids::new(u64::from_le_bytes(random)),
            origin,
            revoked: watch::Sender::new(0),
            admin: options.admin,
            closing: watch::Sender::new(false),
            has_failed: AtomicBool::new(false),
        })
    }

    /// Returns `true` if a token of this hash is the admin's.
    pub(crate) fn is_admin(&self, hash: &Digest) -> bool {
        // Digests of 256 random bits: how long a comparison takes tells nothing that helps to guess.
        *hash == self.admin
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

    /// Notes that the store failed, if that is the problem.
    pub(crate) fn note(&self, problem: &Problem) {
        if problem.code() == Code::Store {
            self.has_failed.store(true, Ordering::Relaxed);
            self.metrics.store_failed.set(1);
        }
    }

    /// Does work that may block, on a thread for it.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|_| {
            Err(Problem::new(Code::Internal, "an internal error; the logs of the service tell more"))
        })
    }

    /// Does work that may block, for somebody who may have it.
    pub(crate) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        access: Access,
        work: impl FnOnce(&Arc<Self>) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        self.block(move |app| work(app).map_err(|problem| problem.told_to(&access))).await
    }

    /// Does what a token asks for, on a thread that may block.
    pub(crate) async fn serve<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: Bearer,
        work: impl FnOnce(&Arc<Self>, &Access) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        self.block(move |app| {
            let access = app.admit(&bearer)?;
            work(app, &access).map_err(|problem| problem.told_to(&access))
        })
        .await
    }

    /// Does what a token asks for and what takes folding a line of play; only so many do so at once (SV-31).
    pub(crate) async fn fold<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: Bearer,
        work: impl FnOnce(&Arc<Self>, &Access) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        // The token comes first: whoever has none is not kept waiting (SV-12).
        let access = self.block(move |app| app.admit(&bearer)).await?;
        self.fold_for(move |app| work(app, &access).map_err(|problem| problem.told_to(&access))).await
    }

    /// Does what takes folding for somebody who may have it.
    pub(crate) async fn fold_for<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let permit = self.limits.fold().await?;
        self.block(move |app| {
            let _permit = permit;
            work(app)
        })
        .await
    }
}

impl Sources for App {
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
