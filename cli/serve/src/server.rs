//! Starts, runs and ends the service (SV-1, SV-2, SV-28).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal;
use tokio::task::JoinSet;
use turnfold_core::Registry;
use turnfold_store::{Store, StoreError};

use crate::app::App;
use crate::auto_host;
use crate::connections::{Acceptor, Connections, connect};
use crate::hosting;
use crate::limits::{CLOSING_TIME, connections_max};
use crate::metrics;
use crate::notice;
use crate::options::{Options, Outside, Reload};
use crate::problem::{Problem, ProblemCode};
use crate::router::router;
use crate::turn_calls;

/// How long to wait after a connection could not be accepted, for example because too many files are open.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

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
        app.into_store().close()?;
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
    let acceptor = Acceptor {
        connections: Connections::new(connections_max(options.files_max, app.store.is_shared())),
        behind_proxy: options.behind_proxy,
    };
    let routes = router(app, &options.cors);
    let metrics = match options.metrics {
        Some(address) => Some(listen(address).await?.0),
        None => None,
    };
    // Catch signals before the address is announced: a process that reads it may end the service at once.
    let mut ended = std::pin::pin!(end().map_err(ServeError::Start)?);
    let mut hangups = Hangups::catch(reload.is_some()).map_err(ServeError::Start)?;
    announce(address).map_err(ServeError::Start)?;
    let mut tasks = JoinSet::new();
    if let Some(listener) = metrics {
        tasks.spawn(serve_metrics(listener, acceptor.clone(), Arc::clone(app)));
    }
    if app.store.is_shared() {
        tasks.spawn(notice::listen(Arc::clone(app)));
    }
    tasks.spawn(auto_host::keep(Arc::clone(app)));
    if app.desks.is_some() {
        tasks.spawn(hosting::keep(Arc::clone(app)));
    }
    if app.calls.is_some() {
        tasks.spawn(turn_calls::keep(Arc::clone(app)));
    }
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => connect(accepted, &acceptor, routes.clone(), Some(&graceful)),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    acceptor.connections.end_oldest();
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            },
            () = hangups.next() => if let Some(reload) = reload { app.reload(reload) },
            () = &mut ended => break,
        }
    }
    drop(listener);
    app.close();
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

#[derive(Default)]
struct Hangups {
    #[cfg(unix)]
    signals: Option<signal::unix::Signal>,
}

impl Hangups {
    #[cfg(unix)]
    fn catch(is_caught: bool) -> io::Result<Self> {
        use signal::unix::{SignalKind, signal};
        Ok(Self { signals: is_caught.then(|| signal(SignalKind::hangup())).transpose()? })
    }

    #[cfg(not(unix))]
    fn catch(_: bool) -> io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signals) = &mut self.signals {
            signals.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}

async fn serve_metrics(listener: TcpListener, acceptor: Acceptor, app: Arc<App>) {
    let routes = Router::new().route(
        "/metrics",
        get(move || {
            let app = Arc::clone(&app);
            async move {
                let answer = app.block(|app| {
                    metrics::text(&app.metrics, &app.branches, &app.limits)
                        .map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))
                });
                match answer.await {
                    Ok(text) => {
                        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                        ([("content-type", kind)], text).into_response()
                    }
                    Err(problem) => problem.render("metrics"),
                }
            }
        }),
    );
    loop {
        match listener.accept().await {
            Ok(accepted) => connect(accepted, &acceptor, routes.clone(), None),
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}
