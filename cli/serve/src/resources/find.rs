//! The next entry after which a condition holds, as `w` of `replay --step` finds it (VW-58).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use turnfold_replay::{Condition, ReplayError, Stepper};
use utoipa::{IntoParams, ToSchema};

use super::statuses::{Looked, Name};
use crate::app::App;
use crate::auth::Bearer;
use crate::http::{JSON, ValidQuery, json, require_accepted};
use crate::problem::{ApiResult, Problem};
use crate::reading::{Asked, BranchPath, BranchView, Reach, SeatName};

/// A condition on views, and from where on it is looked for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The condition, as `bisect --when` takes it, such as `/turn >= 3 && count(/units/*) < 2`
    #[param(example = "/turn == 3")]
    when: String,
    /// The entry to begin after, as the viewer counts [default: the setup]
    #[param(minimum = 0)]
    after: Option<u64>,
    /// The seat to look as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// Where a condition becomes true.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    /// The entry, as the viewer counts; null if there is none.
    #[schema(required = true)]
    seq: Option<u64>,
}

/// Find an entry by a condition
///
/// The answer is the next entry after which the condition holds in the view, and before which it does not.
#[utoipa::path(operation_id = "find_entry", get, path = "/v1/matches/{match}/branches/{branch}/find", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), Wanted),
    responses((status = 200, description = "the entry", body = Found), Looked))]
pub(crate) async fn find(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(path): Path<BranchPath>,
    ValidQuery(Wanted { when, after, seat }): ValidQuery<Wanted>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let condition: Condition = when.parse().map_err(|error| Problem::bad(format!("`when`: {error}")))?;
    let whole = Asked { path, seat, reach: Reach::Whole };
    app.read(&bearer, whole, move |app, _, BranchView { branch, view }| {
        let history = branch.history(app, *view, None)?;
        let mut stepper = Stepper::new(history)?;
        stepper.go(after.unwrap_or(0))?;
        match stepper.first_true(&condition) {
            Err(ReplayError::Condition(error)) => Err(Problem::bad(error.to_string())),
            found => Ok(json(StatusCode::OK, &Found { seq: found? })),
        }
    })
    .await
}
