//! `/v1/join`: what an invitation is for, and how it becomes a seat (SV-25).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use turnfold_core::Seat;
use turnfold_store::{Genesis, Grant, GrantId, GrantKind, JoinedSeat, PlayerName, StoreError};
use utoipa::ToSchema;

use super::statuses::{InvitedProblems, JoinProblems};
use crate::app::App;
use crate::auth::{AccessToken, Bearer, TokenKind, require_live};
use crate::http::{JSON, NoParameters, ValidQuery, given, json, json_body, require_accepted};
use crate::problem::{ApiResult, Problem, ProblemCode};

/// What the invitation becomes.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Join)]
pub(crate) struct JoinBody {
    /// A seat's token that the client made from 32 random bytes: `tf_s_` and 43 characters of base64url. With it the
    /// request can be repeated if its response is lost.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, pattern = "^tf_s_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$")]
    token: Option<String>,
    /// The player's name: 1 to 32 visible characters, which everyone who sees the match sees. No other player of the match
    /// may have the same name.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_length = 1, max_length = 32, example = "Ann")]
    name: Option<String>,
}

/// A seat.
#[derive(Serialize, ToSchema)]
pub(crate) struct SeatTaken {
    #[serde(rename = "match")]
    match_name: String,
    #[schema(value_type = String)]
    seat: Option<Seat>,
    id: String,
    token: String,
    /// The player's name; null for a player without one.
    #[schema(required = true)]
    name: Option<String>,
}

/// What an invitation is for.
#[derive(Serialize, ToSchema)]
pub(crate) struct Invited {
    #[serde(rename = "match")]
    match_name: String,
    title: String,
    ruleset: String,
    #[schema(value_type = String)]
    seat: Option<Seat>,
}

/// See what an invitation is for
#[utoipa::path(operation_id = "show_invitation", get, path = "/v1/join", tag = "grants",
    responses((status = 200, description = "what the invitation is for, which is not spent", body = Invited), InvitedProblems))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    let client = bearer.client();
    app.limits.guesses.require_few(client)?;
    let invitation = bearer.invitation().inspect_err(|_| app.limits.guesses.count(client))?;
    require_accepted(&headers, JSON)?;
    app.block(move |app| {
        let hash = invitation.hash();
        let found =
            app.store.find_grant(&hash)?.filter(|grant| matches!(grant.kind, GrantKind::Invitation(_)));
        let Some(grant) = found else {
            app.limits.guesses.count(client);
            return Err(no_invitation());
        };
        if grant.became.is_some() {
            return Err(StoreError::InvitationSpent { id: GrantId::of(&hash) }.into());
        }
        let grant = require_live(grant, app.now_ms())?;
        if let Some(seat) = grant.kind.seat()
            && app.store.is_played(&grant.match_name, seat, app.now_ms())?
        {
            return Err(StoreError::SeatTaken { seat }.into());
        }
        let Genesis { title, ruleset, .. } = app.store.genesis(&grant.match_name)?;
        let match_name = grant.match_name.to_string();
        Ok(json(StatusCode::OK, &Invited { match_name, title, ruleset, seat: grant.kind.seat() }))
    })
    .await
}

fn name_in(grant: &Grant) -> Option<String> {
    matches!(grant.kind, GrantKind::Player(_)).then(|| grant.label.to_string())
}

fn no_invitation() -> Problem {
    Problem::new(ProblemCode::NoToken, "expected a valid invitation that has not expired or been revoked")
}

/// Spend an invitation
#[utoipa::path(operation_id = "join_match", post, path = "/v1/join", tag = "grants", request_body = JoinBody,
    responses((status = 201, description = "the invitation is spent, and the seat is yours", body = SeatTaken),
        (status = 200, description = "the seat was yours already, with this token", body = SeatTaken), JoinProblems))]
pub(crate) async fn join(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let client = bearer.client();
    app.limits.guesses.require_few(client)?;
    let invitation = bearer.invitation().inspect_err(|_| app.limits.guesses.count(client))?;
    require_accepted(&headers, JSON)?;
    let join = json_body::<JoinBody>(request).await?;
    app.block(move |app| {
        let token = match &join.token {
            Some(text) => match AccessToken::parse(text) {
                Some((token, TokenKind::Seat)) => token,
                _ => return Err(Problem::bad("expected `token` to be a seat's token")),
            },
            None => app.new_token(TokenKind::Seat)?,
        };
        let mut name = None;
        if let Some(text) = &join.name {
            let parsed = text.parse::<PlayerName>();
            name = Some(parsed.map_err(|error| Problem::content(error.to_string()))?);
        }
        let hash = token.hash();
        let joined = app.store.join(&invitation.hash(), &hash, name.as_ref(), app.now_ms());
        // A spent invitation is no longer valid.
        app.grants.forget();
        let (status, grant) = match joined {
            Ok(JoinedSeat::Now(grant)) => {
                // A turn begins once all players have joined.
                app.auto_host.notify(&grant.match_name);
                (StatusCode::CREATED, grant)
            }
            Ok(JoinedSeat::Again(grant)) => (StatusCode::OK, grant),
            Err(StoreError::NoSuchGrant { .. }) => {
                app.limits.guesses.count(client);
                return Err(no_invitation());
            }
            Err(error) => return Err(error.into()),
        };
        let seat = SeatTaken {
            match_name: grant.match_name.to_string(),
            seat: grant.kind.seat(),
            id: GrantId::of(&hash).to_string(),
            token: token.expose().into(),
            name: name_in(&grant),
        };
        Ok(json(status, &seat))
    })
    .await
}
