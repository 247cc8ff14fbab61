//! How the service runs: health checks (SV-28), its description (SV-33), its status, and the backup of its store.

use std::io::{self, BufWriter, Write};

use tokio::sync::mpsc;
use tokio::time::timeout;
use turnfold_store::RescueError;

use super::position::attachment;
use super::prelude::*;
use crate::documents::{Document, Open};
use crate::http::{BYTES, body_of_parts};

/// How long an answer of the database stays good, and how long to wait for one.
const GOOD_TIME: Duration = Duration::from_secs(1);
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The description in the repository. A test compares it with the one made from the routes.
pub(crate) const OPENAPI: &str = include_str!("../../openapi.json");

/// Check that the process is alive
#[utoipa::path(operation_id = "check_alive", get, path = "/healthz", tag = "running", security(()),
    responses((status = 200, description = "the process is alive", body = String, content_type = "text/plain")))]
pub(crate) async fn is_alive() -> ApiResult {
    Ok(text(StatusCode::OK, "ok\n".into()))
}

/// Check that the service is ready
#[utoipa::path(operation_id = "check_ready", get, path = "/readyz", tag = "running", security(()),
    responses((status = 200, description = "the service takes requests, and its store accepts writes", body = String, content_type = "text/plain"), Open))]
pub(crate) async fn is_ready(State(app): State<Arc<App>>) -> ApiResult {
    if *app.closing.borrow() {
        return Err(Problem::closing());
    }
    if let Some(stopped) = app.stopped.get() {
        return Err(stopped.clone().with_code(ProblemCode::Store));
    }
    if app.store.is_shared() {
        ask_database(&app).await?;
    }
    Ok(text(StatusCode::OK, "ready\n".into()))
}

/// The description of the service
#[utoipa::path(operation_id = "get_description", get, path = "/v1/openapi.json", tag = "running", security(()),
    responses((status = 200, description = "this description", body = inline(Document)), Open))]
pub(crate) async fn openapi(_: JsonQuery<NoParameters>) -> ApiResult {
    Ok(typed(StatusCode::OK, JSON, OPENAPI))
}

async fn ask_database(app: &Arc<App>) -> ApiResult<()> {
    let mut database = app.database.lock().await;
    if let Some((at, answer)) = &database.answer
        && at.elapsed() < GOOD_TIME
    {
        return answer.clone();
    }
    let ask = || {
        let app = Arc::clone(app);
        tokio::spawn(async move { app.block(|app| Ok(app.store.find_grants(&[]).map(drop)?)).await })
    };
    let mut asked = database.asked.take().unwrap_or_else(ask);
    let answer = if let Ok(answer) = timeout(ANSWER_TIME, &mut asked).await {
        answer.unwrap_or_else(|_| Err(Problem::internal()))
    } else {
        database.asked = Some(asked);
        Err(Problem::new(ProblemCode::Store, "the database does not answer"))
    };
    match &answer {
        Ok(()) => app.note_answer(),
        Err(problem) => app.note(problem),
    }
    database.answer = Some((Instant::now(), answer.clone()));
    answer
}

/// The status of the service.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServiceStatus {
    /// The version of turnfold
    version: &'static str,
    /// Why the store accepts no more writes until the service is started again; null while it accepts them
    #[schema(required = true)]
    stopped: Option<String>,
    /// Requests since the service was started
    requests: u64,
    /// How many of them the service failed to answer
    failed_requests: u64,
    /// Live streams
    streams: u64,
    /// Branches in memory
    branches_held: u64,
    /// Bytes of branches in memory
    bytes_held: u64,
    /// Bytes of the store's files; null if a database holds the store
    #[schema(required = true)]
    store_bytes: Option<u64>,
    /// Free bytes on the store's disk; null if a database holds the store
    #[schema(required = true)]
    free_bytes: Option<u64>,
}

/// Show the status of the service
#[utoipa::path(operation_id = "show_status", get, path = "/v1/status", tag = "running",
    responses((status = 200, description = "what the service counts, and the space on its disk", body = ServiceStatus), Looked))]
pub(crate) async fn status(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
    app.serve(bearer, |app, access| {
        access.require_admin()?;
        let mut store_bytes = None;
        let mut free_bytes = None;
        if let Some(dir) = &app.store_dir {
            store_bytes = Some(Store::bytes_on_disk(dir)?);
            free_bytes = Store::free_bytes(dir)?;
        }
        let status = ServiceStatus {
            version: env!("CARGO_PKG_VERSION"),
            stopped: app.stopped.get().map(|problem| problem.detail().to_owned()),
            requests: app.metrics.all_requests.get(),
            failed_requests: app.metrics.failed_requests.get(),
            streams: app.limits.streams() as u64,
            branches_held: app.branches.count(),
            bytes_held: app.branches.memory.bytes(),
            store_bytes,
            free_bytes,
        };
        Ok(json(StatusCode::OK, &status))
    })
    .await
}

const CHUNK_BYTES: usize = 64 << 10;

/// Sends what is written as parts of a body.
struct BodyWriter(mpsc::Sender<io::Result<Bytes>>);

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Sending waits while the client does not read.
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Back up the store
#[utoipa::path(operation_id = "backup_store", get, path = "/v1/backup", tag = "running",
    responses((status = 200, description = "the same bytes as from `store backup`; a connection that breaks off leaves no usable backup",
        body = inline(documents::Bytes), content_type = "application/octet-stream"), Looked))]
pub(crate) async fn backup(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, BYTES)?;
    app.serve(bearer, |_, access| access.require_admin()).await?;
    let (sender, mut receiver) = mpsc::channel(4);
    let written = tokio::task::spawn_blocking(move || {
        let mut body = BufWriter::with_capacity(CHUNK_BYTES, BodyWriter(sender.clone()));
        let written = app.store.backup(&mut body, true, &mut |_| {});
        let written = written.and_then(|_| body.flush().map_err(|source| RescueError::Write { source }));
        written.inspect_err(|error| {
            tracing::warn!(%error, "a backup failed");
            let _ = sender.blocking_send(Err(io::ErrorKind::BrokenPipe.into()));
        })
    });
    // A failure before anything was sent is a problem, not the beginning of a backup.
    let Some(Ok(first)) = receiver.recv().await else {
        let written = written.await.map(Result::err).ok().flatten();
        return Err(written.map_or_else(Problem::internal, Problem::from));
    };
    let body = body_of_parts(Some(first), receiver);
    Ok(attachment(typed(StatusCode::OK, BYTES, body), "turnfold.backup"))
}
