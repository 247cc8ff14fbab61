//! Listening, and ending (SV-1, SV-2, SV-28).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal;
use tokio::task::JoinSet;
use turnfold_core::Registry;
use turnfold_store::{Store, StoreError};

use crate::app::App;
use crate::hosting;
use crate::limits::{CLOSING_TIME, HEADER_BYTES_MAX, HEADER_TIME};
use crate::metrics;
use crate::notice;
use crate::options::Options;
use crate::outside::Outside;
use crate::problem::{Code, Problem};
use crate::router::router;
use crate::timed_io::TimedWrites;

/// How long to wait when no connection can be taken, such as when there are too many files open.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Why the service could not run, or not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
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
/// `announce` is told the address once connections are taken.
///
/// # Errors
/// [`ServeError`].
pub fn serve(
    store: Store,
    registry: Registry,
    outside: Outside,
    options: &Options,
    announce: &mut dyn FnMut(SocketAddr) -> io::Result<()>,
) -> Result<(), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Start)?;
    let (listener, address) = runtime.block_on(listen(options.listen))?;
    let origin = options.origin.clone().unwrap_or_else(|| format!("http://{address}"));
    // We drop it last: a store in a database blocks, which nothing may that the runtime runs (FL-3).
    let app = Arc::new(App::new(store, registry, outside, origin, options).map_err(ServeError::Start)?);
    let served = runtime.block_on(run(&app, (listener, address), options, announce));
    // What still runs on threads of the runtime is waited for: an append that was begun is told or lost as a whole.
    runtime.shutdown_timeout(CLOSING_TIME);
    if let Some(app) = Arc::into_inner(app) {
        app.into_store().close()?;
    } else {
        tracing::warn!("some work did not end in time; what was acknowledged is safe");
    }
    served
}

async fn run(
    app: &Arc<App>,
    (listener, address): (TcpListener, SocketAddr),
    options: &Options,
    announce: &mut dyn FnMut(SocketAddr) -> io::Result<()>,
) -> Result<(), ServeError> {
    let graceful = GracefulShutdown::new();
    let routes = router(app, &options.cors);
    let metrics = match options.metrics {
        Some(address) => Some(listen(address).await?.0),
        None => None,
    };
    // Whoever is told the address may end the service at once.
    let mut ended = std::pin::pin!(end().map_err(ServeError::Start)?);
    announce(address).map_err(ServeError::Start)?;
    let mut tasks = JoinSet::new();
    if let Some(listener) = metrics {
        tasks.spawn(tell_metrics(listener, Arc::clone(app)));
    }
    if app.store.is_shared() {
        tasks.spawn(notice::listen(Arc::clone(app)));
    }
    if app.desks.is_some() {
        tasks.spawn(hosting::keep(Arc::clone(app)));
    }
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => connect(stream, routes.clone(), Some(&graceful)),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            },
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

/// Listens to the signals to end from now on; what is returned waits for one of them.
#[cfg(unix)]
fn end() -> io::Result<impl Future<Output = ()>> {
    use signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn end() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = signal::ctrl_c().await;
    })
}

/// Serves a connection.
fn connect(stream: TcpStream, routes: Router, graceful: Option<&GracefulShutdown>) {
    // Answers are small and whole; waiting to fill packets only delays them.
    let _ = stream.set_nodelay(true);
    // SV-4: `axum::serve` sets no limits on headers.
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(HEADER_BYTES_MAX);
    let served =
        http.serve_connection(TokioIo::new(TimedWrites::new(stream)), TowerToHyperService::new(routes));
    let log = |error: hyper::Error| tracing::debug!(%error, "a connection broke off");
    match graceful {
        Some(graceful) => {
            let served = graceful.watch(served);
            tokio::spawn(async move { served.await.unwrap_or_else(log) });
        }
        None => {
            tokio::spawn(async move { served.await.unwrap_or_else(log) });
        }
    }
}

/// Tells metrics to whoever asks on their own address.
async fn tell_metrics(listener: TcpListener, app: Arc<App>) {
    let routes = Router::new().route(
        "/metrics",
        get(move || {
            let app = Arc::clone(&app);
            async move {
                let told = app.block(|app| {
                    metrics::text(&app.metrics, app.tables.held(), app.limits.streams())
                        .map_err(|error| Problem::new(Code::Internal, error.to_string()))
                });
                match told.await {
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
            Ok((stream, _)) => connect(stream, routes.clone(), None),
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}
