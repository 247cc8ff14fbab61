//! The match that a viewer may know: a setup without secrets, and the entries as the viewer sees them.
//!
//! It is written as a replay file, and it is folded for the standing: the rules have one result and one turn for all
//! viewers, so this module does the concealing.

use std::fmt::{self, Display};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use turnfold_core::{AnyState, DicePolicy, MatchResult, Step};

use crate::input::Limits;
use crate::tfl::{Replay, ReplayLine};
use crate::{History, LogEntry, ReplayError, SeatHistory, Viewer};

/// The last state of the match that a viewer may know, with its standings before the first entry and after each.
type OwnMatch = (Box<dyn AnyState>, Vec<MatchStanding>);

/// The number of the turn and the result of a match. The JSON form is stable; absent values are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MatchStanding {
    /// The number of the turn, in games that count turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_number: Option<u64>,
    /// How the match ended, in games that have results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<MatchResult>,
}

/// Writes the result, or else the turn, such as `turn 7`; nothing if there is neither.
impl Display for MatchStanding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.result, self.turn_number) {
            (Some(result), _) => write!(out, "{result}"),
            (None, Some(turn)) => write!(out, "turn {turn}"),
            (None, None) => Ok(()),
        }
    }
}

impl MatchStanding {
    /// Returns the standing as text, or `None` if there is nothing to write.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let text = self.to_string();
        if text.is_empty() { None } else { Some(text) }
    }

    fn of(state: &dyn AnyState) -> Self {
        Self { turn_number: state.turn(), result: state.result() }
    }

    fn after(step: &dyn Step) -> Self {
        Self { turn_number: step.turn(), result: step.result() }
    }
}

impl Viewer {
    /// Returns the standing of a match. Returns `None` if a state may conceal something, because the history is then
    /// needed.
    #[must_use]
    pub fn standing(self, state: &dyn AnyState) -> Option<MatchStanding> {
        if self.sees_all() || !state.has_secrets() { Some(MatchStanding::of(state)) } else { None }
    }
}

impl SeatHistory {
    /// Returns the standing at the position.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn standing(&self) -> Result<MatchStanding, ReplayError> {
        Ok(self.standings()?.pop().unwrap_or_default())
    }

    /// Returns the standings before the first entry that the viewer knows of and after each one. Empty if the known
    /// part cannot be folded without the rest.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn standings(&self) -> Result<Vec<MatchStanding>, ReplayError> {
        let start = self.start()?;
        if self.may_conceal(&*start) {
            return match self.own_match()? {
                Some((_, standings)) => Ok(standings),
                None => Ok(Vec::new()),
            };
        }
        let mut standings = vec![MatchStanding::of(&*start)];
        self.fold(&mut |seen| standings.push(MatchStanding::after(seen.step)))?;
        Ok(standings)
    }

    pub(crate) fn standing_in(&self, end: &dyn AnyState) -> Result<MatchStanding, ReplayError> {
        match self.viewer().standing(end) {
            Some(standing) => Ok(standing),
            None => self.standing(),
        }
    }

    /// Returns the last state of the match that the viewer may know; everything that follows from it may be shown.
    /// Returns `None` if the known part cannot be folded without the rest.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn known_state(&self) -> Result<Option<Box<dyn AnyState>>, ReplayError> {
        if !self.may_conceal(&*self.start()?) {
            return self.state().map(Some);
        }
        match self.own_match()? {
            Some((state, _)) => Ok(Some(state)),
            None => Ok(None),
        }
    }

    /// Returns `true` if states may conceal something from the viewer. A file for one seat conceals nothing from that
    /// seat.
    fn may_conceal(&self, start: &dyn AnyState) -> bool {
        !self.is_of_seat() && self.viewer().standing(start).is_none()
    }

    /// Folds the match that the viewer may know, as `export --as` writes it; `None` if its rules refuse it.
    fn own_match(&self) -> Result<Option<OwnMatch>, ReplayError> {
        let mut entries = Vec::new();
        let end = self.fold(&mut |seen| {
            entries.push(LogEntry::new(seen.seq(), seen.seat(), seen.stand_in()));
        })?;
        let history = &self.source.history;
        let Ok(setup) = end.setup_seen(&history.setup, self.viewer().perspective()) else { return Ok(None) };
        let Ok(mut own) = history.rules.start(&setup) else { return Ok(None) };
        let mut standings = vec![MatchStanding::of(&*own)];
        let folded = own.fold(&LogEntry::all_logged(&entries), &DicePolicy::Recorded, &mut |step| {
            standings.push(MatchStanding::after(step));
        });
        if folded.is_ok() { Ok(Some((own, standings))) } else { Ok(None) }
    }

    /// Returns what the viewer may know as a replay. The host gets every outcome and hash. A player's replay has no
    /// seed, hashes or closing line; it has the entries that the player may know of and a setup without secrets. The
    /// rules derive from these what the player sees.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold), [`ReplayError::TooLong`], and [`ReplayError::NotSeparable`] if the rules show the
    /// player something else without the concealed rest.
    pub fn to_replay(&self) -> Result<Replay, ReplayError> {
        let history = &self.source.history;
        let viewer = self.viewer();
        if viewer.sees_all() {
            return self.source.until(self.source.head)?.to_replay();
        }
        let name = self.name();
        if self.head() > Limits::REPLAY_ENTRIES_MAX as u64 {
            return Err(ReplayError::TooLong(name.clone()));
        }
        let mut lines = Vec::new();
        let state = self.fold(&mut |seen| {
            // At an earlier entry, some that the viewer knows later are still concealed, and a file has no gaps.
            let entry = LogEntry::new(lines.len() as u64 + 1, seen.seat(), seen.stand_in());
            lines.push(ReplayLine::Entry(LogEntry { outcome: Some(seen.outcome()), ..entry }));
        })?;
        let not_separable = ReplayError::NotSeparable(format!(
            "`{name}`: without what {viewer} may not know, `{}` shows {viewer} something else",
            history.rules.name()
        ));
        // A referee cannot tell which parts of a setup a seat may know (RF-13).
        let Ok(setup) = state.setup_seen(&history.setup, viewer.perspective()) else {
            return Err(not_separable);
        };
        let mut replay = history.compose(&setup, Some(viewer.perspective()))?;
        replay.lines = lines;
        if shows_the_same(&replay, &viewer.view(state.as_ref())) { Ok(replay) } else { Err(not_separable) }
    }
}

fn shows_the_same(replay: &Replay, view: &Value) -> bool {
    let Ok(history) = History::of_replay(Path::new(&replay.file), replay) else { return false };
    let Ok(seat_history) = SeatHistory::of(Viewer::HOST, history) else { return false };
    let mut recorded = replay.entries();
    let mut is_same = true;
    let folded = seat_history.fold(&mut |seen| match recorded.next() {
        Some(entry) => is_same &= entry.outcome.as_ref() == Some(&seen.outcome()),
        None => is_same = false,
    });
    let Ok(state) = folded else { return false };
    is_same && recorded.next().is_none() && seat_history.viewer().view(state.as_ref()) == *view
}
