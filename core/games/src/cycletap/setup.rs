//! The setup of a match: the board, its water and the units of both sides.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::state::{PLAYERS, Phase, State, Unit, UnitId, UnitKind};
use turnfold_core::hex::Board;
use turnfold_core::prelude::*;

/// The setup as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The board's radius in hexes, 1..=40.
    pub radius: u8,
    /// Impassable hexes.
    #[serde(default)]
    pub water: Vec<Hex>,
    /// The maximum number of waypoints of a MOVEMENT, 1..=10.
    #[serde(default = "default_max_movement")]
    pub max_movement: u8,
    /// The maximum number of waypoints of a DEPLOY; only 1 is accepted.
    #[serde(default = "default_max_deploy")]
    pub max_deploy: u8,
    /// What a DEFENSE adds to the claim on the defended hex, 0..=100.
    #[serde(default = "default_defense_bonus")]
    pub defense_bonus: u32,
    /// The units of both sides, 2..=400; their order gives them their ids `u1`, `u2`, ….
    pub units: Vec<UnitSetup>,
}

/// A unit as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSetup {
    /// Its side.
    pub owner: Seat,
    /// Its kind.
    pub kind: UnitKind,
    /// Where it stands.
    pub at: Hex,
    /// Its strength, 1..=1000; if left out, the strength of its kind.
    #[serde(default)]
    pub strength: Option<u32>,
}

const fn default_max_movement() -> u8 {
    3
}

const fn default_max_deploy() -> u8 {
    1
}

const fn default_defense_bonus() -> u32 {
    1
}

/// Checks a setup and returns the first state: turn 1, planning by p1.
pub(super) fn start(setup: &Setup) -> Result<State, SetupError> {
    SetupError::within("radius", &setup.radius, 1..=40)?;
    SetupError::within("max_movement", &setup.max_movement, 1..=10)?;
    if setup.max_deploy != 1 {
        let message = format!("expected 1, the only value there is, found {}", setup.max_deploy);
        return Err(SetupError::value("max_deploy", message));
    }
    SetupError::within("defense_bonus", &setup.defense_bonus, 0..=100)?;
    SetupError::within("units", &setup.units.len(), 2..=400)?;
    let board = Board::new(setup.radius);
    let water = read_water(setup, board)?;
    let mut units: BTreeMap<UnitId, Unit> = BTreeMap::new();
    for (index, (number, unit)) in (1..).zip(&setup.units).enumerate() {
        let field = |name: &str| format!("units[{index}].{name}");
        let id = UnitId(number);
        SetupError::on_board(&field("at"), board, unit.at)?;
        if water.contains(&unit.at) {
            let message = format!("unit `{id}` stands on water hex {}", unit.at);
            return Err(SetupError::value(field("at"), message));
        }
        if let Some((other, _)) = units.iter().find(|(_, other)| other.at == unit.at) {
            let message = format!("units `{other}` and `{id}` both stand on hex {}", unit.at);
            return Err(SetupError::value(field("at"), message));
        }
        units.insert(id, read_unit(unit, field)?);
    }
    for player in PLAYERS {
        if units.values().all(|unit| unit.owner != player) {
            return Err(SetupError::value("units", format!("side `{player}` has no unit")));
        }
    }
    Ok(State {
        board,
        water,
        max_movement: setup.max_movement,
        defense_bonus: setup.defense_bonus,
        turn: 1,
        phase: Phase::planning(Seat::P1),
        units,
        orders: BTreeMap::new(),
    })
}

fn read_water(setup: &Setup, board: Board) -> Result<BTreeSet<Hex>, SetupError> {
    let mut water = BTreeSet::new();
    for (index, &hex) in setup.water.iter().enumerate() {
        let field = format!("water[{index}]");
        SetupError::on_board(&field, board, hex)?;
        SetupError::unique(&mut water, hex, &field, format_args!("hex {hex}"))?;
    }
    Ok(water)
}

fn read_unit(unit: &UnitSetup, field: impl Fn(&str) -> String) -> Result<Unit, SetupError> {
    if !PLAYERS.contains(&unit.owner) {
        let message = format!("expected `p1` or `p2`, found `{}`", unit.owner);
        return Err(SetupError::value(field("owner"), message));
    }
    let strength = unit.strength.unwrap_or_else(|| unit.kind.default_strength());
    SetupError::within(&field("strength"), &strength, 1..=1000)?;
    Ok(Unit { owner: unit.owner, kind: unit.kind, at: unit.at, strength })
}
