//! The setup of a match: the board and the two forces.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::state::{PLAYERS, Phase, State, Unit};
use turnfold_core::hex::Board;
use turnfold_core::prelude::*;

/// The setup as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The board's radius in hexes, 1..=100.
    pub radius: u8,
    /// Impassable hexes.
    #[serde(default)]
    pub blocked: Vec<Hex>,
    /// The units of both players, at most 400; their order is the setup order of the rules.
    #[serde(default)]
    pub units: Vec<UnitSetup>,
}

/// A unit as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSetup {
    /// Its id, unique in the match.
    pub id: Id,
    /// The player who moves it.
    pub owner: Seat,
    /// Its name, 1..=64 characters; the id when left out.
    #[serde(default)]
    pub name: Option<String>,
    /// Where it stands.
    pub at: Hex,
    /// Its movement allowance in hexes, 0..=200.
    #[serde(default = "default_mp")]
    pub mp: u32,
}

const fn default_mp() -> u32 {
    4
}

/// Checks a setup and returns the first state: turn 1, a roll due, the cursor at 0,0.
pub(super) fn start(setup: &Setup) -> Result<State, SetupError> {
    SetupError::within("radius", &setup.radius, 1..=100)?;
    SetupError::within("units", &setup.units.len(), 0..=400)?;
    let board = Board::new(setup.radius);
    let mut blocked = BTreeSet::new();
    for (index, &hex) in setup.blocked.iter().enumerate() {
        let field = format!("blocked[{index}]");
        SetupError::on_board(&field, board, hex)?;
        SetupError::unique(&mut blocked, hex, &field, format_args!("hex {hex}"))?;
    }
    let mut units: Vec<Unit> = Vec::with_capacity(setup.units.len());
    let mut ids = BTreeSet::new();
    for (index, unit) in setup.units.iter().enumerate() {
        let field = |name: &str| format!("units[{index}].{name}");
        SetupError::on_board(&field("at"), board, unit.at)?;
        if blocked.contains(&unit.at) {
            let message = format!("unit `{}` stands on blocked hex {}", unit.id, unit.at);
            return Err(SetupError::value(field("at"), message));
        }
        if let Some(other) = units.iter().find(|other| other.at == unit.at) {
            let message = format!("units `{}` and `{}` both stand on hex {}", other.id, unit.id, unit.at);
            return Err(SetupError::value(field("at"), message));
        }
        SetupError::unique(&mut ids, &unit.id, &field("id"), format_args!("unit `{}`", unit.id))?;
        units.push(read_unit(unit, field)?);
    }
    Ok(State {
        board,
        blocked,
        units,
        turn: 1,
        phase: Phase::Initiative,
        initiative: None,
        moved: BTreeSet::new(),
        cursor: Hex::default(),
        selected: None,
    })
}

fn read_unit(unit: &UnitSetup, field: impl Fn(&str) -> String) -> Result<Unit, SetupError> {
    if !PLAYERS.contains(&unit.owner) {
        let message = format!("expected `p1` or `p2`, found `{}`", unit.owner);
        return Err(SetupError::value(field("owner"), message));
    }
    SetupError::within(&field("mp"), &unit.mp, 0..=200)?;
    let name = unit.name.clone().unwrap_or_else(|| unit.id.to_string());
    if !(1..=64).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        let message = "expected 1 to 64 characters without control characters";
        return Err(SetupError::value(field("name"), message));
    }
    Ok(Unit { id: unit.id.clone(), owner: unit.owner, name, at: unit.at, mp: unit.mp })
}
