//! `resolve` carries out the orders of both sides together.

use alloc::vec::Vec;

use super::effect::Effect;
use super::order::{PathKind, Task};
use super::state::{PLAYERS, Phase, State, UnitId};
use super::{combat, movement};
use turnfold_core::prelude::*;

pub(super) fn resolve(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    deploy(state, effects);
    movement::resolve(state, effects);
    combat::resolve(state, effects);
    clean_up(state, effects);
}

impl State {
    /// Returns the paths of one kind, by seat, then order number.
    pub(super) fn paths(&self, wanted: PathKind) -> impl Iterator<Item = (UnitId, &[Hex])> {
        self.orders.values().filter_map(move |order| match &order.task {
            Task::Path(kind, waypoints) if *kind == wanted => Some((order.unit, waypoints.as_slice())),
            _ => None,
        })
    }

    pub(super) fn put(&mut self, unit: UnitId, at: Hex) {
        if let Some(unit) = self.units.get_mut(&unit) {
            unit.at = at;
        }
    }
}

/// CT-14: moves all deploying units at once, except units with the same target. The target is empty, because a path
/// begins on an empty hex and no unit has moved yet.
fn deploy(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let mut deploys = Vec::new();
    for (unit, path) in state.paths(PathKind::Deploy) {
        if let Some(to) = path.last() {
            deploys.push((unit, *to));
        }
    }
    let targets = movement::count(deploys.iter().map(|(_, to)| *to));
    for (unit, to) in deploys {
        if targets.get(&to) == Some(&1) {
            state.put(unit, to);
            effects.push(|| Effect::Deployed { unit, to });
        } else {
            effects.push(|| Effect::DeployHeld { unit });
        }
    }
}

/// CT-18: ends the turn. When the match is over, the turn keeps its number.
fn clean_up(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    state.orders.clear();
    let mut alive = Vec::from(PLAYERS);
    alive.retain(|player| state.units.values().any(|unit| unit.owner == *player));
    if alive.len() < PLAYERS.len() {
        let winner = alive.first().copied();
        state.phase = Phase::Over { winner };
        effects.push(|| Effect::MatchOver { winner });
        return;
    }
    state.turn += 1;
    let turn = state.turn;
    state.phase = Phase::planning(Seat::P1);
    effects.push(|| Effect::TurnStarted { turn });
}
