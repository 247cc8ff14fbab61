//! HC-4, HC-5, HC-10 and HC-12 to HC-15: the action, the charge, the roll and the failure.

use super::{TWO_HEXES, check, fixture};

#[test]
fn hc_4_a_held_action_is_told_before_a_cooldown() {
    let script = r#"
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 act => action held=true
        p1 act => ignored already_held
        host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
        host roll 50 => capture_failed cause=roll; cooldown ticks=12
        view cooldown => 12
        p1 act => ignored already_held
        p1 release => action held=false
        p1 act => ignored cooldown
        host tick 11 => ticked ticks=11
        p1 act => ignored cooldown
        host tick => ticked ticks=1
        p1 act => action held=true
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_4_in_the_world_a_press_starts_nothing_by_itself() {
    let script = r#"
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 act => action held=true
        view charge_since => null
        view action => true
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_5_letting_go_cancels_a_charge_without_penalty() {
    let script = r#"
        p1 release => ignored not_held
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 6 => charge_started at=1,0; ticked ticks=6
        p1 release => action held=false; charge_cancelled
        view charge_since => null
        view cooldown => 0
        view flash => null
        p1 release => ignored not_held
        p1 act => action held=true
        p1 release => action held=false
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_10_a_charge_begins_in_the_tick_in_which_the_turtle_is_next_to_the_cursor() {
    let script = r#"
        p1 act => action held=true
        host tick => ticked ticks=1
        # having walked, it does not charge in the same tick
        host tick => turtle at=0,0 facing=2; ticked ticks=1
        host tick => charge_started at=1,0; ticked ticks=1
        view charge_since => 3
        host tick 5 => ticked ticks=5
        host tick => roll_due purpose=capture chance=100; ticked ticks=1
        view tick => 9
        view charge_since => null
        view action => true
    "#;
    check("turtle = [-1, 0]\ncursor = [1, 0]\ncells = [{ at = [1, 0], color = 0 }]", script);
}

#[test]
fn hc_12_a_turtle_out_of_reach_fails_whatever_is_under_the_cursor() {
    for cells in ["[{ at = [1, 0], color = 0 }]", "[{ at = [1, 0], color = 0 }, { at = [4, 0], color = 0 }]"]
    {
        let script = r#"
            p1 move se => cursor at=1,0; turtle at=0,0 facing=2
            p1 act => action held=true
            host tick 4 => charge_started at=1,0; ticked ticks=4
            p1 move se => cursor at=2,0
            p1 move se => cursor at=3,0
            p1 move se => cursor at=4,0
            host tick 2 => turtle at=1,0 facing=2; ticked ticks=2
            host tick => turtle at=2,0 facing=2; capture_failed cause=not_adjacent; cooldown ticks=12; ticked ticks=1
            view flash => {"kind":"failure","since":7}
            view mode => "action"
        "#;
        check(&format!("cells = {cells}"), script);
    }
}

#[test]
fn hc_12_over_an_empty_cell_a_charge_lapses_without_penalty() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick => charge_started at=1,0; ticked ticks=1
        p1 move n => cursor at=1,-1; turtle at=0,0 facing=0
        host tick 6 => charge_lapsed; ticked ticks=6
        view flash => null
        view cooldown => 0
        host tick 20 => ticked ticks=20
        p1 move s => cursor at=1,0; turtle at=0,0 facing=3
        host tick => charge_started at=1,0; ticked ticks=1
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_12_without_a_hold_the_charge_ends_in_the_tick_in_which_it_begins() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 5 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=1
    "#;
    check(&format!("hold = 0\n{TWO_HEXES}"), script);
}

#[test]
fn hc_13_the_chance_falls_with_the_distance_from_the_players_colour() {
    let script = r#"
        ask chance 0,-1 => 100
        ask chance 1,-1 => 75
        ask chance 1,0 => 50
        ask chance 0,1 => 25
        ask chance -1,1 => 10
        ask chance 0,0 => none
    "#;
    check(&fixture("a-colour-at-each-distance"), script);
}

#[test]
fn hc_14_a_value_below_the_chance_captures_and_any_other_fails() {
    for (value, outcome) in [
        (0, "captured field=world at=0,1 color=2"),
        (49, "captured field=world at=0,1 color=2"),
        (50, "capture_failed cause=roll; cooldown ticks=12"),
        (99, "capture_failed cause=roll; cooldown ticks=12"),
    ] {
        let (carried, kind) = match value {
            ..50 => (r#"{"field":"world","at":[0,1]}"#, "success"),
            _ => ("null", "failure"),
        };
        let script = format!(
            r#"
            p1 move s => cursor at=0,1; turtle at=0,0 facing=3
            p1 act => action held=true
            host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
            view due_roll => {{"purpose":"capture","count":1,"low":0,"high":99}}
            host roll {value} => {outcome}
            view carried => {carried}
            view flash => {{"kind":"{kind}","since":7}}
            # the colour stays on the grid
            view world => [{{"at":[0,1],"color":2}},{{"at":[1,0],"color":0}}]
            "#
        );
        check(TWO_HEXES, &script);
    }
}

#[test]
fn hc_14_a_chance_of_nothing_fails_even_with_the_best_roll() {
    let script = r#"
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 act => action held=true
        host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=0; ticked ticks=7
        host roll 0 => capture_failed cause=roll; cooldown ticks=0
        # without a cooldown the next charge begins at once
        host tick => charge_started at=0,1; ticked ticks=1
    "#;
    let two_colours = r##"palette = ["#000000", "#FFFFFF"]"##;
    check(
        &format!("{two_colours}\nmin_chance = 0\nfail_cooldown = 0\ncells = [{{ at = [0, 1], color = 1 }}]"),
        script,
    );
}

#[test]
fn hc_15_a_held_action_charges_again_when_the_cooldown_ends() {
    let script = r#"
        p1 move s => cursor at=0,1; turtle at=0,0 facing=3
        p1 act => action held=true
        host tick 7 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7
        host roll 99 => capture_failed cause=roll; cooldown ticks=12
        host tick 11 => ticked ticks=11
        host tick => charge_started at=0,1; ticked ticks=1
        view charge_since => 19
    "#;
    check(TWO_HEXES, script);
}
