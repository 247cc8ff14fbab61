//! Recorded play of an independent implementation is repeated and compared field by field; see
//! `tests/vectors/hexcapture/README.md`.
//!
//! Left out:
//! - games in which the turtle does not follow the free cursor and this matters, because in HC-6 it follows;
//! - the game in which a capture in the inventory pushes the turtle off the world cell of the same name, because in
//!   HC-12 the turtle stays;
//! - the facing from a bump at the rim until the turtle turns next, because the other program turns it there, while by
//!   HC-2 a move off the disc is ignored and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use turnfold_core::{AnyState, Board, Hex, Seat};

use super::start;
use crate::script::outcome_of;

/// The number of traces, and of traces left out.
const TRACES: usize = 64;
const LEFT_OUT: usize = 7;

type Cells = BTreeMap<Hex, Value>;

fn traces() -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/hexcapture/traces.jsonl");
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the colored cells of a string that has a character for each cell of the disc.
fn cells(text: &Value) -> Cells {
    let hexes = Board::new(5).hexes().zip(text.as_str().unwrap().chars());
    hexes.filter_map(|(hex, cell)| Some((hex, json!(cell.to_digit(10)?)))).collect()
}

fn setup(init: &Value) -> String {
    let list = |cells: Cells| {
        let cell = |(hex, color): (&Hex, &Value)| format!("{{ at = [{hex}], color = {color} }}");
        cells.iter().map(cell).collect::<Vec<_>>().join(", ")
    };
    format!(
        "timer_seconds = {}\ncursor = {}\nturtle = {}\nfacing = {}\ncells = [{}]\ninventory = [{}]",
        init["sec"],
        init["cur"],
        init["tur"],
        init["face"],
        list(cells(&init["world"])),
        list(cells(&init["inv"]))
    )
}

fn command(input: &str) -> String {
    match input {
        "action_down" => "act".into(),
        "action_up" => "release".into(),
        _ => input.strip_prefix("move").map_or_else(|| input.into(), |direction| format!("move {direction}")),
    }
}

/// Returns the fields of a trace's state under the names in the view.
fn expected(step: &Value, world: &Cells, inventory: &Cells) -> Map<String, Value> {
    let list =
        |cells: &Cells| cells.iter().map(|(at, color)| json!({"at": at, "color": color})).collect::<Value>();
    let flash = step["flash"].as_array();
    let fields = json!({
        "tick": step["tick"],
        "remaining_seconds": step["sec"],
        "field": step["field"],
        "cursor": step["cur"],
        "turtle": step["tur"],
        "facing": step["face"],
        "action": step["act"],
        "charge_since": step["chg"],
        "releasing": step["rel"],
        "cooldown": step["cd"],
        "carried": step["cap"],
        "flash": flash.map(|flash| json!({"kind": flash[0], "since": flash[1]})),
        "world": list(world),
        "inventory": list(inventory),
        "eaten": step["eaten"],
        "adjacent": step["adj"],
    });
    fields.as_object().unwrap().clone()
}

fn update(cells: &mut Cells, changes: &Value) {
    for change in changes.as_array().into_iter().flatten() {
        let hex: Hex = serde_json::from_value(json!([change[0], change[1]])).unwrap();
        match &change[3] {
            Value::Null => cells.remove(&hex),
            color => cells.insert(hex, color.clone()),
        };
    }
}

/// Plays an input and the roll after it. A roll must be due exactly where the trace has one.
fn play(state: &mut dyn AnyState, step: &Value) -> Vec<String> {
    let mut outcomes = Vec::new();
    let mut give = |state: &mut dyn AnyState, command: &str| {
        let seat = state.default_seat(command).unwrap();
        outcomes.push(outcome_of(state, 1, seat, command));
    };
    give(state, &command(step["in"].as_str().unwrap()));
    for roll in step["rolls"].as_array().into_iter().flatten() {
        let value = if roll["kind"] == "capture" { &roll["roll"] } else { &roll["pick"] };
        match state.due_roll() {
            Some(due) => {
                assert_eq!(*due.purpose, roll["kind"]);
                assert_eq!(
                    due.high,
                    roll["of"].as_i64().map_or(99, |count| i32::try_from(count).unwrap() - 1)
                );
                give(state, &format!("roll {value}"));
            }
            // With a full inventory there is nothing to roll for.
            None => assert!(value.is_null(), "no roll is due for {roll}"),
        }
    }
    assert!(state.due_roll().is_none(), "a roll is due that the trace does not have");
    outcomes
}

/// Plays a trace. Returns the number of compared fields.
fn check_trace(trace: &Value) -> usize {
    let init = &trace["init"];
    let mut state = start(&setup(init));
    let (mut world, mut inventory) = (cells(&init["world"]), cells(&init["inv"]));
    let mut compared = 0;
    let mut turned_by_bump = false;
    for (number, step) in trace["steps"].as_array().unwrap().iter().enumerate() {
        let outcomes = play(&mut *state, step).join("; ");
        update(&mut world, &step["w"]);
        update(&mut inventory, &step["inv"]);
        // HC-2
        turned_by_bump |= outcomes == "ignored out_of_bounds";
        turned_by_bump &= !outcomes.contains("cursor at=") && !outcomes.contains("turtle at=");
        let view: Value = serde_json::from_str(&state.view(Seat::P1.into())).unwrap();
        for (field, expected) in expected(step, &world, &inventory) {
            if field == "facing" && turned_by_bump {
                continue;
            }
            let found = if field == "carried" { &view["carried"]["at"] } else { &view[&field] };
            assert_eq!(*found, expected, "{} step {number} {}: {field}, {outcomes}", trace["id"], step["in"]);
            compared += 1;
        }
    }
    compared
}

fn follows_another_reading(trace: &Value) -> bool {
    let tagged = |tag: &str| trace["tags"].as_array().unwrap().contains(&json!(tag));
    // HC-6
    let stays = trace["follower"] == false && trace["follower_neutral"] == false;
    // HC-12
    let pushed = tagged("inventory_capture") && tagged("turtle_steps_off_cursor");
    stays || pushed
}

#[test]
#[expect(clippy::print_stdout, reason = "how much was compared is worth knowing")]
fn hc_2_to_hc_17_recorded_play_of_another_program_is_the_same() {
    let traces = traces();
    assert_eq!(traces.len(), TRACES);
    let (mut played, mut steps, mut fields) = (0, 0, 0);
    for trace in &traces {
        assert_eq!(trace["disputed"], json!([]), "{}", trace["id"]);
        if follows_another_reading(trace) {
            continue;
        }
        played += 1;
        steps += trace["steps"].as_array().unwrap().len();
        fields += check_trace(trace);
    }
    println!("{played} of {TRACES} traces, {steps} steps, {fields} fields compared");
    assert_eq!(played, TRACES - LEFT_OUT);
}
