//! Random legal play, the same on every machine, that favors orders over moving from unit to unit.

use std::fmt::Write as _;

use serde_json::Value;
use turnfold_core::any::AnyState;
use turnfold_core::dice::DiceStream;
use turnfold_core::{Hex, Seat};

/// Seeded choices of legal commands.
pub(super) struct Chooser(DiceStream);

impl Chooser {
    pub(super) fn new(seed: u8) -> Self {
        Self(DiceStream::new(&[seed; 32], 0))
    }

    /// Draws one of `0..count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let last = i32::try_from(count).unwrap() - 1;
        usize::try_from(self.0.draw(0, last.max(0))).unwrap()
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Chooses a legal command of a seat that may act, or returns `None` once the match is over.
    ///
    /// Most taps are near the origin or the end of the path, because they lead to orders, and many of these are on
    /// enemies. About one in `length` commands ends the planning.
    pub(super) fn choose(&mut self, state: &dyn AnyState, length: usize) -> Option<(Seat, String)> {
        let Some(seat) = [Seat::P1, Seat::P2].into_iter().find(|seat| state.judge(*seat, "switch").is_ok())
        else {
            return state.judge(Seat::Host, "resolve").is_ok().then(|| (Seat::Host, "resolve".into()));
        };
        if self.below(length) == 0 {
            return Some((seat, "switch".into()));
        }
        let mut legal = state.legal(seat);
        legal.retain(|command| command != "switch");
        let view: Value = serde_json::from_str(&state.view(Seat::Host.into())).unwrap();
        if let Some(centre) = centre(&view).filter(|_| self.below(4) > 0) {
            legal.retain(|command| tapped(command).is_none_or(|hex| hex.distance(centre) <= 1));
            let enemies =
                view["units"].as_array().unwrap().iter().filter(|unit| unit["owner"] != seat.name());
            let enemies: Vec<Hex> = enemies.map(|unit| hex(&unit["at"])).collect();
            let attacks =
                legal.iter().filter(|command| tapped(command).is_some_and(|at| enemies.contains(&at)));
            let attacks: Vec<&String> = attacks.collect();
            if !attacks.is_empty() && self.below(2) == 0 {
                return Some((seat, (*self.pick(&attacks)).clone()));
            }
        }
        Some((seat, self.pick(&legal).clone()))
    }
}

/// Returns the end of the path being built, or the origin.
fn centre(view: &Value) -> Option<Hex> {
    let origin = Some(&view["tap"]["origin"]).filter(|origin| origin.is_array());
    view["tap"]["path"].as_array().and_then(|path| path.last()).or(origin).map(hex)
}

/// Reads a hex of a view.
pub(super) fn hex(value: &Value) -> Hex {
    serde_json::from_value(value.clone()).unwrap()
}

fn tapped(command: &str) -> Option<Hex> {
    command.strip_prefix("tap ").map(|hex| hex.parse().unwrap())
}

/// Returns a setup of two armies of all kinds, in two rows each, with one free row between them.
pub(super) fn armies(radius: u8, units_each: usize) -> String {
    let kinds = ["captain", "infantry", "cavalry", "officer"];
    let mut toml = format!("radius = {radius}\nwater = [[{radius}, 0]]\n");
    let width = i32::try_from(units_each.div_ceil(2)).unwrap();
    for number in 0..units_each {
        let (column, row) = (i32::try_from(number).unwrap() % width, i32::try_from(number).unwrap() / width);
        let q = column - width / 2;
        // The hexes of a level row have the same r + q / 2.
        let level = -q.div_euclid(2);
        for (owner, r) in [("p1", level + 1 + row), ("p2", level - 1 - row)] {
            let kind = kinds[(number + usize::from(owner == "p2")) % kinds.len()];
            writeln!(toml, "[[units]]\nowner = \"{owner}\"\nkind = \"{kind}\"\nat = [{q}, {r}]").unwrap();
        }
    }
    toml
}
