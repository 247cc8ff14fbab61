//! Properties that hold whatever is played.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use turnfold_core::any::AnyState;
use turnfold_core::{Direction, Hex, Seat};

use super::random::{Chooser, armies, hex};
use super::{outcome_of, play, setup, start};

fn view(state: &dyn AnyState, viewer: Seat) -> Value {
    serde_json::from_str(&state.view(viewer.into())).unwrap()
}

fn list<'a>(view: &'a Value, key: &str) -> &'a Vec<Value> {
    view[key].as_array().unwrap()
}

/// CT-1: the used slots are those of the existing orders, and the other slots are available.
fn check_pools(view: &Value) {
    for seat in ["p1", "p2"] {
        let own = |key: &str, owner: &str| -> Vec<String> {
            let own = list(view, key).iter().filter(|item| item[owner] == seat);
            own.map(|item| item["kind"].as_str().unwrap().to_owned()).collect()
        };
        let slots = |kind: &String| match kind.as_str() {
            "officer" => 1,
            "captain" => 3,
            _ => 0,
        };
        let total: usize = own("units", "owner").iter().map(slots).sum();
        let used = own("orders", "seat").iter().filter(|kind| *kind != "defense").count();
        assert!(used <= total, "{seat} uses {used} of {total}");
        let expected = serde_json::json!({ "total": total, "used": used, "available": total - used });
        assert_eq!(view["pools"][seat], expected, "{seat}");
    }
}

/// CT-14 to CT-17 leave every unit on a dry hex of its own.
fn check_places(view: &Value) {
    let places: BTreeSet<Hex> = list(view, "units").iter().map(|unit| hex(&unit["at"])).collect();
    assert_eq!(places.len(), list(view, "units").len(), "two units stand on one hex: {view}");
    assert!(list(view, "water").iter().all(|water| !places.contains(&hex(water))));
}

/// A unit has orders of one kind, and only an ATTACK can occur more than once, on different hexes.
fn check_orders(view: &Value) {
    let mut tasks: BTreeMap<&str, Vec<(&str, &Value)>> = BTreeMap::new();
    for order in list(view, "orders") {
        let task = (order["kind"].as_str().unwrap(), &order["path"]);
        tasks.entry(order["unit"].as_str().unwrap()).or_default().push(task);
    }
    for (unit, tasks) in tasks {
        let attacks = tasks.iter().all(|(kind, _)| *kind == "attack");
        let different = (1..tasks.len()).all(|later| !tasks[..later].contains(&tasks[later]));
        assert!(tasks.len() == 1 || attacks && different, "{unit} has {tasks:?}");
    }
}

#[test]
fn ct_1_ct_18_pools_places_and_orders_stay_sound_along_random_play() {
    let (mut resolved, mut lost, mut over) = (0, 0, 0);
    for seed in 1..=12 {
        let mut state = start(&armies(3, 6));
        let mut chooser = Chooser::new(seed);
        let mut units = 12;
        for _ in 0..400 {
            let Some((seat, command)) = chooser.choose(&*state, 16) else {
                over += 1;
                break;
            };
            let outcome = outcome_of(&mut *state, seat, &command);
            let view = view(&*state, Seat::Host);
            check_pools(&view);
            check_places(&view);
            check_orders(&view);
            let left = list(&view, "units").len();
            assert!(left <= units, "a unit has come from nowhere: {outcome}");
            assert!(left == units || command == "resolve", "a unit is lost by {command}");
            (resolved, lost) = (resolved + u32::from(command == "resolve"), lost + units - left);
            units = left;
        }
    }
    assert!(
        resolved > 30 && lost > 5,
        "the play is too tame: {resolved} turns, {lost} units lost, {over} over"
    );
}

/// Returns a setup of a few units with different strengths, so that numbers never decide an advance.
fn ranks() -> String {
    let p1 = "p1 captain 0,1 1; p1 captain -1,1 2; p1 infantry 1,0 3; p1 cavalry -2,2 4; p1 officer 1,1 5";
    let p2 =
        "p2 captain 0,-1 6; p2 captain 1,-2 7; p2 infantry -1,0 8; p2 cavalry -2,0 9; p2 officer 2,-2 10";
    setup("radius = 3\ndefense_bonus = 2", &format!("{p1}; {p2}"))
}

/// Returns random taps that give an order only to the unit at `from`: a DEFENSE, one ATTACK, a DEPLOY or a MOVEMENT.
fn block(chooser: &mut Chooser, seat: Seat, from: Hex) -> Option<Vec<String>> {
    let mut around = |hex: Hex| *chooser.pick(&hex.neighbors().collect::<Vec<_>>());
    let first = around(from);
    let (second, third) = (around(first), around(first));
    let forms: [&[Hex]; 7] = [
        &[from, from],
        &[from, first],
        &[from, first],
        &[from, first, first, first, from],
        &[from, first, first, from],
        &[from, first, first, second, from],
        &[from, first, first, second, third, from],
    ];
    let taps: Vec<String> = chooser.pick(&forms).iter().map(|hex| format!("tap {hex}")).collect();
    let mut state = start(&ranks());
    if seat == Seat::P2 {
        play(&mut *state, Seat::P1, "switch");
    }
    let outcomes: Vec<String> = taps.iter().map(|tap| outcome_of(&mut *state, seat, tap)).collect();
    let selections = outcomes.iter().filter(|outcome| outcome.contains("origin_selected")).count();
    let applied = outcomes.iter().all(|outcome| !outcome.starts_with("ignored"));
    (applied && selections == 1).then_some(taps)
}

/// Plays the blocks of both sides. Returns the sorted effects of `resolve`, and the units after it.
fn resolve(blocks: &[Vec<Vec<String>>; 2]) -> (Vec<String>, Value) {
    let mut state = start(&ranks());
    for (seat, blocks) in [Seat::P1, Seat::P2].into_iter().zip(blocks) {
        for tap in blocks.iter().flatten() {
            let outcome = outcome_of(&mut *state, seat, tap);
            assert!(!outcome.starts_with("ignored"), "{seat} {tap}: {outcome}");
        }
        play(&mut *state, seat, "switch");
    }
    let outcome = outcome_of(&mut *state, Seat::Host, "resolve");
    let mut effects: Vec<String> = outcome.split("; ").map(String::from).collect();
    effects.sort();
    (effects, view(&*state, Seat::Host)["units"].clone())
}

#[test]
fn ct_13_ct_17_the_order_of_orders_decides_nothing_but_advances() {
    let mut chooser = Chooser::new(7);
    let (mut seen, units) = (BTreeSet::new(), view(&*start(&ranks()), Seat::Host));
    for _ in 0..60 {
        let mut blocks = [Seat::P1, Seat::P2].map(|seat| {
            let own = list(&units, "units").iter().filter(|unit| unit["owner"] == seat.name());
            own.filter_map(|unit| block(&mut chooser, seat, hex(&unit["at"]))).collect::<Vec<_>>()
        });
        let first = resolve(&blocks);
        seen.extend(first.0.iter().map(|effect| effect.split(' ').next().unwrap().to_owned()));
        for blocks in &mut blocks {
            let middle = chooser.below(blocks.len() + 1);
            blocks.rotate_left(middle);
            blocks.reverse();
        }
        assert_eq!(first, resolve(&blocks), "{blocks:?}");
    }
    let expected = ["advanced", "blocked", "deployed", "eliminated", "hex_won", "moved"];
    assert!(expected.iter().all(|effect| seen.contains(*effect)), "only {seen:?} happened");
}

#[test]
fn ct_15_ct_16_the_largest_match_resolves() {
    // 200 captains on each side, with the maximum of strength, paths and pools, on alternate hexes of a small board.
    let places = (-18..=18_i32).flat_map(|q| (-18..=18_i32).map(move |r| (q, r)));
    let places = places.filter(|(q, r)| (q + r).abs() <= 18 && q % 2 == 0).take(400).enumerate();
    let units: Vec<String> =
        places.map(|(number, (q, r))| format!("p{} captain {q},{r} 1000", number % 2 + 1)).collect();
    let mut state = start(&setup("radius = 18\nmax_movement = 10\ndefense_bonus = 100", &units.join("; ")));
    let all = view(&*state, Seat::Host);
    for seat in [Seat::P1, Seat::P2] {
        for unit in list(&all, "units").iter().filter(|unit| unit["owner"] == seat.name()).take(60) {
            let from = hex(&unit["at"]);
            let next = from.neighbor(Direction::Se);
            let ahead = next.neighbor(Direction::S);
            for tap in [from, next, next, ahead, from] {
                outcome_of(&mut *state, seat, &format!("tap {tap}"));
            }
        }
        play(&mut *state, seat, "switch");
    }
    let outcome = outcome_of(&mut *state, Seat::Host, "resolve");
    assert!(outcome.contains("moved unit="), "{outcome}");
}
