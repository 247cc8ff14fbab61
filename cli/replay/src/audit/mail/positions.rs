//! The positions that the host recorded, held against the game after each turn (PM-13, PM-14).

use turnfold_core::paper::LineName;
use turnfold_core::rules::desk::{Secret, Setup};
use turnfold_core::{AnyState, DicePolicy, Seat};

use super::segments::TurnSegment;
use crate::history::entry::stored;
use crate::mail::{Round, TurnEnd, TurnPlan, TurnRecord, is_shown_to_all};

/// The positions of a match so far.
#[derive(Default)]
pub(super) struct Positions {
    /// Line and entry of each, and its round.
    rounds: Vec<(LineName, u64, Round)>,
    /// The last position up to which all players see everything: line, entry and game. What is shown stays shown.
    shown: Option<(LineName, u64, Box<dyn AnyState>)>,
}

impl Positions {
    /// Requires a position to be true of the game after a turn.
    ///
    /// # Errors
    /// What is not true.
    pub(super) fn check(
        &mut self,
        segment: &TurnSegment<'_>,
        position: &TurnRecord,
        plan: &TurnPlan,
        end: &TurnEnd,
        game: &dyn AnyState,
        setup: &Setup,
    ) -> Result<(), String> {
        if segment.link != Some(position.link) {
            return Err("the position has another link than the game at its entry".into());
        }
        if position.state.is_some_and(|state| state != game.state_hash()) {
            return Err("the position has another state hash than the game at its entry".into());
        }
        // PM-13
        let is_open = setup.secret != Secret::Match && self.is_shown(segment, position, game);
        match (is_open, position.state.is_some()) {
            (true, false) => return Err("the position has no state hash, but nothing is concealed".into()),
            (false, true) => return Err("the position has a state hash, but something is concealed".into()),
            _ => {}
        }
        // PM-14
        let from = if plan.is_takeback {
            let (line, seq) = &plan.from;
            self.rounds.iter().find(|(on, at, _)| on == line && at == seq)
        } else {
            self.rounds.last()
        };
        let expected = Round::after(from.map(|(.., round)| round), plan, end, setup.together, game);
        if expected.seats != position.seats {
            let (expected, found) = (names(&expected.seats), names(&position.seats));
            return Err(format!("the position asks {found}; expected {expected}"));
        }
        self.rounds.push((position.line.clone(), position.game_seq, expected));
        Ok(())
    }

    /// Whether all players may know every part of every entry up to a position.
    fn is_shown(&mut self, segment: &TurnSegment<'_>, position: &TurnRecord, game: &dyn AnyState) -> bool {
        let kept = self.shown.take_if(|(line, seq, _)| *line != position.line || *seq > position.game_seq);
        drop(kept);
        let (from, state) = match &self.shown {
            Some((_, seq, state)) => (*seq, state.fork()),
            None => (0, segment.beginning.fork()),
        };
        let entries = segment.line.between(from, position.game_seq);
        let log = stored(entries.iter().copied());
        let is_shown = is_shown_to_all(state.as_ref(), &log, &DicePolicy::Recorded) == Ok(true);
        if is_shown {
            self.shown = Some((position.line.clone(), position.game_seq, game.fork()));
        }
        is_shown
    }
}

fn names(seats: &[Seat]) -> String {
    let names: Vec<&str> = seats.iter().map(|seat| seat.name()).collect();
    if names.is_empty() { "no one".into() } else { names.join(", ") }
}
