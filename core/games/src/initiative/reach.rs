//! The reach of a unit.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::state::{State, Unit};
use turnfold_core::hex::Hex;

/// IN-11: returns `true` if a path of at most the unit's allowance leads to `to`. A path stays on the board and enters
/// neither blocked hexes nor hexes with a unit of the opponent.
///
/// The search is A* (Hart, Nilsson and Raphael, 1968). A step changes the estimated length by 0, 1 or 2, so open hexes
/// are kept in one stack for each length of detour.
pub(super) fn within_reach(state: &State, unit: &Unit, to: Hex) -> bool {
    let allowance = u64::from(unit.mp);
    let direct = unit.at.distance(to);
    let Some(slack) = allowance.checked_sub(direct) else { return false };
    let mut opponents = Vec::new();
    for other in &state.units {
        if other.owner != unit.owner {
            opponents.push(other.at);
        }
    }
    opponents.sort_unstable();
    let open = |hex: Hex| {
        state.board.contains(hex) && !state.blocked.contains(&hex) && opponents.binary_search(&hex).is_err()
    };
    let mut settled = BTreeSet::new();
    // Stacks of hexes with the steps to them, for detours of 0, 1, … steps beyond the direct distance.
    let mut waiting = vec![vec![(unit.at, 0)]];
    let mut detour = 0;
    while let Some(stack) = waiting.get_mut(detour) {
        let Some((hex, steps)) = stack.pop() else {
            detour += 1;
            continue;
        };
        if hex == to {
            return true;
        }
        if !settled.insert(hex) {
            continue;
        }
        for next in hex.neighbors() {
            let longer = steps + 1 + next.distance(to) - direct;
            let Ok(index) = usize::try_from(longer) else { continue };
            if longer > slack || settled.contains(&next) || !open(next) {
                continue;
            }
            if waiting.len() <= index {
                waiting.resize(index + 1, Vec::new());
            }
            if let Some(stack) = waiting.get_mut(index) {
                stack.push((next, steps + 1));
            }
        }
    }
    false
}
