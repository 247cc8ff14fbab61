//! The connections of the service. When there is no room for another one, the connection that has waited longest for
//! its next request is closed (SV-31).

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};
use tower::ServiceExt;

use crate::app::lock;
use crate::limits::{ClientAddress, HEADER_BYTES_MAX, HEADER_TIME, WRITE_TIME};

#[derive(Clone)]
pub(crate) struct Acceptor {
    pub(crate) connections: Connections,
    pub(crate) behind_proxy: bool,
}

pub(crate) fn connect(
    (stream, peer): (TcpStream, SocketAddr),
    acceptor: &Acceptor,
    routes: Router,
    graceful: Option<&GracefulShutdown>,
) {
    let Some(connection) = acceptor.connections.open() else { return };
    // Answers are small and whole; waiting to fill packets only delays them.
    let _ = stream.set_nodelay(true);
    let of_requests = Arc::clone(&connection);
    let behind_proxy = acceptor.behind_proxy;
    let service = service_fn(move |mut request: Request<Incoming>| {
        let routes = routes.clone();
        let work = of_requests.work();
        let forwarded = behind_proxy.then(|| ClientAddress::of_forwarded(request.headers()));
        request.extensions_mut().insert(forwarded.unwrap_or_else(|| ClientAddress::of_peer(peer.ip())));
        async move {
            let response = routes.oneshot(request).await;
            response.map(|response| response.map(|body| LastBody { body, _work: work }))
        }
    });
    // SV-4: `axum::serve` sets no limits on headers.
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(HEADER_BYTES_MAX);
    let served = http.serve_connection(TokioIo::new(TimedWrites::new(stream)), service);
    let served: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>> = match graceful {
        Some(graceful) => Box::pin(graceful.watch(served)),
        None => Box::pin(served),
    };
    tokio::spawn(async move {
        tokio::select! {
            served = served => {
                served.unwrap_or_else(|error| tracing::debug!(%error, "a connection failed"));
            }
            () = connection.ended() => tracing::debug!("closed an idle connection to make room for another"),
        }
    });
}

#[derive(Clone)]
pub(crate) struct Connections(Arc<Mutex<State>>);

struct State {
    most: usize,
    open: usize,
    /// The number of the next connection that waits, so that the smallest number has waited longest.
    next: u64,
    waiting: BTreeMap<u64, Arc<Notify>>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(State { most, open: 0, next: 0, waiting: BTreeMap::new() })))
    }

    pub(crate) fn open(&self) -> Option<Arc<OpenConnection>> {
        let mut state = lock(&self.0);
        if state.open >= state.most {
            state.end_oldest()?;
        }
        state.open += 1;
        drop(state);
        let connection =
            OpenConnection { all: Arc::clone(&self.0), end: Arc::default(), place: Mutex::default() };
        // The connection waits for its first request.
        connection.wait();
        Some(Arc::new(connection))
    }

    pub(crate) fn end_oldest(&self) {
        lock(&self.0).end_oldest();
    }
}

impl State {
    fn end_oldest(&mut self) -> Option<()> {
        let (_, oldest) = self.waiting.pop_first()?;
        oldest.notify_one();
        Some(())
    }
}

pub(crate) struct OpenConnection {
    all: Arc<Mutex<State>>,
    end: Arc<Notify>,
    /// Its number in `waiting`, while it waits.
    place: Mutex<Option<u64>>,
}

impl OpenConnection {
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    pub(crate) fn work(self: &Arc<Self>) -> Work {
        self.leave();
        Work(Arc::clone(self))
    }

    fn wait(&self) {
        let mut state = lock(&self.all);
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number, Arc::clone(&self.end));
        drop(state);
        *self.place() = Some(number);
    }

    fn leave(&self) {
        if let Some(number) = self.place().take() {
            lock(&self.all).waiting.remove(&number);
        }
    }

    fn place(&self) -> MutexGuard<'_, Option<u64>> {
        lock(&self.place)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.leave();
        lock(&self.all).open -= 1;
    }
}

pub(crate) struct Work(Arc<OpenConnection>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// The body of a response. Dropping it ends the work on the request.
pub(crate) struct LastBody {
    pub(crate) body: Body,
    pub(crate) _work: Work,
}

impl http_body::Body for LastBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(crate) struct TimedWrites {
    stream: TcpStream,
    /// When to give up a write that makes no progress.
    until: Option<Pin<Box<Sleep>>>,
}

impl TimedWrites {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, until: None }
    }

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
