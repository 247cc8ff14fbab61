//! Play at random: at the limits of every range nothing panics or loops, and every state is sound.

use serde_json::Value;
use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyState, Seat};

use super::{start, told, units};
use crate::script;

/// Seeded choices.
struct Choices(DiceStream);

impl Choices {
    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let last = i32::try_from(items.len()).unwrap() - 1;
        &items[usize::try_from(self.0.draw(0, last)).unwrap()]
    }
}

/// 200 units with every number at an end of its range, and skills that kill, cure and give lasting statuses.
fn at_the_limits() -> String {
    let skill =
        |id: &str, more: &str| format!("{{ id = \"{id}\", ap = 0, cooldown = 0, target = \"any\", {more} }}");
    let status = |id: &str, kind: &str, duration: &str| {
        let status = format!("id = \"{id}\", kind = \"{kind}\", value = 1000000, duration = {duration}");
        skill(id, &format!("status = {{ {status} }}"))
    };
    let skills = [
        skill("kill", "damage = 1000000"),
        skill("cure", "damage = 999999, heal = 1000000"),
        status("burn", "dot", "1000000"),
        status("bless", "hot", "\"permanent\""),
        "{ id = \"dear\", ap = 1000, cooldown = 1000, target = \"self\" }".to_owned(),
    ]
    .join(", ");
    let unit = |number: u64| {
        let end =
            |low: u64, high: u64, stride: u64| if (number / stride).is_multiple_of(2) { low } else { high };
        let team = if number.is_multiple_of(3) { "player" } else { "enemy" };
        let (hp, speed) = (end(1, 1_000_000, 1), end(0, 10_000, 2));
        let (attack, charge) = (end(0, 1_000_000, 4), end(0, 1_000_000, 8));
        format!("u{number} {team} {hp} {speed}\nattack = {attack}\ncharge = {charge}\nskills = [{skills}]\n")
    };
    units(&(0..200).map(unit).collect::<String>())
}

/// LC-2, LC-8, LC-11: with 200 units, speeds of 10000, charges of 1000000 and `tick 100000`.
#[test]
fn no_command_panics_or_loops_at_the_limits_of_every_range() {
    let mut state = start(&at_the_limits());
    let mut choices = Choices(DiceStream::new(&[4; 32], 0));
    let verbs = [
        "tick 100000",
        "advance",
        "end",
        "move",
        "attack",
        "skill kill",
        "skill cure",
        "skill burn",
        "skill bless",
        "skill dear",
    ];
    let everybody: Vec<String> = (0..200).map(|number| format!("u{number}")).collect();
    let mut changes = 0;
    for seq in 1..=1500 {
        let verb = *choices.pick(&verbs);
        let takes_unit = verb == "attack" || (verb.starts_with("skill") && verb != "skill dear");
        let command =
            if takes_unit { format!("{verb} {}", choices.pick(&everybody)) } else { verb.to_owned() };
        let seat = state.default_seat(&command).unwrap();
        let outcome = told(&mut *state, seq, seat, &command);
        changes += u32::from(!outcome.starts_with("rejected") && !outcome.starts_with("ignored"));
    }
    assert!(changes > 200, "only {changes} commands were applied");
    assert_eq!(state.query(Seat::P1.into(), "predict 1000").unwrap().text.split(' ').count(), 1000);
    assert!(
        state.view(Seat::P1.into()).contains("\"hp\":1000000")
            && !state.picture(Seat::P1.into()).blocks.is_empty()
    );
}

/// LC-8, LC-11, LC-12: hp stays within its bounds, the dead stay dead and only the active unit has done anything.
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
            told(&mut *state, seq, *seat, command);
            let now_dead = check_units(&*state, fixture);
            assert!(now_dead >= dead, "{fixture}: somebody rose from the dead");
            dead = now_dead;
        }
        assert!(dead > 0, "{fixture}: nobody died in 300 entries");
    }
}

/// Checks each unit of the view and counts the dead.
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
