//! HC-11: the way of a carried hex to the cursor.

use alloc::collections::{BTreeSet, VecDeque};

use super::effect::Effect;
use super::state::{Action, Carried, Field, State};
use super::walk;
use turnfold_core::prelude::*;

/// Whether a way to the cursor may exist. Within one `tick n`, no way can open or close.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    /// A way exists as far as is known.
    Open,
    /// No way exists.
    Blocked,
}

/// Step 4 of a tick: moves the carried hex one step nearer or, within the inventory, all the way.
pub(super) fn step_when_due(state: &mut State, release: &mut Release, effects: &mut impl EffectSink<Effect>) {
    if state.action != Action::Releasing {
        return;
    }
    match (state.field, state.carried) {
        (Field::World, Some(Carried::World { at, moved })) => {
            if *release == Release::Blocked || !state.is_every(state.timing.carry_period) {
                return;
            }
            let Some(step) = first_step(state, at) else {
                *release = Release::Blocked;
                effects.push(|| Effect::ReleaseBlocked);
                return;
            };
            walk::place_turtle(state, step.turtle, step.facing, effects);
            let to = step.turtle.neighbor(step.facing);
            state.carried = Some(Carried::World { at: to, moved });
            carry_to(state, at, to, effects);
        }
        (Field::Inventory, Some(Carried::Inventory { at })) => {
            let to = state.cursor;
            if to == at || state.under_cursor().is_none() {
                carry_to(state, at, to, effects);
            }
        }
        _ => {}
    }
}

/// Moves the carried hex within the field in view, and puts it down if it has reached the cursor.
fn carry_to(state: &mut State, from: Hex, to: Hex, effects: &mut impl EffectSink<Effect>) {
    let field = state.field;
    if to != from {
        let color = state.cell(field, from);
        state.set_cell(field, from, None);
        state.set_cell(field, to, color);
        effects.push(|| Effect::CarriedTo { at: to });
    }
    if to == state.cursor {
        state.end_carry();
        effects.push(|| Effect::Dropped { field, at: to });
        state.cooldown = state.cooldown.max(state.timing.drop_cooldown);
        let ticks = state.cooldown;
        effects.push(|| Effect::Cooldown { ticks });
    }
}

/// A step of a release: where the turtle goes, and the side on which it then holds the hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    turtle: Hex,
    facing: Direction,
}

/// A state of the search: the turtle, the sides on which it may hold the hex now, and the first step of the way.
struct Reached {
    turtle: Hex,
    sides: Sides,
    first: Option<Step>,
}

#[derive(Clone, Copy)]
struct Sides(u8);

impl Sides {
    fn only(direction: Direction) -> Self {
        Self(1 << direction.index())
    }

    fn contains(self, direction: Direction) -> bool {
        self.0 & Self::only(direction).0 != 0
    }
}

/// The area of a search: the world without the carried hex.
struct Ground<'a> {
    state: &'a State,
    carried: Hex,
}

impl Ground<'_> {
    fn is_open(&self, hex: Hex) -> bool {
        let empty = hex == self.carried || self.state.cell(Field::World, hex).is_none();
        self.state.board.contains(hex) && empty
    }

    /// Returns the sides on which a turtle at `turtle` may hold the hex.
    fn sides(&self, turtle: Hex) -> Sides {
        let mut sides = 0;
        for direction in Direction::ALL {
            if self.is_open(turtle.neighbor(direction)) {
                sides |= Sides::only(direction).0;
            }
        }
        Sides(sides)
    }

    /// Returns where the turtle may be after a step: its own hex or a neighbor, but neither the cursor's hex nor the
    /// carried one. A neighbor is possible only if the hex may be on another side.
    fn turtles(&self, from: &Reached) -> impl Iterator<Item = Hex> {
        let (turtle, sides) = (from.turtle, from.sides);
        let around =
            Direction::ALL.into_iter().filter(move |&direction| sides.0 & !Sides::only(direction).0 != 0);
        let all = [turtle].into_iter().chain(around.map(move |direction| turtle.neighbor(direction)));
        all.filter(|&hex| hex != self.state.cursor && self.state.board.contains(hex))
    }
}

/// Returns the first step of a shortest way from `carried` to the cursor's empty cell, if there is a way.
///
/// Searches breadth first. After a step, the turtle may hold the hex on any open side, whatever side it was on before.
/// So after the first step a cell needs one visit only, with the hex on the side that suits the next step. First steps
/// are tried in the order of the rulings, and the queue keeps that order within a length. So the first way found is a
/// shortest one and, among equals, begins with the foremost step.
fn first_step(state: &State, carried: Hex) -> Option<Step> {
    let ground = Ground { state, carried };
    let side = Direction::ALL.into_iter().find(|&direction| state.turtle.neighbor(direction) == carried)?;
    let start = Reached { turtle: state.turtle, sides: Sides::only(side), first: None };
    let mut reached: BTreeSet<Hex> = BTreeSet::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(place) = waiting.pop_front() {
        for turtle in ground.turtles(&place) {
            let goal = Direction::ALL.into_iter().find(|&side| turtle.neighbor(side) == state.cursor);
            if let Some(facing) = goal {
                return place.first.or(Some(Step { turtle, facing }));
            }
            let Some(first) = place.first else {
                let sides = ground.sides(turtle);
                let open = Direction::ALL.into_iter().filter(|&side| sides.contains(side));
                waiting.extend(open.map(|facing| Reached {
                    turtle,
                    sides: Sides::only(facing),
                    first: Some(Step { turtle, facing }),
                }));
                continue;
            };
            if reached.insert(turtle) {
                waiting.push_back(Reached { turtle, sides: ground.sides(turtle), first: Some(first) });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    use super::super::setup::{Generate, Setup, start};
    use super::*;
    use turnfold_core::dice::DiceStream;

    /// The rule taken literally: a search over every pair of a turtle's cell and a hex's cell.
    fn first_step_word_for_word(state: &State, carried: Hex) -> Option<Step> {
        let world = |hex: Hex| state.cell(Field::World, hex).filter(|_| hex != carried);
        let mut firsts: BTreeMap<(Hex, Hex), Option<Step>> =
            BTreeMap::from([((state.turtle, carried), None)]);
        let mut waiting = VecDeque::from([(state.turtle, carried)]);
        while let Some((turtle, hex)) = waiting.pop_front() {
            let first = firsts[&(turtle, hex)];
            if hex == state.cursor {
                return first;
            }
            for next in [turtle].into_iter().chain(turtle.neighbors()) {
                if !state.board.contains(next) || next == state.cursor || next == hex {
                    continue;
                }
                for facing in Direction::ALL {
                    let to = next.neighbor(facing);
                    let free = state.board.contains(to) && (to == hex || world(to).is_none());
                    if free && !firsts.contains_key(&(next, to)) {
                        firsts.insert((next, to), first.or(Some(Step { turtle: next, facing })));
                        waiting.push_back((next, to));
                    }
                }
            }
        }
        None
    }

    #[test]
    fn hc_11_the_search_over_turtles_finds_what_the_search_over_pairs_finds() {
        let (mut ways, mut none) = (0, 0);
        for seed in 0..400 {
            let mut stream = DiceStream::for_setup(1_000_000 + seed);
            let percent = u8::try_from(stream.draw(40, 100)).unwrap();
            let radius = u8::try_from(stream.draw(1, 4)).unwrap();
            let setup = Setup { radius, generate: Some(Generate { seed, percent }), ..Setup::default() };
            let mut state = start(&setup).unwrap();
            let hexes: Vec<Hex> = state.board.hexes().collect();
            let last = i32::try_from(hexes.len()).unwrap() - 1;
            for _ in 0..60 {
                let mut pick = || hexes[usize::try_from(stream.draw(0, last)).unwrap()];
                (state.turtle, state.cursor) = (pick(), pick());
                let side = Direction::ALL[usize::try_from(stream.draw(0, 5)).unwrap()];
                let carried = state.turtle.neighbor(side);
                let releases = state.board.contains(carried)
                    && state.cell(Field::World, carried).is_some()
                    && state.under_cursor().is_none();
                if releases {
                    let expected = first_step_word_for_word(&state, carried);
                    assert_eq!(first_step(&state, carried), expected, "{state:?} {carried}");
                    *if expected.is_some() { &mut ways } else { &mut none } += 1;
                }
            }
        }
        assert!(ways > 500 && none > 50, "{ways} with a way, {none} without");
    }
}
