//! The canonical header: the values of a header without its comments, order and spacing.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::json;
use toml::{Table, Value};

use crate::history::entry::hex_digits;

/// The values of a header, each with its path, such as `setup.units[2].at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderValues(Vec<HeaderValue>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct HeaderValue {
    path: String,
    /// Path, space, value as JSON, line feed.
    line: String,
}

/// The mark of a header in the closing line. It shows which value was changed. It is the sum of the numbers of the
/// header's canonical lines, and the sum of these numbers weighted by the numbers of their paths.
///
/// If one value was changed or added, the first sum differs by a number and the second by that number times the path's.
/// So the changed value is the one whose path fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderMark {
    sum: u64,
    weighted: u64,
}

impl HeaderValues {
    pub(super) fn of(header: &Table) -> Self {
        let text = |key| header.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut values = Self(Vec::new());
        for (key, value) in header {
            match key.as_str() {
                // Policy and seed, or policy and head, are one value, because one cannot change without the other,
                // except for another seed or head.
                "dice" if text("dice") == "seeded" => values.add("dice", &json!(["seeded", text("seed")])),
                "dice" if text("dice") == "fair" => values.add("dice", &json!(["fair", text("head")])),
                "seed" | "head" => {}
                _ => values.flatten(&key_of(key), value),
            }
        }
        if !header.contains_key("title") {
            values.add("title", &json!(""));
        }
        values.0.sort_by(|one, other| one.path.cmp(&other.path));
        values
    }

    fn flatten(&mut self, path: &str, value: &Value) {
        match value {
            Value::Table(table) if !table.is_empty() => {
                table.iter().for_each(|(key, value)| self.flatten(&format!("{path}.{}", key_of(key)), value));
            }
            Value::Array(values) if values.iter().any(Value::is_table) => {
                let places = values.iter().enumerate();
                places.for_each(|(place, value)| self.flatten(&format!("{path}[{place}]"), value));
            }
            _ => self.add(path, value),
        }
    }

    fn add(&mut self, path: &str, value: &impl Serialize) {
        let value = serde_json::to_string(value).expect("plain data encodes");
        self.0.push(HeaderValue { path: path.into(), line: format!("{path} {value}\n") });
    }

    /// Returns the canonical lines in the order of their paths, each with its line feed.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|value| value.line.as_str())
    }

    pub(super) fn mark(&self) -> HeaderMark {
        self.0.iter().fold(HeaderMark::default(), |mark, HeaderValue { path, line }| HeaderMark {
            sum: mark.sum.wrapping_add(number_of(line)),
            weighted: mark.weighted.wrapping_add(number_of(path).wrapping_mul(number_of(line))),
        })
    }

    /// Returns the path of the value that differs from another mark. Returns `None` if more than one does, or if one is
    /// missing.
    pub(super) fn differing(&self, other: HeaderMark) -> Option<&str> {
        let mark = self.mark();
        let sum = mark.sum.wrapping_sub(other.sum);
        let weighted = mark.weighted.wrapping_sub(other.weighted);
        let found = self.0.iter().find(|value| number_of(&value.path).wrapping_mul(sum) == weighted)?;
        let was_recorded = number_of(&found.line).wrapping_sub(sum) == number_of("dice \"recorded\"\n");
        Some(match found.path.as_str() {
            "dice" if !was_recorded && found.line.starts_with("dice [\"seeded\"") => "seed",
            "dice" if !was_recorded && found.line.starts_with("dice [\"fair\"") => "head",
            path => path,
        })
    }
}

/// Returns a key as paths write it: in quotes, unless it is a word.
pub(super) fn key_of(key: &str) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !key.is_empty() && key.bytes().all(is_word) { key.into() } else { json!(key).to_string() }
}

/// Returns the number of a text: the first 8 bytes of its blake3 hash, little-endian.
fn number_of(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl HeaderMark {
    /// The number of hex digits.
    pub const DIGITS: usize = 32;
}

impl fmt::Display for HeaderMark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}{:016x}", self.sum, self.weighted)
    }
}

impl Serialize for HeaderMark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for HeaderMark {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (sum, weighted) = hex_digits(text, Self::DIGITS)?.split_at(Self::DIGITS / 2);
        let number = |digits| u64::from_str_radix(digits, 16).map_err(|error| error.to_string());
        Ok(Self { sum: number(sum)?, weighted: number(weighted)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> HeaderValues {
        HeaderValues::of(&text.parse().unwrap())
    }

    #[test]
    fn a_header_has_one_canonical_form() {
        let header =
            "dice = \"seeded\"\nseed = \"07\"\nsetup = { units = [{ at = [0, 1] }, {}], \"a b\" = [] }\n";
        let expected = "dice [\"seeded\",\"07\"]\nsetup.\"a b\" []\nsetup.units[0].at [0,1]\nsetup.units[1] {}\ntitle \"\"\n";
        assert_eq!(values(header).lines().collect::<String>(), expected);
        let other = "# a comment\n'title' = ''\nseed = '07'\ndice='seeded'\n[setup]\n\"a b\" = []\n[[setup.units]]\nat = [\n0x0, 1]\n[[setup.units]]\n";
        assert_eq!(values(other), values(header));
    }
}
