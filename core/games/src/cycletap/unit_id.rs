//! The ids of units.

use core::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A unit's number in the setup, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct UnitId(pub(super) u16);

impl UnitId {
    /// Returns the id as effects and views write it.
    pub(super) const fn name(self) -> UnitName {
        UnitName(self)
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "u{}", self.0)
    }
}

/// A unit's id as text, in JSON too: `u1`, `u2`, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitName(UnitId);

impl fmt::Display for UnitName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Serialize for UnitName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
