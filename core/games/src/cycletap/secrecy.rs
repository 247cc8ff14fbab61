//! CT-19: what a viewer may know. Views, pictures, queries and logs use these functions.

use super::command::Command;
use super::effect::Effect;
use super::order::Order;
use super::state::{OrderNumber, PLAYERS, Pool, State, Tap};
use turnfold_core::prelude::*;

impl State {
    /// Returns `true` if `viewer` may know what `side` plans in this turn. While planning lasts, only the side itself
    /// and the host may know it.
    fn reveals(&self, side: Seat, viewer: Perspective) -> bool {
        self.planning().is_none() || viewer.may_know_as(side)
    }

    /// Returns the tap state, if `viewer` may know it.
    pub(super) fn tap_seen_by(&self, viewer: Perspective) -> Option<&Tap> {
        let planning = self.planning()?;
        if self.reveals(planning.seat, viewer) { Some(&planning.tap) } else { None }
    }

    /// Returns the orders that `viewer` may know, by seat, then number.
    pub(super) fn orders_seen_by(
        &self,
        viewer: Perspective,
    ) -> impl Iterator<Item = (Seat, OrderNumber, &Order)> {
        let seen = self.orders.iter().filter(move |((seat, _), _)| self.reveals(*seat, viewer));
        seen.map(|((seat, number), order)| (*seat, *number, order))
    }

    /// Returns the pools of p1 and p2; `None` for a pool that `viewer` may not know.
    pub(super) fn pools_seen_by(&self, viewer: Perspective) -> [Option<Pool>; 2] {
        PLAYERS.map(|seat| if self.reveals(seat, viewer) { Some(self.pool(seat)) } else { None })
    }
}

/// Returns `true` if `viewer` may know of a part of an entry that left the state `after`, when the match is at `now`.
///
/// The plans of earlier turns are public since their execution.
pub(super) fn shows<R>(after: &State, now: &State, part: &Part<'_, R>, viewer: Perspective) -> bool
where
    R: Rules<Command = Command, Effect = Effect>,
{
    let (seat, is_open) = match part {
        // Everyone may know that planning ended, but not what was planned.
        Part::Command(seat, command) => (*seat, matches!(command, Command::Switch)),
        Part::Effect(seat, effect) => (*seat, matches!(effect, Effect::PlanningEnded { .. })),
    };
    is_open || seat == Seat::Host || after.turn < now.turn || now.reveals(seat, viewer)
}
