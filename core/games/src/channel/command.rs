//! The commands of players and their text.

use core::fmt;

use alloc::string::ToString;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::energy::{Chakra, Color};
use super::ranged::{ChannelNumber, EnergyId};
use turnfold_core::declare::{Argument, arguments, commands};
use turnfold_core::text::Malformed;

/// A command of the match. The order of the variants is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// CH-4: takes energies from a flow of the maya into a row, in this order.
    Take {
        /// The row, which need not exist.
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
    /// CH-11: takes all moves back after the last one.
    Undo,
    /// CH-11: closes the channel before the first move.
    Cancel,
    /// CH-6: takes the tokens back from the channels and looks at a plenitude.
    Meditate(Chakra),
    /// CH-12: names the color to get for a black energy.
    Pick(Color),
}

/// One to three energies, in the order in which they are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<EnergyId>", into = "Vec<EnergyId>")]
pub struct Ids {
    /// Unused places repeat the first id, so that values with equal ids are equal.
    ids: [EnergyId; 3],
    count: u8,
}

impl Ids {
    pub(super) fn one(id: EnergyId) -> Self {
        Self { ids: [id; 3], count: 1 }
    }

    /// Returns these energies and one more, unless there are three.
    pub(super) fn with(mut self, id: EnergyId) -> Option<Self> {
        *self.ids.get_mut(usize::from(self.count))? = id;
        self.count += 1;
        Some(self)
    }

    /// Returns the energies.
    #[must_use]
    pub fn as_slice(&self) -> &[EnergyId] {
        self.ids.get(..usize::from(self.count)).unwrap_or_default()
    }
}

impl TryFrom<Vec<EnergyId>> for Ids {
    type Error = Malformed;

    fn try_from(given: Vec<EnergyId>) -> Result<Self, Malformed> {
        match *given.as_slice() {
            [one] => Ok(Self { ids: [one; 3], count: 1 }),
            [one, two] => Ok(Self { ids: [one, two, one], count: 2 }),
            [one, two, three] => Ok(Self { ids: [one, two, three], count: 3 }),
            _ => Err(Malformed::expected("one to three energies", &given.len().to_string())),
        }
    }
}

impl From<Ids> for Vec<EnergyId> {
    fn from(ids: Ids) -> Self {
        ids.as_slice().to_vec()
    }
}

impl Argument for Ids {
    fn read(words: &str) -> Result<Self, Malformed> {
        // Four words are enough to know that there are too many.
        let mut ids: Vec<EnergyId> = Vec::new();
        for word in words.split(' ').take(4) {
            ids.push(word.parse()?);
        }
        ids.try_into()
    }

    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.as_slice() {
            id.write(out)?;
        }
        Ok(())
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
