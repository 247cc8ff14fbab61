//! Carries out what `judge` planned.

use super::effect::Effect;
use super::execution;
use super::judge::{PathStep, Plan, Step};
use super::order::{Order, PathKind, Task};
use super::state::{BuiltPath, Phase, Planning, State, Tap, Unit, UnitId};
use turnfold_core::prelude::*;

pub(super) fn carry_out(state: &mut State, Plan(step): Plan, effects: &mut impl EffectSink<Effect>) {
    // The tap state is taken out while orders change. The state after the step replaces it below.
    let tap = match &mut state.phase {
        Phase::Planning(planning) => core::mem::replace(&mut planning.tap, Tap::Idle),
        Phase::Execution | Phase::Over { .. } => Tap::Idle,
    };
    let next = match step {
        // CT-3, CT-5: a pending defense of the previous unit becomes an order.
        Step::Select(unit) => {
            settle_defense(state, &tap, effects);
            if let Some(Unit { at, .. }) = state.units.get(&unit) {
                effects.push(|| Effect::OriginSelected { at: *at });
            }
            Tap::OriginSelected(unit)
        }
        // CT-4: costly orders are cleared now, so that their slots are free.
        Step::AwaitDefense(unit) => {
            clear_orders(state, unit, effects);
            if let Some(Unit { at, .. }) = state.units.get(&unit) {
                effects.push(|| Effect::DefensePending { at: *at });
            }
            Tap::DefensePending(unit)
        }
        Step::CancelOrder(unit) => {
            state.orders.retain(|_, order| order.unit != unit);
            effects.push(|| Effect::OrderCancelled { unit });
            Tap::Idle
        }
        // CT-6: the attack replaces a path, whose slot is returned.
        Step::Attack { unit, target } => {
            if state.has_path(unit) {
                clear_orders(state, unit, effects);
            }
            place(state, unit, Task::Attack(target), effects);
            Tap::AttackPlaced(unit)
        }
        // CT-7, CT-11: the attacks return their slots.
        Step::StartPath { unit, at } => {
            clear_orders(state, unit, effects);
            effects.push(|| Effect::PathStarted { at });
            Tap::PathBuilding(BuiltPath { unit, waypoints: [at].into(), kind: PathKind::Movement })
        }
        // CT-8, CT-9, CT-10: a path exists only while one is being built.
        Step::ChangePath(step) => match tap {
            Tap::PathBuilding(path) => change_path(state, step, path, effects),
            other => other,
        },
        // CT-12: the phase ends, so no tap state is put back below.
        Step::EndPlanning => return end_planning(state, &tap, effects),
        // CT-14 to CT-18: no order and no tap state remains.
        Step::Resolve => return execution::resolve(state, effects),
    };
    if let Phase::Planning(planning) = &mut state.phase {
        planning.tap = next;
    }
}

fn change_path(
    state: &mut State,
    step: PathStep,
    mut path: BuiltPath,
    effects: &mut impl EffectSink<Effect>,
) -> Tap {
    match step {
        // CT-8: a path of one waypoint can be either kind.
        PathStep::ToggleKind => {
            path.kind = path.kind.other();
            effects.push(|| Effect::PathKind { kind: path.kind });
        }
        PathStep::Extend(at) => {
            path.waypoints.push(at);
            path.kind = PathKind::Movement;
            effects.push(|| Effect::PathExtended { at });
        }
        // CT-9, CT-11: the path takes one slot, which is free because CT-7 returned at least one.
        PathStep::Confirm => {
            place(state, path.unit, Task::Path(path.kind, path.waypoints), effects);
            return Tap::Idle;
        }
        // CT-10: without waypoints the path ends, and the unit is the origin again.
        PathStep::Shorten => {
            path.waypoints.pop();
            let Some(&at) = path.waypoints.last() else {
                effects.push(|| Effect::PathDropped);
                return Tap::OriginSelected(path.unit);
            };
            effects.push(|| Effect::PathShortened { at });
        }
    }
    Tap::PathBuilding(path)
}

/// CT-12: ends the planning of a seat. An unfinished path is dropped at no cost.
fn end_planning(state: &mut State, tap: &Tap, effects: &mut impl EffectSink<Effect>) {
    settle_defense(state, tap, effects);
    if matches!(tap, Tap::PathBuilding(_)) {
        effects.push(|| Effect::PathDropped);
    }
    let Some(&Planning { seat, .. }) = state.planning() else { return };
    effects.push(|| Effect::PlanningEnded { seat });
    // CT-2: p1 plans, then p2, then the host resolves.
    state.phase = if seat == Seat::P1 { Phase::planning(Seat::P2) } else { Phase::Execution };
}

/// CT-5, CT-12: turns a pending DEFENSE into an order, unless the unit still has a DEFENSE.
fn settle_defense(state: &mut State, tap: &Tap, effects: &mut impl EffectSink<Effect>) {
    if let Tap::DefensePending(unit) = *tap
        && !state.is_defending(unit)
    {
        place(state, unit, Task::Defense, effects);
    }
}

/// CT-13: places an order under the next number of its seat.
fn place(state: &mut State, unit: UnitId, task: Task, effects: &mut impl EffectSink<Effect>) {
    let Phase::Planning(planning) = &mut state.phase else { return };
    planning.placed += 1;
    let number = planning.placed;
    effects.push(|| Effect::OrderPlaced { number, unit, kind: task.kind(), path: task.path().to_vec() });
    state.orders.insert((planning.seat, number), Order { unit, task });
}

/// CT-4, CT-6, CT-7: clears the orders of a unit that use slots; a DEFENSE stays.
fn clear_orders(state: &mut State, unit: UnitId, effects: &mut impl EffectSink<Effect>) {
    let mut count = 0;
    state.orders.retain(|_, order| {
        let goes = order.unit == unit && order.task.slots() > 0;
        count += u32::from(goes);
        !goes
    });
    if count > 0 {
        effects.push(|| Effect::OrdersCleared { unit, count });
    }
}
