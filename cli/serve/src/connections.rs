//! The connections of the service. When there is no room for another one, the connection that has waited longest for
//! its next request is closed (SV-31).

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::http::Request;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use lru::LruCache;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};
use tower::ServiceExt;

use crate::app::lock;
use crate::limits::{
    CONNECTIONS_MAX, CONNECTIONS_MIN, ClientAddress, FILES_OF_DATABASE, FILES_OF_DIRECTORY, HEADER_BYTES_MAX,
    HEADER_TIME, WRITE_TIME,
};

#[derive(Clone)]
pub(crate) struct Connections {
    all: Arc<Mutex<State>>,
    /// Whether a proxy adds the client's address.
    behind_proxy: bool,
}

struct State {
    most: usize,
    open: usize,
    /// The number of the next connection.
    next: u64,
    /// The connections that wait for a request. The first has waited longest.
    waiting: LruCache<u64, Arc<Notify>>,
}

impl Connections {
    /// Leaves files for the store of those that the process may have open.
    pub(crate) fn new(files_max: u64, is_in_database: bool, behind_proxy: bool) -> Self {
        let kept = if is_in_database { FILES_OF_DATABASE } else { FILES_OF_DIRECTORY };
        let most = usize::try_from(files_max).unwrap_or(usize::MAX).saturating_sub(kept);
        let most = most.clamp(CONNECTIONS_MIN, CONNECTIONS_MAX);
        let all = State { most, open: 0, next: 0, waiting: LruCache::unbounded() };
        Self { all: Arc::new(Mutex::new(all)), behind_proxy }
    }

    pub(crate) fn connect(
        &self,
        (stream, peer): (TcpStream, SocketAddr),
        routes: Router,
        graceful: Option<&GracefulShutdown>,
    ) {
        let Some(connection) = self.open() else { return };
        // Answers are small and whole; waiting to fill packets only delays them.
        let _ = stream.set_nodelay(true);
        let of_requests = Arc::clone(&connection);
        let behind_proxy = self.behind_proxy;
        let service = service_fn(move |mut request: Request<Incoming>| {
            let routes = routes.clone();
            let work = Work::begin(&of_requests);
            let client = if behind_proxy {
                ClientAddress::of_forwarded(request.headers())
            } else {
                ClientAddress::of_peer(peer.ip())
            };
            request.extensions_mut().insert(client);
            async move {
                let response = routes.oneshot(request).await?;
                // The body holds `work` until it is dropped, because the response is part of the work on the request.
                Ok::<_, Infallible>(response.map(|body| {
                    body.map_err(move |error| {
                        let _held = &work;
                        error
                    })
                }))
            }
        });
        // SV-4: `axum::serve` sets no limits on headers.
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(HEADER_BYTES_MAX);
        let served = http.serve_connection(TokioIo::new(TimedWrites { stream, until: None }), service);
        let served: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>> = match graceful {
            Some(graceful) => Box::pin(graceful.watch(served)),
            None => Box::pin(served),
        };
        tokio::spawn(async move {
            tokio::select! {
                served = served => {
                    served.unwrap_or_else(|error| tracing::debug!(%error, "a connection failed"));
                }
                () = connection.end.notified() => tracing::debug!("closed an idle connection to make room for another"),
            }
        });
    }

    fn open(&self) -> Option<Arc<OpenConnection>> {
        let mut state = lock(&self.all);
        if state.open >= state.most {
            let (_, longest) = state.waiting.pop_lru()?;
            longest.notify_one();
        }
        state.open += 1;
        let number = state.next;
        state.next += 1;
        let end = Arc::<Notify>::default();
        // The connection waits for its first request.
        state.waiting.put(number, Arc::clone(&end));
        Some(Arc::new(OpenConnection { all: Arc::clone(&self.all), number, end }))
    }

    pub(crate) fn end_oldest(&self) {
        if let Some((_, longest)) = lock(&self.all).waiting.pop_lru() {
            longest.notify_one();
        }
    }
}

struct OpenConnection {
    all: Arc<Mutex<State>>,
    number: u64,
    end: Arc<Notify>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut state = lock(&self.all);
        state.waiting.pop(&self.number);
        state.open -= 1;
    }
}

/// The work on a request. When it ends, the connection waits for the next request.
struct Work(Arc<OpenConnection>);

impl Work {
    fn begin(connection: &Arc<OpenConnection>) -> Self {
        lock(&connection.all).waiting.pop(&connection.number);
        Self(Arc::clone(connection))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let OpenConnection { all, number, end } = &*self.0;
        lock(all).waiting.put(*number, Arc::clone(end));
    }
}

struct TimedWrites {
    stream: TcpStream,
    /// When to give up a write that makes no progress.
    until: Option<Pin<Box<Sleep>>>,
}

impl TimedWrites {
    fn timed(&mut self, context: &mut Context<'_>, poll: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if poll.is_ready() {
            self.until = None;
            return poll;
        }
        // SV-20: a connection is closed if its client stops reading.
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(WRITE_TIME)));
        ready!(until.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for TimedWrites {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for TimedWrites {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.timed(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
