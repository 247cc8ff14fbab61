//! The options of the service, and how it starts, runs and ends (SV-1, SV-2, SV-28).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::{fmt, io};

use axum::Router;
use axum::routing::get;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use turnfold_core::{DueRoll, Registry};

use crate::auto_host;
use crate::connections::Connections;
use crate::hosting::{self, HostedMail};
use crate::limits::CLOSING_TIME;
use crate::middleware::show_metrics;
use crate::prelude::*;
use crate::resources::calls::{self, Notifying};
use crate::router::router;

/// How the service runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on; port 0 means any free port.
    pub listen: SocketAddr,
    /// Where clients find the service, such as `https://play.example`; by default the address it listens on.
    pub origin: Option<String>,
    /// The other origins whose pages may use the service.
    pub cors: Vec<String>,
    /// The directory of the store, unless a database holds it.
    pub store_dir: Option<PathBuf>,
    /// How many bytes of states are kept in memory.
    pub cache_bytes: u64,
    /// How many files the process may have open; each connection is one.
    pub files_max: u64,
    /// Whether a proxy adds the client's address to `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// The initial settings.
    pub settings: Settings,
    /// The address of its metrics.
    pub metrics: Option<SocketAddr>,
    /// How to host matches by mail; if `None`, no papers are taken.
    pub mail: Option<HostedMail>,
    /// How to call players on their turns; if `None`, no one is called.
    pub notifying: Option<Notifying>,
}

/// Settings that may change while the service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The hash of the admin's token.
    pub admin: Digest,
    /// The most requests a second with one token of a seat; four times as many in a burst.
    pub seat_rate: NonZeroU32,
    /// The same for one token of a spectator.
    pub spectator_rate: NonZeroU32,
}

/// Reads the settings again, or returns a one-line reason why it cannot.
pub type Reload<'a> = &'a dyn Fn() -> Result<Settings, String>;

/// The clock, the randomness and the identity of the build, provided by the program.
#[derive(Clone, Copy)]
pub struct Outside {
    /// Returns the time now in milliseconds since 1970.
    pub now_ms: fn() -> i64,
    /// Fills bytes with the operating system's randomness, or returns why it cannot.
    pub fill_random: fn(&mut [u8]) -> Result<(), String>,
    /// Rolls dice with the operating system's randomness, for matches by mail and for trials.
    pub roll: fn(&DueRoll) -> io::Result<Vec<i32>>,
    /// The identity of this build. Snapshots of other builds are not used; without an identity none are.
    pub build: Option<Digest>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Outside").finish_non_exhaustive()
    }
}

/// How long to wait after a connection could not be accepted, for example because too many files are open.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// How often to ask for the heads of followed branches, and every how many rounds for the grants of their streams.
const ASK_EVERY: Duration = Duration::from_millis(250);
const GRANTS_EVERY: u64 = 2;

const ASKED_MAX: usize = 1000;

/// Why the service could not start, or could not close its store.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The service cannot be started.
    #[error("cannot start the service: {0}")]
    Start(io::Error),
    /// The store did not close.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Serves a store until SIGINT or SIGTERM, then closes it.
///
/// `announce` receives the address once connections are accepted. With `reload`, SIGHUP reads the settings again.
///
/// # Errors
/// [`ServeError`].
pub fn serve(
    store: Store,
    registry: Registry,
    outside: Outside,
    options: &Options,
    announce: &mut dyn FnMut(SocketAddr) -> io::Result<()>,
    reload: Option<Reload<'_>>,
) -> Result<(), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Start)?;
    let (listener, address) = runtime.block_on(listen(options.listen))?;
    let origin = options.origin.clone().unwrap_or_else(|| format!("http://{address}"));
    // The app is dropped outside the runtime, because dropping a store in a database blocks the thread (FL-3).
    let app = Arc::new(App::new(store, registry, outside, origin, options).map_err(ServeError::Start)?);
    let served = runtime.block_on(run(&app, (listener, address), options, announce, reload));
    // Wait for work on the runtime's threads, so that an append is answered or lost as a whole.
    runtime.shutdown_timeout(CLOSING_TIME);
    if let Some(app) = Arc::into_inner(app) {
        app.store.close()?;
    } else {
        tracing::warn!("some requests did not end in time; acknowledged appends are safe");
    }
    served
}

async fn run(
    app: &Arc<App>,
    (listener, address): (TcpListener, SocketAddr),
    options: &Options,
    announce: &mut dyn FnMut(SocketAddr) -> io::Result<()>,
    reload: Option<Reload<'_>>,
) -> Result<(), ServeError> {
    let graceful = GracefulShutdown::new();
    let connections = Connections::new(options.files_max, app.store.is_shared(), options.behind_proxy);
    let routes = router(app, &options.cors);
    let metrics = match options.metrics {
        Some(address) => Some(listen(address).await?.0),
        None => None,
    };
    // Catch signals before the address is announced: a process that reads it may end the service at once.
    let mut ended = std::pin::pin!(end().map_err(ServeError::Start)?);
    let mut hangups = hangups(reload.is_some()).map_err(ServeError::Start)?;
    announce(address).map_err(ServeError::Start)?;
    let mut tasks = JoinSet::new();
    if let Some(listener) = metrics {
        tasks.spawn(serve_metrics(listener, connections.clone(), Arc::clone(app)));
    }
    if app.store.is_shared() {
        tasks.spawn(poll_database(Arc::clone(app)));
    }
    tasks.spawn(auto_host::keep(Arc::clone(app)));
    if app.desks.is_some() {
        tasks.spawn(hosting::keep(Arc::clone(app)));
    }
    if app.calls.is_some() {
        tasks.spawn(calls::keep(Arc::clone(app)));
    }
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => connections.connect(accepted, routes.clone(), Some(&graceful)),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    connections.end_oldest();
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            },
            Some(()) = hangups.recv() => if let Some(reload) = reload { app.reload(reload) },
            () = &mut ended => break,
        }
    }
    drop(listener);
    app.closing.send_replace(true);
    if tokio::time::timeout(CLOSING_TIME, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time");
    }
    tasks.shutdown().await;
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Catches the signals to end from now on. The returned future waits for one of them.
#[cfg(unix)]
fn end() -> io::Result<impl Future<Output = ()>> {
    use signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(windows)]
fn end() -> io::Result<impl Future<Output = ()>> {
    use signal::windows;
    let mut interrupt = windows::ctrl_c()?;
    let mut break_key = windows::ctrl_break()?;
    let mut close = windows::ctrl_close()?;
    let mut shutdown = windows::ctrl_shutdown()?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = break_key.recv() => {}
            _ = close.recv() => {}
            _ = shutdown.recv() => {}
        }
    })
}

/// Catches SIGHUP from now on, if it is asked for, and sends a message for each.
fn hangups(is_caught: bool) -> io::Result<mpsc::Receiver<()>> {
    let (sender, receiver) = mpsc::channel(1);
    #[cfg(unix)]
    if is_caught {
        use signal::unix::{SignalKind, signal};
        let mut signals = signal(SignalKind::hangup())?;
        tokio::spawn(async move { while signals.recv().await.is_some() && sender.send(()).await.is_ok() {} });
    }
    #[cfg(not(unix))]
    drop((is_caught, sender));
    Ok(receiver)
}

async fn serve_metrics(listener: TcpListener, connections: Connections, app: Arc<App>) {
    let routes = Router::new().route("/metrics", get(show_metrics)).with_state(app);
    loop {
        match listener.accept().await {
            Ok(accepted) => connections.connect(accepted, routes.clone(), None),
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

/// Polls the database for what other processes append, delete and revoke (FL-18, FL-19).
async fn poll_database(app: Arc<App>) {
    let mut ticks = interval(ASK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for round in 0_u64.. {
        ticks.tick().await;
        let heard = app.block(move |app| {
            hear_of_branches(app)?;
            app.hear_of_accords(round)?;
            if round.is_multiple_of(GRANTS_EVERY) { hear_of_grants(app) } else { Ok(()) }
        });
        if let Err(problem) = heard.await {
            tracing::debug!(detail = problem.detail(), "cannot poll the database");
        }
    }
}

fn hear_of_branches(app: &App) -> ApiResult<()> {
    let mut followed = app.branches.all();
    followed.retain(|branch| branch.is_followed());
    for branches in followed.chunks(ASKED_MAX) {
        let named: Vec<_> = branches.iter().map(|branch| branch.named()).collect();
        for (branch, head) in branches.iter().zip(app.store.heads(&named)?) {
            match head {
                Some(head) => branch.announce(head),
                None => app.branches.forget(branch),
            }
        }
    }
    Ok(())
}

fn hear_of_grants(app: &App) -> ApiResult<()> {
    let mut tokens = app.limits.tokens_of_streams();
    // The admin token has no grant.
    tokens.retain(|token| !app.is_admin(token));
    for some in tokens.chunks(ASKED_MAX) {
        let found = app.store.find_grants(some)?;
        let live = found.iter().filter(|(_, grant)| grant.is_live(app.now_ms()));
        let live: BTreeSet<_> = live.map(|(token, _)| token).collect();
        // SV-20: a stream ends with its grant.
        if some.iter().any(|token| !live.contains(token)) {
            app.revoke();
            break;
        }
    }
    Ok(())
}
