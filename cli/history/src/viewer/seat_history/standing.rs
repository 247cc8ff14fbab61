//! The standing of a match for a viewer: the number of its turn, and its result.
//!
//! The rules have one result and one turn for all viewers, so this module does the concealing. A player gets the result
//! and turn of the match that the player may know: folded from a setup without secrets and the entries as the player
//! sees them.

use std::fmt::{self, Display};

use serde::Serialize;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, MatchResult, Step};

use super::SeatHistory;
use crate::error::ReplayError;
use crate::history::source::HistorySource;
use crate::viewer::Viewer;

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
        // A file for one seat conceals nothing from that seat.
        if !self.is_of_seat() && self.viewer.standing(&*start).is_none() {
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
        match self.viewer.standing(end) {
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
        if self.is_of_seat() || self.viewer.standing(&*self.start()?).is_some() {
            return self.state().map(Some);
        }
        match self.own_match()? {
            Some((state, _)) => Ok(Some(state)),
            None => Ok(None),
        }
    }

    /// Folds the match that the viewer may know, as `export --as` writes it; `None` if its rules refuse it.
    fn own_match(&self) -> Result<Option<OwnMatch>, ReplayError> {
        let mut entries = Vec::new();
        let end = self.fold(&mut |seen| entries.push((seen.seq(), seen.seat(), seen.stand_in())))?;
        let HistorySource { history, .. } = &self.source;
        let Ok(setup) = end.setup_seen(&history.setup, self.viewer.perspective()) else { return Ok(None) };
        let Ok(mut own) = history.rules.start(&setup) else { return Ok(None) };
        let mut standings = vec![MatchStanding::of(&*own)];
        let mut log = Vec::new();
        for (seq, seat, command) in &entries {
            log.push(Logged { seq: *seq, seat: *seat, command: CommandSource::Text(command) });
        }
        let folded = own.fold(&log, &DicePolicy::Recorded, &mut |step| {
            standings.push(MatchStanding::after(step));
        });
        if folded.is_err() {
            return Ok(None);
        }
        Ok(Some((own, standings)))
    }
}
