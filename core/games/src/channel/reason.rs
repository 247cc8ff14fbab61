//! Why a command is rejected. No command is ignored, because players choose among legal moves.

use turnfold_core::outcome::{Ruling, reasons};

reasons! {
    /// Why a command is not accepted, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// Another part of the turn takes the command.
        WrongPhase = Ruling::of("wrong_phase", &[])
            .says("this part of the turn takes other commands; `legal` lists them"),
        /// It is another player's turn.
        NotYourTurn = Ruling::of("not_your_turn", &[]).says("it is another player's turn"),
        /// CH-4: the energies are not all in one column of the maya.
        NotOneFlow = Ruling::of("not_one_flow", &["CH-4"])
            .says("the energies are not all in one column of the maya"),
        /// CH-4: two of the energies have one color.
        SameColour = Ruling::of("same_colour", &["CH-4"])
            .says("the energies of a take have different colors"),
        /// CH-4: energies are taken into rows 1 to 8.
        BadRow = Ruling::of("bad_row", &["CH-4"]).says("energies are taken into rows 1 to 8"),
        /// CH-4: the row has no room for all.
        RowFull = Ruling::of("row_full", &["CH-4"]).says("the row has no room for all of them"),
        /// CH-4: the column shows black or white and the take has neither.
        MustTakeBlackOrWhite = Ruling::of("must_take_black_or_white", &["CH-4"])
            .says("the column shows black or white, so the take has one of them"),
        /// CH-4: the take has black and white.
        BlackAndWhite = Ruling::of("black_and_white", &["CH-4"]).says("a take has black or white, not both"),
        /// CH-4: a token is in the notch of the row.
        NotchBlocked = Ruling::of("notch_blocked", &["CH-4"]).says("a token is in the notch of this row"),
        /// CH-4, CH-5: no token is on the board.
        NoToken = Ruling::of("no_token", &["CH-4", "CH-5"]).says("no inspiration token is on the board"),
        /// CH-4: the player would hold more than three energies of a chakra's color.
        TooManyOfColour = Ruling::of("too_many_of_colour", &["CH-4"])
            .says("no more than three energies of a chakra's color stay with one player"),
        /// CH-4: all five tokens would be in notches.
        LastToken = Ruling::of("last_token", &["CH-4"])
            .says("the last token may go to a notch only where the row is harmonised"),
        /// CH-5: the player's token is on the channel.
        ChannelUsed = Ruling::of("channel_used", &["CH-5"]).says("a token is on this channel already"),
        /// CH-5: the channel cannot be carried out.
        Impossible = Ruling::of("impossible", &["CH-5"]).says("this channel cannot be carried out now"),
        /// CH-10, CH-12: the move or color is not on offer.
        NotOffered = Ruling::of("not_offered", &["CH-10", "CH-12"])
            .says("this is not on offer; the view lists what is"),
    }
}
