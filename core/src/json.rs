//! JSON documents made from typed values.

use core::fmt;
use core::ops::Deref;

use alloc::boxed::Box;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// A JSON document: text to print or compare, and part of a larger document by `Serialize`.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Writes a value.
    ///
    /// # Panics
    /// Never for the plain data of rulesets, which always encodes.
    #[must_use]
    pub fn of(value: &impl Serialize) -> Self {
        Self(to_raw_value(value).expect("plain data encodes"))
    }
}

impl Deref for Json {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.get()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Json {}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
