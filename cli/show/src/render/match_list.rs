//! The matches of a store, as `matches` prints them.

use serde::{Serialize, Serializer};
use turnfold_core::paper::MatchId;
use turnfold_core::{AnyState, Digest, Registry, Seat};
use turnfold_history::text::{Line, counted, dim, plain, strong, time};
use turnfold_history::{HistorySource, MatchStanding, ReplayError, Revision, SeatHistory, Viewer};
use turnfold_store::{BranchName, Genesis, MatchInfo, MatchName, Origin, Seq, StoreReader};

/// A match of a list. It serializes as what `matches --format json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedMatch {
    /// Its name.
    #[serde(rename = "match")]
    pub match_name: MatchName,
    /// Its ruleset.
    pub ruleset: String,
    /// The version of the ruleset it was recorded under.
    pub version: u32,
    /// The number of the last entry of `main`.
    pub entries: u64,
    /// How many branches it has, `main` among them.
    pub branches: u64,
    /// What people call it.
    pub title: String,
    /// When it was created.
    pub created_at_ms: i64,
    /// When its last entry was recorded, on whatever branch; when it was created if there is none.
    pub active_at_ms: i64,
    /// The match that it was migrated from, where that was asked for and there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginDocument>,
    /// Whose turn it is, where that was asked for.
    #[serde(flatten)]
    pub turn: Option<WhoseTurn>,
}

/// The match that another was migrated from, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OriginDocument {
    match_id: MatchId,
    /// The version of the ruleset under which it was recorded.
    pub version: u32,
    entry: Seq,
    link: Digest,
}

impl OriginDocument {
    /// Describes the last origin of a match.
    #[must_use]
    pub fn of(genesis: &Genesis) -> Option<Self> {
        let Origin { match_id, ruleset_version: version, head: entry, link } = *genesis.origins.last()?;
        Some(Self { match_id: MatchId::new(match_id), version, entry, link })
    }
}

/// Whose turn it is in a match, as a viewer may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhoseTurn {
    /// No more commands are taken.
    Over(MatchStanding),
    /// These seats have a command that would be applied.
    Of(Vec<Seat>, MatchStanding),
    /// This build does not have the rules, or the viewer may not know.
    Unknown,
}

#[derive(Serialize)]
struct TurnMembers<'a> {
    over: Option<bool>,
    turn: Option<&'a [Seat]>,
    #[serde(flatten)]
    standing: Option<&'a MatchStanding>,
}

impl ListedMatch {
    /// Reads when a match was last played on; whose turn it is is not asked.
    ///
    /// # Errors
    /// [`ReplayError::Store`].
    pub fn read(info: MatchInfo, store: &StoreReader) -> Result<Self, ReplayError> {
        let MatchInfo { name, genesis, head, branches } = info;
        let mut heads = vec![(BranchName::main(), head)];
        if branches > 1 {
            heads = store.branches(&name)?.into_iter().map(|branch| (branch.name, branch.head)).collect();
        }
        let active_at_ms = active_at_ms(&name, &genesis, &heads, store)?;
        Ok(Self {
            match_name: name,
            ruleset: genesis.ruleset,
            version: genesis.ruleset_version,
            entries: head,
            branches,
            title: genesis.title,
            created_at_ms: genesis.created_at_ms,
            active_at_ms,
            origin: None,
            turn: None,
        })
    }
}

impl WhoseTurn {
    /// Folds `main` of a match, from its last snapshot, to see whose turn it is.
    ///
    /// # Errors
    /// What is wrong with the match, but that its rules are not there.
    pub fn of(
        match_name: &MatchName,
        store: &StoreReader,
        registry: &Registry,
        build: Option<Digest>,
    ) -> Result<Self, ReplayError> {
        let main = Revision { match_name: match_name.clone(), branch: BranchName::main(), seq: None };
        let source = HistorySource::of_branch(&main, store, registry, build);
        match source.and_then(|source| source.state(None)) {
            Ok(state) => Ok(Self::in_state(state.as_ref())),
            Err(ReplayError::NoRules(..) | ReplayError::Fault(_)) => Ok(Self::Unknown),
            Err(error) => Err(error),
        }
    }

    /// Returns whose turn it is in a state; `None` where a part of it may be concealed from the viewer, so that its history
    /// is needed.
    #[must_use]
    pub fn seen_by(viewer: Viewer, state: &dyn AnyState) -> Option<Self> {
        viewer.standing(state)?;
        Some(Self::in_state(state))
    }

    /// Returns whose turn it is at the end of a history, as far as its viewer may know: whose it is in the match that the
    /// viewer knows of.
    ///
    /// # Errors
    /// As for [`SeatHistory::fold`].
    pub fn of_history(history: &SeatHistory) -> Result<Self, ReplayError> {
        Ok(history.known_state()?.map_or(Self::Unknown, |state| Self::in_state(state.as_ref())))
    }

    /// Returns whose turn it is in a state that conceals nothing.
    pub(crate) fn in_state(state: &dyn AnyState) -> Self {
        let standing = Viewer::HOST.standing(state).unwrap_or_default();
        if state.over() {
            return Self::Over(standing);
        }
        let seats = state.players().iter().copied().chain([Seat::Host]);
        Self::Of(seats.filter(|&seat| state.waits_for(seat)).collect(), standing)
    }

    /// Returns whose turn it is in words, as `matches --long` prints it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Over(MatchStanding { result: None, .. }) => "over".into(),
            Self::Over(MatchStanding { result: Some(result), .. }) => format!("over: {result}"),
            Self::Of(seats, _) if seats.is_empty() => "no one's turn".into(),
            Self::Of(seats, MatchStanding { turn_number, .. }) => {
                let number = turn_number.map(|number| format!(" {number}")).unwrap_or_default();
                let seats: Vec<_> = seats.iter().map(ToString::to_string).collect();
                format!("turn{number} of {}", seats.join(", "))
            }
            Self::Unknown => "rules of another build".into(),
        }
    }
}

/// Writes the members `over` and `turn`, and the members of its standing.
impl Serialize for WhoseTurn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = match self {
            Self::Over(standing) => {
                TurnMembers { over: Some(true), turn: Some(&[]), standing: Some(standing) }
            }
            Self::Of(seats, standing) => {
                TurnMembers { over: Some(false), turn: Some(seats), standing: Some(standing) }
            }
            Self::Unknown => TurnMembers { over: None, turn: None, standing: None },
        };
        members.serialize(serializer)
    }
}

/// Finds when a match with these branches and heads was last played on, in milliseconds since 1970.
///
/// # Errors
/// [`ReplayError::Store`].
pub fn active_at_ms(
    match_name: &MatchName,
    genesis: &Genesis,
    heads: &[(BranchName, Seq)],
    store: &StoreReader,
) -> Result<i64, ReplayError> {
    let mut active_at_ms = genesis.created_at_ms;
    for (branch, head) in heads.iter().filter(|(_, head)| *head > 0) {
        for entry in store.entries(match_name, branch, *head..=*head)? {
            active_at_ms = active_at_ms.max(entry?.recorded_at_ms);
        }
    }
    Ok(active_at_ms)
}

/// Returns the lines of a list of matches, in columns.
#[must_use]
pub fn lines(matches: &[ListedMatch]) -> Vec<Line> {
    let width = matches.iter().map(|listed| listed.match_name.as_str().len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for listed in matches {
        let entries = counted(listed.entries, "entry", "entries");
        let branches = counted(listed.branches, "branch", "branches");
        let turn = listed.turn.as_ref().map(|turn| format!("  {}", turn.text())).unwrap_or_default();
        let version = listed.origin.as_ref().map(|origin| origin.version);
        let origin = version.map(|version| format!("  migrated from version {version}")).unwrap_or_default();
        let title = if listed.title.is_empty() { String::new() } else { format!("  {}", listed.title) };
        lines.push(Line::from([
            strong(format_args!("{:width$}", listed.match_name.as_str())),
            plain(format_args!("  {}  {entries}, {branches}  ", listed.ruleset)),
            dim(time(Some(listed.active_at_ms))),
            plain(format_args!("{turn}{origin}{title}")),
        ]));
    }
    lines
}
