//! The seats that a turn asks, and whether its state hash may be shown (PM-13, PM-14).

use turnfold_core::{AnyState, Seat};

use crate::error::ReplayError;
use crate::history::History;

/// Who is asked at a stand, and who of its round has not played in it (PM-14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Who is asked, in seat order.
    pub seats: Vec<Seat>,
    /// Of the seats of the round, those for which in it neither an order was carried out nor `default` played. Empty
    /// where rounds do not ask all at once.
    pub waiting: Vec<Seat>,
}

/// What came of a turn, as far as it matters for who is asked next.
#[derive(Clone, Copy, Debug)]
pub struct TurnEnd<'a> {
    /// The stand of the turn, or the earlier one to which all agreed to go back; `None` before the first.
    pub from: Option<&'a Round>,
    /// Whether it is an earlier stand (PM-20).
    pub is_takeback: bool,
    /// Whether a command of `between` was applied, so that a round has ended.
    pub ends_round: bool,
    /// The seats for which an order was carried out, or of whose `default` something was applied.
    pub played: &'a [Seat],
}

impl Round {
    /// Returns who is asked next, where the game stands now. A gone seat is never asked. If no living seat has
    /// something legal, no seat is asked.
    #[must_use]
    pub fn after(end: TurnEnd<'_>, together: bool, living: &[Seat], game: &dyn AnyState) -> Self {
        let legal: Vec<Seat> = living.iter().copied().filter(|seat| !game.legal(*seat).is_empty()).collect();
        let waiting = Self::waiting_after(end, together, living);
        let again = end.from.filter(|_| end.is_takeback && !end.begins_round());
        let again = again.map(|from| common(living, &from.seats)).unwrap_or_default();
        let seats = if legal.is_empty() {
            legal
        } else if again.is_empty() {
            common(living, &[legal, waiting.clone()].concat())
        } else {
            again
        };
        Self { seats, waiting }
    }

    /// Returns who of the round has not played in it when the next stand begins.
    #[must_use]
    pub fn waiting_after(end: TurnEnd<'_>, together: bool, living: &[Seat]) -> Vec<Seat> {
        match end.from {
            _ if !together => Vec::new(),
            Some(from) if !end.begins_round() => {
                let is_waiting = |seat: &Seat| end.is_takeback || !end.played.contains(seat);
                common(living, &from.waiting).into_iter().filter(is_waiting).collect()
            }
            _ => living.to_vec(),
        }
    }
}

impl TurnEnd<'_> {
    const fn begins_round(&self) -> bool {
        self.from.is_none() || self.ends_round
    }
}

/// Returns the living seats among these, in seat order.
fn common(living: &[Seat], seats: &[Seat]) -> Vec<Seat> {
    living.iter().copied().filter(|seat| seats.contains(seat)).collect()
}

/// Returns `true` if a part of an entry is concealed from a player, so that a player could guess it from a hash of
/// the state (PM-13).
///
/// # Errors
/// [`ReplayError::Setup`] and [`ReplayError::Entry`].
pub fn conceals_something(line: &History) -> Result<bool, ReplayError> {
    let log = line.logged();
    for seat in line.start()?.players() {
        let (mut state, mut conceals) = (line.start()?, false);
        state
            .fold_as(*seat, &log, &line.dice, &mut |step| conceals |= !step.wholly_shown())
            .map_err(|cause| line.broken_entry(cause))?;
        if conceals {
            return Ok(true);
        }
    }
    Ok(false)
}
