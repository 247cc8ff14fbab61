//! Carries out what `judge` planned.

use alloc::format;

use super::effect::Effect;
use super::judge::{Plan, Step};
use super::state::{Decided, Phase, State, UnitIndex};
use turnfold_core::prelude::*;

pub(super) fn carry_out(state: &mut State, plan: &Plan, effects: &mut impl EffectSink<Effect>) {
    match plan.0 {
        Step::Roll(totals) => roll(state, totals, effects),
        // IN-7: the selection is dropped, because the cursor leaves the unit.
        Step::Cycle(at) => {
            if state.selected.take().is_some() {
                effects.push(|| Effect::Deselected);
            }
            set_cursor(state, at, effects);
        }
        // IN-8, IN-9: `click` moves the cursor first; `confirm` selects at the cursor.
        Step::Select { unit, cursor } => {
            if let Some(at) = cursor {
                set_cursor(state, at, effects);
            }
            state.selected = Some(unit);
            if let Some(unit) = state.unit(unit) {
                effects.push(|| Effect::Selected { unit: unit.id.clone() });
            }
        }
        // IN-10: the cursor stays on the unit.
        Step::Deselect => {
            state.selected = None;
            effects.push(|| Effect::Deselected);
        }
        // IN-11: the cursor follows the unit.
        Step::Move { unit: index, to } => {
            if let Some(unit) = state.units.get_mut(usize::from(index)) {
                let from = core::mem::replace(&mut unit.at, to);
                effects.push(|| Effect::Moved { unit: unit.id.clone(), from, to });
            }
            set_cursor(state, to, effects);
            complete_movement(state, index, effects);
        }
        // IN-12: the unit counts for the impulse and stays on its hex.
        Step::Stand { unit: index } => {
            if let Some(unit) = state.unit(index) {
                effects.push(|| Effect::Stood { unit: unit.id.clone() });
            }
            complete_movement(state, index, effects);
        }
        // IN-5: the dice and the moved units stay visible until here.
        Step::NextTurn => {
            state.turn += 1;
            state.phase = Phase::Initiative;
            state.initiative = None;
            state.moved.clear();
            let turn = state.turn;
            effects.push(|| Effect::TurnStarted { turn });
        }
    }
}

fn roll(state: &mut State, [p1, p2]: [i32; 2], effects: &mut impl EffectSink<Effect>) {
    effects.push(|| Effect::Rolled { p1, p2 });
    // IN-2: the roll is recorded and due again.
    if p1 == p2 {
        effects.push(|| Effect::Flash { text: format!("Initiative: both rolled {p1} — roll again") });
        return;
    }
    // IN-3: the loser moves first.
    let loser = if p1 < p2 { Seat::P1 } else { Seat::P2 };
    let decided = Decided { totals: [p1, p2], loser };
    state.initiative = Some(decided);
    effects.push(|| Effect::Initiative { p1, p2, loser, winner: decided.winner() });
    effects.push(|| Effect::MovementOrder { impulses: state.movement_order() });
    effects.push(|| {
        let first = if loser == Seat::P1 { "P1" } else { "P2" };
        Effect::Flash { text: format!("Initiative: P1 rolled {p1}, P2 rolled {p2} — {first} moves first") }
    });
    // IN-4: without units there is nothing to move.
    if state.units.is_empty() {
        complete_phase(state, effects);
        return;
    }
    state.phase = Phase::Movement { impulse: 0, done: 0 };
    let first = match state.selectable().next() {
        Some((_, unit)) => unit.at,
        None => state.cursor,
    };
    set_cursor(state, first, effects);
}

fn set_cursor(state: &mut State, at: Hex, effects: &mut impl EffectSink<Effect>) {
    state.cursor = at;
    effects.push(|| Effect::Cursor { at });
}

/// IN-5: counts a unit's movement, and continues with the next impulse or the end of the phase.
fn complete_movement(state: &mut State, unit: UnitIndex, effects: &mut impl EffectSink<Effect>) {
    state.selected = None;
    state.moved.insert(unit);
    let Phase::Movement { impulse, done } = state.phase else { return };
    if state.impulse_at(impulse).is_some_and(|current| done + 1 < current.units) {
        state.phase = Phase::Movement { impulse, done: done + 1 };
        return;
    }
    let index = impulse + 1;
    match state.impulse_at(index) {
        Some(next) => {
            state.phase = Phase::Movement { impulse: index, done: 0 };
            effects.push(|| Effect::ImpulseAdvanced { index, player: next.player, units: next.units });
        }
        None => complete_phase(state, effects),
    }
}

fn complete_phase(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    state.phase = Phase::End;
    effects.push(|| Effect::MovementComplete);
}
