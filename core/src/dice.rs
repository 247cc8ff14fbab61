//! Chance: rolls that the rules wait for, and dice that anyone can recompute: seeded here, fair ones in [`fair`].

pub mod fair;

use core::fmt;
use core::str::FromStr;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::digest::Digest;
use crate::seat::Seat;
use crate::text::Malformed;

/// A roll the rules wait for; while one is due nothing but `roll` is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DueRoll {
    /// What the roll decides, in `snake_case`; borrowed or owned, for rules that are loaded at run time.
    pub purpose: Cow<'static, str>,
    /// How many values are rolled.
    pub count: u32,
    /// The least value, inclusive.
    pub low: i32,
    /// The greatest value, inclusive; not below `low`.
    pub high: i32,
    /// The seat that alone learns the values, with the host, until [`Rules::reveals`](crate::Rules::reveals) shows them;
    /// `None` if all learn them. Fair dice refuse a roll with an owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Seat>,
}

impl DueRoll {
    /// Returns `true` if `values` answer this roll: the right number of values, each within range.
    #[must_use]
    pub fn accepts(&self, values: &[i32]) -> bool {
        u32::try_from(values.len()) == Ok(self.count)
            && values.iter().all(|value| (self.low..=self.high).contains(value))
    }

    /// Returns values that answer this roll and depend on no real roll. They replace concealed values.
    #[must_use]
    pub fn stand_in(&self) -> Vec<i32> {
        (0..self.count).map(|_| self.low).collect()
    }
}

impl fmt::Display for DueRoll {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = if self.count == 1 { "value" } else { "values" };
        write!(out, "{} {values} in {}..={} for {}", self.count, self.low, self.high, self.purpose)?;
        match self.owner {
            Some(owner) => write!(out, ", which {owner} alone learns"),
            None => Ok(()),
        }
    }
}

/// Reads the values of a roll in the log. There is at least one, because the text of a roll has at least one.
///
/// # Errors
/// Every error of the deserializer, and one for no values.
pub fn some_values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i32>, D::Error> {
    let values = Vec::deserialize(deserializer)?;
    if values.is_empty() { Err(D::Error::custom("a roll without values")) } else { Ok(values) }
}

/// The 32 bytes from which all dice of a seeded match follow; shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Wraps the bytes of a seed.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Text that is not a seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a seed of 64 lowercase hex digits, found `{0}`")]
pub struct NotASeed(String);

impl FromStr for Seed {
    type Err = NotASeed;

    fn from_str(text: &str) -> Result<Self, NotASeed> {
        text.parse::<Digest>().map(|digest| Self(*digest.as_bytes())).map_err(|_| NotASeed(text.into()))
    }
}

/// Where a match's rolls come from, fixed when it is created. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DicePolicy {
    /// From outside, such as dice on a table; only their count and range are checked.
    Recorded,
    /// Computed from a seed and the number of earlier rolls, including rolls before the branch began.
    Seeded(Seed),
    /// Computed from secrets that the host and the players open one by one; this is the head of the host's chain
    /// (FD-6). Outside of play by mail, only count and range are checked (FD-11).
    Fair(Digest),
}

impl fmt::Display for DicePolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded => out.write_str("recorded"),
            Self::Seeded(seed) => write!(out, "seeded {seed}"),
            Self::Fair(head) => write!(out, "fair {head}"),
        }
    }
}

impl FromStr for DicePolicy {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let read = match text.split_once(' ') {
            None if text == "recorded" => Some(Self::Recorded),
            Some(("seeded", seed)) => seed.parse().ok().map(Self::Seeded),
            Some(("fair", head)) => head.parse().ok().map(Self::Fair),
            _ => None,
        };
        read.ok_or_else(|| Malformed::expected("`recorded`, `seeded SEED` or `fair HEAD`", text))
    }
}

impl DicePolicy {
    /// Returns its name, without the seed or head.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Seeded(_) => "seeded",
            Self::Fair(_) => "fair",
        }
    }

    /// Returns the values of the `roll`-th roll of a history, counted from 1, or `None` where any values in range
    /// are accepted.
    #[must_use]
    pub fn values(&self, roll: u64, due: &DueRoll) -> Option<Vec<i32>> {
        match self {
            Self::Recorded | Self::Fair(_) => None,
            Self::Seeded(seed) => Some(DiceStream::for_roll(seed, roll).values(due)),
        }
    }
}

/// An endless stream of unbiased draws: blake3 keyed, extended over a counter.
#[derive(Clone, Debug)]
pub struct DiceStream {
    output: blake3::OutputReader,
    /// The block to draw from, whole because computing a part of it takes as long.
    block: [u8; 64],
    /// How many of its bytes are used up.
    used: usize,
}

impl DiceStream {
    /// Opens the stream `number` under `key`: the keyed blake3 XOF over the number as u64, little-endian.
    #[must_use]
    pub fn new(key: &[u8; 32], number: u64) -> Self {
        let output = blake3::Hasher::new_keyed(key).update(&number.to_le_bytes()).finalize_xof();
        Self { output, block: [0; 64], used: 64 }
    }

    /// Returns the next word of the stream, little-endian.
    fn word(&mut self) -> u64 {
        if self.used == self.block.len() {
            self.output.fill(&mut self.block);
            self.used = 0;
        }
        let bytes = self.block.get(self.used..).and_then(<[u8]>::first_chunk);
        self.used += 8;
        u64::from_le_bytes(bytes.copied().unwrap_or_default())
    }

    /// Opens the stream of the `roll`-th roll of a match seeded with `seed`.
    #[must_use]
    pub fn for_roll(seed: &Seed, roll: u64) -> Self {
        Self::new(&blake3::derive_key("turnfold v1 dice", &seed.0), roll)
    }

    /// Opens the stream from which a ruleset expands a setup's `seed`.
    #[must_use]
    pub fn for_setup(seed: u64) -> Self {
        Self::new(&blake3::derive_key("turnfold v1 setup", &seed.to_le_bytes()), 0)
    }

    pub(crate) fn values(&mut self, due: &DueRoll) -> Vec<i32> {
        (0..due.count).map(|_| self.draw(due.low, due.high)).collect()
    }

    /// Draws a value from `low..=high`, every one equally likely; `high` when `low` is above it.
    ///
    /// A word w of 64 bits is rejected when w ≥ 2⁶⁴ − (2⁶⁴ mod k), else the value is low + w mod k
    /// (k being the number of values), so that no value is favored.
    ///
    /// # Panics
    /// Never: the offset is below k, which is at most 2³².
    pub fn draw(&mut self, low: i32, high: i32) -> i32 {
        let Ok(span) = u64::try_from(i64::from(high) - i64::from(low)) else { return high };
        let values = span + 1;
        loop {
            let word = self.word();
            // The surplus is less than `values`, so most words pass without computing it, which takes a division.
            if word <= u64::MAX - values || word <= u64::MAX - values.wrapping_neg() % values {
                let offset = i64::try_from(word % values).expect("less than 2^32 values");
                return i32::try_from(i64::from(low) + offset).expect("within low..=high");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Seed = Seed::new([7; 32]);

    #[test]
    fn draws_stay_in_range_and_depend_on_seed_and_roll_only() {
        let due = DueRoll { purpose: "test".into(), count: 600, low: 1, high: 6, owner: None };
        let values = DicePolicy::Seeded(SEED).values(3, &due).unwrap();
        assert!(due.accepts(&values));
        assert!((1..=6).all(|face| values.contains(&face)));
        assert_eq!(DicePolicy::Seeded(SEED).values(3, &due).unwrap(), values);
        assert_ne!(DicePolicy::Seeded(SEED).values(4, &due).unwrap(), values);
        assert_eq!(DicePolicy::Recorded.values(3, &due), None);
        assert_eq!(DicePolicy::Fair(Digest::new([7; 32])).values(3, &due), None);
    }

    #[test]
    fn fd_6_a_fair_policy_is_stored_as_2_and_its_head() {
        let bytes = postcard::to_allocvec(&DicePolicy::Fair(Digest::new([9; 32]))).unwrap();
        assert_eq!(bytes, [&[2][..], &[9; 32]].concat());
        assert_eq!(postcard::from_bytes(&bytes), Ok(DicePolicy::Fair(Digest::new([9; 32]))));
    }

    #[test]
    fn a_policy_reads_back_from_its_text() {
        for dice in [DicePolicy::Recorded, DicePolicy::Seeded(SEED), DicePolicy::Fair(Digest::new([9; 32]))] {
            assert_eq!(alloc::format!("{dice}").parse(), Ok(dice));
        }
        for text in ["", "recorded ", "seeded", "seeded 7", "fair"] {
            assert!(text.parse::<DicePolicy>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_whole_range_and_a_single_value_can_be_drawn() {
        let mut stream = DiceStream::new(&[1; 32], 0);
        assert_eq!(stream.draw(5, 5), 5);
        stream.draw(i32::MIN, i32::MAX);
        assert_eq!(stream.draw(5, 4), 4);
    }
    /// Checks chi-squared of 100,000 values of three ranges against its 99.9th percentile.
    pub(super) fn assert_nothing_is_favored(roll: impl Fn(&DueRoll) -> Vec<i32>) {
        // The percentiles, in hundredths, for 5, 19 and 1 degrees of freedom.
        for (low, high, bound) in [(1, 6, 2052), (1, 20, 4382), (0, 1, 1083)] {
            let values = roll(&DueRoll { purpose: "test".into(), count: 1, low, high, owner: None });
            let (total, faces) = (i64::try_from(values.len()).unwrap(), i64::from(high - low + 1));
            assert_eq!(total, 100_000);
            // Σ (count − total / faces)² / (total / faces), times faces × total to stay in whole numbers.
            let counts = (low..=high).map(|face| values.iter().filter(|value| **value == face).count());
            let squares: i64 =
                counts.map(|count| (i64::try_from(count).unwrap() * faces - total).pow(2)).sum();
            assert!(squares * 100 < bound * faces * total, "{low}..={high}: {squares}");
        }
    }

    #[test]
    fn no_value_is_favored_in_100_000_seeded_rolls() {
        let dice = DicePolicy::Seeded(SEED);
        assert_nothing_is_favored(|due| {
            (1..=100_000).filter_map(|roll| dice.values(roll, due)).flatten().collect()
        });
    }
}
