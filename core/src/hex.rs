//! Hexes in axial coordinates on a hexagonal board, after <https://www.redblobgames.com/grids/hexagons/>.

use core::fmt;
use core::str::FromStr;

use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{Malformed, number};

/// A hex in axial coordinates; ordered by `q`, then `r`. Written `q,r` in text and `[q, r]` in JSON and TOML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "(i32, i32)")]
pub struct Hex {
    /// The column, growing to the south-east.
    pub q: i32,
    /// The row within the column, growing to the south.
    pub r: i32,
}

/// The six ways to leave a hex, clockwise from the north. The rules and the formats use this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Direction {
    /// (0, −1)
    N,
    /// (+1, −1)
    Ne,
    /// (+1, 0)
    Se,
    /// (0, +1)
    S,
    /// (−1, +1)
    Sw,
    /// (−1, 0)
    Nw,
}

impl Direction {
    /// All directions, in order.
    pub const ALL: [Self; 6] = [Self::N, Self::Ne, Self::Se, Self::S, Self::Sw, Self::Nw];

    /// Returns the direction's index in [`ALL`](Self::ALL), 0..=5.
    #[must_use]
    pub const fn index(self) -> u8 {
        self as u8
    }

    /// Returns the direction's name, which is its canonical text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::N => "n",
            Self::Ne => "ne",
            Self::Se => "se",
            Self::S => "s",
            Self::Sw => "sw",
            Self::Nw => "nw",
        }
    }

    const fn step(self) -> (i32, i32) {
        match self {
            Self::N => (0, -1),
            Self::Ne => (1, -1),
            Self::Se => (1, 0),
            Self::S => (0, 1),
            Self::Sw => (-1, 1),
            Self::Nw => (-1, 0),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// Reads a name, or an index 0..=5.
impl FromStr for Direction {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        for direction in Self::ALL {
            if direction.name() == text {
                return Ok(direction);
            }
        }
        if let Ok(index) = number::<usize>(text)
            && let Some(direction) = Self::ALL.get(index)
        {
            return Ok(*direction);
        }
        Err(Malformed::expected("a direction `n`, `ne`, `se`, `s`, `sw`, `nw` or 0 to 5", text))
    }
}

impl Hex {
    /// Returns the hex of these coordinates.
    #[must_use]
    pub const fn new(q: i32, r: i32) -> Self {
        Self { q, r }
    }

    /// Returns the adjacent hex in `direction`; coordinates saturate at the ends of their range.
    #[must_use]
    pub const fn neighbor(self, direction: Direction) -> Self {
        let (dq, dr) = direction.step();
        Self { q: self.q.saturating_add(dq), r: self.r.saturating_add(dr) }
    }

    /// Returns the six adjacent hexes, by direction.
    pub fn neighbors(self) -> impl Iterator<Item = Self> {
        Direction::ALL.into_iter().map(move |direction| self.neighbor(direction))
    }

    /// Returns the number of steps between two hexes.
    #[must_use]
    pub fn distance(self, other: Self) -> u64 {
        let dq = i64::from(self.q) - i64::from(other.q);
        let dr = i64::from(self.r) - i64::from(other.r);
        (dq.unsigned_abs() + dr.unsigned_abs() + (dq + dr).unsigned_abs()) / 2
    }
}

impl From<Hex> for (i32, i32) {
    fn from(hex: Hex) -> Self {
        (hex.q, hex.r)
    }
}

/// Reads exactly two numbers. Some formats would accept a third number after a pair of `i32`.
impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pair;

        impl<'de> Visitor<'de> for Pair {
            type Value = Hex;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a hex of two numbers, [q, r]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Hex, A::Error> {
                let missing = |count| A::Error::invalid_length(count, &self);
                let q = numbers.next_element()?.ok_or_else(|| missing(0))?;
                let r = numbers.next_element()?.ok_or_else(|| missing(1))?;
                match numbers.next_element::<IgnoredAny>()? {
                    None => Ok(Hex { q, r }),
                    Some(_) => Err(missing(3)),
                }
            }
        }

        deserializer.deserialize_tuple(2, Pair)
    }
}

impl fmt::Display for Hex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{},{}", self.q, self.r)
    }
}

impl FromStr for Hex {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if let Some((q, r)) = text.split_once(',')
            && let Ok(q) = number(q)
            && let Ok(r) = number(r)
        {
            return Ok(Self { q, r });
        }
        Err(Malformed::expected("a hex `q,r`", text))
    }
}

/// A board of all hexes at most `radius` from `0,0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    radius: u8,
}

impl Board {
    /// Returns a board; a radius of 0 is the one hex in the middle.
    #[must_use]
    pub const fn new(radius: u8) -> Self {
        Self { radius }
    }

    /// Returns the distance of the rim from the middle, in hexes.
    #[must_use]
    pub const fn radius(self) -> u8 {
        self.radius
    }

    /// Returns `true` if `hex` is on the board.
    #[must_use]
    pub fn contains(self, hex: Hex) -> bool {
        hex.distance(Hex::default()) <= u64::from(self.radius)
    }

    /// Returns every hex of the board, by q, then r.
    pub fn hexes(self) -> impl Iterator<Item = Hex> {
        let radius = i32::from(self.radius);
        (-radius..=radius).flat_map(move |q| {
            ((-radius).max(-q - radius)..=radius.min(-q + radius)).map(move |r| Hex { q, r })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_lists_its_hexes_in_order() {
        let hexes: alloc::vec::Vec<_> = Board::new(3).hexes().collect();
        assert_eq!(hexes.len(), 37);
        assert!(hexes.is_sorted());
        assert!(hexes.iter().all(|&hex| Board::new(3).contains(hex)));
    }

    #[test]
    fn distance_is_total() {
        let far = Hex::new(i32::MIN, i32::MIN);
        assert_eq!(far.distance(Hex::new(i32::MAX, i32::MAX)), 2 * u64::from(u32::MAX));
        assert_eq!(Hex::new(0, 0).distance(Hex::new(2, -1)), 2);
    }

    #[test]
    fn directions_are_read_by_name_or_index() {
        for direction in Direction::ALL {
            assert_eq!(direction.name().parse(), Ok(direction));
            assert_eq!(alloc::format!("{}", direction.index()).parse(), Ok(direction));
        }
        for text in ["", "N", "6", "-1", "01", "north"] {
            assert!(text.parse::<Direction>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_hex_is_two_numbers_in_bytes_and_in_toml() {
        let hex = Hex::new(-3, 4);
        assert_eq!(postcard::from_bytes::<Hex>(&postcard::to_allocvec(&hex).unwrap()), Ok(hex));
        let read =
            |text: &str| toml::from_str::<alloc::collections::BTreeMap<alloc::string::String, Hex>>(text);
        assert_eq!(read("at = [-3, 4]").unwrap().get("at"), Some(&hex));
        for text in ["at = [1]", "at = [1, 2, 3]", "at = []", "at = 1", "at = [1, 'a']"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn text_is_strict() {
        assert_eq!("-3,4".parse::<Hex>(), Ok(Hex::new(-3, 4)));
        for text in ["1", "1,", "1, 2", "+1,2", "1,2,3", "01,2"] {
            assert!(text.parse::<Hex>().is_err(), "{text}");
        }
    }
}
