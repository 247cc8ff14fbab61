//! The effects of commands.

use alloc::vec::Vec;
use serde::Serializer;

use super::energy::{Chakra, Color};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::tokens::{Token, TokenNumber};
use turnfold_core::prelude::*;

effects! {
    /// Something that happened.
    #[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
    pub enum Effect {
        /// CH-4: energies went from the maya to a row, in this order.
        Taken { row: Row, ids: Vec<EnergyId> },
        /// CH-4: an energy of the bag fills a place of the maya; row and column from 1.
        Refilled { row: usize, col: usize, id: EnergyId },
        /// CH-3: a token is at another place.
        Token {
            token: TokenNumber,
            #[serde(serialize_with = "as_text")]
            to: Token,
        },
        /// CH-5: a channel is open.
        ChannelOpened { channel: ChannelNumber },
        /// CH-10: an energy moved.
        Moved { id: EnergyId, from: Row, to: Row, variant: u8 },
        /// CH-8: a row is harmonised.
        Harmonised { row: Row },
        /// CH-7: this number of moves of the channel is made.
        Step { step: usize },
        /// CH-11: everything is as before the channel.
        Undone,
        /// CH-11: the channel is closed again.
        Cancelled,
        /// CH-11: the moves stand.
        Confirmed,
        /// CH-6: the player has seen a plenitude.
        Meditated { color: Chakra },
        /// CH-12: an energy of the bag went to the universe.
        Picked { color: Color, id: EnergyId },
        /// CH-12, CH-13: an energy is out of the game.
        LeftTheGame { id: EnergyId },
        /// CH-13: a white and a black energy met; the player now has this number of halves.
        Yinyang { row: Row, halves: u32 },
        /// The turn is over; who is next, if anybody.
        TurnEnded { next: Option<Seat> },
        /// CH-14: the match ends with this round.
        LastRound,
        /// CH-15: the match is over.
        MatchOver { winners: Vec<Seat> },
    }
}

/// Writes the place of a token in its notation, such as `b3`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_text<S: Serializer>(token: &Token, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(token)
}
