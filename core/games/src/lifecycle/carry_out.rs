//! Carries out what `judge` planned.

use super::effect::Effect;
use super::judge::{ACTION_AP, Plan, Step};
use super::race::{Lap, Race, charge_after_turn};
use super::state::{Active, Done, State, Turn, Unit, UnitIndex};
use super::status::Status;
use super::upkeep::{Upkeep, start_turn};
use turnfold_core::outcome::EffectSink;

pub(super) fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
    match plan.0 {
        Step::Race(race, lap) => finish_race(state, &race, lap, effects),
        // LC-11: `done` makes sure that a unit moves at most once in a turn.
        Step::Move => {
            act(state, ACTION_AP, |done| done.moved = true);
            effects.push(|| Effect::Moved);
        }
        // LC-11: the target loses the attack in hit points. Nothing defends against it.
        Step::Attack { target } => {
            let Some(Active { unit, .. }) = state.active() else { return };
            let attack = unit.attack;
            act(state, ACTION_AP, |done| {
                done.attacked = true;
                done.standard_action = true;
            });
            damage(state, target, attack, effects);
        }
        Step::Skill { skill, target } => use_skill(state, skill, target, effects),
        Step::End => end_turn(state, effects),
    }
}

fn finish_race(state: &mut State, race: &Race, lap: Lap, effects: &mut impl EffectSink<Effect>) {
    // LC-2: every living unit is charged, not only the next one.
    state.global_time = state.global_time.saturating_add(lap.ticks);
    for (index, charge) in race.charges() {
        if let Some(unit) = state.unit_mut(index) {
            unit.charge = charge;
        }
    }
    effects.push(|| Effect::Ticked { ticks: lap.ticks });
    // LC-3: ticks may pass without a turn.
    let Some(next) = lap.next else { return };
    match start_turn(state, next, effects) {
        Upkeep::Acts => {}
        // LC-9: a stunned unit pays for its turn, but a dead unit does not.
        Upkeep::Stunned => end_turn(state, effects),
        Upkeep::Died => die(state, next, effects),
    }
}

/// Deducts the cost of an action from the active unit and notes the action.
fn act(state: &mut State, ap: u32, note: impl FnOnce(&mut Done)) {
    let Turn::Active { unit: index, done } = &mut state.turn else { return };
    note(done);
    let index = *index;
    if let Some(unit) = state.unit_mut(index) {
        unit.ap = unit.ap.saturating_sub(ap);
    }
}

/// LC-11: the cost comes first, then damage, heal and status. A dead target gets neither heal nor status.
fn use_skill(state: &mut State, skill: usize, target: UnitIndex, effects: &mut impl EffectSink<Effect>) {
    let Some(Active { index, .. }) = state.active() else { return };
    let Some(unit) = state.unit_mut(index) else { return };
    let Some(learned) = unit.skills.get_mut(skill) else { return };
    learned.cooldown_left = learned.skill.cooldown;
    let skill = learned.skill.clone();
    act(state, skill.ap, |done| done.standard_action = true);
    if let (Some(user), Some(unit)) = (state.unit(index), state.unit(target)) {
        effects.push(|| Effect::SkillUsed {
            unit: user.id.clone(),
            skill: skill.id.clone(),
            target: unit.id.clone(),
        });
    }
    if skill.damage > 0 {
        damage(state, target, skill.damage, effects);
    }
    let Some(unit) = state.unit_mut(target).filter(|unit| unit.is_alive()) else { return };
    if skill.heal > 0 {
        unit.regain_hp(skill.heal);
        effects.push(|| Effect::Healed { unit: unit.id.clone(), amount: skill.heal, hp: unit.hp });
    }
    if let Some(status) = skill.status {
        receive(unit, status, effects);
    }
}

/// LC-10: adds a status to a unit, or replaces the unit's status with the same id in its place.
fn receive(unit: &mut Unit, status: Status, effects: &mut impl EffectSink<Effect>) {
    effects.push(|| Effect::StatusGained { unit: unit.id.clone(), status: status.id.clone() });
    match unit.statuses.iter_mut().find(|borne| borne.id == status.id) {
        Some(borne) => *borne = status,
        None => unit.statuses.push(status),
    }
}

/// LC-11: takes hit points from a unit, which may kill it.
fn damage(state: &mut State, index: UnitIndex, amount: u32, effects: &mut impl EffectSink<Effect>) {
    let Some(unit) = state.unit_mut(index) else { return };
    unit.lose_hp(amount);
    effects.push(|| Effect::Damaged { unit: unit.id.clone(), amount, hp: unit.hp });
    if !unit.is_alive() {
        die(state, index, effects);
    }
}

/// Reports a death and its consequences.
fn die(state: &mut State, index: UnitIndex, effects: &mut impl EffectSink<Effect>) {
    if let Some(unit) = state.unit(index) {
        effects.push(|| Effect::Died { unit: unit.id.clone() });
    }
    // LC-8: a dead unit keeps its charge.
    if state.active().is_some_and(|active| active.index == index) {
        leave_turn(state, effects);
    }
    // LC-13: the match is over as soon as a team has no living unit.
    if let Some(winner) = state.winner() {
        effects.push(|| Effect::MatchOver { winner });
    }
}

/// LC-12: charges the unit for its turn. Charge above 100 stays as a head start.
fn end_turn(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let Some(Active { index, .. }) = state.active() else { return };
    if let Some(unit) = state.unit_mut(index) {
        unit.charge = charge_after_turn(unit.charge);
    }
    leave_turn(state, effects);
}

/// LC-12: ends the turn: no unit is active, and the turn's actions are forgotten.
fn leave_turn(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let Some(Active { index, unit, .. }) = state.active() else { return };
    effects.push(|| Effect::TurnEnded { unit: unit.id.clone(), charge: unit.charge });
    state.turn = Turn::Over { unit: index };
}
