//! Compares two histories of a match, as `diff` does.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use turnfold_history::compare::{Ignored, compare};
use turnfold_history::{SeatHistory, SourceName, Viewer};
use turnfold_show::render;
use turnfold_show::render::diff::{DiffDocument, lines};
use utoipa::IntoParams;

use super::branches::{branch_point, open_branches};
use super::match_document::are_over;
use super::statuses::{Looked, Name};
use crate::app::App;
use crate::auth::{Access, Bearer};
use crate::documents;
use crate::http::{AnswerForm, ValidQuery, json, name, text};
use crate::problem::{ApiResult, Problem};
use crate::reading::BranchPath;
use turnfold_store::MatchName;

/// Lines of context around commands that differ, as `diff` has them.
const CONTEXT: usize = 3;

/// What to compare with.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct With {
    /// The other history, `BRANCH[:SEQ]`
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}(:(0|[1-9][0-9]{0,17}))?$", example = "main:9")]
    with: String,
    /// The last entry [default: the head]
    #[param(minimum = 0)]
    at: Option<u64>,
}

pub(crate) fn require_all(app: &Arc<App>, access: &Access, match_name: &MatchName) -> ApiResult<()> {
    let viewer = access.looks(match_name, None)?;
    // SV-9: once the match is over, every viewer may know everything.
    if access.is_host() || are_over(app, viewer, &open_branches(app, match_name)?)? {
        return Ok(());
    }
    Err(Problem::forbidden("only the host may see everything until every branch of the match is over"))
}

/// Compare two histories
#[utoipa::path(operation_id = "compare_histories", get, path = "/v1/matches/{match}/branches/{branch}/diff", tag = "branches",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), With),
    responses((status = 200, description = "the differences, as `diff` prints them", content(
        (documents::Comparison = "application/json"), (String = "text/plain"))), Looked))]
pub(crate) async fn diff(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(path): Path<BranchPath>,
    ValidQuery(asked): ValidQuery<With>,
    form: AnswerForm,
) -> ApiResult {
    let match_name: MatchName = name(&path.match_name)?;
    app.fold(&bearer, Some(match_name.clone()), move |app, access| {
        require_all(app, access, &match_name)?;
        let mut revision = branch_point(&match_name, &path.branch)?;
        revision.seq = asked.at;
        let other = branch_point(&match_name, &asked.with)?;
        let seat_history =
            |revision| SeatHistory::load(Viewer::HOST, &SourceName::Revision(revision), &app.world);
        let a = seat_history(revision)?;
        let b = seat_history(other)?;
        let comparison = compare(&a, &b, &Ignored::default(), CONTEXT)?;
        Ok(match form {
            AnswerForm::Json => json(StatusCode::OK, &DiffDocument::of(&comparison, [&a, &b])?),
            AnswerForm::Text => text(StatusCode::OK, render::text(lines(&comparison))),
        })
    })
    .await
}
