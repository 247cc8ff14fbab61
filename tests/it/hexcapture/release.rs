//! HC-11: the way of a carried hex to the cursor.

use turnfold_core::{Board, Hex};

use super::{TWO_HEXES, check, fixture, start};
use crate::script::told;

const CAPTURED: &str = "
    p1 move se => cursor at=1,0; turtle at=0,0 facing=2
    p1 act => action held=true
    host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
    host roll 0 => captured field=world at=1,0 color=0
";

#[test]
fn hc_11_the_first_of_several_shortest_ways_begins_with_the_turtle_where_it_is() {
    let script = r#"
        p1 release => action held=false
        p1 move se => cursor at=2,0
        p1 move se => cursor at=3,0
        p1 act => action held=true
        view releasing => false
        # one step to swing the hex out of the way, to the lowest direction, then two to walk
        host tick => release_started; turtle at=0,0 facing=0; carried_to at=0,-1; ticked ticks=1
        view carried => {"field":"world","at":[0,-1]}
        view world => [{"at":[0,-1],"color":0},{"at":[0,1],"color":2}]
        view mode => "release"
        host tick 4 => turtle at=1,0 facing=0; carried_to at=1,-1; ticked ticks=4
        host tick 4 => turtle at=2,0 facing=2; carried_to at=3,0; dropped field=world at=3,0; cooldown ticks=6; ticked ticks=4
        view carried => null
        view releasing => false
        view cooldown => 6
        view action => true
    "#;
    check(TWO_HEXES, &format!("{CAPTURED}{script}"));
}

#[test]
fn hc_11_to_a_cursor_next_to_the_turtle_the_hex_swings_in_one_step() {
    // The moves of the free cursor, and the swing: what the turtle does, if it turns, and where the hex is put down.
    for (moves, turned, at) in [
        (["n"].as_slice(), "turtle at=0,0 facing=1; ", "1,-1"),
        (&["n", "nw"], "turtle at=0,0 facing=0; ", "0,-1"),
        (&["n", "nw", "sw"], "turtle at=0,0 facing=5; ", "-1,0"),
        (&["n", "nw", "sw", "s"], "turtle at=0,0 facing=4; ", "-1,1"),
    ] {
        let mut state = start(TWO_HEXES);
        let mut outcome = String::new();
        let moves = moves.iter().map(|direction| format!("move {direction}"));
        let before = ["move se", "act", "tick 7", "roll 0", "release"].map(String::from);
        for command in before.into_iter().chain(moves).chain(["act".into(), "tick".into()]) {
            let seat = state.default_seat(&command).unwrap();
            outcome = told(&mut *state, 1, seat, &command);
        }
        let dropped =
            format!("carried_to at={at}; dropped field=world at={at}; cooldown ticks=6; ticked ticks=1");
        assert_eq!(outcome, format!("release_started; {turned}{dropped}"));
    }
}

#[test]
fn hc_11_a_turtle_on_the_cursor_steps_off_it() {
    let script = r#"
        p1 release => action held=false
        p1 move nw => cursor at=0,0; turtle at=0,0 facing=5
        p1 act => action held=true
        host tick => release_started; turtle at=0,-1 facing=3; carried_to at=0,0; dropped field=world at=0,0; cooldown ticks=6; ticked ticks=1
    "#;
    check(TWO_HEXES, &format!("{CAPTURED}{script}"));
}

#[test]
fn hc_11_over_a_coloured_cell_nothing_is_released() {
    let script = r#"
        # its own cell counts as coloured
        host tick 20 => ticked ticks=20
        p1 move sw => cursor at=0,1; turtle at=0,0 facing=4
        host tick 20 => ticked ticks=20
        view releasing => false
        p1 move nw => cursor at=-1,1; turtle at=0,0 facing=5
        host tick => release_started; turtle at=0,0 facing=4; carried_to at=-1,1; dropped field=world at=-1,1; cooldown ticks=6; ticked ticks=1
    "#;
    check(TWO_HEXES, &format!("{CAPTURED}{script}"));
}

#[test]
fn hc_11_a_release_ends_when_the_cursor_leaves_for_a_coloured_cell() {
    let script = r#"
        p1 release => action held=false
        p1 move se => cursor at=2,0
        p1 move se => cursor at=3,0
        p1 act => action held=true
        host tick => release_started; turtle at=0,0 facing=0; carried_to at=0,-1; ticked ticks=1
        p1 move se => cursor at=4,0; turtle at=0,0 facing=2
        host tick 8 => ticked ticks=8
        view releasing => false
        view mode => "carrying"
        # over an empty cell it begins anew
        p1 move s => cursor at=4,1; turtle at=0,0 facing=3
        host tick => release_started; ticked ticks=1
    "#;
    check("cells = [{ at = [1, 0], color = 0 }, { at = [4, 0], color = 2 }]", &format!("{CAPTURED}{script}"));
}

#[test]
fn hc_11_the_turtle_walks_over_walls_and_the_hex_swings_past_them() {
    let script = r#"
        p1 act => action held=true
        host tick 7 => charge_started at=-2,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=-2,0 color=0
        p1 release => action held=false
        p1 move se => cursor at=-1,0
        p1 move se => cursor at=0,0
        p1 act => action held=true
        host tick 4 => release_started; turtle at=-2,-1 facing=1; carried_to at=-1,-2; ticked ticks=4
        host tick 4 => turtle at=-1,-1 facing=0; ticked ticks=4
        host tick 4 => turtle at=0,-1 facing=3; carried_to at=0,0; dropped field=world at=0,0; cooldown ticks=6; ticked ticks=4
    "#;
    check(&fixture("walled-corridor"), script);
}

#[test]
fn hc_11_without_a_way_nothing_moves_and_each_command_says_so_once() {
    // Everything is coloured; what is eaten first leaves the only empty cell, too far from the hex captured next.
    let setup = "radius = 3\nmin_chance = 100\ncursor = [3, 0]\nturtle = [2, 0]\ngenerate = { seed = 1, percent = 100 }";
    let script = r#"
        p1 act => action held=true
        host tick 7 => charge_started at=3,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=3,0 color=2
        p1 eat => roll_due purpose=eat chance=none
        host roll 0 => eaten color=2 stored=-3,0
        p1 release => action held=false
        p1 move nw => cursor at=2,0; turtle at=2,0 facing=5
        p1 move nw => cursor at=1,0
        p1 move nw => cursor at=0,0; turtle at=1,0 facing=5
        p1 move nw => cursor at=-1,0; turtle at=0,0 facing=5
        p1 move nw => cursor at=-2,0; turtle at=-1,0 facing=5
        p1 act => action held=true
        host tick 7 => charge_started at=-2,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=-2,0 color=5
        p1 release => action held=false
        p1 move se => cursor at=-1,0; turtle at=-1,0 facing=2
        p1 move se => cursor at=0,0
        p1 move se => cursor at=1,0
        p1 move se => cursor at=2,0
        p1 move se => cursor at=3,0
        p1 act => action held=true
        host tick => release_started; ticked ticks=1
        host tick 2 => release_blocked; ticked ticks=2
        host tick 100000 => release_blocked; ticked ticks=100000
        # no step is due in these
        host tick 2 => ticked ticks=2
        view releasing => true
        view turtle => [-1,0]
        view carried => {"field":"world","at":[-2,0]}
    "#;
    check(setup, script);
}

#[test]
fn hc_11_a_hex_is_brought_from_rim_to_rim_of_the_largest_disc() {
    // Every fifth hex or two is empty, and the one at the other end.
    let target = Hex::new(39, 0);
    let colored = |hex: &Hex| (7 * hex.q + 3 * hex.r).rem_euclid(5) >= 2 && *hex != target;
    let cells: Vec<String> =
        Board::new(40).hexes().filter(colored).map(|at| format!("{{ at = [{at}], color = 0 }}")).collect();
    let setup = format!("radius = 40\ncursor = [-39, 0]\nturtle = [-40, 0]\ncells = [{}]", cells.join(", "));
    let mut state = start(&setup);
    let mut outcome = String::new();
    let moves = ["move se"; 78];
    for command in ["act", "tick 7", "roll 0", "release"].into_iter().chain(moves).chain(["act", "tick 1000"])
    {
        let seat = state.default_seat(command).unwrap();
        outcome = told(&mut *state, 1, seat, command);
    }
    assert!(outcome.contains("dropped field=world at=39,0"), "{outcome}");
    // As soon as on an empty disc: a step to let the turtle past, and 78 to the cell next to the cursor, the first at
    // once and then one in four ticks. Six ticks later it is charged again, and after six more a roll is due.
    let ticks = 1 + 4 * 78 + 6 + 6;
    assert!(outcome.ends_with(&format!("ticked ticks={ticks}")), "{outcome}");
}
