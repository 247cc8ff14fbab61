//! Who has a page of a match open (SV-60).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use turnfold_core::Seat;
use turnfold_store::{GrantKind, MatchName};
use utoipa::ToSchema;

use super::rematch::rematch_of;
use super::statuses::{Looked, Name};
use crate::app::App;
use crate::auth::Bearer;
use crate::http::{JSON, NoParameters, ValidQuery, json, name, require_accepted};
use crate::problem::ApiResult;

/// Who follows a match now.
#[derive(Serialize, ToSchema)]
pub(crate) struct HereJson {
    /// The seats with a page open, the host's among them
    #[schema(value_type = Vec<String>, example = json!(["p1", "host"]))]
    seats: Vec<Seat>,
    /// How many spectators' tokens have a page open
    spectators: usize,
    /// The rematch (SV-62); null while there is none
    #[schema(required = true)]
    rematch: Option<String>,
}

/// See who has a page of a match open
#[utoipa::path(operation_id = "show_here", get, path = "/v1/matches/{match}/here", tag = "matches",
    params(("match" = inline(Name), Path)),
    responses((status = 200, description = "who follows the match now", body = HereJson), Looked))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    app.serve(bearer, move |app, access| {
        let match_name: MatchName = name(&match_name)?;
        access.looks(&match_name, None)?;
        let match_id = app.store.genesis(&match_name)?.match_id;
        let rematch = rematch_of(app, &match_id)?.map(|rematch| rematch.to_string());
        let mut here = HereJson { seats: Vec::new(), spectators: 0, rematch };
        for kind in app.limits.here(&match_name) {
            match kind {
                GrantKind::Host => here.seats.push(Seat::Host),
                GrantKind::Seat(seat) | GrantKind::Player(seat) => here.seats.push(seat),
                GrantKind::Spectator { .. } => here.spectators += 1,
                GrantKind::Invitation(_) | GrantKind::Calendar { .. } => {}
            }
        }
        here.seats.sort();
        here.seats.dedup();
        Ok(json(StatusCode::OK, &here))
    })
    .await
}
