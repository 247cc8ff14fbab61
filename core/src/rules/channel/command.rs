//! What a seat may say, and how it is written.

use core::fmt;
use core::str::FromStr;

use alloc::string::ToString;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::energy::{Chakra, Color};
use super::ranged::{ChannelNumber, EnergyId};
use crate::text::{Malformed, number, split_verb};

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

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Take { row, ids } => {
                write!(out, "take {row}")?;
                ids.0.iter().try_for_each(|id| write!(out, " {id}"))
            }
            Self::Channel(channel) => write!(out, "channel {channel}"),
            Self::Move { id, row } => write!(out, "move {id} {row}"),
            Self::Confirm => out.write_str("confirm"),
            Self::Undo => out.write_str("undo"),
            Self::Cancel => out.write_str("cancel"),
            Self::Meditate(chakra) => write!(out, "meditate {chakra}"),
            Self::Pick(color) => write!(out, "pick {color}"),
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let forms = "`take ROW ID…`, `channel N`, `move ID ROW`, `confirm`, `undo`, `cancel`, `meditate COLOUR` or \
                     `pick COLOUR`";
        let malformed = || Malformed::expected(forms, text);
        match split_verb(text) {
            ("take", Some(words)) => {
                let (row, ids) = words.split_once(' ').ok_or_else(malformed)?;
                // A fourth id is one too many, however many follow it.
                let ids: Vec<EnergyId> = ids.split(' ').take(4).map(str::parse).collect::<Result<_, _>>()?;
                Ok(Self::Take { row: number(row)?, ids: ids.try_into()? })
            }
            ("channel", Some(channel)) => channel.parse().map(Self::Channel),
            ("move", Some(words)) => {
                let (id, row) = words.split_once(' ').ok_or_else(malformed)?;
                Ok(Self::Move { id: id.parse()?, row: number(row)? })
            }
            ("confirm", None) => Ok(Self::Confirm),
            ("undo", None) => Ok(Self::Undo),
            ("cancel", None) => Ok(Self::Cancel),
            ("meditate", Some(color)) => color.parse().map(Self::Meditate),
            ("pick", Some(color)) => color.parse().map(Self::Pick),
            _ => Err(malformed()),
        }
    }
}
