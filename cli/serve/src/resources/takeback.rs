//! Taking back together (SV-63, SV-64), and as the host (SV-66).

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;
use turnfold_core::Seat;
use turnfold_history::Viewer;
use turnfold_store::MatchName;
use utoipa::{IntoParams, ToSchema};

use super::statuses::{Changed, Name};
use crate::app::{App, to_end};
use crate::auth::Bearer;
use crate::http::{JSON, NoParameters, ValidQuery, json, json_body, require_accepted};
use crate::problem::{ApiResult, Problem};
use crate::takeback::{self, AskedTakeback};

/// The branch on which a match continues, and a player's question to take back.
#[derive(Serialize, ToSchema)]
pub(crate) struct GoesOnJson {
    /// The current branch of the match.
    current: String,
    /// The question that not all have answered; null if there is none.
    #[schema(required = true)]
    takeback: Option<TakebackJson>,
}

/// What a player asks to take back.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TakebackJson {
    /// Its number, by which it is answered.
    number: u32,
    /// Who asks.
    #[schema(value_type = String)]
    seat: Seat,
    /// The entry after which the match would continue, in the viewer's numbering; 0 is the setup.
    after: u64,
    /// Who agreed.
    #[schema(value_type = Vec<String>)]
    agreed: BTreeSet<Seat>,
    /// Whose answer is missing.
    #[schema(value_type = Vec<String>)]
    awaited: BTreeSet<Seat>,
}

impl TakebackJson {
    pub(super) fn of(app: &Arc<App>, match_name: &MatchName, viewer: Viewer) -> ApiResult<Option<Self>> {
        let asked = takeback::asked(app, match_name, viewer)?;
        Ok(asked.map(|AskedTakeback { number, by, after, agreed, awaited }| Self {
            number,
            seat: by,
            after,
            agreed,
            awaited,
        }))
    }
}

/// Where to go on from.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct After {
    /// The entry after which to continue, in the viewer's numbering [default: before one's own last command; for the host,
    /// before the last entry]
    #[param(minimum = 0)]
    after: Option<u64>,
}

/// An answer.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakebackAnswer {
    /// Whether the player agrees; the player who asked answers `false` to withdraw
    agree: bool,
}

/// Ask to take back
///
/// A player asks, and once all other players have agreed, the match continues from there on a new branch. The host
/// takes back at once.
#[utoipa::path(operation_id = "take_back", post, path = "/v1/matches/{match}/takeback", tag = "matches",
    params(("match" = inline(Name), Path), After),
    responses((status = 200, description = "the players are asked, or the match goes on from there", body = GoesOnJson), Changed))]
pub(crate) async fn ask(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
    ValidQuery(After { after }): ValidQuery<After>,
    headers: HeaderMap,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let seat = access.playing_seat()?;
    to_end(&Arc::clone(&app), async move {
        let _turn = turn_of(&app, &match_name).await?;
        app.serve_for(access, move |app, access| {
            match seat {
                Some(seat) => takeback::ask(app, &match_name, seat, after)?,
                None => takeback::take_back(app, &match_name, after)?,
            }
            answered(app, &match_name, access.looks(&match_name, None)?)
        })
        .await
    })
    .await
}

/// Answer whether to take back
#[utoipa::path(operation_id = "answer_takeback", post, path = "/v1/matches/{match}/takeback/{number}", tag = "matches",
    params(("match" = inline(Name), Path), ("number" = u32, Path, minimum = 1)), request_body = TakebackAnswer,
    responses((status = 200, description = "the answer is recorded", body = GoesOnJson), Changed))]
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path((match_name, number)): Path<(String, String)>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let number = number.parse::<u32>().map_err(|_| Problem::bad("expected the number of a question"))?;
    let TakebackAnswer { agree } = json_body(request).await?;
    let seat = access.playing_seat()?.ok_or_else(|| Problem::forbidden("only players answer this"))?;
    to_end(&Arc::clone(&app), async move {
        let _turn = turn_of(&app, &match_name).await?;
        app.serve_for(access, move |app, access| {
            takeback::answer(app, &match_name, seat, number, agree)?;
            answered(app, &match_name, access.looks(&match_name, None)?)
        })
        .await
    })
    .await
}

async fn turn_of(app: &Arc<App>, match_name: &MatchName) -> ApiResult<OwnedMutexGuard<()>> {
    let name = match_name.clone();
    let current = app.block(move |app| takeback::current_branch(app, &name)).await?;
    // While the turn is held, no command is judged on the branch, which may be left.
    app.find_branch(match_name.clone(), current).await?.turn().await
}

fn answered(app: &Arc<App>, match_name: &MatchName, viewer: Viewer) -> ApiResult {
    let current = takeback::current_branch(app, match_name)?.to_string();
    let takeback = TakebackJson::of(app, match_name, viewer)?;
    Ok(json(StatusCode::OK, &GoesOnJson { current, takeback }))
}
