//! Why a command is not accepted. No command is ignored: this is a game of legal moves, not of taps.

use crate::outcome::{Ruled, Ruling};

/// Why a command is not accepted, beside what all rulesets share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Another part of the turn takes the command.
    WrongPhase,
    /// It is another player's turn.
    NotYourTurn,
    /// CH-4: the energies are not all in one column of the maya.
    NotOneFlow,
    /// CH-4: two of the energies have one color.
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
    /// CH-4: the player would hold more than three energies of a chakra's color.
    TooManyOfColour,
    /// CH-4: all five tokens would be in notches.
    LastToken,
    /// CH-5: the player's token is on the channel.
    ChannelUsed,
    /// CH-5: the channel cannot be carried out.
    Impossible,
    /// CH-10, CH-12: the move or color is not on offer.
    NotOffered,
}

impl Ruled for Rejection {
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

    fn ruling(self) -> Ruling {
        match self {
            Self::WrongPhase => Ruling::of("wrong_phase", &[])
                .says("this part of the turn takes other commands; `legal` lists them"),
            Self::NotYourTurn => Ruling::of("not_your_turn", &[]).says("it is another player's turn"),
            Self::NotOneFlow => Ruling::of("not_one_flow", &["CH-4"])
                .says("the energies are not all in one column of the maya"),
            Self::SameColour => {
                Ruling::of("same_colour", &["CH-4"]).says("the energies of a take have different colors")
            }
            Self::BadRow => Ruling::of("bad_row", &["CH-4"]).says("energies are taken into rows 1 to 8"),
            Self::RowFull => Ruling::of("row_full", &["CH-4"]).says("the row has no room for all of them"),
            Self::MustTakeBlackOrWhite => Ruling::of("must_take_black_or_white", &["CH-4"])
                .says("the column shows black or white, so the take has one of them"),
            Self::BlackAndWhite => {
                Ruling::of("black_and_white", &["CH-4"]).says("a take has black or white, not both")
            }
            Self::NotchBlocked => {
                Ruling::of("notch_blocked", &["CH-4"]).says("a token is in the notch of this row")
            }
            Self::NoToken => {
                Ruling::of("no_token", &["CH-4", "CH-5"]).says("no inspiration token is on the board")
            }
            Self::TooManyOfColour => Ruling::of("too_many_of_colour", &["CH-4"])
                .says("no more than three energies of a chakra's color stay with one player"),
            Self::LastToken => Ruling::of("last_token", &["CH-4"])
                .says("the last token may go to a notch only where the row is harmonised"),
            Self::ChannelUsed => {
                Ruling::of("channel_used", &["CH-5"]).says("a token is on this channel already")
            }
            Self::Impossible => {
                Ruling::of("impossible", &["CH-5"]).says("this channel cannot be carried out now")
            }
            Self::NotOffered => Ruling::of("not_offered", &["CH-10", "CH-12"])
                .says("this is not on offer; the view lists what is"),
        }
    }
}
