//! Random play, also at the limits of every range: every state is sound.

use serde_json::Value;
use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyState, Seat};

use super::{outcome_of, start};
use crate::script;

/// Seeded choices.
struct Choices(DiceStream);

impl Choices {
    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let last = i32::try_from(items.len()).unwrap() - 1;
        &items[usize::try_from(self.0.draw(0, last)).unwrap()]
    }
}

/// LC-8, LC-11, LC-12: hp stays within its bounds, dead units stay dead, and only the active unit acts.
#[test]
fn every_state_of_seeded_play_is_sound() {
    for fixture in ["duel", "skirmish", "one-team", "limits"] {
        let mut state = start(&script::fixture("lifecycle", fixture));
        let mut choices = Choices(DiceStream::new(&[7; 32], 1));
        let mut dead = 0;
        for seq in 1..=300 {
            let seats = [Seat::P1, Seat::P2, Seat::Host].into_iter();
            let legal: Vec<(Seat, String)> = seats
                .flat_map(|seat| state.legal(seat).into_iter().map(move |command| (seat, command)))
                .collect();
            if legal.is_empty() {
                break;
            }
            let (seat, command) = choices.pick(&legal);
            outcome_of(&mut *state, seq, *seat, command);
            let now_dead = check_units(&*state, fixture);
            assert!(now_dead >= dead, "{fixture}: a unit rose from the dead");
            dead = now_dead;
        }
        assert!(dead > 0, "{fixture}: no unit died in 300 entries");
    }
}

/// Checks each unit of the view and returns the number of dead units.
fn check_units(state: &dyn AnyState, fixture: &str) -> usize {
    let view: Value = serde_json::from_str(&state.view(Seat::Host.into())).unwrap();
    let units = view["units"].as_array().unwrap();
    for unit in units {
        let number = |key: &str| unit[key].as_u64().unwrap();
        assert!(number("hp") <= number("max_hp"), "{fixture}: {unit}");
        assert_eq!(unit["alive"], number("hp") > 0, "{fixture}: {unit}");
        assert!(unit["alive"] == true || unit["statuses"] == Value::Array(Vec::new()), "{fixture}: {unit}");
        let idle = unit["has_moved"] == false && unit["has_attacked"] == false;
        assert!(idle || view["active"] == unit["id"], "{fixture}: {unit}");
    }
    units.iter().filter(|unit| unit["alive"] == false).count()
}
