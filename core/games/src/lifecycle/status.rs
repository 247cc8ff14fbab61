//! Statuses: what ticks on a unit at the start of its turns, and for how many of them.

use core::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use turnfold_core::text::Id;

/// A status as a setup gives it and as a unit bears it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Its id, unique on the unit that bears it.
    pub id: Id,
    /// What it does.
    pub kind: StatusKind,
    /// How much of it, `0..=1_000_000`.
    #[serde(default)]
    pub value: u32,
    /// How many starts of its bearer's turn it lasts.
    pub duration: Duration,
}

/// What a status does. The variant order is part of the state's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatusKind {
    /// LC-8: takes hp.
    Dot,
    /// LC-8: gives hp.
    Hot,
    /// LC-9: costs the turn.
    Stun,
    /// Nothing of its own.
    Mark,
}

/// As setups and views write it.
impl fmt::Display for StatusKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

/// How long a status lasts: a number in a setup's text, or `"permanent"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duration {
    /// Until this number of turns of its bearer have started, `1..=1_000_000`.
    Turns(u32),
    /// For as long as its bearer lives.
    Permanent,
}

impl Duration {
    /// LC-8: what is left once another turn has started; `None` for a status that is over.
    pub(super) fn less_one_turn(self) -> Option<Self> {
        match self {
            Self::Turns(turns) => turns.checked_sub(1).filter(|left| *left > 0).map(Self::Turns),
            Self::Permanent => Some(Self::Permanent),
        }
    }

    /// The turns that are left, `None` when it is permanent.
    pub(super) const fn turns(self) -> Option<u32> {
        match self {
            Self::Turns(turns) => Some(turns),
            Self::Permanent => None,
        }
    }
}

/// How texts write a duration without an end.
const PERMANENT: &str = "permanent";

/// In bytes a duration is an optional number, because they cannot tell a number from a text.
impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.turns().serialize(serializer);
        }
        match self {
            Self::Turns(turns) => serializer.serialize_u32(*turns),
            Self::Permanent => serializer.serialize_str(PERMANENT),
        }
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrWord;

        impl Visitor<'_> for NumberOrWord {
            type Value = Duration;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "a number of turns or \"{PERMANENT}\"")
            }

            fn visit_u64<E: de::Error>(self, turns: u64) -> Result<Duration, E> {
                let out_of_range = |_| E::invalid_value(de::Unexpected::Unsigned(turns), &self);
                u32::try_from(turns).map(Duration::Turns).map_err(out_of_range)
            }

            fn visit_i64<E: de::Error>(self, turns: i64) -> Result<Duration, E> {
                let out_of_range = |_| E::invalid_value(de::Unexpected::Signed(turns), &self);
                u32::try_from(turns).map(Duration::Turns).map_err(out_of_range)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Duration, E> {
                if word == PERMANENT {
                    return Ok(Duration::Permanent);
                }
                Err(E::invalid_value(de::Unexpected::Str(word), &self))
            }
        }

        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(NumberOrWord);
        }
        Ok(Option::deserialize(deserializer)?.map_or(Self::Permanent, Self::Turns))
    }
}
