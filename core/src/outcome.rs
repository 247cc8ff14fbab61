//! What becomes of a command: applied, ignored or rejected; and the checks that every ruleset makes first.

use core::fmt::{self, Debug, Display};

use alloc::vec::Vec;

use crate::dice::DueRoll;
use crate::seat::Seat;

/// The answer of a ruleset's `judge` to a command it accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<P, I> {
    /// The rules act on the command as planned.
    Applied(P),
    /// The rules answer with nothing, for this reason. Recorded all the same.
    Ignored(I),
}

/// What a recorded command did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<I> {
    /// It was carried out; its effects went to the sink.
    Applied,
    /// It changed nothing, for this reason.
    Ignored(I),
}

/// Why a ruleset ignores a command; one variant for each reason of the ruling.
pub trait Reason: Copy + Eq + Debug + 'static {
    /// Every reason.
    const ALL: &'static [Self];

    /// Gives the reason's name in `snake_case`.
    fn code(self) -> &'static str;

    /// Gives the ids of the rules that have this reason, such as `CT-6`.
    fn rules(self) -> &'static [&'static str];

    /// Gives the text for the player, where the ruling has one.
    fn text(self) -> Option<&'static str> {
        None
    }
}

/// Why a ruleset does not accept a command at all. `Display` is the message for the player.
pub trait Rejection: Copy + Eq + Debug + Display + From<Refusal> + 'static {
    /// Every rejection of the ruleset's own, without those that all rulesets share.
    const ALL: &'static [Self];

    /// Gives the rejection's name in `snake_case`.
    fn code(self) -> &'static str;

    /// Gives the ids of the rules that have this rejection, such as `CT-2`; those that all rulesets share have none.
    fn rules(self) -> &'static [&'static str];
}

/// Receives effects as they happen.
pub trait EffectSink<E> {
    /// Takes the effect that `make` makes; a sink that wants none does not call it.
    fn push(&mut self, make: impl FnOnce() -> E);
}

impl<E> EffectSink<E> for Vec<E> {
    fn push(&mut self, make: impl FnOnce() -> E) {
        Self::push(self, make());
    }
}

/// Drops every effect unmade.
impl<E> EffectSink<E> for () {
    fn push(&mut self, _make: impl FnOnce() -> E) {}
}

/// The rejections that all rulesets share, in the order in which they apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The match is over.
    MatchOver,
    /// A roll is due and this is none.
    RollDue(DueRoll),
    /// This is a roll and none is due.
    NoRollDue,
    /// The command belongs to another kind of seat, or the match has no such seat.
    WrongSeat(Issuer),
    /// A roll with the wrong number of values, or one out of range.
    BadRoll(DueRoll),
}

impl Refusal {
    /// Gives the refusal's name in `snake_case`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::MatchOver => "match_over",
            Self::RollDue(_) => "roll_due",
            Self::NoRollDue => "no_roll_due",
            Self::WrongSeat(_) => "wrong_seat",
            Self::BadRoll(_) => "bad_roll",
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MatchOver => write!(out, "the match is over"),
            Self::RollDue(due) => write!(out, "a roll is due first: {due}, by `host`"),
            Self::NoRollDue => write!(out, "no roll is due"),
            Self::WrongSeat(Issuer::Host) => write!(out, "this command belongs to `host`"),
            Self::WrongSeat(Issuer::Player) => write!(out, "this command belongs to a player of the match"),
            Self::BadRoll(due) => write!(out, "the roll takes {due}"),
        }
    }
}

/// The kind of seat that may issue a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The table.
    Host,
    /// Any player of the match.
    Player,
}

/// What the common checks need to know of a state.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// The players' seats.
    pub players: &'a [Seat],
    /// Whether the match is over.
    pub over: bool,
    /// The roll that is due.
    pub due_roll: Option<DueRoll>,
}

impl Table<'_> {
    /// Makes the checks that come before a ruleset's own, in the order of the rulings.
    ///
    /// `issuer` is who may issue the command; `roll` the values, when it is a roll.
    ///
    /// # Errors
    /// The first [`Refusal`] that applies.
    pub fn admit(&self, seat: Seat, issuer: Issuer, roll: Option<&[i32]>) -> Result<(), Refusal> {
        if self.over {
            return Err(Refusal::MatchOver);
        }
        match (self.due_roll, roll) {
            (Some(due), None) => return Err(Refusal::RollDue(due)),
            (None, Some(_)) => return Err(Refusal::NoRollDue),
            _ => {}
        }
        let entitled = match issuer {
            Issuer::Host => seat == Seat::Host,
            Issuer::Player => self.players.contains(&seat),
        };
        if !entitled {
            return Err(Refusal::WrongSeat(issuer));
        }
        match (self.due_roll, roll) {
            (Some(due), Some(values)) if !due.accepts(values) => Err(Refusal::BadRoll(due)),
            _ => Ok(()),
        }
    }
}
