//! Why a command is not accepted. No command is ignored: this is a game of legal moves, not of taps.

use core::fmt;

use crate::outcome::{self, Refusal};

/// Why a command is ignored: none ever is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {}

impl outcome::Reason for Reason {
    const ALL: &'static [Self] = &[];

    fn code(self) -> &'static str {
        match self {}
    }

    fn rules(self) -> &'static [&'static str] {
        match self {}
    }
}

/// Why a command is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A check that all rulesets share.
    Refused(Refusal),
    /// Another part of the turn takes the command.
    WrongPhase,
    /// It is another player's turn.
    NotYourTurn,
    /// CH-4: the energies are not all in one column of the maya.
    NotOneFlow,
    /// CH-4: two of the energies have one colour.
    SameColour,
    /// CH-4: energies are taken into rows 1 to 8.
    BadRow,
    /// CH-4: the row has no room for all.
    RowFull,
    /// CH-4: the column shows black or white and the take has neither.
    MustTakeBlackOrWhite,
    /// CH-4: the take has black and white.
    BlackAndWhite,
    /// CH-4: a token is in the notch of the row.
    NotchBlocked,
    /// CH-4, CH-5: no token is on the board.
    NoToken,
    /// CH-4: the player would hold more than three energies of a chakra's colour.
    TooManyOfColour,
    /// CH-4: all five tokens would be in notches.
    LastToken,
    /// CH-5: the player's token is on the channel.
    ChannelUsed,
    /// CH-5: the channel cannot be carried out.
    Impossible,
    /// CH-10, CH-12: the move or colour is not on offer.
    NotOffered,
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl outcome::Rejection for Rejection {
    const ALL: &'static [Self] = &[
        Self::WrongPhase,
        Self::NotYourTurn,
        Self::NotOneFlow,
        Self::SameColour,
        Self::BadRow,
        Self::RowFull,
        Self::MustTakeBlackOrWhite,
        Self::BlackAndWhite,
        Self::NotchBlocked,
        Self::NoToken,
        Self::TooManyOfColour,
        Self::LastToken,
        Self::ChannelUsed,
        Self::Impossible,
        Self::NotOffered,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::WrongPhase => "wrong_phase",
            Self::NotYourTurn => "not_your_turn",
            Self::NotOneFlow => "not_one_flow",
            Self::SameColour => "same_colour",
            Self::BadRow => "bad_row",
            Self::RowFull => "row_full",
            Self::MustTakeBlackOrWhite => "must_take_black_or_white",
            Self::BlackAndWhite => "black_and_white",
            Self::NotchBlocked => "notch_blocked",
            Self::NoToken => "no_token",
            Self::TooManyOfColour => "too_many_of_colour",
            Self::LastToken => "last_token",
            Self::ChannelUsed => "channel_used",
            Self::Impossible => "impossible",
            Self::NotOffered => "not_offered",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Refused(_) | Self::WrongPhase | Self::NotYourTurn => &[],
            Self::NotOneFlow
            | Self::SameColour
            | Self::BadRow
            | Self::RowFull
            | Self::MustTakeBlackOrWhite
            | Self::BlackAndWhite
            | Self::NotchBlocked
            | Self::TooManyOfColour
            | Self::LastToken => &["CH-4"],
            Self::NoToken => &["CH-4", "CH-5"],
            Self::ChannelUsed | Self::Impossible => &["CH-5"],
            Self::NotOffered => &["CH-10", "CH-12"],
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Refused(refusal) => return refusal.fmt(out),
            Self::WrongPhase => "this part of the turn takes other commands; `legal` lists them",
            Self::NotYourTurn => "it is another player's turn",
            Self::NotOneFlow => "the energies are not all in one column of the maya",
            Self::SameColour => "the energies of a take have different colours",
            Self::BadRow => "energies are taken into rows 1 to 8",
            Self::RowFull => "the row has no room for all of them",
            Self::MustTakeBlackOrWhite => "the column shows black or white, so the take has one of them",
            Self::BlackAndWhite => "a take has black or white, not both",
            Self::NotchBlocked => "a token is in the notch of this row",
            Self::NoToken => "no inspiration token is on the board",
            Self::TooManyOfColour => "no more than three energies of a chakra's colour stay with one player",
            Self::LastToken => "the last token may go to a notch only where the row is harmonised",
            Self::ChannelUsed => "a token is on this channel already",
            Self::Impossible => "this channel cannot be carried out now",
            Self::NotOffered => "this is not on offer; the view lists what is",
        })
    }
}
