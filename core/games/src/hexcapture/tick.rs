//! A tick, in the seven steps of the ruling.

use super::charge;
use super::effect::Effect;
use super::release::{self, Release};
use super::state::{Action, Carried, Field, State};
use super::walk;
use turnfold_core::prelude::*;

/// Runs up to `ticks` ticks, until a roll falls due, and reports how many passed.
pub(super) fn run(state: &mut State, ticks: Ticks, effects: &mut impl EffectSink<Effect>) {
    let mut release = Release::Open;
    let mut ran = 0;
    while ran < ticks.get() && state.due.is_none() {
        tick(state, &mut release, effects);
        ran += 1;
    }
    effects.push(|| Effect::Ticked { ticks: ran });
}

fn tick(state: &mut State, release: &mut Release, effects: &mut impl EffectSink<Effect>) {
    state.tick = state.tick.saturating_add(1);
    state.cooldown = state.cooldown.saturating_sub(1);
    if state.field == Field::World {
        hold_action(state, effects);
        walk_while_charging(state, effects);
    }
    release::step_when_due(state, release, effects);
    charge::end_when_due(state, effects);
    if state.flash.is_some_and(|flash| state.ticks_since(flash.since) >= u64::from(state.timing.flash)) {
        state.flash = None;
    }
    if state.is_every(state.timing.ticks_per_second) {
        state.remaining_seconds = state.remaining_seconds.saturating_sub(1);
    }
}

/// Step 2: the effect of a held action in the world while no charge runs, also after a failure (HC-15).
fn hold_action(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    if !matches!(state.action, Action::Held | Action::Releasing) {
        return;
    }
    match state.carried {
        // HC-11: a carried hex is released only onto an empty hex.
        Some(Carried::World { .. }) => {
            let releasing = state.under_cursor().is_none();
            if releasing && state.action == Action::Held {
                effects.push(|| Effect::ReleaseStarted);
            }
            state.action = if releasing { Action::Releasing } else { Action::Held };
        }
        // HC-9: a turtle on the cursor's hex is not next to it, so it steps off.
        None | Some(Carried::Inventory { .. }) if !state.turtle_is_adjacent() => {
            if state.is_every(state.timing.approach_period) {
                walk::approach(state, effects);
            }
        }
        None => charge::begin(state, effects),
        Some(Carried::Inventory { .. }) => {}
    }
}

/// Step 3: during a charge the turtle approaches a cursor that moved away. The period counts from the charge's start.
fn walk_while_charging(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let Action::Charging { since } = state.action else { return };
    let period = u64::from(state.timing.approach_period);
    if !state.turtle_is_adjacent() && state.ticks_since(since).is_multiple_of(period) {
        walk::approach(state, effects);
    }
}
