//! Durations in ticks, for games with a clock.

use core::fmt;
use core::str::FromStr;

use alloc::format;

use serde::{Deserialize, Serialize};

use crate::text::{Malformed, number};

/// A number of ticks, `1..=100_000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Ticks(u32);

impl Ticks {
    /// A single tick, which commands need not write out.
    pub const ONE: Self = Self(1);
    /// The ticks of a short wait.
    pub const FEW: Self = Self(6);
    const MAX: u32 = 100_000;

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for Ticks {
    type Err = Malformed;

    fn from_str(word: &str) -> Result<Self, Malformed> {
        number::<u32>(word)?.try_into()
    }
}

impl TryFrom<u32> for Ticks {
    type Error = Malformed;

    fn try_from(count: u32) -> Result<Self, Malformed> {
        if (1..=Self::MAX).contains(&count) {
            return Ok(Self(count));
        }
        Err(Malformed(format!("expected 1 to {} ticks, found {count}", Self::MAX)))
    }
}

impl From<Ticks> for u32 {
    fn from(ticks: Ticks) -> Self {
        ticks.0
    }
}
