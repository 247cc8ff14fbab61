//! Rematches: a new match of the same game and setup, with the seats changed (SV-62).

use turnfold_core::{AnyRules, DicePolicy, Seed};
use turnfold_history::session::PlayPosition;
use turnfold_history::{ReplayError, rules_of, with_seeds};
use turnfold_mail::{MailError, MatchAccord};
use turnfold_show::render::WhoseTurn;
use turnfold_store::{Genesis, GrantLabel, PackedEntries};

use super::prelude::*;
use crate::append::require_not_by_mail;
use crate::auth::derived_hash;
use crate::takeback::seats_with_players;

const NAMES_MAX: u32 = 100;

const NAME_MAX: usize = 64;

/// The access that its holder has in the rematch.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRematch {
    /// A token that the client made from 32 random bytes: `tf_s_` for a player or `tf_h_` for a host, then 43 characters of
    /// base64url. With it the request can be repeated if its response is lost.
    #[schema(pattern = "^tf_[sh]_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$")]
    token: String,
}

/// The branch that ended.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EndedBranch {
    /// The branch that ended [default: the current one]
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    branch: Option<String>,
}

/// A place in a rematch.
#[derive(Serialize, ToSchema)]
pub(crate) struct RematchJson {
    #[serde(rename = "match")]
    match_name: String,
    /// The seat that the token plays there; null for a host.
    #[schema(required = true, value_type = Option<String>)]
    seat: Option<Seat>,
    id: String,
}

/// Play again with the seats changed
///
/// Any player or host may ask once the branch is over for all of its players. The first request creates the match; each
/// later request gives its token access. Each player moves to the next seat, and the last one to the first.
#[utoipa::path(operation_id = "play_again", post, path = "/v1/matches/{match}/rematch", tag = "matches",
    params(("match" = inline(Name), Path), EndedBranch), request_body = NewRematch,
    responses((status = 201, description = "the rematch was made, and the token has a place in it", body = RematchJson),
        (status = 200, description = "the rematch was there, and the token has a place in it", body = RematchJson), Changed))]
pub(crate) async fn play_again(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    JsonQuery(EndedBranch { branch }): JsonQuery<EndedBranch>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let new = json_body::<NewRematch>(request).await?;
    let branch = name_if_given(branch.as_deref())?;
    app.block(move |app| {
        let token = token_for(&access, &new.token)?;
        let branch = branch.map_or_else(|| current_branch(app, &match_name), Ok)?;
        let open = app.branch(&match_name, &branch)?;
        require_not_by_mail(app, &open.revision)?;
        let own = access.playing_seat()?;
        let players = players_of_ended(app, &open)?;
        let old = app.store.genesis(&match_name)?;
        let mut seat = None;
        let mut name = None;
        if let Some(own) = own {
            seat = Some(seat_after(own, &players)?);
            name = app.store.names_of(&match_name, app.now_ms())?.remove(&own);
        }
        let found = rematch_of(app, &old.match_id)?;
        let is_new = found.is_none();
        let rematch = match found {
            Some(rematch) => rematch,
            None => make(app, &match_name, old)?,
        };
        let id = give(app, &rematch, seat, name, &token)?;
        host_by_old_terms(app, &match_name, &rematch)?;
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok(json(status, &RematchJson { match_name: rematch.to_string(), seat, id }))
    })
    .await
}

fn token_for(access: &Access, text: &str) -> ApiResult<AccessToken> {
    let Some(grant) = access.grant() else {
        return Err(Problem::forbidden(
            "the admin has no place to keep; a host or a player asks for a rematch",
        ));
    };
    let own = TokenKind::from(grant.kind);
    if !matches!(own, TokenKind::Host | TokenKind::Seat) {
        return Err(Problem::forbidden("only a host or a player can ask for a rematch"));
    }
    match AccessToken::parse(text) {
        Some((token, kind)) if kind == own => Ok(token),
        _ => Err(Problem::bad("expected `token` to be a token of the same kind as the one that asks")),
    }
}

fn players_of_ended(app: &Arc<App>, branch: &OpenBranch) -> ApiResult<Vec<Seat>> {
    let PlayPosition { state, head, .. } = branch.current(app, |current| current.position.fork())?;
    let players = state.players().to_vec();
    for seat in &players {
        let turn = branch.seen_by(app, Viewer::of(*seat)).whose_turn(state.as_ref(), head)?;
        if !matches!(turn, WhoseTurn::Over(_)) {
            return Err(Problem::content("the match goes on; a rematch can be made once it is over"));
        }
    }
    Ok(players)
}

fn seat_after(seat: Seat, players: &[Seat]) -> ApiResult<Seat> {
    let place = players.iter().position(|player| *player == seat);
    let next = place.and_then(|place| players.get(place + 1).or(players.first()));
    next.copied().ok_or_else(|| Problem::content(format!("{seat} does not play in this match")))
}

fn mark_of(match_id: &[u8; 16]) -> Digest {
    // No token has this hash, so a grant with it opens nothing.
    derived_hash("turnfold v1 rematch", &[match_id.as_slice()]).into()
}

pub(crate) fn rematch_of(app: &App, match_id: &[u8; 16]) -> ApiResult<Option<MatchName>> {
    Ok(app.store.find_grant(&mark_of(match_id))?.map(|grant| grant.match_name))
}

fn make(app: &Arc<App>, match_name: &MatchName, old: Genesis) -> ApiResult<MatchName> {
    let ended = old.match_id;
    let dice = match old.dice {
        DicePolicy::Recorded => DicePolicy::Recorded,
        DicePolicy::Seeded(_) => DicePolicy::Seeded(Seed::new(app.random()?)),
        DicePolicy::Fair(_) => {
            return Err(Problem::content("the dice of this match are the players' own, by mail"));
        }
    };
    let module = old.module;
    let now_ms = app.now_ms();
    let main = Revision { match_name: match_name.clone(), branch: BranchName::main(), seq: None };
    let rules = rules_of(&old, &main, &app.registry)?;
    // SV-62: new seeds are drawn, because players know by now what the old ones dealt.
    let mut failed = None;
    let mut draw = || match app.random() {
        Ok(bytes) => u64::from_le_bytes(bytes),
        Err(problem) => {
            failed = Some(problem);
            0
        }
    };
    let setup = with_seeds(&*rules, &old.setup, &mut draw).map_err(ReplayError::from)?;
    if let Some(problem) = failed {
        return Err(problem);
    }
    let match_id = app.random()?;
    let genesis = Genesis { match_id, setup, dice, created_at_ms: now_ms, origins: Vec::new(), ..old };
    let genesis = genesis.pinned(module);
    for name in names_after(match_name) {
        match app.store.create_long_match(&name, &genesis, PackedEntries::default()) {
            Ok(()) => {}
            Err(StoreError::AlreadyExists { .. }) => {
                let is_begun = is_begun_rematch(app, &*rules, &name, &genesis)?;
                // This comes last, because another request may have marked its rematch just now.
                if let Some(made) = rematch_of(app, &ended)? {
                    return Ok(made);
                }
                if !is_begun {
                    continue;
                }
            }
            Err(error) => return Err(error.into()),
        }
        let label: GrantLabel = crate::http::name("rematch")?;
        let grant = NewGrant { kind: GrantKind::Host, match_name: name.clone(), label, expires_at_ms: None };
        return match app.store.grant(&mark_of(&ended), grant, now_ms) {
            Ok(()) => Ok(name),
            Err(StoreError::GrantExists { .. }) => rematch_of(app, &ended)?.ok_or_else(Problem::internal),
            Err(error) => Err(error.into()),
        };
    }
    Err(Problem::new(
        ProblemCode::Exists,
        "too many matches have the name of this one; the host can make one of another name",
    ))
}

fn is_begun_rematch(app: &App, rules: &dyn AnyRules, name: &MatchName, genesis: &Genesis) -> ApiResult<bool> {
    // A power cut may have come after the rematch was created and before it was marked.
    let found = app.store.genesis(name)?;
    let is_same = found.ruleset == genesis.ruleset
        && found.ruleset_version == genesis.ruleset_version
        && found.title == genesis.title
        && found.module == genesis.module;
    if !is_same {
        return Ok(false);
    }
    // The seeds differ, so setups are compared with equal seeds.
    let bare = |setup: &[u8]| with_seeds(rules, setup, &mut || u64::MAX).map_err(ReplayError::from);
    let is_untouched =
        app.store.grants_of(name)?.is_empty() && app.store.head(name, &BranchName::main())? == 0;
    Ok(is_untouched && bare(&found.setup)? == bare(&genesis.setup)?)
}

fn host_by_old_terms(app: &Arc<App>, match_name: &MatchName, rematch: &MatchName) -> ApiResult<()> {
    let old = app.store.genesis(match_name)?;
    let game = app.store.genesis(rematch)?;
    let Some(accord) = MatchAccord::find(&app.store, match_name, &old)? else { return Ok(()) };
    let now_ms = app.now_ms();
    let is_full = seats_with_players(app, rematch)?.len() == seats_with_players(app, match_name)?.len();
    let has_room = MatchAccord::name_of(rematch).is_ok();
    if !is_full || !has_room || MatchAccord::find(&app.store, rematch, &game)?.is_some() {
        return Ok(());
    }
    match MatchAccord::create_like(&app.store, &accord, rematch, &game, now_ms) {
        // Another request was faster.
        Ok(()) | Err(MailError::Replay(ReplayError::Store(StoreError::AlreadyExists { .. }))) => {}
        Err(error) => return Err(error.into()),
    }
    app.auto_host.notify(rematch);
    Ok(())
}

fn names_after(match_name: &MatchName) -> Vec<MatchName> {
    // After `duel` comes `duel-2`, and after `duel-2` comes `duel-3`.
    let mut base = match_name.as_str();
    let mut first = 2;
    if let Some((before, end)) = base.rsplit_once('-')
        && let Ok(number @ 2..1_000_000) = end.parse::<u32>()
        && !before.is_empty()
    {
        base = before;
        first = number + 1;
    }
    let mut names = Vec::new();
    for number in first..first + NAMES_MAX {
        let end = format!("-{number}");
        // Names are ASCII.
        let room = NAME_MAX - end.len();
        let base = base.get(..room).unwrap_or(base);
        names.extend(format!("{base}{end}").parse::<MatchName>());
    }
    names
}

fn give(
    app: &App,
    rematch: &MatchName,
    seat: Option<Seat>,
    name: Option<GrantLabel>,
    token: &AccessToken,
) -> ApiResult<String> {
    let hash = token.hash();
    let id = GrantId::of(&hash).to_string();
    let now_ms = app.now_ms();
    let kind = match seat {
        None => GrantKind::Host,
        Some(seat) if name.is_some() => GrantKind::Player(seat),
        Some(seat) => GrantKind::Seat(seat),
    };
    // Repeating the request changes nothing.
    if let Some(grant) = app.store.find_grant(&hash)?
        && grant.match_name == *rematch
        && grant.kind == kind
        && grant.is_live(now_ms)
    {
        return Ok(id);
    }
    // A host may have invited someone else to the seat in the meantime.
    if let Some(seat) = seat
        && let Some(other) = app.store.names_of(rematch, now_ms)?.get(&seat)
        && name.as_ref() != Some(other)
    {
        return Err(StoreError::SeatTaken { seat }.into());
    }
    let label = name.unwrap_or_default();
    let grant = NewGrant { kind, match_name: rematch.clone(), label, expires_at_ms: None };
    app.store.grant(&hash, grant, now_ms)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sv_62_rematches_are_numbered_from_the_match_on() {
        for (name, expected) in [
            ("duel", "duel-2"),
            ("duel-2", "duel-3"),
            ("duel-99", "duel-100"),
            ("duel-1", "duel-1-2"),
            ("duel-night", "duel-night-2"),
            ("a", "a-2"),
            ("2", "2-2"),
        ] {
            let names = names_after(&name.parse().unwrap());
            assert_eq!(names[0].as_str(), expected);
            assert_eq!(names.len(), 100);
        }
        let long = "x".repeat(64);
        assert_eq!(names_after(&long.parse().unwrap())[0].as_str(), format!("{}-2", "x".repeat(62)));
    }

    #[test]
    fn sv_62_seats_move_on_by_one() {
        let players = [Seat::P1, Seat::P2, Seat::P3];
        let moved = players.map(|seat| seat_after(seat, &players).unwrap());
        assert_eq!(moved, [Seat::P2, Seat::P3, Seat::P1]);
        assert!(seat_after(Seat::P4, &players).is_err());
    }
}
