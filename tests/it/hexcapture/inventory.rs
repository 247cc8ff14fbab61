//! HC-7 and HC-8, and what HC-4, HC-11 and HC-12 say of the inventory: eating, the other view, and moving what was eaten.

use super::{TWO_HEXES, check, fixture};

const CAPTURED: &str = "
    p1 move se => cursor at=1,0; turtle at=0,0 facing=2
    p1 act => action held=true
    host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
    host roll 0 => captured field=world at=1,0 color=0
";

#[test]
fn hc_7_the_roll_is_an_index_into_the_empty_inventory_hexes() {
    let setup = format!("radius = 1\ninventory = [{{ at = [-1, 1], color = 3 }}]\n{TWO_HEXES}");
    for (value, at) in ["-1,0", "0,-1", "0,0", "0,1", "1,-1", "1,0"].into_iter().enumerate() {
        let script = format!(
            r#"{CAPTURED}
            p1 eat => roll_due purpose=eat chance=none
            view due_roll => {{"purpose":"eat","count":1,"low":0,"high":5}}
            # the hex is carried until the roll
            view carried => {{"field":"world","at":[1,0]}}
            host roll {value} => eaten color=0 stored={at}
            view carried => null
            view eaten => [1,0,0,0,0,0,0,0]
            view world => [{{"at":[0,1],"color":2}}]
            view cooldown => 0
            view action => true
            "#
        );
        check(&setup, &script);
    }
}

#[test]
fn hc_7_with_a_full_inventory_the_hex_is_lost_but_counted() {
    let script = r#"
        p1 move n => cursor at=0,-1
        p1 act => action held=true
        host tick 7 => charge_started at=0,-1; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=0,-1 color=4
        p1 eat => roll_due purpose=eat chance=none
        host roll 0 => eaten color=4 stored=0,1
        p1 move s => cursor at=0,0; turtle at=0,0 facing=3
        p1 move sw => cursor at=-1,1; turtle at=0,0 facing=4
        host tick 7 => charge_started at=-1,1; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=-1,1 color=4
        p1 eat => eaten color=4 stored=none
        view due_roll => null
        view eaten => [0,0,0,0,2,0,0,0]
        view world => [{"at":[1,0],"color":3}]
    "#;
    check(&fixture("full-inventory"), script);
}

#[test]
fn hc_7_eating_ends_a_release() {
    let script = r#"
        host tick => ticked ticks=1
        p1 move nw => cursor at=0,0; turtle at=0,0 facing=5
        host tick => release_started; ticked ticks=1
        view releasing => true
        p1 eat => roll_due purpose=eat chance=none
        view releasing => true
        host roll 90 => eaten color=0 stored=5,0
        view releasing => false
        view mode => "action"
        p1 eat => ignored not_carrying
    "#;
    check(TWO_HEXES, &format!("{CAPTURED}{script}"));
}

#[test]
fn hc_7_the_view_is_told_before_the_carry() {
    let script = r#"
        p1 eat => ignored not_carrying
        p1 toggle => field field=inventory
        p1 eat => ignored in_inventory
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn hc_7_an_inventory_hex_cannot_be_eaten() {
    let script = r#"
        p1 toggle => field field=inventory
        p1 act => action held=true; charge_started at=0,0
        host tick => captured field=inventory at=0,0 color=1; ticked ticks=1
        p1 eat => ignored in_inventory
        p1 toggle => field field=world
        p1 eat => ignored not_carrying
    "#;
    check("inventory = [{ at = [0, 0], color = 1 }]", script);
}

#[test]
fn hc_8_toggling_cancels_a_charge_and_ends_a_release() {
    let script = r#"
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        host tick 3 => charge_started at=1,0; ticked ticks=3
        p1 toggle => field field=inventory; charge_cancelled
        view action => true
        host tick 20 => ticked ticks=20
        p1 toggle => field field=world
        host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
        host roll 0 => captured field=world at=1,0 color=0
        p1 move n => cursor at=1,-1; turtle at=0,0 facing=0
        host tick => release_started; ticked ticks=1
        p1 toggle => field field=inventory
        view releasing => false
        view carried => {"field":"world","at":[1,0]}
        p1 toggle => field field=world
        host tick => release_started; carried_to at=1,-1; dropped field=world at=1,-1; cooldown ticks=6; ticked ticks=1
    "#;
    // The carried hex swings from the south-east to the north-east.
    check(TWO_HEXES, &script.replace("carried_to at=1,-1;", "turtle at=0,0 facing=1; carried_to at=1,-1;"));
}

#[test]
fn hc_4_in_the_inventory_a_press_charges_at_once_and_captures_with_the_next_tick() {
    let script = r#"
        p1 toggle => field field=inventory
        view chance => 100
        p1 act => action held=true; charge_started at=0,0
        view charge_since => 0
        host tick => captured field=inventory at=0,0 color=4; ticked ticks=1
        view carried => {"field":"inventory","at":[0,0]}
        view flash => {"kind":"success","since":1}
        # HC-12: the turtle stands where it stood
        view turtle => [0,0]
        view chance => null
    "#;
    check("inventory = [{ at = [0, 0], color = 4 }]", script);
}

#[test]
fn hc_12_an_inventory_charge_is_judged_on_where_the_cursor_is_now() {
    let script = r#"
        p1 toggle => field field=inventory
        p1 act => action held=true; charge_started at=0,0
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        host tick => captured field=inventory at=1,0 color=4; ticked ticks=1
    "#;
    check("inventory = [{ at = [1, 0], color = 4 }]", script);
    let script = r#"
        p1 toggle => field field=inventory
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true; charge_started at=1,0
        p1 move nw => cursor at=0,0; turtle at=0,0 facing=5
        host tick => charge_lapsed; ticked ticks=1
        # the press is spent
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        host tick 20 => ticked ticks=20
    "#;
    check("inventory = [{ at = [1, 0], color = 4 }]", script);
}

#[test]
fn hc_11_in_the_inventory_a_hex_is_put_down_with_the_next_tick_where_there_is_room() {
    let script = r#"
        p1 toggle => field field=inventory
        p1 act => action held=true; charge_started at=0,0
        host tick => captured field=inventory at=0,0 color=4; ticked ticks=1
        p1 release => action held=false
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true; release_started
        view releasing => true
        host tick 9 => ticked ticks=9
        p1 release => action held=false
        view releasing => false
        p1 move se => cursor at=2,0
        p1 act => action held=true; release_started
        host tick 2 => carried_to at=2,0; dropped field=inventory at=2,0; cooldown ticks=6; ticked ticks=2
        view cooldown => 5
        view inventory => [{"at":[1,0],"color":2},{"at":[2,0],"color":4}]
        view turtle => [0,0]
    "#;
    check("inventory = [{ at = [0, 0], color = 4 }, { at = [1, 0], color = 2 }]", script);
}

#[test]
fn hc_10_with_an_inventory_hex_carried_the_turtle_walks_but_nothing_is_charged() {
    let script = r#"
        p1 toggle => field field=inventory
        p1 act => action held=true; charge_started at=2,0
        host tick => captured field=inventory at=2,0 color=4; ticked ticks=1
        p1 toggle => field field=world
        view mode => "carrying"
        host tick 3 => turtle at=1,0 facing=2; ticked ticks=3
        host tick 20 => ticked ticks=20
        p1 release => action held=false
        p1 act => action held=true
        view releasing => false
        # carrying, it does not follow
        p1 release => action held=false
        p1 move n => cursor at=2,-1; turtle at=1,0 facing=0
        p1 move n => cursor at=2,-2
        view turtle => [1,0]
    "#;
    check(
        "cursor = [2, 0]\ncells = [{ at = [2, 0], color = 0 }]\ninventory = [{ at = [2, 0], color = 4 }]",
        script,
    );
}
