//! Single boards with every channel answered.

use std::collections::BTreeSet;

use super::*;
use crate::channel::{Table, play};

/// The bag of a position has colors but no ids, and gets the remaining ids.
fn table(position: &Value) -> Table {
    let mut energies = Vec::new();
    for (at, list) in [("p1", &position["board"]), ("maya", &position["maya"])] {
        let energy =
            |energy: &Value| format!("{} {} {at} {} {}", energy[0], text(&energy[1]), energy[2], energy[3]);
        energies.extend(array(list).iter().map(energy));
    }
    let used: BTreeSet<String> =
        energies.iter().map(|energy| energy.split(' ').next().unwrap().to_owned()).collect();
    let mut free = (1..=1000).map(|id: u16| id.to_string()).filter(|id| !used.contains(id));
    for (color, count) in position["bag"].as_object().unwrap() {
        for _ in 0..count.as_u64().unwrap() {
            energies.push(format!("{} {color} bag", free.next().unwrap()));
        }
    }
    let table = Table { yinyang: position["yinyang"] == json!(true), ..Table::default() };
    table.board(text(&position["insp"]), "").board("b1b2b3b4b5", "").energies(&energies.join(", "))
}

#[test]
fn ch_9_recorded_positions_offer_the_same_channels_and_moves() {
    let mut counts = Counts::default();
    for position in lines("positions.jsonl") {
        let place = text(&position["id"]);
        let state = table(&position).start();
        counts.add("positions", 1);
        compare_possible(&mut counts, &*state, &position, place);
        compare_choices(&mut counts, &*state, Seat::P1, &position["args"], place);
        if !position["pick"].is_null() {
            compare_pick(&mut counts, &*state, &position["pick"], place);
        }
        for walk in array(&position["walks"]) {
            compare_walk(&mut counts, &*state, walk, place);
        }
    }
    counts.check(&[
        ("CH-12 picks that removed a white energy", 29),
        ("CH-13 turns that unite yin and yang", 255),
        ("CH-4 takes of black and white", 76),
        ("CH-4 takes of the last token", 74),
        ("CH-9 channels not offered", 4),
        ("CH-9 channels that only a move into a full earth completes", 4),
        ("CH-9 dead moves", 87),
        ("CH-9 moves into a full earth", 21),
        ("CH-9 moves that only such a move completes", 6),
        ("CH-9 walks that cannot begin", 4),
        ("CH-9 walks that end early", 22),
        ("channels answered", 3_200),
        ("colours to pick", 1_098),
        ("complete walks", 2_814),
        ("complete walks that harmonise", 104),
        ("lists of channels", 400),
        ("moves", 40_404),
        ("moves made", 5_936),
        ("positions", 400),
        ("sets of moves", 5_958),
        ("takes", 8_616),
    ]);
}

fn compare_possible(counts: &mut Counts, state: &dyn AnyState, position: &Value, place: &str) {
    for (channel, flag) in (1..).zip(numbers(&position["possible"])) {
        let possible = is_possible(state, channel);
        let departs = flag == 1 && !possible;
        assert!(!departs || position["earthFull"] == json!(true), "{place}: channel {channel}");
        counts.add("CH-9 channels that only a move into a full earth completes", usize::from(departs));
        assert!(flag == 1 || !possible, "{place}: channel {channel}");
        counts.add("channels answered", 1);
    }
}

/// CH-12: the colors that may be picked, and which energy leaves.
fn compare_pick(counts: &mut Counts, state: &dyn AnyState, pick: &Value, place: &str) {
    let mut opened = state.fork();
    play(&mut *opened, Seat::P1, "channel 8");
    let colors = ["purple", "darkblue", "blue", "green", "yellow", "orange", "red", "black", "white"];
    for color in colors {
        let command = format!("pick {color}");
        let accepted = array(&pick["accepted"]).contains(&json!(color));
        assert_eq!(rejection(&*opened, Seat::P1, &command).is_none(), accepted, "{place}: {command}");
        counts.add("colours to pick", 1);
        if !accepted {
            continue;
        }
        let mut picked = opened.fork();
        play(&mut *picked, Seat::P1, &command);
        // The end of the turn may send others out of the game, too.
        let out = array(&view(&*picked, Seat::P1)["out"]).contains(&pick["removes"]);
        if pick["removesColor"] == json!("black") {
            assert!(out, "{place}: {command}");
        } else {
            // CH-12: the recording removes the white energy in the highest column.
            assert!(!out, "{place}: {command}");
            counts.add("CH-12 picks that removed a white energy", 1);
        }
    }
}

fn compare_walk(counts: &mut Counts, state: &dyn AnyState, walk: &Value, place: &str) {
    let mut state = state.fork();
    let start = state.state_hash();
    let place = format!("{place}, channel {}", walk["channel"]);
    if walk["end"] == json!("allFail") && !is_possible(&*state, walk["channel"].as_u64().unwrap()) {
        counts.add("CH-9 walks that cannot begin", 1);
        return;
    }
    play(&mut *state, Seat::P1, &format!("channel {}", walk["channel"]));
    let tokens = |state: &dyn AnyState| view(state, Seat::P1)["players"][0]["tokens"].clone();
    let mut harmonised = false;
    for step in array(&walk["steps"]) {
        compare_moves(counts, &*state, step, &place);
        let (id, row) = (&step["move"][0], &step["move"][1]);
        if step["move"].is_null() {
            break;
        }
        let command = format!("move {id} {row}");
        if rejection(&*state, Seat::P1, &command).is_some() {
            // CH-9: the recording goes on where only a `dead` or `fail` move follows.
            assert_ne!(walk["end"], json!("complete"), "{place}: {command}");
            counts.add("CH-9 walks that end early", 1);
            return;
        }
        play(&mut *state, Seat::P1, &command);
        assert_eq!(view(&*state, Seat::P1)["choice"], step["variant"], "{place}");
        if !step["harmonized"].is_null() {
            harmonised = true;
            assert_eq!(tokens(&*state), step["insp"], "{place}");
        }
        counts.add("moves made", 1);
    }
    if walk["end"] != json!("complete") {
        return;
    }
    let view_after = view(&*state, Seat::P1);
    assert_eq!(view_after["state"], json!("confirm"), "{place}");
    let player = &view_after["players"][0];
    assert_eq!(player["rows"], walk["done"]["rows"], "{place}");
    assert_eq!(player["tokens"], walk["done"]["insp"], "{place}");
    assert_eq!(player["score"], walk["done"]["score"], "{place}");
    counts.add("complete walks", 1);
    counts.add("complete walks that harmonise", usize::from(harmonised));
    compare_end(counts, &*state, walk, &place);
    // CH-11
    play(&mut *state, Seat::P1, "undo");
    assert_eq!(state.state_hash(), start, "{place}");
}

fn compare_end(counts: &mut Counts, state: &dyn AnyState, walk: &Value, place: &str) {
    let confirm = &walk["confirm"];
    let mut state = state.fork();
    play(&mut *state, Seat::P1, "confirm");
    let view = view(&*state, Seat::P2);
    let player = &view["players"][0];
    assert_eq!(view["state"], confirm["state"], "{place}");
    assert_eq!(view["active"], json!(seat(&confirm["player"]).name()), "{place}");
    assert_eq!(player["yinyang_halves"], confirm["yinyang"], "{place}");
    assert_eq!(view["last_round"], json!(confirm["finished"] == json!(1)), "{place}");
    let rows = if confirm["rows"].is_null() { &walk["done"]["rows"] } else { &confirm["rows"] };
    assert_eq!(&player["rows"], rows, "{place}");
    counts.add("CH-13 turns that unite yin and yang", usize::from(confirm["yinyang"] != json!(0)));
}
