//! `GET /v1/status`: what the service counts, for its admin.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use turnfold_store::Store;
use utoipa::ToSchema;

use super::statuses::Looked;
use crate::app::App;
use crate::auth::Bearer;
use crate::http::{JSON, NoParameters, ValidQuery, json, require_accepted};
use crate::problem::ApiResult;

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
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
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
            bytes_held: app.branches.bytes(),
            store_bytes,
            free_bytes,
        };
        Ok(json(StatusCode::OK, &status))
    })
    .await
}
