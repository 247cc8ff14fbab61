//! What the players see: the ruling's JSON document. Nothing is secret, so every seat sees the same.

use alloc::vec::Vec;

use serde::Serialize;

use super::race::predict;
use super::setup::Team;
use super::state::{Done, LearnedSkill, State, Unit, UnitIndex};
use super::status::{Status, StatusKind};
use crate::text::Id;

/// How many turns the view foresees.
const FORESEEN: usize = 5;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    global_time: u64,
    round: u64,
    active: Option<Id>,
    winner: Option<Team>,
    projected_queue: Vec<Id>,
    units: Vec<UnitView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the contract has four flags a unit")]
struct UnitView {
    id: Id,
    team: Team,
    hp: u32,
    max_hp: u32,
    speed: u32,
    attack: u32,
    charge: u64,
    ap: u32,
    alive: bool,
    has_moved: bool,
    has_attacked: bool,
    standard_action_used: bool,
    skills: Vec<SkillView>,
    statuses: Vec<StatusView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SkillView {
    id: Id,
    ap: u32,
    cooldown: u32,
    cooldown_left: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct StatusView {
    id: Id,
    kind: StatusKind,
    value: u32,
    duration: Option<u32>,
}

impl View {
    pub(super) fn of(state: &State) -> Self {
        let active = state.active();
        let done = |index| match active {
            Some(active) if active.index == index => active.done,
            _ => Done::default(),
        };
        let unit = |(index, unit): (UnitIndex, &Unit)| unit_view(unit, done(index));
        Self {
            global_time: state.global_time,
            round: state.round,
            active: active.map(|active| active.unit.id.clone()),
            winner: state.winner(),
            projected_queue: projected_queue(state, FORESEEN),
            units: (0..).zip(&state.units).map(unit).collect(),
        }
    }
}

/// LC-15: the ids of the units whose turns come next, at most `count`.
pub(super) fn projected_queue(state: &State, count: usize) -> Vec<Id> {
    let id = |index| state.unit(index).map(|unit| unit.id.clone());
    predict(state).take(count).filter_map(id).collect()
}

fn unit_view(unit: &Unit, done: Done) -> UnitView {
    let alive = unit.is_alive();
    let Unit { id, team, hp, max_hp, speed, attack, charge, ap, skills, statuses } = unit;
    UnitView {
        id: id.clone(),
        team: *team,
        hp: *hp,
        max_hp: *max_hp,
        speed: *speed,
        attack: *attack,
        charge: *charge,
        ap: *ap,
        alive,
        has_moved: done.moved,
        has_attacked: done.attacked,
        standard_action_used: done.standard_action,
        skills: skills.iter().map(skill_view).collect(),
        statuses: statuses.iter().map(status_view).collect(),
    }
}

fn skill_view(learned: &LearnedSkill) -> SkillView {
    let LearnedSkill { skill, cooldown_left } = learned;
    SkillView { id: skill.id.clone(), ap: skill.ap, cooldown: skill.cooldown, cooldown_left: *cooldown_left }
}

fn status_view(status: &Status) -> StatusView {
    let Status { id, kind, value, duration } = status;
    StatusView { id: id.clone(), kind: *kind, value: *value, duration: duration.turns() }
}
