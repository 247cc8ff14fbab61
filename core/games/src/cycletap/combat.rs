//! CT-16, CT-17: ATTACKs, eliminations and advances.

use core::cmp::{Ordering, Reverse};

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::effect::Effect;
use super::order::Task;
use super::state::UnitId;
use super::state::{OrderNumber, PLAYERS, State};
use turnfold_core::prelude::*;

#[derive(Clone, Copy)]
struct Attack {
    seat: Seat,
    number: OrderNumber,
    unit: UnitId,
    strength: u32,
}

/// A contested hex and its winner.
struct Contest {
    at: Hex,
    /// By seat, then number.
    attacks: Vec<Attack>,
    occupant: Option<(UnitId, Seat)>,
    /// `None` if the claims are equal.
    winner: Option<Seat>,
}

pub(super) fn resolve(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let contests: Vec<Contest> =
        attacks(state).into_iter().map(|(at, attacks)| settle(state, at, attacks, effects)).collect();
    let eliminated: BTreeSet<UnitId> = contests.iter().filter_map(Contest::eliminated).collect();
    for unit in eliminated {
        state.units.remove(&unit);
        effects.push(|| Effect::Eliminated { unit: unit.name() });
    }
    advance(state, &contests, effects);
}

fn attacks(state: &State) -> BTreeMap<Hex, Vec<Attack>> {
    let mut attacks: BTreeMap<Hex, Vec<Attack>> = BTreeMap::new();
    for ((seat, number), order) in &state.orders {
        if let (Task::Attack(target), Some(unit)) = (&order.task, state.units.get(&order.unit)) {
            let attack = Attack { seat: *seat, number: *number, unit: order.unit, strength: unit.strength };
            attacks.entry(*target).or_default().push(attack);
        }
    }
    attacks
}

/// CT-16: decides who wins a contested hex, on the board after movement.
fn settle(state: &State, at: Hex, attacks: Vec<Attack>, effects: &mut impl EffectSink<Effect>) -> Contest {
    let occupant = state.unit_at(at);
    let [p1, p2] = PLAYERS.map(|seat| {
        let attackers = attacks.iter().filter(|attack| attack.seat == seat);
        let mut claim: u32 = attackers.map(|attack| attack.strength).sum();
        if let Some((id, unit)) = occupant
            && unit.owner == seat
        {
            claim += unit.strength;
            claim += if state.is_defending(id) { state.defense_bonus } else { 0 };
        }
        claim
    });
    let winner = match p1.cmp(&p2) {
        Ordering::Greater => Some((Seat::P1, p1, p2)),
        Ordering::Less => Some((Seat::P2, p2, p1)),
        Ordering::Equal => None,
    };
    effects.push(|| match winner {
        Some((side, claim, against)) => Effect::HexWon { at, side, claim, against },
        None => Effect::HexHeld { at },
    });
    let occupant = occupant.map(|(id, unit)| (id, unit.owner));
    Contest { at, attacks, occupant, winner: winner.map(|(side, ..)| side) }
}

impl Contest {
    /// CT-16: returns the occupant if the other side won its hex.
    fn eliminated(&self) -> Option<UnitId> {
        let (occupant, owner) = self.occupant?;
        if owner == self.winner? { None } else { Some(occupant) }
    }

    /// Returns the winner's ATTACKs, by number.
    fn winning_attacks(&self) -> impl Iterator<Item = &Attack> {
        self.attacks.iter().filter(|attack| Some(attack.seat) == self.winner)
    }
}

/// CT-17: units advance into hexes that were won and are empty now, one after another.
fn advance(state: &mut State, contests: &[Contest], effects: &mut impl EffectSink<Effect>) {
    let mut empty: Vec<&Contest> =
        contests.iter().filter(|contest| state.unit_at(contest.at).is_none()).collect();
    empty.sort_by_key(|contest| contest.winning_attacks().next().map(|first| (first.number, first.seat)));
    let mut advanced = BTreeSet::new();
    for contest in empty {
        let able = contest
            .winning_attacks()
            .filter(|attack| state.units.contains_key(&attack.unit) && !advanced.contains(&attack.unit));
        let strongest = able.max_by_key(|attack| (attack.strength, Reverse(attack.number)));
        let Some(&Attack { unit, .. }) = strongest else { continue };
        advanced.insert(unit);
        let to = contest.at;
        state.put(unit, to);
        effects.push(|| Effect::Advanced { unit: unit.name(), to });
    }
}
