//! The start of a turn: the round, action points, cooldowns and statuses.

use super::effect::Effect;
use super::race::TURN_CHARGE;
use super::state::{Done, State, Turn, Unit, UnitIndex};
use super::status::StatusKind;
use turnfold_core::outcome::EffectSink;

/// The result of the upkeep.
pub(super) enum Upkeep {
    /// The unit acts.
    Acts,
    /// LC-9: the unit is stunned.
    Stunned,
    /// LC-8: the unit is dead.
    Died,
}

pub(super) fn start_turn(
    state: &mut State,
    index: UnitIndex,
    effects: &mut impl EffectSink<Effect>,
) -> Upkeep {
    enter_turn(state, index, effects);
    let Some(unit) = state.unit_mut(index) else { return Upkeep::Acts };
    // LC-6: action points left from the previous turn are lost.
    unit.ap = 3 + unit.speed / 5;
    effects.push(|| Effect::ApSet { ap: unit.ap });
    // LC-7: cooldowns drop before statuses take effect; a skill at 0 is ready in this turn.
    for learned in &mut unit.skills {
        if learned.cooldown_left > 0 {
            learned.cooldown_left -= 1;
            let left = learned.cooldown_left;
            effects.push(|| Effect::Cooldown { skill: learned.skill.id.clone(), left });
        }
    }
    tick_statuses(unit, effects);
    if !unit.is_alive() {
        return Upkeep::Died;
    }
    // LC-9: checked after statuses, so a stun of one turn is already over.
    if unit.statuses.iter().any(|status| status.kind == StatusKind::Stun) {
        effects.push(|| Effect::Stunned { unit: unit.id.clone() });
        return Upkeep::Stunned;
    }
    Upkeep::Acts
}

/// LC-14: makes a unit active, in a new round if every unit that can race has had a turn in this round.
fn enter_turn(state: &mut State, index: UnitIndex, effects: &mut impl EffectSink<Effect>) {
    let previous = match state.turn {
        Turn::BeforeFirst => None,
        Turn::Active { unit, .. } | Turn::Over { unit } => Some(unit),
    };
    let mut is_new_round = true;
    for (other, unit) in state.living() {
        let can_race = unit.speed > 0 || unit.charge >= TURN_CHARGE;
        if can_race && previous.is_some() && !state.started.contains(&other) {
            is_new_round = false;
        }
    }
    if is_new_round {
        state.round = state.round.saturating_add(1);
        state.started.clear();
    }
    state.started.insert(index);
    state.turn = Turn::Active { unit: index, done: Done::default() };
    if let Some(next) = state.unit(index) {
        effects.push(|| Effect::TurnChange {
            previous: previous.and_then(|unit| Some(state.unit(unit)?.id.clone())),
            next: next.id.clone(),
            is_new_round,
        });
    }
}

/// LC-8: applies each status, shortens it and drops it when it is over. A death skips the rest.
fn tick_statuses(unit: &mut Unit, effects: &mut impl EffectSink<Effect>) {
    for mut status in core::mem::take(&mut unit.statuses) {
        let amount = status.value;
        match status.kind {
            StatusKind::Dot => unit.lose_hp(amount),
            StatusKind::Hot => unit.regain_hp(amount),
            StatusKind::Stun | StatusKind::Mark => {}
        }
        if matches!(status.kind, StatusKind::Dot | StatusKind::Hot) {
            effects.push(|| Effect::StatusTicked {
                unit: unit.id.clone(),
                status: status.id.clone(),
                amount,
            });
        }
        if !unit.is_alive() {
            return;
        }
        match status.duration.less_one_turn() {
            Some(left) => {
                status.duration = left;
                unit.statuses.push(status);
            }
            None => effects.push(|| Effect::StatusExpired { unit: unit.id.clone(), status: status.id }),
        }
    }
}
