//! Grants: who may see and play a match (SV-23, SV-24), and how an invitation becomes a seat (SV-25).

use turnfold_store::{Genesis, JoinedSeat, PlayerName};

use super::prelude::*;
use crate::auth::require_live;
use crate::documents::{Id, InvitedProblems, JoinProblems};

const DAY_S: u64 = 24 * 60 * 60;

const EXPIRY_MAX_S: u64 = 366 * DAY_S;

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

fn milliseconds(text: &str) -> ApiResult<i64> {
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
    match count.checked_mul(unit_s) {
        Some(seconds @ ..=EXPIRY_MAX_S) => Ok(seconds.cast_signed() * 1000),
        _ => Err(Problem::content(detail)),
    }
}

fn player(seat: &str, players: &[Seat]) -> ApiResult<Seat> {
    match name(seat)? {
        Seat::Host => Err(Problem::bad("expected a `seat` such as `p1`")),
        seat if players.contains(&seat) => Ok(seat),
        seat => Err(Problem::content(format!("the match has no player `{seat}`"))),
    }
}

/// Create a grant
#[utoipa::path(operation_id = "create_grant", post, path = "/v1/matches/{match}/grants", tag = "grants", params(("match" = inline(Name), Path)),
    request_body = NewGrantJson,
    responses((status = 201, description = "the grant was created; its token is shown only once", body = GrantMade), Changed))]
pub(crate) async fn create(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    access.require_host(&match_name)?;
    let new = json_body::<NewGrantJson>(request).await?;
    app.block(move |app| {
        let main = app.branch(&match_name, &BranchName::main())?;
        let players = main.current(app, |current| current.position.state.players().to_vec())?;
        let (kind, label, expires) = match new {
            NewGrantJson::Host { label, expires } => (GrantKind::Host, label, expires),
            NewGrantJson::Seat { seat, label, expires } => {
                (GrantKind::Seat(player(&seat, &players)?), label, expires)
            }
            NewGrantJson::Spectator { label, expires } => {
                (GrantKind::Spectator { reserved: 0 }, label, expires)
            }
            NewGrantJson::Invitation { seat, label, expires } => {
                (GrantKind::Invitation(player(&seat, &players)?), label, expires.or(Some("7d".into())))
            }
        };
        let now_ms = app.now_ms();
        let mut expires_at_ms = None;
        if let Some(expires) = expires {
            expires_at_ms = Some(now_ms.saturating_add(milliseconds(&expires)?));
        }
        let label = name(&label.unwrap_or_default())?;
        let token = app.new_token(kind.into())?;
        let hash = token.hash();
        let grant = NewGrant { kind, match_name: match_name.clone(), label, expires_at_ms };
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
    responses((status = 200, description = "all grants of the match, without their tokens", body = documents::GrantList), Looked))]
pub(crate) async fn list(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
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
    RequestTo { app, bearer, path: (match_name, id), .. }: RequestTo<(String, String)>,
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

/// What the invitation becomes.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Join {
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
pub(crate) async fn show_invitation(
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

fn no_invitation() -> Problem {
    Problem::new(ProblemCode::NoToken, "expected a valid invitation that has not expired or been revoked")
}

/// Spend an invitation
#[utoipa::path(operation_id = "join_match", post, path = "/v1/join", tag = "grants", request_body = Join,
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
    let join = json_body::<Join>(request).await?;
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
        let name = if let GrantKind::Player(_) = grant.kind { Some(grant.label.to_string()) } else { None };
        let seat = SeatTaken {
            match_name: grant.match_name.to_string(),
            seat: grant.kind.seat(),
            id: GrantId::of(&hash).to_string(),
            token: token.expose().into(),
            name,
        };
        Ok(json(status, &seat))
    })
    .await
}
