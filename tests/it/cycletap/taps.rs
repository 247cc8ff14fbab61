//! CT-3 to CT-10: what a tap means in each tap state, and `back`.

use super::{check, setup};

/// A captain and an infantry of p1 on a board with water, two enemies beside the captain.
fn ground() -> String {
    let units = "p1 captain 0,0; p1 infantry 0,3; p2 officer 1,-1; p2 infantry 2,-1";
    setup("radius = 3\nwater = [[-1, 0], [1, 1]]\nmax_movement = 2", units)
}

#[test]
fn ct_3_an_idle_tap_selects_a_friendly_unit_and_nothing_else() {
    let script = r#"
        view p1 /tap => {"state":"idle","origin":null,"path":[],"kind":null}
        p1 tap 0,1 => ignored no_friendly_unit
        p1 tap 1,-1 => ignored no_friendly_unit
        p1 tap -1,0 => ignored no_friendly_unit
        p1 tap 4,4 => ignored no_friendly_unit
        p1 tap 2147483647,-2147483648 => ignored no_friendly_unit
        p1 tap 0,0 => origin_selected at=0,0
        view p1 /tap => {"state":"origin_selected","origin":[0,0],"path":[],"kind":null}
        view p1 /pools/p1 => {"total":3,"used":0,"available":3}
    "#;
    check(&ground(), script);
}

#[test]
fn ct_3_selecting_a_unit_leaves_its_order_as_it_is() {
    let script = r#"
        p1: 0,0 0,1 0,1 0,0
        view p1 /tap/state => "idle"
        p1 tap 0,0 => origin_selected at=0,0
        view p1 /orders => [{"seat":"p1","number":2,"unit":"u1","kind":"movement","from":[0,0],"path":[[0,1]]}]
    "#;
    check(&ground(), script);
}

#[test]
fn ct_4_the_origin_cycles_from_selected_to_pending_to_idle() {
    let script = r#"
        p1 tap 0,0 => origin_selected at=0,0
        p1 tap 0,0 => defense_pending at=0,0
        view p1 /tap => {"state":"defense_pending","origin":[0,0],"path":[],"kind":null}
        view p1 /orders => []
        p1 tap 0,0 => order_cancelled unit=u1
        view p1 /tap/state => "idle"
    "#;
    check(&ground(), script);
}

#[test]
fn ct_4_the_second_tap_returns_the_slots_of_what_it_clears() {
    let script = r#"
        p1: 0,0 0,1 -1,1
        view p1 /pools/p1 => {"total":3,"used":2,"available":1}
        p1 tap 0,0 => orders_cleared unit=u1 count=2; defense_pending at=0,0
        view p1 /pools/p1 => {"total":3,"used":0,"available":3}
        p1: 0,0 0,0 0,1 0,1 0,1 0,0
        view p1 /orders/0/kind => "deploy"
        p1 tap 0,0 => origin_selected at=0,0
        p1 tap 0,0 => orders_cleared unit=u1 count=1; defense_pending at=0,0
        view p1 /pools/p1/used => 0
    "#;
    check(&ground(), script);
}

#[test]
fn ct_4_a_defense_keeps_its_number_while_pending_again_and_goes_with_the_third_tap() {
    let script = r#"
        p1: 0,0 0,0 0,3
        view p1 /orders => [{"seat":"p1","number":1,"unit":"u1","kind":"defense","from":[0,0],"path":[]}]
        p1 tap 0,0 => origin_selected at=0,0
        p1 tap 0,0 => defense_pending at=0,0
        view p1 /orders/0/number => 1
        p1 tap 0,3 => origin_selected at=0,3
        view p1 /orders/0/number => 1
        p1: 0,0 0,0
        p1 tap 0,0 => order_cancelled unit=u1
        view p1 /orders => []
    "#;
    check(&ground(), script);
}

#[test]
fn ct_5_another_friendly_unit_becomes_the_origin_adjacent_or_not() {
    let toml = setup("radius = 3", "p1 captain 0,0; p1 officer 0,1; p1 infantry -3,0; p2 officer 0,-3");
    let script = r#"
        p1: 0,0
        p1 tap 0,1 => origin_selected at=0,1
        p1: 1,1
        # placed attacks stand
        p1 tap -3,0 => origin_selected at=-3,0
        view p1 /orders/0/path => [[1,1]]
        # a pending defence becomes an order
        p1: -3,0
        p1 tap 0,0 => order_placed number=2 unit=u3 kind=defense path=; origin_selected at=0,0
        view p1 /tap/state => "origin_selected"
        view p1 /pools/p1 => {"total":4,"used":1,"available":3}
    "#;
    check(&toml, script);
}

#[test]
fn ct_6_a_hex_beside_the_origin_is_attacked_in_the_order_of_the_checks() {
    let script = r#"
        p1: 0,3
        # off the board and adjacent; off the board and not
        p1 tap 0,4 => ignored out_of_bounds
        p1 tap 7,7 => ignored out_of_bounds
        p1 tap 0,1 => ignored not_adjacent
        p1 tap 1,1 => ignored not_adjacent
        p1: 0,0
        p1 tap -1,0 => ignored impassable
        p1 tap 1,-1 => order_placed number=1 unit=u1 kind=attack path=1,-1
        view p1 /tap => {"state":"attack_placed","origin":[0,0],"path":[],"kind":null}
        p1 tap 0,1 => order_placed number=2 unit=u1 kind=attack path=0,1
        p1 tap 0,-1 => order_placed number=3 unit=u1 kind=attack path=0,-1
        p1 tap -1,1 => ignored pool_exhausted
        view p1 /tap/state => "attack_placed"
        # the hex is checked before the pool
        p1 tap -1,0 => ignored impassable
    "#;
    check(&ground(), script);
}

#[test]
fn ct_6_a_unit_that_defends_attacks_nobody() {
    let script = r"
        p1: 0,0 0,0
        p1 tap 0,4 => ignored out_of_bounds
        p1 tap 2,0 => ignored not_adjacent
        p1 tap -1,0 => ignored impassable
        p1 tap 0,1 => ignored defending
        p1: 0,3 0,0
        p1 tap 0,1 => ignored defending
        p1 tap 1,-1 => ignored defending
    ";
    check(&ground(), script);
}

#[test]
fn ct_6_an_attack_replaces_a_path_even_with_the_pool_used_up() {
    let toml = setup("radius = 3", "p1 officer 0,0; p1 officer 0,1; p2 officer 0,-3");
    let script = r#"
        p1: 0,0 1,0 1,0 0,0 0,1 1,1
        view p1 /pools/p1/available => 0
        p1: 0,0
        p1 tap -1,0 => orders_cleared unit=u1 count=1; order_placed number=4 unit=u1 kind=attack path=-1,0
        view p1 /pools/p1/available => 0
        # an attack replaces no other attack
        p1 tap 0,-1 => ignored pool_exhausted
        view p1 /orders/1/path => [[-1,0]]
    "#;
    check(&toml, script);
}

#[test]
fn ct_7_a_second_tap_on_a_target_begins_a_path_unless_an_enemy_stands_there() {
    let script = r#"
        p1: 0,0 1,-1 0,1
        p1 tap 1,-1 => ignored enemy_occupied
        view p1 /pools/p1/used => 2
        p1 tap 0,1 => orders_cleared unit=u1 count=2; path_started at=0,1
        view p1 /tap => {"state":"path_building","origin":[0,0],"path":[[0,1]],"kind":"movement"}
        view p1 /pools/p1/used => 0
        view p1 /orders => []
    "#;
    check(&ground(), script);
}

#[test]
fn ct_7_a_target_may_be_tapped_again_after_another_unit_was_the_origin() {
    let script = r"
        p1: 0,0 0,1 0,3 0,0
        p1 tap 0,1 => orders_cleared unit=u1 count=1; path_started at=0,1
    ";
    check(&ground(), script);
}

#[test]
fn ct_8_a_path_grows_in_the_order_of_the_checks() {
    let script = r#"
        p1: 0,0 1,0 1,0
        p1 tap 4,0 => ignored out_of_bounds
        # beside the origin, but not beside the last waypoint
        p1 tap -1,1 => ignored not_adjacent
        p1 tap 1,1 => ignored impassable
        p1 tap 1,-1 => ignored enemy_occupied
        p1 tap 0,1 => path_extended at=0,1
        p1 tap 1,0 => ignored loop
        p1 tap 0,1 => ignored loop
        p1 tap 1,1 => ignored impassable
        p1 tap 0,2 => ignored path_full
        view p1 /tap/path => [[1,0],[0,1]]
    "#;
    check(&ground(), script);
}

#[test]
fn ct_8_the_only_waypoint_toggles_the_kind_and_a_longer_path_is_a_movement() {
    let script = r#"
        p1: 0,0 1,0 1,0
        p1 tap 1,0 => path_kind kind=deploy
        p1 tap 1,0 => path_kind kind=movement
        p1 tap 1,0 => path_kind kind=deploy
        p1 tap 2,0 => path_extended at=2,0
        view p1 /tap => {"state":"path_building","origin":[0,0],"path":[[1,0],[2,0]],"kind":"movement"}
        p1 tap 1,0 => ignored loop
    "#;
    check(&ground(), script);
}

#[test]
fn ct_8_paths_lead_over_friendly_units() {
    let toml = setup("radius = 3\nmax_movement = 1", "p1 captain 0,0; p1 infantry 2,0; p2 officer 0,-3");
    check(&toml, "p1: 0,0 1,0 1,0\np1 tap 2,0 => ignored path_full");
    let toml = toml.replace("max_movement = 1", "");
    check(&toml, "p1: 0,0 1,0 1,0\np1 tap 2,0 => path_extended at=2,0");
}

#[test]
fn ct_9_the_origin_confirms_the_path() {
    let script = r#"
        p1: 0,0 1,0 1,0 0,1
        p1 tap 0,0 => order_placed number=2 unit=u1 kind=movement path=1,0|0,1
        view p1 /tap/state => "idle"
        view p1 /pools/p1 => {"total":3,"used":1,"available":2}
        p1: 0,3 0,2 0,2 0,2
        p1 tap 0,3 => order_placed number=4 unit=u2 kind=deploy path=0,2
        view p1 /pools/p1/used => 2
    "#;
    check(&ground(), script);
}

#[test]
fn ct_10_back_takes_waypoints_back_and_nothing_else() {
    let script = r#"
        p1 back => ignored nothing_to_undo
        p1: 0,0
        p1 back => ignored nothing_to_undo
        p1: 0,1
        p1 back => ignored nothing_to_undo
        p1: 0,1 0,2
        p1 back => path_shortened at=0,1
        view p1 /tap/path => [[0,1]]
        p1 back => path_dropped
        view p1 /tap => {"state":"origin_selected","origin":[0,0],"path":[],"kind":null}
        # the attack is gone
        view p1 /orders => []
        p1: 0,0
        p1 back => ignored nothing_to_undo
    "#;
    check(&ground(), script);
}
