//! What a seat may say, and how it is written.

use core::fmt;

use alloc::string::ToString;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::energy::{Chakra, Color};
use super::ranged::{ChannelNumber, EnergyId};
use turnfold_core::declare::{Argument, arguments, commands};
use turnfold_core::text::Malformed;

/// An input of the match. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// CH-4: takes energies from a flow of the maya into a row, in this order.
    Take {
        /// The row, which may be none.
        row: i32,
        /// The energies.
        ids: Ids,
    },
    /// CH-5: opens a channel.
    Channel(ChannelNumber),
    /// CH-10: makes the next move of a channel.
    Move {
        /// The energy.
        id: EnergyId,
        /// The row it moves to.
        row: i32,
    },
    /// CH-11: ends the turn after the last move.
    Confirm,
    /// CH-11: takes all moves back after the last.
    Undo,
    /// CH-11: closes the channel before the first move.
    Cancel,
    /// CH-6: takes the tokens back from the channels and looks at a plenitude.
    Meditate(Chakra),
    /// CH-12: names the color that is to be had for a black energy.
    Pick(Color),
}

/// One to three energies, in the order in which they are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<EnergyId>", into = "Vec<EnergyId>")]
pub struct Ids(Vec<EnergyId>);

impl Ids {
    /// Returns the energies.
    #[must_use]
    pub fn as_slice(&self) -> &[EnergyId] {
        &self.0
    }
}

impl TryFrom<Vec<EnergyId>> for Ids {
    type Error = Malformed;

    fn try_from(ids: Vec<EnergyId>) -> Result<Self, Malformed> {
        if (1..=3).contains(&ids.len()) {
            Ok(Self(ids))
        } else {
            Err(Malformed::expected("one to three energies", &ids.len().to_string()))
        }
    }
}

impl From<Ids> for Vec<EnergyId> {
    fn from(ids: Ids) -> Self {
        ids.0
    }
}

impl Argument for Ids {
    fn read(words: &str) -> Result<Self, Malformed> {
        // A fourth id is one too many, however many follow it.
        words.split(' ').take(4).map(str::parse).collect::<Result<Vec<EnergyId>, _>>()?.try_into()
    }

    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(out)
    }
}

arguments!(Chakra, ChannelNumber, Color, EnergyId);

commands! {
    Command, "`take ROW ID…`, `channel N`, `move ID ROW`, `confirm`, `undo`, `cancel`, `meditate COLOUR` or `pick COLOUR`";
    "take" => Command::Take { row, ids },
    "channel" => Command::Channel(channel),
    "move" => Command::Move { id, row },
    "confirm" => Command::Confirm,
    "undo" => Command::Undo,
    "cancel" => Command::Cancel,
    "meditate" => Command::Meditate(color),
    "pick" => Command::Pick(color),
}
