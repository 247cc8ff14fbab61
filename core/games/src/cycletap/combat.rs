//! CT-16, CT-17: ATTACKs, eliminations and advances.

use core::cmp::{Ordering, Reverse};

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::effect::Effect;
use super::order::Task;
use super::state::{OrderNumber, State, UnitId};
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
    let mut contests = Vec::new();
    for (at, attacks) in attacks(state) {
        contests.push(settle(state, at, attacks, effects));
    }
    let mut eliminated = BTreeSet::new();
    for contest in &contests {
        eliminated.extend(contest.eliminated());
    }
    for unit in eliminated {
        state.units.remove(&unit);
        effects.push(|| Effect::Eliminated { unit });
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
    let p1 = claim(state, at, &attacks, Seat::P1);
    let p2 = claim(state, at, &attacks, Seat::P2);
    let winner = match p1.cmp(&p2) {
        Ordering::Greater => Some(Seat::P1),
        Ordering::Less => Some(Seat::P2),
        Ordering::Equal => None,
    };
    effects.push(|| match winner {
        Some(side) => Effect::HexWon { at, side, claim: p1.max(p2), against: p1.min(p2) },
        None => Effect::HexHeld { at },
    });
    let occupant = state.unit_at(at).map(|(id, unit)| (id, unit.owner));
    Contest { at, attacks, occupant, winner }
}

/// CT-16: adds up the strengths of a side's attackers and of its unit on the hex, with the bonus of a DEFENSE.
fn claim(state: &State, at: Hex, attacks: &[Attack], seat: Seat) -> u32 {
    let mut claim = 0;
    for attack in attacks {
        if attack.seat == seat {
            claim += attack.strength;
        }
    }
    if let Some((id, unit)) = state.unit_at(at)
        && unit.owner == seat
    {
        claim += unit.strength;
        if state.is_defending(id) {
            claim += state.defense_bonus;
        }
    }
    claim
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
    let mut empty = Vec::new();
    for contest in contests {
        if state.unit_at(contest.at).is_none() {
            empty.push(contest);
        }
    }
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
        effects.push(|| Effect::Advanced { unit, to });
    }
}
