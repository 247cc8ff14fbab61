//! What seats announced: a player without a key, absences and orders ahead (PM-38, PM-39, PM-42).

use super::extras::SeatExtras;
use super::state::{Asked, OrderHeld, State};
use crate::paper::DeskTime;
use crate::seat::Seat;

impl State {
    pub(super) fn extras_of(&self, seat: Seat) -> Option<&SeatExtras> {
        self.extras.seats.get(&seat)
    }

    pub(super) fn extras_mut(&mut self, seat: Seat) -> &mut SeatExtras {
        self.extras.seats.entry(seat).or_default()
    }

    /// PM-38: whether the player of a seat has no key.
    pub(super) fn is_plain(&self, seat: Seat) -> bool {
        self.extras_of(seat).is_some_and(|own| own.name.is_some())
    }

    /// PM-39: until when a seat is absent, if that is later than this time.
    pub(super) fn absent_beyond(&self, seat: Seat, time: DeskTime) -> Option<DeskTime> {
        self.extras_of(seat)?.absent.filter(|until| *until > time)
    }

    /// PM-39: a deadline that waits for the seats that are asked, have sent nothing and are absent.
    pub(super) fn after_absences(&self, deadline: DeskTime) -> DeskTime {
        let awaited =
            self.named_seats().filter(|(_, own)| matches!(own.asked, Asked::Yes | Asked::Sealed(_)));
        let absent = awaited.filter_map(|(seat, _)| self.absent_beyond(seat, deadline));
        absent.max().unwrap_or(deadline)
    }

    /// PM-42: the order ahead of a seat for this turn.
    pub(super) fn order_ahead(&self, seat: Seat) -> Option<OrderHeld> {
        let ahead = self.extras_of(seat)?.ahead.as_ref()?;
        let plays = *ahead.plays.get(&self.turn())?;
        Some(OrderHeld { digest: ahead.digest, waits: false, plays, element: None, as_sealed: false })
    }

    /// PM-42: no order ahead of these seats counts any more.
    pub(super) fn drop_ahead(&mut self, seats: &[Seat]) {
        for seat in seats {
            if let Some(own) = self.extras.seats.get_mut(seat) {
                own.ahead = None;
            }
        }
    }
}
