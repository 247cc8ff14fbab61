//! CT-15: MOVEMENTs of both sides, step by step.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::effect::Effect;
use super::order::PathKind;
use super::state::State;
use super::unit_id::UnitId;
use turnfold_core::hex::Hex;
use turnfold_core::outcome::EffectSink;

/// A unit on its way in one step.
#[derive(Clone, Copy)]
struct Mover {
    unit: UnitId,
    from: Hex,
    aim: Hex,
}

/// Ends after as many steps as the longest path has waypoints.
pub(super) fn resolve(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let paths = state.paths(PathKind::Movement);
    let paths: Vec<(UnitId, Vec<Hex>)> = paths.map(|(unit, path)| (unit, path.to_vec())).collect();
    let longest = paths.iter().map(|(_, path)| path.len()).max().unwrap_or(0);
    let mut stopped = BTreeSet::new();
    for step in 0..longest {
        let under_way = paths.iter().filter(|(unit, _)| !stopped.contains(unit));
        let mover = |(unit, path): &(UnitId, Vec<Hex>)| {
            Some(Mover { unit: *unit, from: state.units.get(unit)?.at, aim: *path.get(step)? })
        };
        let movers: Vec<Mover> = under_way.filter_map(mover).collect();
        let blocked = blocked(state, &movers);
        let (staying, moving): (Vec<Mover>, Vec<Mover>) =
            movers.iter().partition(|mover| blocked.contains(&mover.from));
        for Mover { unit, from, .. } in staying {
            stopped.insert(unit);
            effects.push(|| Effect::Blocked { unit: unit.name(), at: from });
        }
        for Mover { unit, aim, .. } in moving {
            state.put(unit, aim);
            effects.push(|| Effect::Moved { unit: unit.name(), to: aim });
        }
    }
}

/// The hexes whose units want to leave in this step and cannot.
///
/// First come units that are blocked by themselves. Then come units that aim at a hex that stays occupied, and so on
/// back along the queue. Each round blocks one mover at least, so there are no more rounds than movers.
fn blocked(state: &State, movers: &[Mover]) -> BTreeSet<Hex> {
    let aims: BTreeMap<Hex, Hex> = movers.iter().map(|mover| (mover.from, mover.aim)).collect();
    let aimed_at = count(aims.values().copied());
    let held: BTreeSet<Hex> = state.units.values().map(|unit| unit.at).collect();
    let stands_still = |hex: &Hex| held.contains(hex) && !aims.contains_key(hex);
    let is_blocked = |mover: &&Mover| {
        let exchanges = aims.get(&mover.aim) == Some(&mover.from);
        exchanges || aimed_at.get(&mover.aim) != Some(&1) || stands_still(&mover.aim)
    };
    let mut blocked: BTreeSet<Hex> = movers.iter().filter(is_blocked).map(|mover| mover.from).collect();
    loop {
        let behind = movers.iter().filter(|mover| blocked.contains(&mover.aim)).map(|mover| mover.from);
        let behind: Vec<Hex> = behind.filter(|from| !blocked.contains(from)).collect();
        if behind.is_empty() {
            return blocked;
        }
        blocked.extend(behind);
    }
}

/// Counts how often each hex is named.
pub(super) fn count(hexes: impl Iterator<Item = Hex>) -> BTreeMap<Hex, u32> {
    let mut counts = BTreeMap::new();
    for hex in hexes {
        *counts.entry(hex).or_default() += 1;
    }
    counts
}
