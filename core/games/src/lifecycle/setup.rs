//! The setup of a match: the units of both teams, their skills and their first statuses.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::skill::Skill;
use super::state::{LearnedSkill, State, Team, Turn, Unit};
use super::status::{Duration, Status};
use turnfold_core::prelude::*;

/// The setup as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The units of both teams, 1..=200; their order is the setup order of the rules.
    #[serde(default)]
    pub units: Vec<UnitSetup>,
}

/// A unit as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSetup {
    /// Its id, unique in the match.
    pub id: Id,
    /// Its team.
    pub team: Team,
    /// Its hit points at the start, which are also its maximum, `1..=1_000_000`.
    pub hp: u32,
    /// The charge it gains with each tick, `0..=10_000`.
    pub speed: u32,
    /// The hit points its attack takes, `0..=1_000_000`.
    #[serde(default = "default_attack")]
    pub attack: u32,
    /// Its charge at the start, `0..=1_000_000`.
    #[serde(default)]
    pub charge: u64,
    /// Its actions besides moving and attacking, at most 16.
    #[serde(default)]
    pub skills: Vec<Skill>,
    /// The statuses it has from the start, at most 32.
    #[serde(default)]
    pub statuses: Vec<Status>,
}

fn default_attack() -> u32 {
    1
}

/// Checks a setup and returns the first state: no unit is active, and no time has passed.
pub(super) fn start(setup: &Setup) -> Result<State, SetupError> {
    SetupError::within("units", &setup.units.len(), 1..=200)?;
    check_unique("unit", "units", setup.units.iter().map(|unit| &unit.id))?;
    for (index, unit) in setup.units.iter().enumerate() {
        check_unit(unit, |name: &str| format!("units[{index}].{name}"))?;
    }
    Ok(State {
        units: setup.units.iter().map(first_unit).collect(),
        global_time: 0,
        round: 0,
        started: BTreeSet::new(),
        turn: Turn::BeforeFirst,
    })
}

fn first_unit(unit: &UnitSetup) -> Unit {
    let UnitSetup { id, team, hp, speed, attack, charge, skills, statuses } = unit.clone();
    let skills = skills.into_iter().map(|skill| LearnedSkill { skill, cooldown_left: 0 }).collect();
    Unit { id, team, hp, max_hp: hp, speed, attack, charge, ap: 0, skills, statuses }
}

fn check_unit(unit: &UnitSetup, field: impl Fn(&str) -> String) -> Result<(), SetupError> {
    SetupError::within(&field("hp"), &unit.hp, 1..=1_000_000)?;
    SetupError::within(&field("speed"), &unit.speed, 0..=10_000)?;
    SetupError::within(&field("attack"), &unit.attack, 0..=1_000_000)?;
    SetupError::within(&field("charge"), &unit.charge, 0..=1_000_000)?;
    SetupError::within(&field("skills"), &unit.skills.len(), 0..=16)?;
    check_unique("skill", &field("skills"), unit.skills.iter().map(|skill| &skill.id))?;
    for (index, skill) in unit.skills.iter().enumerate() {
        check_skill(skill, |name: &str| field(&format!("skills[{index}].{name}")))?;
    }
    SetupError::within(&field("statuses"), &unit.statuses.len(), 0..=32)?;
    check_unique("status", &field("statuses"), unit.statuses.iter().map(|status| &status.id))?;
    for (index, status) in unit.statuses.iter().enumerate() {
        check_status(status, |name: &str| field(&format!("statuses[{index}].{name}")))?;
    }
    Ok(())
}

fn check_skill(skill: &Skill, field: impl Fn(&str) -> String) -> Result<(), SetupError> {
    SetupError::within(&field("ap"), &skill.ap, 0..=1000)?;
    SetupError::within(&field("cooldown"), &skill.cooldown, 0..=1000)?;
    SetupError::within(&field("damage"), &skill.damage, 0..=1_000_000)?;
    SetupError::within(&field("heal"), &skill.heal, 0..=1_000_000)?;
    match &skill.status {
        Some(status) => check_status(status, |name: &str| field(&format!("status.{name}"))),
        None => Ok(()),
    }
}

fn check_status(status: &Status, field: impl Fn(&str) -> String) -> Result<(), SetupError> {
    SetupError::within(&field("value"), &status.value, 0..=1_000_000)?;
    match status.duration {
        Duration::Turns(turns) => SetupError::within(&field("duration"), &turns, 1..=1_000_000),
        Duration::Permanent => Ok(()),
    }
}

fn check_unique<'a>(kind: &str, list: &str, ids: impl Iterator<Item = &'a Id>) -> Result<(), SetupError> {
    let mut known = BTreeSet::new();
    for (index, id) in ids.enumerate() {
        SetupError::unique(&mut known, id, &format!("{list}[{index}].id"), format_args!("{kind} `{id}`"))?;
    }
    Ok(())
}
