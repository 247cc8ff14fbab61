//! The seats that are asked next (PM-14).

use turnfold_core::{AnyState, Seat};

use super::desk_turn::TurnPlan;

/// The seats that are asked at a position, and the seats of its round that have not played in it (PM-14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The seats that are asked, in seat order.
    pub seats: Vec<Seat>,
    /// The seats of the round for which neither an order was carried out nor `default` played. Empty where rounds do not
    /// ask all seats at once.
    pub waiting: Vec<Seat>,
}

/// What an executed turn did, as far as it decides which seats are asked next.
#[derive(Clone, Debug, Default)]
pub struct TurnEnd {
    /// The seats for which an order was carried out or a command of `default` was applied.
    pub played: Vec<Seat>,
    /// Whether a command of `between` was applied, so that a round has ended.
    pub ends_round: bool,
}

impl Round {
    /// Returns the seats that are asked after a turn, given the state of the game. `from` is the round of the position
    /// from which the turn continued; there is none before the first. A gone seat is never asked, and no seat is asked
    /// while the game waits for none of the living.
    pub(crate) fn after(
        from: Option<&Self>,
        plan: &TurnPlan,
        end: &TurnEnd,
        together: bool,
        game: &dyn AnyState,
    ) -> Self {
        let living = plan.living.as_slice();
        let due: Vec<Seat> = living.iter().copied().filter(|seat| game.waits_for(*seat)).collect();
        let waiting = Self::waiting_after(from, plan, end, together);
        let again = from.filter(|_| plan.is_takeback && !end.ends_round);
        let again = again.map(|from| common(living, &from.seats)).unwrap_or_default();
        let seats = if due.is_empty() {
            due
        } else if again.is_empty() {
            common(living, &[due, waiting.clone()].concat())
        } else {
            again
        };
        Self { seats, waiting }
    }

    /// Returns the seats of the round that have not played in it when the next turn begins.
    pub(crate) fn waiting_after(
        from: Option<&Self>,
        plan: &TurnPlan,
        end: &TurnEnd,
        together: bool,
    ) -> Vec<Seat> {
        match from {
            _ if !together => Vec::new(),
            Some(from) if !end.ends_round => {
                let is_waiting = |seat: &Seat| plan.is_takeback || !end.played.contains(seat);
                common(&plan.living, &from.waiting).into_iter().filter(is_waiting).collect()
            }
            _ => plan.living.clone(),
        }
    }
}

/// Returns the living seats among these, in seat order.
fn common(living: &[Seat], seats: &[Seat]) -> Vec<Seat> {
    living.iter().copied().filter(|seat| seats.contains(seat)).collect()
}
