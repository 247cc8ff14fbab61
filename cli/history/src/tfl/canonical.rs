//! The canonical header: the values of a header without its comments, order and spacing.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::json;
use toml::{Table, Value};

use crate::history::entry::hex_digits;

/// The canonical lines of a header's values by path, such as `setup.units[2].at`. A line is path, space, value as JSON
/// and a line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderValues(BTreeMap<String, String>);

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
        let mut values = Self(BTreeMap::new());
        for (key, value) in header {
            match key.as_str() {
                // Policy and seed, or policy and head, are one value, because one cannot change without the other,
                // except for another seed or head.
                "dice" if text(header, "dice") == "seeded" => {
                    values.add("dice", &json!(["seeded", text(header, "seed")]));
                }
                "dice" if text(header, "dice") == "fair" => {
                    values.add("dice", &json!(["fair", text(header, "head")]));
                }
                "seed" | "head" => {}
                _ => values.flatten(&key_of(key), value),
            }
        }
        if !header.contains_key("title") {
            values.add("title", &json!(""));
        }
        values
    }

    fn flatten(&mut self, path: &str, value: &Value) {
        match value {
            Value::Table(table) if !table.is_empty() => {
                for (key, value) in table {
                    self.flatten(&format!("{path}.{}", key_of(key)), value);
                }
            }
            Value::Array(values) if values.iter().any(Value::is_table) => {
                for (index, value) in values.iter().enumerate() {
                    self.flatten(&format!("{path}[{index}]"), value);
                }
            }
            _ => self.add(path, value),
        }
    }

    fn add(&mut self, path: &str, value: &impl Serialize) {
        let value = serde_json::to_string(value).expect("plain data encodes");
        self.0.insert(path.into(), format!("{path} {value}\n"));
    }

    pub(super) fn lines(&self) -> String {
        self.0.values().map(String::as_str).collect()
    }

    pub(super) fn mark(&self) -> HeaderMark {
        let mut mark = HeaderMark::default();
        for (path, line) in &self.0 {
            let number = number_of(line);
            mark.sum = mark.sum.wrapping_add(number);
            mark.weighted = mark.weighted.wrapping_add(number_of(path).wrapping_mul(number));
        }
        mark
    }

    /// Returns the path of the value that differs from another mark. Returns `None` if more than one does, or if one is
    /// missing.
    pub(super) fn differing(&self, other: HeaderMark) -> Option<&str> {
        let mark = self.mark();
        let sum = mark.sum.wrapping_sub(other.sum);
        let weighted = mark.weighted.wrapping_sub(other.weighted);
        for (path, line) in &self.0 {
            if number_of(path).wrapping_mul(sum) != weighted {
                continue;
            }
            let was_recorded = number_of(line).wrapping_sub(sum) == number_of("dice \"recorded\"\n");
            if path == "dice" && !was_recorded && line.starts_with("dice [\"seeded\"") {
                return Some("seed");
            }
            if path == "dice" && !was_recorded && line.starts_with("dice [\"fair\"") {
                return Some("head");
            }
            return Some(path);
        }
        None
    }
}

fn text<'t>(header: &'t Table, key: &str) -> &'t str {
    header.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn key_of(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_bare { key.into() } else { json!(key).to_string() }
}

/// Returns the number of a text: the first 8 bytes of its blake3 hash, little-endian.
fn number_of(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}

impl HeaderMark {
    pub(crate) const DIGITS: usize = 32;
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
        let sum = u64::from_str_radix(sum, 16).map_err(|error| error.to_string())?;
        let weighted = u64::from_str_radix(weighted, 16).map_err(|error| error.to_string())?;
        Ok(Self { sum, weighted })
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
        assert_eq!(values(header).lines(), expected);
        let other = "# a comment\n'title' = ''\nseed = '07'\ndice='seeded'\n[setup]\n\"a b\" = []\n[[setup.units]]\nat = [\n0x0, 1]\n[[setup.units]]\n";
        assert_eq!(values(other), values(header));
    }
}
