//! Trials of commands on what a viewer knows of a match. Nothing is recorded (VW-46).

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use turnfold_history::session::{NotPlayed, RejectedCommand, Roller, ScriptCommand};
use turnfold_show::FrameLimits;
use utoipa::ToSchema;

use super::position::too_large;
use super::statuses::{Name, TrialProblems};
use crate::app::App;
use crate::auth::Bearer;
use crate::documents;
use crate::http::{JSON, ValidQuery, given, given_number, json, json_body, require_accepted};
use crate::limits::ANSWER_BYTES_MAX;
use crate::problem::{ApiResult, Problem};
use crate::reading::{AsWhom, Asked, BranchPath, BranchView, Reach};

/// The most commands of a trial, rolls included.
const COMMANDS_MAX: usize = 500;

const LIMITS: FrameLimits = FrameLimits { frames_max: usize::MAX, bytes_max: ANSWER_BYTES_MAX };

/// Commands to try out.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialCommands {
    /// The entry to begin after, in the viewer's numbering [default: the head]
    #[serde(default, deserialize_with = "given_number")]
    #[schema(nullable = false, minimum = 0)]
    after: Option<u64>,
    /// The commands of any seats, each `[SEAT:] command` as in a script, and rolls as in an earlier response
    #[schema(max_items = 500, example = json!(["p1: move 2,3"]))]
    commands: Vec<String>,
    /// Whether to make rolls that fall due, with fresh dice [default: true]
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    roll: Option<bool>,
}

/// Try out commands
///
/// They continue the match as `export --as` writes it for the viewer, so that no secret and no roll of a seed can be tried
/// out. Nothing is recorded.
#[utoipa::path(operation_id = "try_commands", post, path = "/v1/matches/{match}/branches/{branch}/trial", tag = "positions",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), AsWhom), request_body = TrialCommands,
    responses((status = 200, description = "what the viewer would see", body = documents::Trial), TrialProblems))]
pub(crate) async fn try_out(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(path): Path<BranchPath>,
    ValidQuery(AsWhom { seat }): ValidQuery<AsWhom>,
    headers: HeaderMap,
    request: Request,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let access = app.admit(&bearer).await?;
    let TrialCommands { after, commands, roll } = json_body(request).await?;
    if commands.len() > COMMANDS_MAX {
        return Err(Problem::bad(format!("expected at most {COMMANDS_MAX} commands in a trial")));
    }
    let lines: Vec<_> = commands.iter().map(|command| ScriptCommand::parse(command)).collect();
    let whole = Asked { path, seat, reach: Reach::Whole };
    app.read_for(&bearer, access, whole, move |app, _, BranchView { branch, viewer }| {
        let history = branch.seen_by(app, *viewer).history(after)?;
        let rules = Arc::clone(history.rules());
        let roller = if roll.unwrap_or(true) { Roller::Outside(app.outside.roll) } else { Roller::Absent };
        match turnfold_show::try_out(history, &lines, roller, LIMITS)? {
            Ok(trial) if trial.frames.next.is_some() => Err(too_large()),
            Ok(trial) => Ok(json(StatusCode::OK, &trial)),
            Err(RejectedCommand { index, record }) => {
                let reason = NotPlayed::rejected(&record, lines.len(), rules.as_ref());
                Err(Problem::of_command(reason.to_string(), index, *record))
            }
        }
    })
    .await
}
