//! HC-2, HC-3, HC-6 and HC-9: where the cursor goes, and how the turtle comes after it.

use super::{TWO_HEXES, check};

#[test]
fn hc_2_the_cursor_goes_one_hex_and_the_turtle_turns_to_its_direction() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        # a direction's index says the same, and what stands there does not matter
        p1 move 4 => cursor at=0,1; turtle at=0,0 facing=4
        p1 move n => cursor at=0,0; turtle at=0,0 facing=0
        view facing => 0
        # the turtle looks there already
        p1 move n => cursor at=0,-1
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_2_at_the_rim_nothing_changes_not_even_what_the_turtle_faces() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 move se => ignored out_of_bounds
        p1 move ne => ignored out_of_bounds
        view facing => 2
        view cursor => [1,0]
    "#;
    check("radius = 1", script);
}

#[test]
fn hc_2_while_a_hex_is_carried_the_held_action_slows_the_cursor_down() {
    let row = "radius = 2
        cells = [{ at = [1, 0], color = 0 }, { at = [2, 0], color = 0 }, { at = [1, 1], color = 0 }]";
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        # nothing is carried yet
        p1 move se => cursor at=2,0
        p1 move nw => cursor at=1,0; turtle at=0,0 facing=5
        host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=1,0 color=0
        # the first move of the carry does not wait
        p1 move se => cursor at=2,0; turtle at=0,0 facing=2
        # off the disc comes first
        p1 move se => ignored out_of_bounds
        p1 stick se => ignored out_of_bounds
        p1 move sw => ignored throttled
        p1 stick sw => ignored throttled
        host tick 3 => ticked ticks=3
        p1 move sw => ignored throttled
        host tick => ticked ticks=1
        p1 move sw => cursor at=1,1; turtle at=0,0 facing=4
        # in the inventory view it is free
        p1 toggle => field field=inventory
        p1 move n => cursor at=1,0; turtle at=0,0 facing=0
        host tick 3 => ticked ticks=3
        p1 move s => cursor at=1,1; turtle at=0,0 facing=3
        # and yet it is a move of this carry with the action held
        p1 toggle => field field=world
        p1 move n => ignored throttled
        p1 release => action held=false
        p1 move n => cursor at=1,0; turtle at=0,0 facing=0
        p1 act => action held=true
        host tick => ticked ticks=1
        # a move with the action free counts for nothing, the earlier one still does
        p1 move s => ignored throttled
        host tick 3 => ticked ticks=3
        p1 move s => cursor at=1,1; turtle at=0,0 facing=3
    "#;
    check(row, script);
}

#[test]
fn hc_2_a_new_carry_begins_without_a_wait() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=1,0 color=0
        p1 move nw => cursor at=0,0; turtle at=0,0 facing=5
        p1 eat => roll_due purpose=eat chance=none
        host roll 0 => eaten color=0 stored=-5,0
        # nothing is carried any more
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
        host roll 0 => captured field=world at=0,1 color=2
        p1 move n => cursor at=0,0; turtle at=0,0 facing=0
        p1 move n => ignored throttled
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_2_a_running_charge_goes_on() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick => charge_started at=1,0; ticked ticks=1
        p1 move sw => cursor at=0,1; turtle at=0,0 facing=4
        view charge_since => 1
        host tick 6 => roll_due purpose=capture chance=50; ticked ticks=6
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_3_a_joystick_waits_between_its_own_moves() {
    let script = r#"
        p1 stick n => cursor at=0,-1
        p1 stick n => ignored throttled
        p1 move n => cursor at=0,-2; turtle at=0,-1 facing=0
        host tick 5 => ticked ticks=5
        p1 stick s => ignored throttled
        host tick => ticked ticks=1
        p1 stick s => cursor at=0,-1; turtle at=0,-1 facing=3
        # an ignored move does not begin a wait
        host tick 6 => ticked ticks=6
        p1 move s => cursor at=0,0
        p1 stick 3 => cursor at=0,1; turtle at=0,0 facing=3
    "#;
    check("", script);
}

#[test]
fn hc_3_the_rim_comes_before_the_wait() {
    let script = r#"
        p1 stick n => cursor at=0,-1
        p1 stick n => ignored out_of_bounds
        p1 stick s => ignored throttled
        host tick => ticked ticks=1
        p1 stick n => ignored out_of_bounds
        host tick 5 => ticked ticks=5
        p1 stick s => cursor at=0,0; turtle at=0,0 facing=3
    "#;
    check("radius = 1", script);
}

#[test]
fn hc_6_the_turtle_steps_to_where_the_cursor_was() {
    let script = r#"
        p1 move ne => cursor at=1,-1; turtle at=0,0 facing=1
        p1 move s => cursor at=1,0; turtle at=0,0 facing=3
        p1 move se => cursor at=2,0; turtle at=1,0 facing=2
        # onto the turtle and beyond
        p1 move nw => cursor at=1,0; turtle at=1,0 facing=5
        p1 move nw => cursor at=0,0
        p1 move nw => cursor at=-1,0; turtle at=0,0 facing=5
    "#;
    check("", script);
}

#[test]
fn hc_6_a_turtle_left_behind_takes_one_approach_step() {
    let script = r#"
        # the ties of HC-9: ne and se lead equally near, ne is the lower
        p1 move s => cursor at=4,-1; turtle at=1,-1 facing=1
        # the action or a charge keeps it from following
        p1 act => action held=true
        p1 move s => cursor at=4,0; turtle at=1,-1 facing=3
        p1 release => action held=false
        p1 move sw => cursor at=3,1; turtle at=2,-1 facing=2
    "#;
    check("cursor = [4, -2]", script);
}

#[test]
fn hc_6_a_turtle_that_carries_does_not_follow() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=1,0 color=0
        p1 release => action held=false
        p1 move se => cursor at=2,0
        p1 move se => cursor at=3,0
        view turtle => [0,0]
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_6_in_the_inventory_the_turtle_only_turns() {
    let script = r#"
        p1 toggle => field field=inventory
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 move s => cursor at=0,2
        p1 move s => cursor at=0,3
        p1 toggle => field field=world
        # back in the world it comes one step nearer with each move
        p1 move ne => cursor at=1,2; turtle at=1,0 facing=2
    "#;
    check("", script);
}

#[test]
fn hc_9_a_held_action_lets_the_turtle_walk_in_every_second_tick() {
    let script = r#"
        p1 act => action held=true
        host tick => ticked ticks=1
        host tick => turtle at=1,-1 facing=1; ticked ticks=1
        host tick 2 => turtle at=2,-1 facing=2; ticked ticks=2
        # next to the cursor it stands, also over an empty cell
        host tick 10 => ticked ticks=10
        # standing on the cursor is not next to it: the lowest direction on the disc leads away
        p1 move nw => cursor at=2,-1; turtle at=2,-1 facing=5
        host tick 2 => turtle at=2,-2 facing=0; ticked ticks=2
    "#;
    check("radius = 3\ncursor = [3, -1]", script);
    let corner = r#"
        p1 act => action held=true
        # n, ne and se are off the disc
        host tick 2 => turtle at=1,0 facing=3; ticked ticks=2
    "#;
    check("radius = 1\ncursor = [1, -1]\nturtle = [1, -1]", corner);
}
