//! The state of a desk: who plays with which key, the turn, and what came in for it.

use core::fmt;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::element::{Element, SeatDice};
use crate::digest::Digest;
use crate::paper::{DeskTime, Ending, LineName, MatchId, Offer, SeatKey};
use crate::seat::Seat;

/// Everything the future of a desk depends on. The game itself is no part of it (PM-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) match_id: MatchId,
    pub(super) terms: Terms,
    /// The names that a seat or the host has or had.
    pub(super) names_used: BTreeSet<String>,
    /// Likewise the public keys, in base64.
    pub(super) keys_used: BTreeSet<String>,
    /// With fair dice, what the host opened last: the index is the number of the last roll (FD-7).
    pub(super) host_element: Option<Element>,
    pub(super) phase: Phase,
    /// By seat, from `p1` on.
    pub(super) seats: Vec<SeatState>,
    pub(super) clock: Option<DeskTime>,
    /// Where each turn began; there are as many as turns.
    pub(super) stands: Vec<Standing>,
    /// Of the last of them.
    pub(super) stand: Option<TurnPosition>,
    /// The newest turn whose stand had a STATE; 0 before.
    pub(super) told_turn: u32,
    /// PM-40: the hours of the last reminder of this deadline.
    pub(super) reminded: Option<u16>,
    /// The open offers, one a seat at most.
    pub(super) offers: BTreeMap<Seat, OpenOffer>,
    /// PM-20: the stand to which all agreed to go back; until the next stand.
    pub(super) takeback: Option<Standing>,
}

/// What the setup says about turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the terms have each of them")]
pub(super) struct Terms {
    pub(super) hours: u16,
    pub(super) hurry: bool,
    pub(super) sealed: bool,
    pub(super) missed: Missed,
    pub(super) patience: u32,
    pub(super) secret: Secret,
    /// PM-38: the seats whose players may do without a key.
    pub(super) plain: BTreeSet<Seat>,
    /// PM-40: how many hours before a deadline reminders are due.
    pub(super) remind: BTreeSet<u16>,
    /// PM-39: the days of absence of each seat.
    pub(super) absences: u16,
    /// PM-41
    pub(super) press: bool,
    /// PM-42: whether orders ahead are taken.
    pub(super) ahead: bool,
    /// PM-60: whether the host alone may give a seat to another player.
    pub(super) host_replaces: bool,
}

/// What becomes of a seat that missed. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// A default is played for it.
    #[default]
    Default,
    /// It is waited for.
    Wait,
}

/// Until when orders are hidden from other seats. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secret {
    /// Until a later stand with a STATE.
    #[default]
    Turn,
    /// Until the end of the match.
    Match,
    /// Not at all.
    No,
}

/// The part of a match. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// A seat is free.
    Joining,
    /// Seats are asked.
    Open,
    /// The turn is carried out, and the next stand is awaited.
    Ready,
    Over(MatchEnd),
}

/// How a match ended. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum MatchEnd {
    /// The game was played to its end.
    Played,
    Ended(Ending),
}

impl fmt::Display for MatchEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Played => out.write_str("played"),
            Self::Ended(ending) => ending.fmt(out),
        }
    }
}

/// Where the game stood when a turn began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) line: LineName,
    pub(super) seq: u64,
}

/// What else is known of the stand of this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TurnPosition {
    pub(super) link: Digest,
    pub(super) state: Option<Digest>,
    /// The clock when it was given.
    pub(super) since: DeskTime,
    pub(super) deadline: DeskTime,
}

/// A seat and its player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeatState {
    /// The host plays it.
    pub(super) hosted: bool,
    /// `None` while the seat is free.
    pub(super) player: Option<Player>,
    /// Of its last applied paper.
    pub(super) number: u32,
    /// In a row.
    pub(super) misses: u32,
    pub(super) gone: bool,
    /// With fair dice, once the seat is taken.
    pub(super) dice: Option<SeatDice>,
    pub(super) asked: Asked,
    /// PM-39: until when the player is absent.
    pub(super) absent: Option<DeskTime>,
    /// PM-39: the seconds of absence so far.
    pub(super) absent_seconds: u64,
    /// PM-42: the orders ahead that count.
    pub(super) ahead: Option<AheadHeld>,
}

impl SeatState {
    pub(super) const fn free(hosted: bool) -> Self {
        Self {
            hosted,
            player: None,
            number: 0,
            misses: 0,
            gone: false,
            dice: None,
            asked: Asked::Not,
            absent: None,
            absent_seconds: 0,
            ahead: None,
        }
    }

    /// The key with which its player signs.
    pub(super) const fn key(&self) -> Option<&SeatKey> {
        if let Some(Player::Signing(key)) = &self.player { Some(key) } else { None }
    }

    /// PM-38: whether its player has no key.
    pub(super) const fn is_plain(&self) -> bool {
        matches!(self.player, Some(Player::Plain(_)))
    }

    /// PM-39: until when its player is absent, if that is later than this time.
    pub(super) fn absent_beyond(&self, time: DeskTime) -> Option<DeskTime> {
        self.absent.filter(|until| *until > time)
    }
}

/// Who has a seat. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Player {
    /// One who signs papers.
    Signing(SeatKey),
    /// PM-38: one without a key, of this name.
    Plain(String),
}

/// PM-42: the paper with orders ahead, and how many commands it has for which turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AheadHeld {
    pub(super) digest: Digest,
    pub(super) plays: BTreeMap<u32, u16>,
}

impl AheadHeld {
    /// Its digest and how many commands it has for a turn, if it has any.
    pub(super) fn of(&self, turn: u32) -> Option<(Digest, u16)> {
        self.plays.get(&turn).map(|plays| (self.digest, *plays))
    }
}

/// What a seat is asked in this turn, and what it answered. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Asked {
    /// It is not asked.
    Not,
    /// It is, and has sent nothing.
    Yes,
    /// It sent the seal of this order.
    Sealed(Digest),
    Ordered(OrderHeld),
    /// A default is played for it.
    Defaulted,
    /// Its order was carried out or refused, or dropped for a takeback.
    Settled,
}

/// An order of this turn that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OrderHeld {
    pub(super) digest: Digest,
    pub(super) waits: bool,
    /// The number of its commands.
    pub(super) plays: u16,
    /// FD-8
    pub(super) element: Option<Element>,
    /// It is the one that a seal names, so no other may take its place.
    pub(super) as_sealed: bool,
}

impl Asked {
    /// The digest that the seat sealed in this turn.
    pub(super) const fn sealed(&self) -> Option<Digest> {
        match self {
            Self::Sealed(digest) | Self::Ordered(OrderHeld { digest, as_sealed: true, .. }) => Some(*digest),
            _ => None,
        }
    }

    /// The element of the order chosen for the seat.
    pub(super) const fn element(&self) -> Option<Element> {
        if let Self::Ordered(order) = self { order.element } else { None }
    }

    /// How views write it; `None` for a seat that is not asked.
    pub(super) const fn word(&self) -> Option<&'static str> {
        match self {
            Self::Not => None,
            Self::Yes => Some("none"),
            Self::Sealed(_) => Some("sealed"),
            Self::Ordered(_) => Some("ordered"),
            Self::Defaulted => Some("defaulted"),
            Self::Settled => Some("settled"),
        }
    }
}

/// An offer that waits for answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenOffer {
    pub(super) digest: Digest,
    pub(super) offer: Offer,
    /// Who agrees, the seat that offers among them.
    pub(super) agreed: BTreeSet<Seat>,
}

impl OpenOffer {
    /// Whether a seat has a voice in it: not the one to be replaced.
    pub(super) fn asks(&self, seat: Seat) -> bool {
        !matches!(self.offer, Offer::Replace { seat: replaced, .. } if replaced == seat)
    }
}

impl State {
    pub(super) fn players(&self) -> &'static [Seat] {
        Seat::players(self.seats.len())
    }

    /// The seats with their names, in order.
    pub(super) fn named_seats(&self) -> impl Iterator<Item = (Seat, &SeatState)> {
        self.players().iter().copied().zip(&self.seats)
    }

    pub(super) fn seat(&self, seat: Seat) -> Option<&SeatState> {
        let index = self.players().iter().position(|player| *player == seat)?;
        self.seats.get(index)
    }

    pub(super) fn seat_mut(&mut self, seat: Seat) -> Option<&mut SeatState> {
        let index = self.players().iter().position(|player| *player == seat)?;
        self.seats.get_mut(index)
    }

    /// PM-11: whether no one has the seat.
    pub(super) fn is_free(&self, seat: Seat) -> bool {
        self.seat(seat).is_none_or(|own| own.player.is_none())
    }

    pub(super) fn living(&self) -> impl Iterator<Item = Seat> {
        self.named_seats().filter(|(_, seat)| !seat.gone).map(|(seat, _)| seat)
    }

    /// Returns the turn, from 1; 0 before the first stand.
    #[must_use]
    pub fn turn(&self) -> u32 {
        u32::try_from(self.stands.len()).unwrap_or(u32::MAX)
    }

    /// PM-11: whether a seat or the host has or had the name or the key.
    pub(super) fn is_used(&self, key: &SeatKey) -> bool {
        self.names_used.contains(key.name()) || self.keys_used.contains(&key.to_base64())
    }

    /// PM-16: whether a seat must commit itself before it orders.
    pub(super) fn must_seal(&self, seat: &SeatState) -> bool {
        let asked = self.seats.iter().filter(|seat| seat.asked != Asked::Not).count();
        seat.asked != Asked::Not && asked >= 2 && (self.terms.sealed || seat.hosted)
    }

    /// PM-16: whether a seat that must seal has sent nothing, so that the deadline is for the seals alone.
    pub(super) fn awaits_seals(&self) -> bool {
        self.seats.iter().any(|seat| seat.asked == Asked::Yes && self.must_seal(seat))
    }

    /// PM-39: a deadline that waits for the seats that are asked, have sent nothing and are absent.
    pub(super) fn after_absences(&self, deadline: DeskTime) -> DeskTime {
        let awaited = self.seats.iter().filter(|own| matches!(own.asked, Asked::Yes | Asked::Sealed(_)));
        awaited.filter_map(|own| own.absent_beyond(deadline)).max().unwrap_or(deadline)
    }

    /// PM-17: whether a seat misses when the deadline passes now.
    pub(super) fn is_awaited(&self, seat: &SeatState) -> bool {
        if self.awaits_seals() {
            return seat.asked == Asked::Yes && self.must_seal(seat);
        }
        matches!(seat.asked, Asked::Yes | Asked::Sealed(_))
    }

    /// PM-19: the order to be settled next.
    pub(super) fn next_order(&self) -> Option<(Seat, &OrderHeld)> {
        self.named_seats().find_map(|(name, seat)| match &seat.asked {
            Asked::Ordered(order) => Some((name, order)),
            _ => None,
        })
    }
}
