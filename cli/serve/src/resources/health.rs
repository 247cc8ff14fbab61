//! Health checks (SV-28), and the description of the service (SV-33).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};

use super::statuses::Open;
use crate::app::App;
use crate::http::{JSON, NoParameters, ValidQuery, require_accepted, text, typed};
use crate::problem::ApiResult;
use crate::readiness::require_ready;

/// The description that is kept; a test compares it with the one that is made.
pub(crate) const OPENAPI: &str = include_str!("../../openapi.json");

/// Check that the process is alive
#[utoipa::path(operation_id = "check_alive", get, path = "/healthz", tag = "running", security(()),
    responses((status = 200, description = "the process is alive", body = String, content_type = "text/plain")))]
pub(crate) async fn lives() -> ApiResult {
    Ok(text(StatusCode::OK, "ok\n".into()))
}

/// Check that the service is ready
#[utoipa::path(operation_id = "check_ready", get, path = "/readyz", tag = "running", security(()),
    responses((status = 200, description = "the service takes requests, and its store accepts writes", body = String, content_type = "text/plain"), Open))]
pub(crate) async fn is_ready(State(app): State<Arc<App>>) -> ApiResult {
    require_ready(&app).await?;
    Ok(text(StatusCode::OK, "ready\n".into()))
}

/// The description of the service
#[utoipa::path(operation_id = "get_description", get, path = "/v1/openapi.json", tag = "running", security(()),
    responses((status = 200, description = "this description", body = inline(super::statuses::Document)), Open))]
pub(crate) async fn openapi(headers: HeaderMap, _: ValidQuery<NoParameters>) -> ApiResult {
    require_accepted(&headers, JSON)?;
    Ok(typed(StatusCode::OK, JSON, OPENAPI))
}
