//! Frames: what a page draws, entry by entry (VW-10).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use turnfold_replay::{FrameDocument, FrameLimits};
use utoipa::IntoParams;

use super::statuses::{Looked, Name};
use crate::app::App;
use crate::auth::Bearer;
use crate::documents::FrameList;
use crate::http::{JSON, ValidQuery, json, require_accepted};
use crate::problem::ApiResult;
use crate::reading::{Asked, BranchPath, BranchView, Reach, SeatName};

/// Which frames.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Frames {
    /// The entry before the first, as the viewer counts
    #[param(minimum = 0)]
    after: Option<u64>,
    /// The last entry that counts, as the viewer counts; the head if left out
    #[param(minimum = 0)]
    at: Option<u64>,
    /// The seat to look as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p[1-8]|host)$")]
    seat: Option<SeatName>,
}

/// Get frames
#[utoipa::path(operation_id = "list_frames", get, path = "/v1/matches/{match}/branches/{branch}/frames", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), Frames),
    responses((status = 200, description = "a picture, and the changes that each entry makes to it", body = FrameList), Looked))]
pub(crate) async fn frames(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(path): Path<BranchPath>,
    ValidQuery(asked): ValidQuery<Frames>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let whole = Asked { path, seat: asked.seat, reach: Reach::Whole };
    app.read(&bearer, whole, move |app, _, BranchView { branch, view }| {
        let history = branch.history(app, *view, asked.at)?;
        let frames = FrameDocument::of(&history, asked.after.unwrap_or(0), FrameLimits::SERVED)?;
        Ok(json(StatusCode::OK, &frames))
    })
    .await
}
