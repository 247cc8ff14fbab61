//! What a host or auditor that folds a desk itself asks its state.

use alloc::vec::Vec;

use super::state::{Asked, Phase, Player, SeatState, State};
use crate::dice::fair::Contribution;
use crate::digest::Digest;
use crate::paper::{DeskTime, LineName, SeatKey};
use crate::seat::Seat;

impl State {
    /// Returns `true` while seats are asked.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Returns `true` while the turn is carried out and the next stand is awaited.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// Returns when the seats that are asked have to answer.
    #[must_use]
    pub fn deadline(&self) -> Option<DeskTime> {
        self.stand.map(|stand| stand.deadline)
    }

    /// Returns the host's clock when the turn began.
    #[must_use]
    pub fn since(&self) -> Option<DeskTime> {
        self.stand.map(|stand| stand.since)
    }

    /// Returns whom the match waits for: free seats while joining; seats that would miss if the deadline passed now; the
    /// host when a turn is ready.
    #[must_use]
    pub fn awaited(&self) -> Vec<Seat> {
        let of = |is_awaited: &dyn Fn(&SeatState) -> bool| -> Vec<Seat> {
            let awaited = self.named_seats().filter(|(_, own)| is_awaited(own));
            awaited.map(|(name, _)| name).collect()
        };
        match self.phase {
            Phase::Joining => self.players().iter().copied().filter(|seat| self.is_free(*seat)).collect(),
            Phase::Open => of(&|own| self.is_awaited(own)),
            Phase::Ready => [Seat::Host].into(),
            Phase::Over(_) => Vec::new(),
        }
    }

    /// Returns the seats that must commit themselves to an order before they send it, and have not (PM-16).
    #[must_use]
    pub fn awaited_seals(&self) -> Vec<Seat> {
        let owes = |own: &SeatState| own.asked == Asked::Yes && self.must_seal(own);
        if !self.is_open() {
            return Vec::new();
        }
        self.named_seats().filter(|(_, own)| owes(own)).map(|(name, _)| name).collect()
    }

    /// Returns the host's clock.
    #[must_use]
    pub const fn clock(&self) -> Option<DeskTime> {
        self.clock
    }

    /// Returns line and entry of the last stand.
    #[must_use]
    pub fn stands_on(&self) -> Option<(&LineName, u64)> {
        self.stands.last().map(|stand| (&stand.line, stand.seq))
    }

    /// Returns line and entry of the stand to which all agreed to go back (PM-20).
    #[must_use]
    pub fn agreed_takeback(&self) -> Option<(&LineName, u64)> {
        self.takeback.as_ref().map(|stand| (&stand.line, stand.seq))
    }

    /// Returns the digest of each order that is still to be carried out, in seat order (PM-19).
    #[must_use]
    pub fn orders_due(&self) -> Vec<(Seat, Digest)> {
        let order = |asked: &Asked| if let Asked::Ordered(order) = asked { Some(order.digest) } else { None };
        self.named_seats().filter_map(|(name, seat)| Some((name, order(&seat.asked)?))).collect()
    }

    /// Returns the seats for which a default is played in this turn (PM-17).
    #[must_use]
    pub fn defaulted(&self) -> Vec<Seat> {
        let is_defaulted = self.named_seats().filter(|(_, seat)| seat.asked == Asked::Defaulted);
        is_defaulted.map(|(name, _)| name).collect()
    }

    /// Returns the seats that have left (PM-21).
    #[must_use]
    pub fn gone(&self) -> Vec<Seat> {
        self.named_seats().filter(|(_, seat)| seat.gone).map(|(name, _)| name).collect()
    }

    /// Returns the key with which a seat signs now.
    #[must_use]
    pub fn key_of(&self, seat: Seat) -> Option<&SeatKey> {
        self.seat(seat)?.key()
    }

    /// Returns the name of a seat's player.
    #[must_use]
    pub fn name_of(&self, seat: Seat) -> Option<&str> {
        Some(match self.seat(seat)?.player.as_ref()? {
            Player::Signing(key) => key.name(),
            Player::Plain(name) => name,
        })
    }

    /// Returns `true` for a seat whose player has no key (PM-38).
    #[must_use]
    pub fn plays_plainly(&self, seat: Seat) -> bool {
        self.seat(seat).is_some_and(SeatState::is_plain)
    }

    /// Returns the hours of the reminder that is due at a time, if one is (PM-40).
    #[must_use]
    pub fn reminder_due(&self, at: DeskTime) -> Option<u16> {
        let deadline = self.deadline().filter(|deadline| self.is_open() && at < *deadline)?;
        let is_due = |hours: &u16| {
            at.after_hours(*hours) >= deadline && self.reminded.is_none_or(|last| last > *hours)
        };
        self.terms.remind.iter().copied().find(is_due)
    }

    /// Returns the digest of the paper with a seat's orders ahead (PM-42).
    #[must_use]
    pub fn orders_ahead(&self, seat: Seat) -> Option<Digest> {
        Some(self.seat(seat)?.ahead.as_ref()?.digest)
    }

    /// Returns the number of a seat's last paper that counts (PM-10).
    #[must_use]
    pub fn last_number(&self, seat: Seat) -> u32 {
        self.seat(seat).map_or(0, |seat| seat.number)
    }

    /// Returns `true` if a seat has a chain of fair dice that no new key has ended.
    #[must_use]
    pub fn has_chain(&self, seat: Seat) -> bool {
        self.seat(seat).and_then(|seat| seat.dice).is_some_and(|dice| !dice.ended)
    }

    /// Returns each seat's part in the rolls of this turn, with fair dice.
    #[must_use]
    pub fn contributions(&self) -> Vec<Contribution> {
        let of = |(seat, dice): (Seat, super::element::Element)| Contribution {
            seat,
            index: dice.index,
            element: dice.element,
        };
        let known = self.named_seats().filter_map(|(name, seat)| Some((name, seat.dice?.contribution)));
        known.map(of).collect()
    }

    /// Returns the number of the last roll, with fair dice; 0 before the first.
    #[must_use]
    pub fn last_roll(&self) -> Option<u16> {
        self.host_element.map(|element| element.index)
    }
}
