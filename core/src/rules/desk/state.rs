//! The state of a desk: the players and their keys, the turn, and the papers for it.

use core::fmt;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::dice::fair::{Contribution, Owner};
use crate::digest::Digest;
use crate::names::BranchName;
use crate::paper::{DeskTime, Ending, MatchId, Offer, OrdersAhead, Player, Reply, SeatKey};
use crate::seat::Seat;

/// PM-39: absences count in days of this many seconds.
pub(super) const DAY_SECONDS: u64 = 24 * 60 * 60;

/// Everything the future of a desk depends on. The game itself is not part of it (PM-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) match_id: MatchId,
    pub(super) terms: Terms,
    /// The names that a seat or the host has or had.
    pub(super) names_used: BTreeSet<String>,
    /// Likewise the public keys, in base64.
    pub(super) keys_used: BTreeSet<String>,
    /// With fair dice, the element that the host opened last: its index is the number of the last roll (FD-7).
    pub(super) host_element: Option<Element>,
    pub(super) phase: Phase,
    /// By seat, from `p1` on.
    pub(super) seats: Vec<SeatState>,
    pub(super) clock: Option<DeskTime>,
    /// The position with which each turn began.
    pub(super) stands: Vec<Standing>,
    /// More about the last position.
    pub(super) stand: Option<TurnPosition>,
    /// The newest turn whose position had a STATE; 0 before.
    pub(super) told_turn: u32,
    /// PM-40: the hours of the last reminder of this deadline.
    pub(super) reminded: Option<u16>,
    /// The open offers, at most one for each seat.
    pub(super) offers: BTreeMap<Seat, OpenOffer>,
    /// PM-82: how many offers were made.
    pub(super) offers_made: u32,
    /// PM-81: the orders that are shown once nothing in them is a secret: not those that were replaced.
    pub(super) counted: BTreeSet<Digest>,
    /// PM-20: the position to which all agreed to go back; until the next position.
    pub(super) takeback: Option<Standing>,
    /// PM-122: which seats played in the turn that is carried out, each with the digest of its order if it was carried out.
    pub(super) played: Vec<(Seat, Option<Digest>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the terms have each of them")]
pub(super) struct Terms {
    pub(super) hours: u16,
    pub(super) hurry: bool,
    pub(super) sealed: bool,
    pub(super) missed: Missed,
    pub(super) patience: u32,
    pub(super) secret: Secret,
    /// PM-38: the seats whose players may play without a key.
    pub(super) plain: BTreeSet<Seat>,
    /// PM-40: how many hours before a deadline reminders are due.
    pub(super) remind: BTreeSet<u16>,
    /// PM-39: the days of absence of each seat.
    pub(super) absences: u16,
    /// PM-41: whether players may write to each other.
    pub(super) press: bool,
    /// PM-42: whether orders ahead are taken.
    pub(super) ahead: bool,
    /// PM-60: whether the host alone may give a seat to another player.
    pub(super) host_replaces: bool,
}

/// What happens to a seat that missed a deadline. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// A default is played for it.
    #[default]
    Default,
    /// The match waits for it.
    Wait,
    /// PM-84: the match waits for it once; a default is played for it from the second miss in a row on.
    Second,
}

/// Until when orders are concealed from other seats. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secret {
    /// Until a later position with a STATE.
    #[default]
    Turn,
    /// Until the end of the match.
    Match,
    /// Not at all.
    No,
}

/// The phase of a match. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// A seat is free.
    Joining,
    /// Seats are asked.
    Open,
    /// The turn is carried out, and the next position is awaited.
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

/// The position of the game when a turn began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) branch: BranchName,
    pub(super) seq: u64,
}

/// What else is known about the position of this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TurnPosition {
    pub(super) link: Digest,
    pub(super) state: Option<Digest>,
    /// The clock when the position was given.
    pub(super) since: DeskTime,
    pub(super) deadline: DeskTime,
}

/// An element of a chain, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Element {
    pub(super) index: u16,
    pub(super) element: Digest,
}

impl Element {
    pub(super) const fn head(element: Digest) -> Self {
        Self { index: 0, element }
    }
}

/// The elements that a seat has opened of its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeatDice {
    /// The newest element of an order that counted.
    pub(super) known: Element,
    /// FD-9: its part in the rolls of this turn.
    pub(super) contribution: Element,
    /// FD-15: a new key ended the chain.
    pub(super) ended: bool,
}

impl SeatDice {
    pub(super) const fn begun(head: Digest) -> Self {
        Self { known: Element::head(head), contribution: Element::head(head), ended: false }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeatState {
    /// The host plays it.
    pub(super) hosted: bool,
    /// `None` while the seat is free.
    pub(super) player: Option<Player>,
    /// The number of its last paper that counted, other than orders and messages (PM-10).
    pub(super) number: u32,
    /// The number of its last order, or paper with orders ahead, that counted.
    pub(super) order_number: u32,
    /// The deadlines that it missed in a row.
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
    /// PM-83: how often the seat got another player.
    pub(super) replaced: u32,
}

impl SeatState {
    pub(super) const fn key(&self) -> Option<&SeatKey> {
        if let Some(player) = &self.player { player.key() } else { None }
    }

    /// PM-38: returns `true` if its player has no key.
    pub(super) const fn is_plain(&self) -> bool {
        matches!(self.player, Some(Player::Plain { .. }))
    }

    /// PM-39: returns until when its player is absent, if that is later than this time.
    pub(super) fn absent_beyond(&self, time: DeskTime) -> Option<DeskTime> {
        let until = self.absent?;
        if until > time { Some(until) } else { None }
    }
}

/// PM-42: the paper with orders ahead; by turn, the number of its commands and the digest of the order. PM-122: the
/// seat's own order before its lines of replies, and what is left of the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AheadHeld {
    pub(super) digest: Digest,
    pub(super) plays: BTreeMap<u32, (u16, Digest)>,
    pub(super) after: Option<Digest>,
    pub(super) lines: Vec<Vec<ReplyHeld>>,
}

/// PM-122: the digests of a command and of the answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReplyHeld {
    pub(super) on: Digest,
    pub(super) play: Digest,
}

impl From<&Reply> for ReplyHeld {
    fn from(reply: &Reply) -> Self {
        Self { on: reply.on.digest(), play: reply.play.digest() }
    }
}

impl AheadHeld {
    /// Returns the number of commands for a turn and the digest of the order, if there is one.
    pub(super) fn of(&self, turn: u32) -> Option<(u16, Digest)> {
        self.plays.get(&turn).copied()
    }

    /// PM-122: continues the lines that answer what another seat just played, and returns the digest of the answer. All
    /// other lines end. While no other seat has played, all lines wait.
    pub(super) fn answer(&mut self, seat: Seat, played: &[(Seat, Option<Digest>)]) -> Option<Digest> {
        if let Some((_, own)) = played.iter().find(|(by, _)| *by == seat)
            && let Some(after) = self.after.take()
            && Some(after) != *own
        {
            self.lines.clear();
        }
        let mut others = played.iter().filter(|(by, _)| *by != seat).map(|(_, command)| *command);
        let command = others.next()?;
        // Lines that begin after the seat's own order do not answer before it.
        let on = command.filter(|_| others.next().is_none() && self.after.is_none());
        self.lines.retain(|line| line.first().is_some_and(|next| Some(next.on) == on));
        let play = self.lines.first()?.first()?.play;
        for line in &mut self.lines {
            line.remove(0);
        }
        self.lines.retain(|line| !line.is_empty());
        Some(play)
    }

    /// Returns `true` if nothing is left of it for a turn or later ones.
    pub(super) fn is_spent(&self, turn: u32) -> bool {
        self.lines.is_empty() && self.plays.keys().all(|other| *other < turn)
    }
}

/// What a seat is asked in this turn, and what it answered. The variant order is part of the log format.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Asked {
    /// It is not asked.
    #[default]
    Not,
    /// It is asked, and has sent nothing.
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
    /// PM-122: the digest of its commands.
    pub(super) plays_digest: Digest,
    /// FD-8: the element of the seat's chain.
    pub(super) element: Option<Element>,
    /// Whether a seal names it, so that no other order may replace it.
    pub(super) as_sealed: bool,
}

impl Asked {
    pub(super) const fn sealed(&self) -> Option<Digest> {
        match self {
            Self::Sealed(digest) | Self::Ordered(OrderHeld { digest, as_sealed: true, .. }) => Some(*digest),
            _ => None,
        }
    }

    /// Returns the element of the seat's order.
    pub(super) const fn element(&self) -> Option<Element> {
        if let Self::Ordered(order) = self { order.element } else { None }
    }

    /// Returns its word in views; `None` for a seat that is not asked.
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenOffer {
    /// PM-82: its number.
    pub(super) nth: u32,
    pub(super) digest: Digest,
    pub(super) offer: Offer,
    /// The seats that agree, including the one that made the offer.
    pub(super) agreed: BTreeSet<Seat>,
}

impl OpenOffer {
    /// Returns `true` if a seat has a voice in it: all but the seat to be replaced.
    pub(super) fn asks(&self, seat: Seat) -> bool {
        !matches!(self.offer, Offer::Replace { seat: replaced, .. } if replaced == seat)
    }
}

impl State {
    pub(super) fn players(&self) -> &'static [Seat] {
        Seat::players(self.seats.len())
    }

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

    /// PM-11: returns `true` if no one has the seat.
    pub(super) fn is_free(&self, seat: Seat) -> bool {
        self.seat(seat).is_none_or(|own| own.player.is_none())
    }

    /// Returns the seats for which `is_so` is true, in order.
    pub(super) fn seats_that(&self, is_so: impl Fn(&SeatState) -> bool) -> Vec<Seat> {
        let mut seats = Vec::new();
        for (seat, own) in self.named_seats() {
            if is_so(own) {
                seats.push(seat);
            }
        }
        seats
    }

    pub(super) fn living(&self) -> impl Iterator<Item = Seat> {
        self.named_seats().filter(|(_, seat)| !seat.gone).map(|(seat, _)| seat)
    }

    /// Returns the turn, from 1; 0 before the first position.
    #[must_use]
    pub fn turn(&self) -> u32 {
        u32::try_from(self.stands.len()).unwrap_or(u32::MAX)
    }

    /// PM-11: returns `true` if a seat or the host has or had the name or the key.
    pub(super) fn is_used(&self, player: &Player) -> bool {
        self.names_used.contains(player.name())
            || player.key().is_some_and(|key| self.keys_used.contains(&key.to_base64()))
    }

    /// PM-16: returns `true` if a seat must seal before it orders.
    pub(super) fn must_seal(&self, seat: &SeatState) -> bool {
        let asked = self.seats.iter().filter(|seat| seat.asked != Asked::Not).count();
        seat.asked != Asked::Not && asked >= 2 && (self.terms.sealed || seat.hosted)
    }

    /// PM-16: returns `true` if a seat that must seal has sent nothing, so that the deadline is only for the seals.
    pub(super) fn awaits_seals(&self) -> bool {
        self.seats.iter().any(|seat| seat.asked == Asked::Yes && self.must_seal(seat))
    }

    /// PM-39: returns a deadline that leaves absent seats the hours of a turn after their absence, if they are asked
    /// and have sent no order.
    pub(super) fn after_absences(&self, deadline: DeskTime) -> DeskTime {
        let clock = self.clock.unwrap_or(deadline);
        let mut later = deadline;
        for own in &self.seats {
            if matches!(own.asked, Asked::Yes | Asked::Sealed(_))
                && let Some(back) = own.absent_beyond(clock)
            {
                later = later.max(back.after_hours(self.terms.hours));
            }
        }
        later
    }

    /// PM-81: what happens now depends on the orders that came, so each of them is shown later.
    pub(super) fn count_orders(&mut self) {
        for own in &self.seats {
            if let Asked::Ordered(order) = &own.asked {
                self.counted.insert(order.digest);
            }
        }
    }

    /// PM-17: returns `true` if a seat misses the deadline when it passes now.
    pub(super) fn is_awaited(&self, seat: &SeatState) -> bool {
        if self.awaits_seals() {
            return seat.asked == Asked::Yes && self.must_seal(seat);
        }
        matches!(seat.asked, Asked::Yes | Asked::Sealed(_))
    }

    /// PM-19: returns the order to settle next.
    pub(super) fn next_order(&self) -> Option<(Seat, &OrderHeld)> {
        for (name, seat) in self.named_seats() {
            if let Asked::Ordered(order) = &seat.asked {
                return Some((name, order));
            }
        }
        None
    }

    // What a host or auditor that folds a desk reads from its state.

    /// Returns `true` while seats are asked.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Returns `true` while the turn is carried out and the next position is awaited.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// Returns the deadline of the seats that are asked.
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
        match self.phase {
            Phase::Joining => self.seats_that(|own| own.player.is_none()),
            Phase::Open => self.seats_that(|own| self.is_awaited(own)),
            Phase::Ready => [Seat::Host].into(),
            Phase::Over(_) => Vec::new(),
        }
    }

    /// Returns `true` if the seat is asked in this turn, whether or not it has answered.
    #[must_use]
    pub fn is_due(&self, seat: Seat) -> bool {
        let asked = self.seat(seat).map(|own| &own.asked);
        self.is_open() && matches!(asked, Some(Asked::Yes | Asked::Sealed(_) | Asked::Ordered(_)))
    }

    /// Returns the seats that must seal an order before they send it, and have not (PM-16).
    #[must_use]
    pub fn awaited_seals(&self) -> Vec<Seat> {
        if !self.is_open() {
            return Vec::new();
        }
        self.seats_that(|own| own.asked == Asked::Yes && self.must_seal(own))
    }

    /// Returns the host's clock.
    #[must_use]
    pub const fn clock(&self) -> Option<DeskTime> {
        self.clock
    }

    /// Returns branch and entry of the last position.
    #[must_use]
    pub fn stands_on(&self) -> Option<(&BranchName, u64)> {
        let stand = self.stands.last()?;
        Some((&stand.branch, stand.seq))
    }

    /// Returns branch and entry of the position to which all agreed to go back (PM-20).
    #[must_use]
    pub fn agreed_takeback(&self) -> Option<(&BranchName, u64)> {
        let stand = self.takeback.as_ref()?;
        Some((&stand.branch, stand.seq))
    }

    /// Returns the digest of each order that is still to be carried out, in seat order (PM-19).
    #[must_use]
    pub fn orders_due(&self) -> Vec<(Seat, Digest)> {
        let mut due = Vec::new();
        for (seat, own) in self.named_seats() {
            if let Asked::Ordered(order) = &own.asked {
                due.push((seat, order.digest));
            }
        }
        due
    }

    /// Returns the seats for which a default is played in this turn (PM-17).
    #[must_use]
    pub fn defaulted(&self) -> Vec<Seat> {
        self.seats_that(|own| own.asked == Asked::Defaulted)
    }

    /// Returns the seats that have left (PM-21).
    #[must_use]
    pub fn gone(&self) -> Vec<Seat> {
        self.seats_that(|own| own.gone)
    }

    /// Returns the key with which a seat signs now.
    #[must_use]
    pub fn key_of(&self, seat: Seat) -> Option<&SeatKey> {
        self.seat(seat)?.key()
    }

    /// Returns the name of a seat's player.
    #[must_use]
    pub fn name_of(&self, seat: Seat) -> Option<&str> {
        self.seat(seat)?.player.as_ref().map(Player::name)
    }

    /// Returns `true` for a seat whose player has no key (PM-38).
    #[must_use]
    pub fn plays_plainly(&self, seat: Seat) -> bool {
        self.seat(seat).is_some_and(SeatState::is_plain)
    }

    /// Returns how many days of absence a seat may still announce (PM-39).
    #[must_use]
    pub fn absence_left(&self, seat: Seat) -> u64 {
        let used = self.seat(seat).map_or(0, |own| own.absent_seconds / DAY_SECONDS);
        u64::from(self.terms.absences).saturating_sub(used)
    }

    /// Lists the hours of the terms for which a reminder may be given at a time: the deadline is that near, and no
    /// reminder as near to it was given (PM-40).
    pub fn reminders_due(&self, at: DeskTime) -> impl Iterator<Item = u16> {
        let deadline = self.deadline().filter(|deadline| self.is_open() && at < *deadline);
        self.terms.remind.iter().copied().filter(move |hours| {
            deadline.is_some_and(|deadline| at.after_hours(*hours) >= deadline)
                && self.reminded.is_none_or(|last| last > *hours)
        })
    }

    /// Returns the digest of the paper with a seat's orders ahead (PM-42).
    #[must_use]
    pub fn orders_ahead(&self, seat: Seat) -> Option<Digest> {
        Some(self.seat(seat)?.ahead.as_ref()?.digest)
    }

    /// Returns what is left of a seat's lines of replies; `ahead` are its orders ahead (PM-122).
    #[must_use]
    pub fn lines_left<'a>(&self, seat: Seat, ahead: &'a OrdersAhead) -> Vec<&'a [Reply]> {
        let mut left: Vec<&[Reply]> = Vec::new();
        let Some(SeatState { ahead: Some(held), .. }) = self.seat(seat) else { return left };
        for line in ahead.lines() {
            for from in 0..line.len() {
                let rest = line.get(from..).unwrap_or_default();
                let digests: Vec<_> = rest.iter().map(ReplyHeld::from).collect();
                if held.lines.contains(&digests) && !left.contains(&rest) {
                    left.push(rest);
                }
            }
        }
        left
    }

    /// Returns the digest of the commands of a seat's order in this turn (PM-122).
    #[must_use]
    pub fn ordered(&self, seat: Seat) -> Option<Digest> {
        if let Asked::Ordered(order) = &self.seat(seat)?.asked { Some(order.plays_digest) } else { None }
    }

    /// Returns how often a seat was given to another player (PM-83).
    #[must_use]
    pub fn replacements(&self, seat: Seat) -> u32 {
        self.seat(seat).map_or(0, |own| own.replaced)
    }

    /// Returns the digest of the open offer that a seat may answer and that has this number, or a digest that begins
    /// with these digits, 8 at least. Without words it is the only offer that waits for the seat (PM-82).
    #[must_use]
    pub fn offer_to_answer(&self, seat: Seat, words: &str) -> Option<Digest> {
        let mut named = None;
        for open in self.offers.values() {
            let is_named = match words {
                "" => !open.agreed.contains(&seat),
                _ if words.len() < 8 => words == open.nth.to_string(),
                _ => open.digest.to_string().starts_with(words),
            };
            if !is_named || !open.asks(seat) {
                continue;
            }
            if named.is_some() {
                return None;
            }
            named = Some(open.digest);
        }
        named
    }

    /// Returns branch and entry of the position with which a turn began.
    #[must_use]
    pub fn stand_of(&self, turn: u32) -> Option<(&BranchName, u64)> {
        let index = usize::try_from(turn.checked_sub(1)?).ok()?;
        let stand = self.stands.get(index)?;
        Some((&stand.branch, stand.seq))
    }

    /// Returns the highest number of a seat's papers that count (PM-10).
    #[must_use]
    pub fn last_number(&self, seat: Seat) -> u32 {
        self.seat(seat).map_or(0, |seat| seat.number.max(seat.order_number))
    }

    /// Returns `true` if a seat has a chain of fair dice that no new key has ended.
    #[must_use]
    pub fn has_chain(&self, seat: Seat) -> bool {
        matches!(self.seat(seat), Some(SeatState { dice: Some(SeatDice { ended: false, .. }), .. }))
    }

    /// Returns each seat's part in the rolls of this turn, with fair dice.
    #[must_use]
    pub fn contributions(&self) -> Vec<Contribution> {
        let mut contributions = Vec::new();
        for (seat, own) in self.named_seats() {
            if let Some(dice) = own.dice {
                let Element { index, element } = dice.contribution;
                contributions.push(Contribution { seat, index, element });
            }
        }
        contributions
    }

    /// Returns the number of the last roll, with fair dice; 0 before the first.
    #[must_use]
    pub fn last_roll(&self) -> Option<u16> {
        self.host_element.map(|element| element.index)
    }

    // Fair dice: what each party has opened of its chain (FD-8 to FD-10, FD-15, FD-17 of `dice.md`).

    fn owner(&self, party: Seat) -> Owner {
        Owner { match_id: *self.match_id.as_bytes(), party }
    }

    /// FD-8: returns `true` if an order of this turn may have this element, or none.
    pub(super) fn is_right_element(&self, seat: Seat, turn: u16, element: Option<&Digest>) -> bool {
        let dice = match self.seat(seat) {
            Some(SeatState { dice: Some(dice), .. }) if !dice.ended => Some(dice),
            _ => None,
        };
        match (dice, element) {
            (None, None) => true,
            (Some(SeatDice { known, .. }), Some(element)) if known.index == turn => known.element == *element,
            (Some(SeatDice { known, .. }), Some(element)) => {
                self.owner(seat).follows(element, turn, &known.element, known.index)
            }
            _ => false,
        }
    }

    /// FD-10: returns `true` if this is the next roll, with the element that the host opens for it.
    pub(super) fn is_next_roll(&self, number: u16, element: &Digest) -> bool {
        let Some(last) = self.host_element else { return false };
        last.index.checked_add(1) == Some(number)
            && self.owner(Seat::Host).follows(element, number, &last.element, last.index)
    }

    /// FD-9: updates the contributions before the turn is carried out. A seat that opened nothing keeps its
    /// contribution, so no player can stop or delay a roll (FD-13).
    pub(super) fn renew_contributions(&mut self) {
        for seat in &mut self.seats {
            if let (Some(dice), Some(chosen)) = (&mut seat.dice, seat.asked.element())
                && chosen.index > dice.contribution.index
            {
                dice.contribution = chosen;
            }
        }
    }
}
