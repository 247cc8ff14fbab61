//! Statuses, which take effect at the start of a unit's turns, for a number of turns.

use core::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use turnfold_core::text::Id;

/// A status, in a setup or on a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Its id, unique on its unit.
    pub id: Id,
    /// What it does.
    pub kind: StatusKind,
    /// The hit points it takes or gives, `0..=1_000_000`.
    #[serde(default)]
    pub value: u32,
    /// How many turns of its unit it lasts, counted at their start.
    pub duration: Duration,
}

/// What a status does. The order of the variants is part of the state's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatusKind {
    /// LC-8: takes hit points.
    Dot,
    /// LC-8: gives hit points.
    Hot,
    /// LC-9: the unit loses its turn.
    Stun,
    /// Has no effect.
    Mark,
}

/// Writes a kind as in setups and views.
impl fmt::Display for StatusKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

/// The duration of a status: a number in a setup's text, or `"permanent"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duration {
    /// Until this number of turns of its unit have started, `1..=1_000_000`.
    Turns(u32),
    /// As long as its unit lives.
    Permanent,
}

impl Duration {
    /// LC-8: returns the duration after another turn has started; `None` for a status that is over.
    pub(super) fn less_one_turn(self) -> Option<Self> {
        match self {
            Self::Turns(0 | 1) => None,
            Self::Turns(turns) => Some(Self::Turns(turns - 1)),
            Self::Permanent => Some(Self::Permanent),
        }
    }

    /// Returns the turns that are left; `None` for a permanent status.
    pub(super) const fn turns(self) -> Option<u32> {
        match self {
            Self::Turns(turns) => Some(turns),
            Self::Permanent => None,
        }
    }
}

/// The word for a permanent duration in texts.
const PERMANENT: &str = "permanent";

/// Writes an optional number as bytes, because bytes cannot tell a number from a text.
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
                match u32::try_from(turns) {
                    Ok(turns) => Ok(Duration::Turns(turns)),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(turns), &self)),
                }
            }

            fn visit_i64<E: de::Error>(self, turns: i64) -> Result<Duration, E> {
                match u32::try_from(turns) {
                    Ok(turns) => Ok(Duration::Turns(turns)),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(turns), &self)),
                }
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
