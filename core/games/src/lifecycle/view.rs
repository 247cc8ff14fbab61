//! What the players see: the rulings' JSON document, and the answer to `predict N`. Nothing is secret, so all viewers
//! see the same.

use alloc::format;
use alloc::vec::Vec;

use serde::Serialize;

use super::race::predict;
use super::state::{Done, LearnedSkill, State, Team, Unit};
use super::status::{Status, StatusKind};
use turnfold_core::rules::Answer;
use turnfold_core::text::{Id, Malformed, joined_by, number, split_verb};

/// The number of turns that the view predicts.
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
    /// Returns the view; the queue of turns is empty unless it is wanted.
    pub(super) fn of(state: &State, has_queue: bool) -> Self {
        let active = state.active();
        let mut units = Vec::with_capacity(state.units.len());
        for (index, unit) in (0..).zip(&state.units) {
            let done = match active {
                Some(active) if active.index == index => active.done,
                _ => Done::default(),
            };
            units.push(unit_view(unit, done));
        }
        Self {
            global_time: state.global_time,
            round: state.round,
            active: active.map(|active| active.unit.id.clone()),
            winner: state.winner(),
            projected_queue: if has_queue { projected_queue(state, FORESEEN) } else { Vec::new() },
            units,
        }
    }
}

/// LC-15: returns the ids of the units whose turns come next, at most `count`.
pub(super) fn projected_queue(state: &State, count: usize) -> Vec<Id> {
    let mut queue = Vec::new();
    for index in predict(state).take(count) {
        if let Some(unit) = state.unit(index) {
            queue.push(unit.id.clone());
        }
    }
    queue
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

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("predict", Some(count)) => Ok(Some(prediction(state, count)?)),
        _ => Ok(None),
    }
}

/// LC-15: answers with a prediction of 1..=1000 turns.
fn prediction(state: &State, count: &str) -> Result<Answer, Malformed> {
    let Ok(count @ 1..=1000) = number::<usize>(count) else {
        let message = format!("`predict` takes a count of 1 to 1000, found `{}`", count.escape_debug());
        return Err(Malformed(message));
    };
    let queue = projected_queue(state, count);
    Ok(Answer::new(joined_by(" ", &queue), &queue))
}
