//! The document of a match, as a viewer may know it.

use turnfold_core::MatchResult;
use turnfold_history::session::PlayPosition;
use turnfold_history::{MatchStanding, rules_of};
use turnfold_show::render::WhoseTurn;
use turnfold_show::render::match_list::active_at_ms;
use turnfold_store::{BranchInfo, GrantLabel};

use super::accord::HostingJson;
use super::branches::open_branches;
use super::prelude::*;
use crate::auto_host;
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
    #[schema(nullable = false, value_type = Option<documents::MatchResultSchema>)]
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
        let mut document = Self {
            match_name: match_name.to_string(),
            ruleset: genesis.ruleset.clone(),
            version: genesis.ruleset_version,
            title: genesis.title.clone(),
            players: Vec::new(),
            branches: open.iter().map(|(info, _)| info.name.to_string()).collect(),
            branch: branch.to_string(),
            current: current.to_string(),
            head: 0,
            over: None,
            turn_number: None,
            result: None,
            dice: genesis.dice.name(),
            active_at_ms: None,
            names: None,
            now: None,
            hosting: None,
            takebacks: None,
            takeback: None,
        };
        // A host sees that a match exists even if this build does not have its rules.
        if rules_of(&genesis, &shown.revision, &app.registry).is_ok() || !access.is_host() {
            let PlayPosition { state, head, .. } = shown.current(app, |current| current.position.fork())?;
            let looking = shown.seen_by(app, viewer);
            let standing = looking.standing(None, state.as_ref())?;
            document.turn_number = standing.turn_number;
            document.result = standing.result;
            if asked.turn {
                document.now = Some(looking.whose_turn(state.as_ref(), head)?);
            }
            document.players = state.players().to_vec();
            document.takebacks = asked.details.then(|| !state.has_secrets());
            document.head = looking.head()?;
            document.over = Some(are_over(app, viewer, &open)?);
        } else {
            document.head = app.store.head(match_name, &branch)?;
        }
        if viewer == Viewer::HOST {
            let heads: Vec<_> = open.into_iter().map(|(info, _)| (info.name, info.head)).collect();
            document.active_at_ms = Some(active_at_ms(match_name, &genesis, &heads, &app.store)?);
        }
        if asked.details {
            document.names = Some(app.store.names_of(match_name, app.now_ms())?);
            let hosted = auto_host::hosted(app, match_name)?;
            document.hosting = hosted.map(|hosted| HostingJson::of(app, &hosted));
            document.takeback = takeback::asked(app, match_name, viewer)?;
        }
        Ok(document)
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
                if let Some(text) = standing { format!("{over}  {text}") } else { over.into() }
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
