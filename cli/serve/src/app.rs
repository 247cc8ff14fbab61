//! The state that all parts of the service share.

use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, OnceLock, PoisonError};
use std::task::Poll;

use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::JoinHandle;
use turnfold_core::{Fault, Registry};
use turnfold_history::tfl::Replay;
use turnfold_history::{ReplayError, Sources, catch};
use turnfold_store::StoreReader;

use crate::auth::{AccessToken, KnownGrants, LastSeen, no_token, require_live};
use crate::auto_host::{AutoHost, News};
use crate::branch_cache::BranchCache;
use crate::hosting::Desks;
use crate::http::name;
use crate::limits::ServiceLimits;
use crate::middleware::Metrics;
use crate::prelude::*;
use crate::resources::calls::TurnCalls;
use crate::server::{Options, Outside, Reload};
use crate::takeback::Accords;

pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) outside: Outside,
    pub(crate) limits: ServiceLimits,
    pub(crate) metrics: Metrics,
    pub(crate) grants: KnownGrants,
    pub(crate) seen: LastSeen,
    /// Changes when grants are revoked, so that streams check theirs.
    pub(crate) revoked: watch::Sender<u64>,
    /// Whether the service is shutting down.
    pub(crate) closing: watch::Sender<bool>,
    /// Why a directory accepts no more writes until it is opened again (SV-28).
    pub(crate) stopped: OnceLock<Problem>,
    pub(crate) database: AsyncMutex<Database>,
    pub(crate) branches: BranchCache,
    pub(crate) ids: Ids,
    /// The desks of matches by mail, if the service hosts any.
    pub(crate) desks: Option<Desks>,
    /// Calls players on their turns, if the service calls anyone.
    pub(crate) calls: Option<TurnCalls>,
    /// The matches with terms, which the service hosts by itself.
    pub(crate) auto_host: AutoHost,
    /// The matches that are followed, for news besides entries.
    pub(crate) accords: Accords,
    /// Where clients find the service, such as `https://play.example`.
    pub(crate) origin: String,
    /// The directory of the store, unless a database holds it.
    pub(crate) store_dir: Option<PathBuf>,
    /// The hash of the admin's token.
    admin: Mutex<Digest>,
}

/// The last health check of the database, for load balancers (SV-28).
#[derive(Default)]
pub(crate) struct Database {
    pub(crate) answer: Option<(Instant, ApiResult<()>)>,
    /// The check that is running; there is never a second one.
    pub(crate) asked: Option<JoinHandle<ApiResult<()>>>,
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
            limits: ServiceLimits::new(&options.settings),
            metrics: Metrics::default(),
            grants: KnownGrants::default(),
            seen: LastSeen::default(),
            revoked: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            stopped: OnceLock::new(),
            database: AsyncMutex::default(),
            branches: BranchCache::new(options.cache_bytes),
            ids: Ids::new(u64::from_le_bytes(random)),
            desks: options.mail.clone().map(|mail| Desks { mail, news: News::default() }),
            calls: options.notifying.clone().map(TurnCalls::open).transpose()?,
            auto_host: AutoHost::default(),
            accords: Accords::default(),
            origin,
            store_dir: options.store_dir.clone(),
            admin: Mutex::new(options.settings.admin),
        })
    }

    pub(crate) fn is_admin(&self, hash: &Digest) -> bool {
        // The time of the comparison does not help to guess, because both are digests of 256 random bits.
        *hash == *lock(&self.admin)
    }

    pub(crate) fn reload(&self, reload: Reload<'_>) {
        match tokio::task::block_in_place(reload) {
            Ok(settings) => {
                *lock(&self.admin) = settings.admin;
                self.limits.apply(&settings);
                // Streams of a former admin token end.
                self.revoke();
                tracing::warn!("read the settings again");
            }
            Err(error) => tracing::warn!(%error, "the settings stay as they were"),
        }
    }

    pub(crate) async fn admit(self: &Arc<Self>, bearer: &Bearer) -> ApiResult<Access> {
        match bearer.hash() {
            Some((token, TokenKind::Admin)) if self.is_admin(&token) => Ok(Access { token, grant: None }),
            Some((token, kind)) if kind != TokenKind::Admin => {
                let grant = self.find_grant(bearer, token).await?;
                let grant = grant.filter(|grant| TokenKind::from(grant.kind) == kind).ok_or_else(no_token)?;
                let grant = require_live(grant, self.now_ms())?;
                self.limits.admit(&token, grant.kind)?;
                self.seen.note(token, self.now_ms());
                Ok(Access { token, grant: Some(grant) })
            }
            _ => {
                self.limits.guesses.require_few(bearer.client())?;
                self.limits.guesses.count(bearer.client());
                Err(no_token())
            }
        }
    }

    pub(crate) async fn admit_to(
        self: &Arc<Self>,
        bearer: &Bearer,
        match_name: &str,
    ) -> ApiResult<(Access, MatchName)> {
        let access = self.admit(bearer).await?;
        let match_name: MatchName = name(match_name)?;
        access.require_match(&match_name)?;
        Ok((access, match_name))
    }

    pub(crate) async fn holds(self: &Arc<Self>, bearer: &Bearer) -> ApiResult<bool> {
        // This check is not counted as a request of the token.
        match bearer.hash() {
            None => Ok(false),
            Some((hash, TokenKind::Admin)) => Ok(self.is_admin(&hash)),
            Some((hash, _)) => {
                let grant = self.find_grant(bearer, hash).await?;
                Ok(grant.is_some_and(|grant| grant.is_live(self.now_ms())))
            }
        }
    }

    /// Finds the grant of a token by its hash, even if it was revoked or has expired.
    async fn find_grant(self: &Arc<Self>, bearer: &Bearer, hash: Digest) -> ApiResult<Option<Grant>> {
        if let Some(grant) = self.grants.find(&hash) {
            return Ok(Some(grant));
        }
        // Guesses from the same address do not lock out a token that was valid before.
        if !self.grants.has_known(&hash) {
            self.limits.guesses.require_few(bearer.client())?;
        }
        let grant = self.block(move |app| Ok(app.grants.read(&app.store, &hash)?)).await?;
        if grant.is_none() {
            self.limits.guesses.count(bearer.client());
        }
        Ok(grant)
    }

    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || app.guard(|| work(&app))).await;
        done.unwrap_or_else(|_| Err(Problem::internal()))
    }

    pub(crate) async fn serve<T: Send + 'static>(
        self: &Arc<Self>,
        bearer: Bearer,
        work: impl FnOnce(&Arc<Self>, &Access) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let access = self.admit(&bearer).await?;
        self.block(move |app| work(app, &access)).await
    }

    pub(crate) fn guard<T>(&self, work: impl FnOnce() -> ApiResult<T>) -> ApiResult<T> {
        catch(work).unwrap_or_else(|fault| Err(self.problem_of(fault)))
    }

    pub(crate) async fn guarded<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> ApiResult<T> {
        let mut work = pin!(work);
        poll_fn(|context| match catch(|| work.as_mut().poll(context)) {
            Ok(polled) => polled.map(Ok),
            Err(fault) => Poll::Ready(Err(self.problem_of(fault))),
        })
        .await
    }

    fn problem_of(&self, fault: Fault) -> Problem {
        // MD-6: a fault of a module or referee ends only its request and discards its states in memory.
        tracing::warn!(%fault, "a module or referee failed");
        for branch in self.branches.all() {
            branch.discard(&fault.of);
        }
        ReplayError::from(fault).into()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.outside.now_ms)()
    }

    pub(crate) fn random<const N: usize>(&self) -> ApiResult<[u8; N]> {
        let mut bytes = [0; N];
        (self.outside.fill_random)(&mut bytes).map_err(|cause| no_chance(&cause))?;
        Ok(bytes)
    }

    pub(crate) fn new_token(&self, kind: TokenKind) -> ApiResult<AccessToken> {
        AccessToken::generate(kind, &self.outside).map_err(|cause| no_chance(&cause))
    }

    pub(crate) fn revoke(&self) {
        self.grants.forget();
        self.revoked.send_modify(|count| *count += 1);
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

pub(crate) async fn to_end<T: Send + 'static>(
    app: &Arc<App>,
    work: impl Future<Output = ApiResult<T>> + Send + 'static,
) -> ApiResult<T> {
    let app = Arc::clone(app);
    // SV-15: the work continues even if its client disconnects.
    let done = tokio::spawn(async move { app.guarded(work).await.flatten() }).await;
    done.unwrap_or_else(|_| Err(Problem::internal()))
}

/// Locks a value, also after a thread that held it has panicked. A change of what is locked is never left half made.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) const REQUEST_ID: &str = "x-request-id";

pub(crate) struct Ids {
    beginning: String,
    next: AtomicU64,
}

impl Ids {
    pub(crate) fn new(random: u64) -> Self {
        Self { beginning: format!("{random:016x}"), next: AtomicU64::new(1) }
    }

    pub(crate) fn of(&self, headers: &HeaderMap) -> String {
        if let Some(id) = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok())
            && (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return id.to_owned();
        }
        format!("{}-{}", self.beginning, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

fn no_chance(cause: &str) -> Problem {
    tracing::error!(%cause, "no randomness");
    Problem::new(ProblemCode::Internal, "the operating system provides no random bytes")
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
