//! Who may give which command when: the checks before every ruleset's own rules.

use core::fmt::{self, Display};

use alloc::string::ToString;

use crate::dice::DueRoll;
use crate::outcome::{Rejected, Ruled};
use crate::seat::Seat;

/// The kind of seat that may issue a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The table.
    Host,
    /// Any player of the match.
    Player,
    /// The player of this seat, which the command itself names.
    Seat(Seat),
}

/// The rejections that all rulesets share, in the order in which they apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The match is over.
    MatchOver,
    /// A roll is due, and the command is not a roll.
    RollDue(DueRoll),
    /// The command is a roll, and none is due.
    NoRollDue,
    /// The command belongs to another kind of seat, or the match has no such seat.
    WrongSeat(Issuer),
    /// A roll with the wrong number of values, or one out of range.
    BadRoll(DueRoll),
}

impl Refusal {
    /// The codes of all refusals, in the order in which they apply.
    pub const CODES: [&'static str; 5] = ["match_over", "roll_due", "no_roll_due", "wrong_seat", "bad_roll"];

    /// Returns the refusal's name in `snake_case`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        let [match_over, roll_due, no_roll_due, wrong_seat, bad_roll] = Self::CODES;
        match self {
            Self::MatchOver => match_over,
            Self::RollDue(_) => roll_due,
            Self::NoRollDue => no_roll_due,
            Self::WrongSeat(_) => wrong_seat,
            Self::BadRoll(_) => bad_roll,
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
            Self::WrongSeat(Issuer::Seat(seat)) => write!(out, "this command belongs to `{seat}`"),
            Self::BadRoll(due) => write!(out, "the roll takes {due}"),
        }
    }
}

/// Why a command is not accepted. `Display` is the message for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied<J> {
    /// By a check that all rulesets share.
    Refused(Refusal),
    /// By one of the ruleset's own rules.
    Ruled(J),
}

impl<J: Ruled> Denied<J> {
    /// Returns the rejection's name in `snake_case`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Ruled(reason) => reason.ruling().code,
        }
    }
}

impl<J> From<Refusal> for Denied<J> {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<J: Ruled> Display for Denied<J> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(out),
            Self::Ruled(reason) => {
                let ruling = reason.ruling();
                out.write_str(ruling.text.unwrap_or(ruling.code))
            }
        }
    }
}

impl<J: Ruled> From<Denied<J>> for Rejected {
    fn from(denied: Denied<J>) -> Self {
        Self::new(denied.code(), denied.to_string())
    }
}
