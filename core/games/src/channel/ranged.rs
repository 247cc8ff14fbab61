//! Whole numbers within a range, which name energies, rows and channels.

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::ToString;
use serde::{Deserialize, Serialize};

use turnfold_core::text::{Malformed, number};

/// A whole number of `LOW..=HIGH`. Other numbers can be neither made nor read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Ranged<const LOW: u16, const HIGH: u16>(u16);

/// The id of an energy.
pub type EnergyId = Ranged<1, 1000>;
/// The number of a channel.
pub type ChannelNumber = Ranged<1, 8>;
/// A row of a player's board: 1 universe, 2 to 8 chakras, 9 earth.
pub type Row = Ranged<1, 9>;

impl<const LOW: u16, const HIGH: u16> Ranged<LOW, HIGH> {
    /// Returns every number, in order.
    #[must_use]
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (LOW..=HIGH).map(Self)
    }

    pub(super) fn new(value: u16) -> Option<Self> {
        if (LOW..=HIGH).contains(&value) { Some(Self(value)) } else { None }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Row {
    /// The universe, which a move can leave but not enter.
    pub const UNIVERSE: Self = Ranged(1);
    /// The earth, which only black and white energies can enter.
    pub const EARTH: Self = Ranged(9);

    /// Returns the row `by` rows further down, or up if `by` is negative; `None` beyond the board.
    pub(super) fn down(self, by: i16) -> Option<Self> {
        Self::new(self.0.checked_add_signed(by)?)
    }
}

impl ChannelNumber {
    /// The channel without moves, which exchanges a black energy for one of the bag.
    pub const EXCHANGE: Self = Ranged(8);
}

impl<const LOW: u16, const HIGH: u16> TryFrom<u16> for Ranged<LOW, HIGH> {
    type Error = Malformed;

    fn try_from(value: u16) -> Result<Self, Malformed> {
        Self::new(value)
            .ok_or_else(|| Malformed::expected(&format!("a number of {LOW} to {HIGH}"), &value.to_string()))
    }
}

impl<const LOW: u16, const HIGH: u16> From<Ranged<LOW, HIGH>> for u16 {
    fn from(ranged: Ranged<LOW, HIGH>) -> Self {
        ranged.0
    }
}

impl<const LOW: u16, const HIGH: u16> fmt::Display for Ranged<LOW, HIGH> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl<const LOW: u16, const HIGH: u16> FromStr for Ranged<LOW, HIGH> {
    type Err = Malformed;

    fn from_str(word: &str) -> Result<Self, Malformed> {
        let value: u16 = number(word)?;
        Self::try_from(value)
    }
}
