//! CT-15: MOVEMENTs of both sides, step by step.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::effect::Effect;
use super::order::PathKind;
use super::state::{State, UnitId};
use turnfold_core::prelude::*;

/// A unit that still moves in a step.
#[derive(Clone, Copy)]
struct Mover {
    unit: UnitId,
    from: Hex,
    aim: Hex,
}

/// CT-15: makes as many steps as the longest path has waypoints.
pub(super) fn resolve(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let mut paths = Vec::new();
    let mut longest = 0;
    for (unit, path) in state.paths(PathKind::Movement) {
        paths.push((unit, path.to_vec()));
        longest = longest.max(path.len());
    }
    let mut stopped = BTreeSet::new();
    for step in 0..longest {
        let mut movers = Vec::new();
        for (id, path) in &paths {
            if !stopped.contains(id)
                && let Some(unit) = state.units.get(id)
                && let Some(aim) = path.get(step)
            {
                movers.push(Mover { unit: *id, from: unit.at, aim: *aim });
            }
        }
        let blocked = blocked(state, &movers);
        for &Mover { unit, from, .. } in &movers {
            if blocked.contains(&from) {
                stopped.insert(unit);
                effects.push(|| Effect::Blocked { unit, at: from });
            }
        }
        for Mover { unit, from, aim } in movers {
            if !blocked.contains(&from) {
                state.put(unit, aim);
                effects.push(|| Effect::Moved { unit, to: aim });
            }
        }
    }
}

/// Returns the hexes of the units that cannot make this step.
///
/// First come the units that are blocked at once. Then, round by round, come the units that aim at the hex of a blocked
/// unit. Each round blocks at least one more mover, so there are no more rounds than movers.
fn blocked(state: &State, movers: &[Mover]) -> BTreeSet<Hex> {
    let mut aims = BTreeMap::new();
    for Mover { from, aim, .. } in movers {
        aims.insert(*from, *aim);
    }
    let aimed_at = count(aims.values().copied());
    let mut held = BTreeSet::new();
    for unit in state.units.values() {
        held.insert(unit.at);
    }
    let mut blocked = BTreeSet::new();
    for Mover { from, aim, .. } in movers {
        let exchanges = aims.get(aim) == Some(from);
        let stands_still = held.contains(aim) && !aims.contains_key(aim);
        if exchanges || stands_still || aimed_at.get(aim) != Some(&1) {
            blocked.insert(*from);
        }
    }
    loop {
        let mut behind = Vec::new();
        for Mover { from, aim, .. } in movers {
            if blocked.contains(aim) && !blocked.contains(from) {
                behind.push(*from);
            }
        }
        if behind.is_empty() {
            return blocked;
        }
        blocked.extend(behind);
    }
}

pub(super) fn count(hexes: impl Iterator<Item = Hex>) -> BTreeMap<Hex, u32> {
    let mut counts = BTreeMap::new();
    for hex in hexes {
        *counts.entry(hex).or_default() += 1;
    }
    counts
}
