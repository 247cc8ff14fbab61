//! `GET /v1/backup`: everything in the store as one stream, while others write.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use tokio::sync::mpsc;
use turnfold_store::RescueError;

use super::position::attachment;
use super::statuses::Looked;
use crate::answers::ChannelBody;
use crate::app::App;
use crate::auth::Bearer;
use crate::documents;
use crate::http::{BYTES, NoParameters, ValidQuery, require_accepted, typed};
use crate::problem::{ApiResult, Problem};

const CHUNK_BYTES: usize = 64 << 10;

struct ToBody {
    buffer: Vec<u8>,
    sender: mpsc::Sender<io::Result<Bytes>>,
}

impl ToBody {
    fn send(&mut self, part: io::Result<Bytes>) -> io::Result<()> {
        // Sending waits while the client does not read.
        self.sender.blocking_send(part).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for ToBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let part = std::mem::take(&mut self.buffer);
        self.send(Ok(part.into()))
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
        let mut to_body = ToBody { buffer: Vec::new(), sender };
        let written = app.store.backup(&mut to_body, true, &mut |_| {});
        let written = written.and_then(|_| to_body.flush().map_err(|source| RescueError::Write { source }));
        written.inspect_err(|error| {
            tracing::warn!(%error, "a backup failed");
            let _ = to_body.send(Err(io::ErrorKind::BrokenPipe.into()));
        })
    });
    // A failure before anything was sent is a problem, not the beginning of a backup.
    let Some(Ok(first)) = receiver.recv().await else {
        let written = written.await.map(Result::err).ok().flatten();
        return Err(written.map_or_else(Problem::internal, Problem::from));
    };
    let body = Body::new(ChannelBody::beginning_with(first, receiver));
    Ok(attachment(typed(StatusCode::OK, BYTES, body), "turnfold.backup"))
}
