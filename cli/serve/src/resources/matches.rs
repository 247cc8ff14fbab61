//! Matches: the matches that a token knows, a single match, new ones, and who has a page of a match open (SV-60).

use turnfold_core::{AnyRules, DicePolicy, Seed, SetupError};
use turnfold_history::input::check_title;
use turnfold_history::tfl::Replay;
use turnfold_history::{Imported, ReplayError, find_rules};
use turnfold_mail::{MailError, MatchAccord, read_accord};
use turnfold_show::render;
use turnfold_store::{Genesis, GrantLabel, PackedEntries};

use super::match_document::{AskedOfMatch, MatchJson};
use super::prelude::*;
use super::rematch::rematch_of;
use crate::documents::ReplayText;
use crate::http::{body, has_type};
use crate::limits::{FoldsOf, REPLAY_BYTES_MAX};

/// Which matches to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// The name after which the list begins
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    after: Option<String>,
    /// The most matches [default: 100]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// Whether each match has `now`: whose turn it is
    #[param(value_type = Option<bool>)]
    #[serde(default)]
    turn: bool,
    /// Only matches in which this seat has a command to give, with `now`
    #[param(value_type = Option<String>, pattern = "^(p([1-9]|1[0-6])|host)$")]
    mine: Option<Seat>,
}

/// SV-69: the most matches that are looked at for one answer, because each may have to be folded.
const LOOKED_AT_MAX: usize = 1000;

/// List the matches that the token may see
#[utoipa::path(operation_id = "list_matches", get, path = "/v1/matches", tag = "matches", params(PageQuery),
    responses((status = 200, description = "the matches, by name", content(
        (documents::MatchList = "application/json"), (String = "text/plain"))), Looked))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    ValidQuery(page): ValidQuery<PageQuery>,
    form: AnswerForm,
) -> ApiResult {
    let limit = list_limit(page.limit)?;
    let after = name_if_given::<MatchName>(page.after.as_deref())?;
    app.fold(&bearer, None, move |app, access| {
        let names: Box<dyn Iterator<Item = ApiResult<MatchName>>> = match access.grant() {
            None => Box::new(app.store.matches_after(after.as_ref())?.map(|info| Ok(info?.name))),
            Some(grant) => {
                access.require_match(&grant.match_name)?;
                let is_after = after.as_ref() < Some(&grant.match_name);
                Box::new(is_after.then(|| Ok(grant.match_name.clone())).into_iter())
            }
        };
        let turn = page.turn || page.mine.is_some();
        let asked = AskedOfMatch { turn, ..AskedOfMatch::default() };
        let mut items = Vec::new();
        let mut last = None;
        let mut next = None;
        for (looked_at, name) in names.enumerate() {
            if items.len() == limit || looked_at == LOOKED_AT_MAX {
                next = last;
                break;
            }
            let name = name?;
            let item = MatchJson::of(app, access, &name, &asked)?;
            if page.mine.is_none_or(|mine| item.waits_for(mine)) {
                items.push(item);
            }
            last = Some(name.to_string());
        }
        if form == AnswerForm::Json {
            return Ok(json(StatusCode::OK, &List { items, next }));
        }
        let mut response = text(StatusCode::OK, render::text(items.iter().map(MatchJson::line)));
        if let Some(next) = next {
            let turn = if page.turn { "&turn=true" } else { "" };
            let mine = page.mine.map(|mine| format!("&mine={mine}")).unwrap_or_default();
            link_next(&mut response, &format!("/v1/matches?after={next}&limit={limit}{turn}{mine}"));
        }
        Ok(response)
    })
    .await
}

/// Which branch of a match to see, and as whom.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MatchBranch {
    /// The branch whose head, turn and result are shown [default: the current one]
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    branch: Option<String>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

/// See a match
#[utoipa::path(operation_id = "show_match", get, path = "/v1/matches/{match}", tag = "matches",
    params(("match" = inline(Name), Path), MatchBranch),
    responses((status = 200, description = "the match, as its viewer may know it", content(
        (MatchJson = "application/json"), (String = "text/plain"))), Looked))]
pub(crate) async fn show(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    ValidQuery(MatchBranch { branch, seat }): ValidQuery<MatchBranch>,
    form: AnswerForm,
) -> ApiResult {
    let match_name: MatchName = name(&match_name)?;
    let branch = name_if_given(branch.as_deref())?;
    let asked = AskedOfMatch {
        branch,
        viewer: seat.map(|seat| seat.0),
        turn: form == AnswerForm::Json,
        details: form == AnswerForm::Json,
    };
    app.fold(&bearer, Some(match_name.clone()), move |app, access| {
        let shown = MatchJson::of(app, access, &match_name, &asked)?;
        Ok(match form {
            AnswerForm::Json => json(StatusCode::OK, &shown),
            AnswerForm::Text => text(StatusCode::OK, shown.line() + "\n"),
        })
    })
    .await
}

/// A new match.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMatch {
    /// The name of the match: a-z, 0-9, `.`, `_` and `-`, at most 64 characters
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    name: String,
    ruleset: String,
    /// The setup, as TOML
    setup: String,
    /// Where rolls come from: `recorded` or `seeded`
    #[schema(pattern = "^(recorded|seeded)$")]
    dice: String,
    /// The seed of seeded dice, 64 hex digits; a fresh one if left out
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, pattern = "^[0-9a-f]{64}$")]
    seed: Option<String>,
    /// A title, for people
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, max_length = 200)]
    title: Option<String>,
    /// The terms by which the service hosts the match, as TOML; missing ones are the game's own. Without terms a host has
    /// to do what a host does.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, max_length = 10000)]
    terms: Option<String>,
}

/// The created match.
#[derive(Serialize, ToSchema)]
pub(crate) struct Created {
    #[serde(flatten)]
    made: MatchJson,
    /// The host token, which is shown only once.
    token: String,
}

/// Where a replay file is imported to.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportName {
    /// With a replay file as body: the name of the match
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    name: Option<String>,
}

/// Create a match, or import one from a replay file
#[utoipa::path(operation_id = "create_match", post, path = "/v1/matches", tag = "matches", params(ImportName),
    request_body(content((NewMatch = "application/json"), (inline(ReplayText) = "text/plain"))),
    responses((status = 201, description = "the match was created", headers(("Location" = String)), body = Created), Changed))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    JsonQuery(import): JsonQuery<ImportName>,
    request: Request,
) -> ApiResult {
    let access = app.admit(&bearer).await?;
    access.require_admin()?;
    // A JSON body names its match itself.
    if let Some(match_name) = import.name.filter(|_| !has_type(&request, JSON)) {
        let file = body(request, "text/plain", REPLAY_BYTES_MAX).await?;
        return app
            .fold_for(FoldsOf::Token(access.token), None, move |app| {
                let match_name = Revision::new_match_name(&match_name).map_err(Problem::content)?;
                let replay = Replay::read_also_seen("the body", &file, &app.registry).and_then(Replay::whole);
                let replay = replay.map_err(|error| Problem::new(ProblemCode::Setup, error.to_string()))?;
                let Imported { rules, setup, dice, module, title, entries, passed, .. } =
                    Imported::of(&replay, app.now_ms())?;
                // MD-8: it pins the module that the file pins.
                let genesis = new_genesis(app, &*rules, setup, dice, title)?.pinned(module);
                let response = make(app, &access, &match_name, &genesis, entries, None)?;
                passed.keep(&match_name, &*rules, &**app, &app.store);
                Ok(response)
            })
            .await;
    }
    if has_type(&request, "text/plain") {
        return Err(Problem::content("expected the query to name the match that a replay file becomes"));
    }
    let new = json_body::<NewMatch>(request).await?;
    app.block(move |app| {
        let match_name = Revision::new_match_name(&new.name).map_err(Problem::content)?;
        let unplayable = |detail: String| Problem::new(ProblemCode::Setup, detail);
        let rules = find_rules(&new.ruleset, &app.registry).map_err(|error| unplayable(error.to_string()))?;
        let dice = dice(app, &new)?;
        let setup = rules.read_setup(&new.setup).map_err(|error| unplayable(error.to_string()))?;
        let title = new.title.unwrap_or_default();
        let genesis = new_genesis(app, &*rules, setup, dice, title)?.pinned(rules.module());
        let accord = match new.terms {
            Some(terms) => Some(accord_of(app, &match_name, &*rules, &genesis, &terms)?),
            None => None,
        };
        make(app, &access, &match_name, &genesis, PackedEntries::default(), accord)
    })
    .await
}

fn dice(app: &App, new: &NewMatch) -> ApiResult<DicePolicy> {
    match (new.dice.as_str(), &new.seed) {
        ("recorded", None) => Ok(DicePolicy::Recorded),
        ("recorded", Some(_)) => Err(Problem::content("a seed needs `\"dice\": \"seeded\"`")),
        ("seeded", Some(seed)) => seed
            .parse()
            .map(DicePolicy::Seeded)
            .map_err(|error: <Seed as std::str::FromStr>::Err| Problem::bad(error.to_string())),
        ("seeded", None) => Ok(DicePolicy::Seeded(Seed::new(app.random()?))),
        _ => Err(Problem::bad("expected `dice` to be `recorded` or `seeded`")),
    }
}

pub(super) fn accord_of(
    app: &App,
    match_name: &MatchName,
    rules: &dyn AnyRules,
    game: &Genesis,
    terms: &str,
) -> ApiResult<Vec<u8>> {
    // SV-45: the terms are read before anything is created.
    MatchAccord::name_of(match_name).map_err(|error| Problem::content(error.0))?;
    if matches!(game.dice, DicePolicy::Fair(_)) {
        return Err(Problem::content("a match with fair dice is played by mail, which has terms of its own"));
    }
    MatchAccord::require_free(&app.store, match_name, game)?;
    read_accord(terms, rules, game).map_err(|error| match error {
        MailError::Replay(ReplayError::BadSetup(error)) => Problem::content(match error {
            SetupError::Text { line, column, message } => format!("terms:{line}:{column}: {message}"),
            SetupError::Value { field, message } => format!("terms: {field}: {message}"),
            SetupError::Bytes(message) => format!("terms: {message}"),
        }),
        error => error.into(),
    })
}

fn new_genesis(
    app: &App,
    rules: &dyn AnyRules,
    setup: Vec<u8>,
    dice: DicePolicy,
    title: String,
) -> ApiResult<Genesis> {
    check_title(&title).map_err(Problem::content)?;
    Ok(Genesis {
        format: Genesis::FORMAT,
        ruleset: rules.name().into(),
        ruleset_version: rules.version(),
        setup,
        dice,
        match_id: app.random()?,
        title,
        created_at_ms: app.now_ms(),
        module: None,
        played_by: rules.module(),
        origins: Vec::new(),
    })
}

fn make(
    app: &Arc<App>,
    access: &Access,
    match_name: &MatchName,
    genesis: &Genesis,
    entries: PackedEntries,
    accord: Option<Vec<u8>>,
) -> ApiResult<Response> {
    let now_ms = genesis.created_at_ms;
    let token = app.new_token(TokenKind::Host)?;
    app.store.create_long_match(match_name, genesis, entries)?;
    let label = GrantLabel::default();
    let host = NewGrant { kind: GrantKind::Host, match_name: match_name.clone(), label, expires_at_ms: None };
    app.store.grant(&token.hash(), host, now_ms)?;
    if let Some(accord) = accord {
        MatchAccord::create(&app.store, match_name, genesis, accord, now_ms)?;
        app.auto_host.notify(match_name);
    }
    let made = MatchJson::of(app, access, match_name, &AskedOfMatch::default())?;
    let token = token.expose().into();
    Ok(created(&Created { made, token }, &format!("/v1/matches/{match_name}")))
}

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
pub(crate) async fn here(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
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
