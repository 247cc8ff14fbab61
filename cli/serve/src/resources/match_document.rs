//! The document of a match, as a viewer may know it.

use std::collections::BTreeMap;

use turnfold_core::MatchResult;
use turnfold_history::session::PlayPosition;
use turnfold_history::{MatchStanding, rules_of};
use turnfold_show::render::WhoseTurn;
use turnfold_show::render::match_list::active_at_ms;
use turnfold_store::{BranchInfo, Genesis, GrantLabel};

use super::accord::HostingJson;
use super::branches::open_branches;
use super::prelude::*;
use crate::auto_host;
use crate::open_branch::OpenBranch;
use crate::takeback::{self, TakebackJson, has_left};

/// A match, as a viewer may know it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct MatchJson {
    #[serde(rename = "match")]
    match_name: String,
    ruleset: String,
    version: u32,
    title: String,
    /// The seats of its players; empty if this build does not have the rules.
    #[schema(value_type = Vec<String>)]
    players: Vec<Seat>,
    branches: Vec<String>,
    /// The branch that is described.
    branch: String,
    /// The current branch of the match.
    current: String,
    /// The number of the last entry of the branch, in the viewer's numbering.
    head: u64,
    /// Whether all branches are over, except those that the match left; `null` if this build does not have the rules.
    over: Option<bool>,
    /// The number of the turn on the branch; missing if the game counts no turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    turn_number: Option<u64>,
    /// How the branch ended; missing while it goes on, and if the game has no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<documents::MatchResult>)]
    result: Option<MatchResult>,
    /// Where rolls come from: `recorded`, `seeded` or `fair`.
    dice: &'static str,
    /// When its last entry on any branch was recorded; missing unless the host or the admin asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    active_at_ms: Option<i64>,
    /// The names under which players joined, by their seats; missing in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    names: Option<BTreeMap<Seat, GrantLabel>>,
    /// Whose turn it is, as far as the viewer may know; missing in lists unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<documents::TurnNow>)]
    now: Option<WhoseTurn>,
    /// How the service hosts the match; missing in lists, and if a host does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hosting: Option<HostingJson>,
    /// Whether players can ask to take back; missing in lists. If a game conceals something, only the host can take back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    takebacks: Option<bool>,
    /// What a player asks to take back; missing in lists, for spectators, and if nothing is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    takeback: Option<TakebackJson>,
}

#[derive(Default)]
pub(super) struct AskedOfMatch {
    pub(super) branch: Option<BranchName>,
    pub(super) viewer: Option<Viewer>,
    pub(super) turn: bool,
    /// Whether to include what lists leave out.
    pub(super) details: bool,
}

impl MatchJson {
    pub(super) fn of(
        app: &Arc<App>,
        access: &Access,
        match_name: &MatchName,
        asked: &AskedOfMatch,
    ) -> ApiResult<Self> {
        let viewer = access.looks(match_name, asked.viewer)?;
        let genesis = app.store.genesis(match_name)?;
        let current = current_branch(app, match_name)?;
        let branch = asked.branch.clone().unwrap_or_else(|| current.clone());
        let shown = app.branch(match_name, &branch)?;
        let open = open_branches(app, match_name)?;
        // A host sees that a match exists even if this build does not have its rules.
        let has_rules = rules_of(&genesis, &shown.revision, &app.registry).is_ok() || !access.is_host();
        let mut takebacks = None;
        let (players, head, over, standing, now) = if has_rules {
            let PlayPosition { state, head: last, .. } =
                shown.current(app, |current| current.position.fork())?;
            let standing = shown.seen_by(app, viewer).standing(None, state.as_ref())?;
            let now = if asked.turn {
                Some(shown.seen_by(app, viewer).whose_turn(state.as_ref(), last)?)
            } else {
                None
            };
            let players = state.players().to_vec();
            takebacks = asked.details.then(|| !state.has_secrets());
            let head = shown.seen_by(app, viewer).head()?;
            (players, head, Some(are_over(app, viewer, &open)?), standing, now)
        } else {
            let head = app.store.head(match_name, &branch)?;
            (Vec::new(), head, None, MatchStanding::default(), None)
        };
        let heads: Vec<_> = open.into_iter().map(|(info, _)| (info.name, info.head)).collect();
        let is_host = viewer == Viewer::HOST;
        let active_at_ms =
            if is_host { Some(active_at_ms(match_name, &genesis, &heads, &app.store)?) } else { None };
        let mut names = None;
        let mut hosting = None;
        let mut takeback = None;
        if asked.details {
            names = Some(app.store.names_of(match_name, app.now_ms())?);
            hosting = auto_host::hosted(app, match_name)?.map(|hosted| HostingJson::of(app, &hosted));
            takeback = takeback::asked(app, match_name, viewer)?;
        }
        let branches = heads.iter().map(|(name, _)| name.to_string()).collect();
        let Genesis { ruleset, ruleset_version: version, title, .. } = genesis;
        let match_name = match_name.to_string();
        let MatchStanding { turn_number, result } = standing;
        let dice = genesis.dice.name();
        Ok(Self {
            match_name,
            ruleset,
            version,
            title,
            players,
            branches,
            branch: branch.to_string(),
            current: current.to_string(),
            head,
            over,
            turn_number,
            result,
            dice,
            active_at_ms,
            names,
            now,
            hosting,
            takebacks,
            takeback,
        })
    }

    pub(super) fn waits_for(&self, seat: Seat) -> bool {
        matches!(&self.now, Some(WhoseTurn::Of(seats, _)) if seats.contains(&seat))
    }

    pub(super) fn line(&self) -> String {
        let Self { match_name, ruleset, title, head, over, turn_number, result, now, .. } = self;
        let standing = MatchStanding { turn_number: *turn_number, result: result.clone() }.text();
        let turn = match (now, over) {
            (Some(now @ (WhoseTurn::Over(_) | WhoseTurn::Of(..))), _) => format!("  {}", now.text()),
            (_, None) => "  rules of another build".into(),
            (_, Some(over)) => {
                let over = if *over { "  over" } else { "" };
                over.to_owned() + &standing.map(|text| format!("  {text}")).unwrap_or_default()
            }
        };
        let title = if title.is_empty() { String::new() } else { format!("  {title}") };
        let entries = turnfold_history::text::counted(*head, "entry", "entries");
        format!("{match_name}  {ruleset}  {entries}{turn}{title}")
    }
}

pub(crate) fn are_over(
    app: &App,
    viewer: Viewer,
    branches: &[(BranchInfo, Arc<OpenBranch>)],
) -> ApiResult<bool> {
    // SV-9: all branches count, because one seed rolls for all of them, and the same people may play a branch again.
    // Only a branch that the match left does not count.
    for (_, branch) in branches {
        if !branch.seen_by(app, viewer).state(None)?.over() && !has_left(app, branch)? {
            return Ok(false);
        }
    }
    Ok(true)
}
