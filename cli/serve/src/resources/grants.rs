//! Grants: who may see and play a match (SV-23 to SV-25).

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};
use turnfold_store::{BranchName, Grant, GrantId, GrantKind, MatchName, NewGrant};
use utoipa::ToSchema;

use super::statuses::{Changed, Deleted, Id, Looked, Name};
use crate::app::App;
use crate::auth::Bearer;
use crate::documents::lists;
use crate::http::{JSON, List, NoParameters, ValidQuery, given, json, json_body, name, require_accepted};
use crate::problem::{ApiResult, Problem};

lists! {
    GrantList: GrantJson, String;
}

const DAY_S: u64 = 24 * 60 * 60;

const EXPIRY_MAX_S: u64 = 366 * DAY_S;

const INVITATION_S: u64 = 7 * DAY_S;

// Each kind has `label` and `expires`, because serde cannot flatten a struct into one that denies unknown fields.
/// A grant to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum NewGrantJson {
    /// For a host
    Host {
        /// A label for the host
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, max_length = 64)]
        label: Option<String>,
        /// How long the grant is valid, such as `90s`, `15m`, `36h` or `7d`; at most 366 days
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, pattern = "^[1-9][0-9]{0,7}[smhd]$", example = "36h")]
        expires: Option<String>,
    },
    /// For the player of a seat
    Seat {
        /// The seat
        #[schema(pattern = "^p([1-9]|1[0-6])$", example = "p1")]
        seat: String,
        /// A label for the host
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, max_length = 64)]
        label: Option<String>,
        /// How long the grant is valid, such as `90s`, `15m`, `36h` or `7d`; at most 366 days
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, pattern = "^[1-9][0-9]{0,7}[smhd]$", example = "36h")]
        expires: Option<String>,
    },
    /// For a spectator
    Spectator {
        /// A label for the host
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, max_length = 64)]
        label: Option<String>,
        /// How long the grant is valid, such as `90s`, `15m`, `36h` or `7d`; at most 366 days
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, pattern = "^[1-9][0-9]{0,7}[smhd]$", example = "36h")]
        expires: Option<String>,
    },
    /// A link that becomes a seat, once
    Invitation {
        /// The seat
        #[schema(pattern = "^p([1-9]|1[0-6])$", example = "p1")]
        seat: String,
        /// A label for the host
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, max_length = 64)]
        label: Option<String>,
        /// How long the invitation is valid, such as `90s`, `15m`, `36h` or `7d`; at most 366 days [default: 7d]
        #[serde(default, deserialize_with = "given")]
        #[schema(nullable = false, pattern = "^[1-9][0-9]{0,7}[smhd]$", example = "36h")]
        expires: Option<String>,
    },
}

/// A grant that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct GrantMade {
    id: String,
    /// The token, which is shown only once.
    token: String,
    /// A link with the token behind `#`, which browsers do not send to a server.
    link: String,
}

/// A grant of a match.
#[derive(Serialize, ToSchema)]
pub(crate) struct GrantJson {
    id: String,
    kind: &'static str,
    #[schema(value_type = Option<String>)]
    seat: Option<Seat>,
    /// The host's label; empty for a player who joined under a name.
    label: String,
    /// The name under which everyone sees its player.
    name: Option<String>,
    /// When it was created; for a seat from an invitation, when its player joined.
    created_at_ms: i64,
    expires_at_ms: Option<i64>,
    revoked_at_ms: Option<i64>,
    /// When its token was last used, as far as this service knows since it started.
    seen_at_ms: Option<i64>,
    /// The id of the seat that an invitation became
    became: Option<String>,
    /// Whether the grant is valid
    live: bool,
}

impl GrantJson {
    fn of(app: &App, grants: &[(Digest, Grant)], (hash, grant): &(Digest, Grant), now_ms: i64) -> Self {
        let kind = match grant.kind {
            GrantKind::Host => "host",
            GrantKind::Seat(_) | GrantKind::Player(_) => "seat",
            GrantKind::Spectator { .. } => "spectator",
            GrantKind::Invitation(_) => "invitation",
            GrantKind::Calendar { .. } => "calendar",
        };
        // A calendar belongs to the player whose token made it, and ends with that token.
        let player = match grant.kind {
            GrantKind::Calendar { token } => grants.iter().find(|(hash, _)| *hash == token).map(|(_, of)| of),
            _ => Some(grant),
        };
        let is_named = matches!(grant.kind, GrantKind::Player(_));
        let text = grant.label.to_string();
        let (label, name) = if is_named { (String::new(), Some(text)) } else { (text, None) };
        // A token with streams is in use now.
        let seen_at_ms = if app.limits.has_streams(hash) { Some(now_ms) } else { app.seen.of(hash) };
        Self {
            id: GrantId::of(hash).to_string(),
            kind,
            seat: player.and_then(|player| player.kind.seat()),
            label,
            name,
            seen_at_ms,
            created_at_ms: grant.created_at_ms,
            expires_at_ms: grant.expires_at_ms,
            revoked_at_ms: grant.revoked_at_ms,
            became: grant.became.as_ref().map(|became| GrantId::of(became).to_string()),
            live: grant.is_live(now_ms) && player.is_some_and(|player| player.is_live(now_ms)),
        }
    }
}

fn seconds(text: &str) -> ApiResult<u64> {
    let detail =
        format!("expected a time such as `90s`, `15m`, `36h` or `7d`, at most {}d", EXPIRY_MAX_S / DAY_S);
    let count = text.strip_suffix(['s', 'm', 'h', 'd']).map(turnfold_core::text::number::<u64>);
    let Some(Ok(count @ 1..)) = count else { return Err(Problem::bad(detail)) };
    let unit_s = match text.chars().last() {
        Some('m') => 60,
        Some('h') => 60 * 60,
        Some('d') => DAY_S,
        _ => 1,
    };
    let seconds = count.checked_mul(unit_s).filter(|seconds| *seconds <= EXPIRY_MAX_S);
    seconds.ok_or_else(|| Problem::content(detail))
}

impl NewGrantJson {
    fn kind(&self, players: &[Seat]) -> ApiResult<GrantKind> {
        let player = |seat: &str| {
            let seat = name::<Seat>(seat)?;
            if seat == Seat::Host {
                return Err(Problem::bad("expected a `seat` such as `p1`"));
            }
            let is_player = players.contains(&seat);
            is_player
                .then_some(seat)
                .ok_or_else(|| Problem::content(format!("the match has no player `{seat}`")))
        };
        Ok(match self {
            Self::Host { .. } => GrantKind::Host,
            Self::Seat { seat, .. } => GrantKind::Seat(player(seat)?),
            Self::Invitation { seat, .. } => GrantKind::Invitation(player(seat)?),
            Self::Spectator { .. } => GrantKind::Spectator { reserved: 0 },
        })
    }

    fn label_and_expiry(&self) -> (&Option<String>, &Option<String>) {
        match self {
            Self::Host { label, expires }
            | Self::Seat { label, expires, .. }
            | Self::Spectator { label, expires, .. }
            | Self::Invitation { label, expires, .. } => (label, expires),
        }
    }
}

fn players(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Vec<Seat>> {
    let main = app.branch(match_name, &BranchName::main())?;
    main.current(app, |current| current.position.state.players().to_vec())
}

/// Create a grant
#[utoipa::path(operation_id = "create_grant", post, path = "/v1/matches/{match}/grants", tag = "grants", params(("match" = inline(Name), Path)),
    request_body = NewGrantJson,
    responses((status = 201, description = "the grant was created; its token is shown only once", body = GrantMade), Changed))]
pub(crate) async fn create(
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
    let new = json_body::<NewGrantJson>(request).await?;
    app.block(move |app| {
        let kind = new.kind(&players(app, &match_name)?)?;
        let (label, expires) = new.label_and_expiry();
        let expires_s = match (expires, kind) {
            (Some(expires), _) => Some(seconds(expires)?),
            (None, GrantKind::Invitation(_)) => Some(INVITATION_S),
            (None, _) => None,
        };
        let label = name(label.as_deref().unwrap_or_default())?;
        let now_ms = app.now_ms();
        let after = |s: u64| now_ms.saturating_add(i64::try_from(s.saturating_mul(1000)).unwrap_or(i64::MAX));
        let token = app.new_token(kind.into())?;
        let hash = token.hash();
        let grant =
            NewGrant { kind, match_name: match_name.clone(), label, expires_at_ms: expires_s.map(after) };
        app.store.grant(&hash, grant, now_ms)?;
        let letter = if matches!(kind, GrantKind::Invitation(_)) { 'i' } else { 't' };
        let link = format!("{}/m/{match_name}#{letter}={}", app.origin, token.expose());
        let made = GrantMade { id: GrantId::of(&hash).to_string(), token: token.expose().into(), link };
        Ok(json(StatusCode::CREATED, &made))
    })
    .await
}

/// List the grants
#[utoipa::path(operation_id = "list_grants", get, path = "/v1/matches/{match}/grants", tag = "grants", params(("match" = inline(Name), Path)),
    responses((status = 200, description = "all grants of the match, without their tokens", body = GrantList), Looked))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, JSON)?;
    app.serve(bearer, move |app, access| {
        let match_name = name(&match_name)?;
        access.require_host(&match_name)?;
        let now_ms = app.now_ms();
        let grants = app.store.grants_of(&match_name)?;
        let items: Vec<_> = grants.iter().map(|grant| GrantJson::of(app, &grants, grant, now_ms)).collect();
        Ok(json(StatusCode::OK, &List { items, next: None::<String> }))
    })
    .await
}

/// Revoke a grant
#[utoipa::path(operation_id = "revoke_grant", delete, path = "/v1/matches/{match}/grants/{id}", tag = "grants",
    params(("match" = inline(Name), Path), ("id" = inline(Id), Path)),
    responses((status = 204, description = "the grant is revoked"), Deleted))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path((match_name, id)): Path<(String, String)>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    app.serve(bearer, move |app, access| {
        let match_name = name(&match_name)?;
        access.require_host(&match_name)?;
        let id: GrantId = name(&id)?;
        app.store.revoke_grant(&match_name, id, app.now_ms())?;
        app.revoke();
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}
