//! What the players see: the ruling's JSON document. Nothing is secret, so every seat sees the same.

use alloc::vec::Vec;

use serde::Serialize;

use super::race::predict;
use super::state::{Done, LearnedSkill, State, Unit, UnitIndex};
use super::status::{Status, StatusKind};
use super::team::Team;
use turnfold_core::text::Id;

/// How many turns the view foresees.
const FORESEEN: usize = 5;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub global_time: u64,
    pub round: u64,
    pub active: Option<Id>,
    pub winner: Option<Team>,
    pub projected_queue: Vec<Id>,
    pub units: Vec<UnitView>,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the contract has four flags a unit")]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct UnitView {
    pub id: Id,
    pub team: Team,
    pub hp: u32,
    pub max_hp: u32,
    pub speed: u32,
    pub attack: u32,
    pub charge: u64,
    pub ap: u32,
    pub alive: bool,
    pub has_moved: bool,
    pub has_attacked: bool,
    pub standard_action_used: bool,
    pub skills: Vec<SkillView>,
    pub statuses: Vec<StatusView>,
}

/// A skill of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct SkillView {
    pub id: Id,
    pub ap: u32,
    pub cooldown: u32,
    pub cooldown_left: u32,
}

/// A status of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct StatusView {
    pub id: Id,
    pub kind: StatusKind,
    pub value: u32,
    pub duration: Option<u32>,
}

impl View {
    /// Returns the view; the queue only if it is wanted.
    pub(super) fn of(state: &State, has_queue: bool) -> Self {
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
            projected_queue: if has_queue { projected_queue(state, FORESEEN) } else { Vec::new() },
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
