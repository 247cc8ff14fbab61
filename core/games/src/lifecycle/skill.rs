//! Skills: the actions of units besides moving and attacking.

use serde::{Deserialize, Serialize};

use super::status::Status;
use turnfold_core::text::Id;

/// A skill as written in TOML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Its id, unique on its unit.
    pub id: Id,
    /// The action points it costs, 0..=1000.
    pub ap: u32,
    /// How many turns of its unit must start before it can be used again, 0..=1000.
    pub cooldown: u32,
    /// The units it may be used on.
    pub target: Target,
    /// The hit points it takes, `0..=1_000_000`.
    #[serde(default)]
    pub damage: u32,
    /// The hit points it gives back, `0..=1_000_000`.
    #[serde(default)]
    pub heal: u32,
    /// The status it gives.
    #[serde(default)]
    pub status: Option<Status>,
}

/// The units that a skill may be used on. The order of the variants is part of the state's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// A unit of the other team.
    Enemy,
    /// A unit of the user's team, including the user.
    Ally,
    /// Only the user.
    #[serde(rename = "self")]
    Itself,
    /// Any unit, including the user.
    Any,
}
