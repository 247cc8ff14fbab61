//! How the service hosts a match: its terms, and absences of players (SV-45, SV-48).

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use turnfold_core::Seat;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::accord::Command;
use turnfold_history::{Revision, rules_of};
use turnfold_mail::{MailError, MatchAccord, terms_of_accord};
use turnfold_store::{BranchName, MatchName};
use utoipa::ToSchema;

use super::match_document::HostingJson;
use super::matches::accord_of;
use super::statuses::{Changed, Name};
use crate::app::App;
use crate::append::require_not_by_mail;
use crate::auth::Bearer;
use crate::auto_host::{self, Hosted};
use crate::http::{JSON, NoParameters, ValidQuery, json, json_body, name, require_accepted};
use crate::problem::{ApiResult, Problem};

/// The terms by which the service hosts a match.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTerms {
    /// The terms as TOML; missing ones are the game's own
    #[schema(max_length = 10000, example = "hours = 72\n")]
    terms: String,
}

/// How long a player is away.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAbsence {
    /// Until when, in UTC
    #[schema(
        pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
        example = "2026-12-24T18:00:00Z"
    )]
    until: String,
}

/// Set the terms by which the service hosts a match
#[utoipa::path(operation_id = "set_terms", post, path = "/v1/matches/{match}/terms", tag = "matches",
    params(("match" = inline(Name), Path)), request_body = NewTerms,
    responses((status = 200, description = "the service hosts the match by these terms", body = HostingJson), Changed))]
pub(crate) async fn set_terms(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let access = app.admit(&bearer).await?;
    let match_name: MatchName = name(&match_name)?;
    access.require_host(&match_name)?;
    let NewTerms { terms } = json_body(request).await?;
    app.serve_for(access, move |app, _| {
        let main = Revision { match_name: match_name.clone(), branch: BranchName::main(), seq: None };
        require_not_by_mail(app, &main)?;
        let game = app.store.genesis(&match_name)?;
        let rules = rules_of(&game, &main, &app.registry)?;
        let setup = accord_of(app, &match_name, &rules, &game, &terms)?;
        match MatchAccord::find(&app.store, &match_name, &game)? {
            Some(accord) => {
                let terms = terms_of_accord(&setup).map_err(|error| Problem::content(error.to_string()))?;
                record(app, &accord, Seat::Host, &Command::Terms(terms))?;
            }
            None => MatchAccord::create(&app.store, &match_name, &game, setup, app.now_ms())?,
        }
        answer(app, &match_name)
    })
    .await
}

/// Announce that the player of the token is away
#[utoipa::path(operation_id = "announce_absence", post, path = "/v1/matches/{match}/absence", tag = "matches",
    params(("match" = inline(Name), Path)), request_body = NewAbsence,
    responses((status = 200, description = "deadlines wait for the player until then", body = HostingJson), Changed))]
pub(crate) async fn announce_absence(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let NewAbsence { until } = json_body(request).await?;
    app.serve_for(access, move |app, access| {
        let seat = access.playing_seat()?.ok_or_else(|| Problem::forbidden("only a player can be absent"))?;
        let until: DeskTime = until
            .parse()
            .map_err(|_| Problem::content("expected `until` to be a time such as `2026-12-24T18:00:00Z`"))?;
        let Hosted { accord, .. } = require_hosted(app, &match_name)?;
        let from = DeskTime::of_unix_ms(app.now_ms()).ok_or_else(Problem::internal)?;
        record(app, &accord, seat, &Command::Absent(from, until))?;
        answer(app, &match_name)
    })
    .await
}

fn require_hosted(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Hosted> {
    let hosted = auto_host::hosted(app, match_name)?;
    hosted.ok_or_else(|| Problem::content("this match has no terms: its host does what a host does"))
}

fn record(app: &App, accord: &MatchAccord, seat: Seat, command: &Command) -> ApiResult<()> {
    accord.record(&app.store, seat, command, app.now_ms()).map_err(|error| match error {
        MailError::Refused(why) => Problem::content(why),
        error => error.into(),
    })
}

fn answer(app: &Arc<App>, match_name: &MatchName) -> ApiResult {
    app.auto_host.notify(match_name);
    let hosted = require_hosted(app, match_name)?;
    Ok(json(StatusCode::OK, &HostingJson::of(app, &hosted)))
}
