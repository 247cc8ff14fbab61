//! The view and the query of the contract, and HC-17.

use std::collections::BTreeSet;

use turnfold_core::Seat;
use turnfold_core::picture::{Block, Tint};

use super::{TWO_HEXES, check, fixture, start};
use crate::script::told;

#[test]
fn the_view_has_the_fields_of_the_contract_in_their_order() {
    let mut state = start(TWO_HEXES);
    let before = concat!(
        r#"{"ruleset":"hexcapture","mode":"free","tick":0,"remaining_seconds":300,"field":"world","cursor":[0,0],"turtle":[0,0],"facing":0,"#,
        r#""action":false,"charge_since":null,"releasing":false,"cooldown":0,"carried":null,"flash":null,"chance":null,"due_roll":null,"#,
        r#""world":[{"at":[0,1],"color":2},{"at":[1,0],"color":0}],"inventory":[],"eaten":[0,0,0,0,0,0,0,0],"adjacent":[0,0,0,0,0,0,0,0]}"#,
    );
    assert_eq!(state.view(Seat::P1).to_string(), before);
    for (seat, command) in [
        (Seat::P1, "move se"),
        (Seat::P1, "act"),
        (Seat::Host, "tick 7"),
        (Seat::Host, "roll 5"),
        (Seat::P1, "eat"),
    ] {
        told(&mut *state, 1, seat, command);
    }
    let after = concat!(
        r#"{"ruleset":"hexcapture","mode":"carrying","tick":7,"remaining_seconds":300,"field":"world","cursor":[1,0],"turtle":[0,0],"facing":2,"#,
        r#""action":true,"charge_since":null,"releasing":false,"cooldown":0,"carried":{"field":"world","at":[1,0]},"flash":{"kind":"success","since":7},"#,
        r#""chance":null,"due_roll":{"purpose":"eat","count":1,"low":0,"high":90},"#,
        r#""world":[{"at":[0,1],"color":2},{"at":[1,0],"color":0}],"inventory":[],"eaten":[0,0,0,0,0,0,0,0],"adjacent":[0,0,0,0,0,0,0,0]}"#,
    );
    assert_eq!(state.view(Seat::P1).to_string(), after);
}

#[test]
fn every_viewer_sees_the_same() {
    let mut state = start(TWO_HEXES);
    for (seat, command) in
        [(Seat::P1, "move se"), (Seat::P1, "act"), (Seat::Host, "tick 7"), (Seat::Host, "roll 5")]
    {
        told(&mut *state, 1, seat, command);
        for viewer in Seat::ALL {
            assert_eq!(state.view(viewer), state.view(Seat::Host));
            assert_eq!(state.picture(viewer), state.picture(Seat::Host));
        }
    }
}

#[test]
fn the_mode_is_the_first_word_that_fits() {
    let script = r#"
        view mode => "free"
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 act => action held=true
        view mode => "action"
        host tick => charge_started at=0,1; ticked ticks=1
        view mode => "charging"
        host tick 6 => roll_due purpose=capture chance=50; ticked ticks=6
        view mode => "action"
        host roll 50 => capture_failed cause=roll; cooldown ticks=12
        # the held action comes before the cooldown
        view mode => "action"
        p1 release => action held=false
        view mode => "cooldown"
        host tick 12 => ticked ticks=12
        p1 act => action held=true
        host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
        host roll 0 => captured field=world at=0,1 color=2
        view mode => "carrying"
        p1 move sw => cursor at=-1,2; turtle at=0,0 facing=4
        host tick => release_started; ticked ticks=1
        view mode => "release"
        # the inventory comes before everything
        p1 toggle => field field=inventory
        view mode => "inventory"
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn the_chance_is_a_preview_of_what_can_be_tried() {
    let script = r#"
        view chance => null
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        view chance => 50
        p1 act => action held=true
        host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
        view chance => 50
        host roll 50 => capture_failed cause=roll; cooldown ticks=12
        view chance => null
        host tick 12 => charge_started at=0,1; ticked ticks=12
        view chance => 50
        host tick 6 => roll_due purpose=capture chance=50; ticked ticks=6
        host roll 49 => captured field=world at=0,1 color=2
        view chance => null
        # the query asks the world, whatever is carried or in view
        ask chance 0,1 => 50
        p1 toggle => field field=inventory
        view chance => null
        ask chance 0,1 => 50
    "#;
    check(TWO_HEXES, script);
    let script = r#"
        p1 toggle => field field=inventory
        view chance => 100
        p1 move n => cursor at=0,-1
        view chance => null
    "#;
    check("inventory = [{ at = [0, 0], color = 4 }]", script);
}

#[test]
fn a_query_answers_in_words_and_in_json_or_says_why_not() {
    let script = r#"
        ask chance 1,0 => 100
        json chance 1,0 => 100
        ask chance 0,0 => none
        json chance 0,0 => null
        ask chance 6,0 => hex 6,0 is off the board of radius 5
        ask chance 2147483647,-2147483648 => hex 2147483647,-2147483648 is off the board of radius 5
        ask chance 1 => expected a hex `q,r`, found `1`
        ask chance => unknown query `chance`: `hexcapture` answers `chance Q,R`
        ask reach 1,0 => unknown query `reach`: `hexcapture` answers `chance Q,R`
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_17_cells_next_to_their_like_are_counted_for_each_colour() {
    let setup = "cells = [
        { at = [0, 0], color = 0 }, { at = [1, 0], color = 0 }, { at = [2, 0], color = 0 },
        { at = [0, -1], color = 3 }, { at = [0, 1], color = 3 },
        { at = [5, -5], color = 7 }, { at = [5, -4], color = 7 },
    ]";
    let script = r#"
        view adjacent => [3,0,0,0,0,0,0,2]
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=1,0 color=0
        # carried, it is still a cell of the world
        view adjacent => [3,0,0,0,0,0,0,2]
        p1 eat => roll_due purpose=eat chance=none
        host roll 0 => eaten color=0 stored=-5,0
        view adjacent => [0,0,0,0,0,0,0,2]
    "#;
    check(setup, script);
}

#[test]
fn each_of_32_colours_has_a_letter_of_its_own() {
    let picture = start(&fixture("thirty-two-colours")).picture(Seat::P1);
    let boards = picture.blocks.into_iter().filter_map(|block| match block {
        Block::Hexes(board) => Some(board),
        _ => None,
    });
    let labelled = boards.flat_map(|board| board.cells).filter(|cell| !cell.label.is_empty());
    let pairs: BTreeSet<(String, Tint)> = labelled.map(|cell| (cell.label, cell.tint)).collect();
    let labels: BTreeSet<&String> = pairs.iter().map(|(label, _)| label).collect();
    assert_eq!((pairs.len(), labels.len()), (32, 32));
}
