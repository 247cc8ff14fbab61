//! Energies and their colors.

use core::fmt;
use core::str::FromStr;

use alloc::string::ToString;
use serde::de::{IntoDeserializer, value};
use serde::{Deserialize, Serialize};

use super::ranged::{EnergyId, Row};
use turnfold_core::text::Malformed;

/// A color of energy. The order comes from the rulings and is part of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a color is what it is called")]
pub enum Color {
    Purple,
    DarkBlue,
    Blue,
    Green,
    Yellow,
    Orange,
    Red,
    Black,
    White,
}

impl Color {
    /// Every color, in order.
    pub const ALL: [Self; 9] = [
        Self::Purple,
        Self::DarkBlue,
        Self::Blue,
        Self::Green,
        Self::Yellow,
        Self::Orange,
        Self::Red,
        Self::Black,
        Self::White,
    ];

    /// Returns `true` if the color has no chakra of its own and may enter the earth.
    #[must_use]
    pub const fn is_black_or_white(self) -> bool {
        matches!(self, Self::Black | Self::White)
    }
}

impl fmt::Display for Color {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

impl FromStr for Color {
    type Err = Malformed;

    fn from_str(word: &str) -> Result<Self, Malformed> {
        let named: Result<Self, value::Error> = Self::deserialize(word.into_deserializer());
        named.map_err(|_| Malformed::expected("a color such as `purple` or `black`", word))
    }
}

/// A chakra: one of the seven colors that have their own row, rows 2 to 8 in the order of the colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Color", into = "Color")]
pub struct Chakra(Color);

impl Chakra {
    pub(super) const COUNT: usize = 7;

    /// Returns every chakra, from the top down.
    #[must_use]
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        Color::ALL.into_iter().filter(|color| !color.is_black_or_white()).map(Self)
    }

    /// Returns the chakra's color.
    #[must_use]
    pub const fn color(self) -> Color {
        self.0
    }

    /// Returns the chakra's index from the top, counted from 0.
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the chakra of a row; `None` for the universe and the earth.
    pub(super) fn of_row(row: Row) -> Option<Self> {
        let color = Color::ALL.get(usize::from(row.get()).checked_sub(2)?)?;
        if color.is_black_or_white() { None } else { Some(Self(*color)) }
    }

    pub(super) fn row(self) -> Row {
        let row = u16::from(self.0 as u8) + 2;
        Row::try_from(row).expect("seven chakras have the rows 2 to 8")
    }
}

impl TryFrom<Color> for Chakra {
    type Error = Malformed;

    fn try_from(color: Color) -> Result<Self, Malformed> {
        if color.is_black_or_white() {
            return Err(Malformed::expected("the color of a chakra", &color.to_string()));
        }
        Ok(Self(color))
    }
}

impl From<Chakra> for Color {
    fn from(chakra: Chakra) -> Self {
        chakra.0
    }
}

impl fmt::Display for Chakra {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl FromStr for Chakra {
    type Err = Malformed;

    fn from_str(word: &str) -> Result<Self, Malformed> {
        word.parse::<Color>()?.try_into()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Energy {
    pub(super) id: EnergyId,
    pub(super) color: Color,
}
