//! The colors of a match and how hard each is to capture.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize, Serializer};

use turnfold_core::text::Malformed;

/// A color by its index in the palette, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ColorIndex(u8);

impl ColorIndex {
    pub(super) const fn new(index: u8) -> Self {
        Self(index)
    }

    pub(super) const fn index(self) -> u8 {
        self.0
    }
}

impl fmt::Display for ColorIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A color as people see it, written `#RRGGBB`. Lowercase hex digits are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Rgb(u32);

impl Rgb {
    pub(super) const fn new(rgb: u32) -> Self {
        Self(rgb)
    }

    pub(super) const fn value(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:06X}", self.0)
    }
}

/// Writes the text of `Display` without a string in memory, because palettes are part of a state, and a state is hashed
/// after every entry.
impl Serialize for Rgb {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = *b"#000000";
        let mut rest = self.0;
        for character in text.iter_mut().skip(1).rev() {
            let digit = u8::try_from(rest % 16).expect("a hex digit is below 16");
            *character = if digit < 10 { b'0' + digit } else { b'A' + digit - 10 };
            rest /= 16;
        }
        serializer.serialize_str(str::from_utf8(&text).expect("hex digits are ASCII"))
    }
}

impl TryFrom<String> for Rgb {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let digits = text.strip_prefix('#').unwrap_or_default();
        if digits.len() == 6
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            && let Ok(value) = u32::from_str_radix(digits, 16)
        {
            return Ok(Self(value));
        }
        Err(Malformed::expected("a color `#RRGGBB`", &text))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Palette {
    pub(super) colors: Vec<Rgb>,
    /// The player's base color, the easiest to capture.
    pub(super) player_color: ColorIndex,
    /// The least chance of a capture in percent.
    pub(super) min_chance: u8,
}

impl Palette {
    /// HC-13: returns the chance in percent to capture a hex of this color.
    pub(super) fn chance(&self, color: ColorIndex) -> u8 {
        let distance = self.distance(color);
        if distance == 0 {
            return 100;
        }
        let half = (self.colors.len() / 2).max(1);
        // Adds one half to the fraction, with both parts doubled, so that the division rounds halves up.
        let percent = (200 * half.saturating_sub(distance) + half) / (2 * half);
        u8::try_from(percent).unwrap_or(100).max(self.min_chance).min(100)
    }

    /// HC-13: returns the steps from the player's color around the palette, the shorter way.
    fn distance(&self, color: ColorIndex) -> usize {
        let steps = usize::from(color.0.abs_diff(self.player_color.0));
        steps.min(self.colors.len().saturating_sub(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chances(colors: usize, player_color: u8, min_chance: u8) -> Vec<u8> {
        let palette = Palette {
            colors: alloc::vec![Rgb(0); colors],
            player_color: ColorIndex(player_color),
            min_chance,
        };
        (0..).take(colors).map(|index| palette.chance(ColorIndex(index))).collect()
    }

    #[test]
    fn hc_13_the_chance_falls_with_the_distance_around_the_palette() {
        assert_eq!(chances(8, 0, 10), [100, 75, 50, 25, 10, 25, 50, 75]);
        assert_eq!(chances(8, 6, 10), [50, 25, 10, 25, 50, 75, 100, 75]);
        assert_eq!(chances(8, 0, 0), [100, 75, 50, 25, 0, 25, 50, 75]);
        assert_eq!(chances(8, 0, 60), [100, 75, 60, 60, 60, 60, 60, 75]);
        assert_eq!(chances(2, 0, 10), [100, 10]);
        assert_eq!(chances(3, 1, 10), [10, 100, 10]);
        // Odd palettes have two farthest colors.
        assert_eq!(chances(5, 0, 10), [100, 50, 10, 10, 50]);
    }

    #[test]
    fn hc_13_halves_are_rounded_up() {
        // Sixteen colors: 87.5, 75, 62.5, 50, 37.5, 25 and 12.5 percent.
        assert_eq!(&chances(16, 0, 0)[..9], [100, 88, 75, 63, 50, 38, 25, 13, 0]);
        // Seven: two thirds and one third.
        assert_eq!(chances(7, 0, 0), [100, 67, 33, 0, 0, 33, 67]);
    }

    #[test]
    fn colors_are_six_hex_digits() {
        let read = |text: &str| Rgb::try_from(String::from(text));
        for (text, canonical) in [("#ff80Aa", "#FF80AA"), ("#090a9f", "#090A9F"), ("#000000", "#000000")] {
            let rgb = read(text).unwrap();
            assert_eq!(alloc::format!("{rgb}"), canonical);
            assert_eq!(serde_json::to_value(rgb).unwrap(), canonical);
        }
        for text in ["", "#", "FF8000", "#FF800", "#FF80000", "#GG0000", "#+F8000", "# F8000", "#ÿ0000"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
