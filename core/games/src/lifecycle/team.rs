//! The two sides of a match.

use core::fmt;

use serde::{Deserialize, Serialize};

use turnfold_core::seat::Seat;

/// A side of the match. The variant order decides ties (LC-4) and is part of the state's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Team {
    /// Played by p1.
    Player,
    /// Played by p2.
    Enemy,
}

impl Team {
    /// Returns the seat that plays the team.
    #[must_use]
    pub const fn seat(self) -> Seat {
        match self {
            Self::Player => Seat::P1,
            Self::Enemy => Seat::P2,
        }
    }
}

impl fmt::Display for Team {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}
