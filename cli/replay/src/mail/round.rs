//! The seats that are asked next (PM-14).

use turnfold_core::{AnyState, Seat};

/// The seats that are asked at a position, and the seats of its round that have not played in it (PM-14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The seats that are asked, in seat order.
    pub seats: Vec<Seat>,
    /// The seats of the round for which neither an order was carried out nor `default` played. Empty where rounds do not
    /// ask all seats at once.
    pub waiting: Vec<Seat>,
}

/// What a turn did, as far as it decides which seats are asked next.
#[derive(Clone, Copy, Debug)]
pub struct TurnEnd<'a> {
    /// The position of the turn, or the earlier one to which all agreed to go back; `None` before the first.
    pub from: Option<&'a Round>,
    /// Whether it is an earlier position (PM-20).
    pub is_takeback: bool,
    /// Whether a command of `between` was applied, so that a round has ended.
    pub ends_round: bool,
    /// The seats for which an order was carried out or a command of `default` was applied.
    pub played: &'a [Seat],
}

impl Round {
    /// Returns the seats that are asked next, given the state of the game. A gone seat is never asked, and no seat is
    /// asked while no living seat has a legal command.
    pub(crate) fn after(end: TurnEnd<'_>, together: bool, living: &[Seat], game: &dyn AnyState) -> Self {
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

    /// Returns the seats of the round that have not played in it when the next turn begins.
    pub(crate) fn waiting_after(end: TurnEnd<'_>, together: bool, living: &[Seat]) -> Vec<Seat> {
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
