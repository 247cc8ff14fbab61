//! CT-1, CT-2 and CT-11 to CT-13: pools, phases, `switch` and the numbers of orders.

use serde_json::Value;
use turnfold_core::Seat;

use super::{check, play, setup, start, told};

#[test]
fn ct_1_a_pool_counts_living_officers_and_captains() {
    let units = "p1 officer 0,0; p1 captain 1,0; p1 infantry 2,0; p1 cavalry 3,0; p2 infantry 0,-3";
    let script = r#"
        view host /pools => {"p1":{"total":4,"used":0,"available":4},"p2":{"total":0,"used":0,"available":0}}
        # defences cost nothing
        p1: 0,0 0,0 2,0
        view p1 /pools/p1 => {"total":4,"used":0,"available":4}
    "#;
    check(&setup("radius = 3", units), script);
}

#[test]
fn ct_1_a_pool_shrinks_with_the_turn_after_an_officer_is_lost() {
    let toml = setup("radius = 3", "p1 cavalry 0,1; p1 captain 0,2; p2 officer 0,0; p2 officer 0,-3");
    let script = r#"
        p1: 0,1 0,0 switch
        p2: switch
        view p1 /pools/p2 => {"total":2,"used":0,"available":2}
        host resolve => hex_won at=0,0 side=p1 claim=3 against=1; eliminated unit=u3; advanced unit=u1 to=0,0; turn_started turn=2
        view host /pools/p2 => {"total":1,"used":0,"available":1}
    "#;
    check(&toml, script);
}

#[test]
fn ct_2_p1_plans_then_p2_then_the_host_resolves() {
    let toml = setup("radius = 2", "p1 officer 0,1; p2 officer 0,-1");
    let script = r#"
        view p1 /phase => "planning"
        view p1 /planning => "p1"
        legal p1 => switch; tap 0,1
        legal p2 =>
        legal host =>
        p1 switch => planning_ended seat=p1
        view p1 /planning => "p2"
        legal p1 =>
        legal p2 => switch; tap 0,-1
        legal host =>
        p2 switch => planning_ended seat=p2
        view p1 /phase => "execution"
        view p1 /planning => null
        legal p1 =>
        legal p2 =>
        legal host => resolve
        host resolve => turn_started turn=2
        view p1 /turn => 2
        view p1 /planning => "p1"
    "#;
    check(&toml, script);
}

#[test]
fn ct_11_a_movement_costs_one_slot_from_attack_to_order() {
    let toml = setup("radius = 6", "p1 officer 0,5; p2 cavalry 0,0; p2 captain 0,-5; p2 officer 2,-5");
    let script = r#"
        p1: switch
        p2: 0,0 0,1
        view p2 /pools/p2 => {"total":4,"used":1,"available":3}
        p2: 0,1
        view p2 /pools/p2 => {"total":4,"used":0,"available":4}
        p2: -1,1 -1,0
        view p2 /pools/p2 => {"total":4,"used":0,"available":4}
        p2 tap 0,0 => order_placed number=2 unit=u2 kind=movement path=0,1|-1,1|-1,0
        view p2 /pools/p2 => {"total":4,"used":1,"available":3}
    "#;
    check(&toml, script);
}

#[test]
fn ct_12_switch_settles_each_tap_state() {
    let toml = setup("radius = 3", "p1 captain 0,1; p1 infantry 3,0; p2 officer 0,-3");
    let cases: [(&str, &str, &[&str]); 6] = [
        ("0,1", "planning_ended seat=p1", &[]),
        ("0,1 0,2", "planning_ended seat=p1", &["attack"]),
        ("0,1 0,2 0,2", "path_dropped; planning_ended seat=p1", &[]),
        ("0,1 0,2 0,2 0,1", "planning_ended seat=p1", &["movement"]),
        ("0,1 0,1", "order_placed number=1 unit=u1 kind=defense path=; planning_ended seat=p1", &["defense"]),
        // Pending a second time.
        ("0,1 0,1 3,0 0,1 0,1", "planning_ended seat=p1", &["defense"]),
    ];
    for (taps, outcome, kinds) in cases {
        let mut state = start(&toml);
        play(&mut *state, Seat::P1, taps);
        assert_eq!(told(&mut *state, Seat::P1, "switch"), outcome, "{taps}");
        let view: Value = serde_json::from_str(&state.view(Seat::Host)).unwrap();
        assert_eq!(view["tap"]["state"], "idle");
        let kinds_found =
            view["orders"].as_array().unwrap().iter().map(|order| order["kind"].as_str().unwrap());
        assert_eq!(kinds_found.collect::<Vec<_>>(), kinds, "{taps}");
    }
}

#[test]
fn ct_13_numbers_count_up_in_each_seat_and_begin_again_each_turn() {
    let toml = setup("radius = 3", "p1 captain 0,2; p2 captain 0,-2");
    let script = r#"
        p1 tap 0,2 => origin_selected at=0,2
        p1 tap 0,1 => order_placed number=1 unit=u1 kind=attack path=0,1
        p1 tap 1,1 => order_placed number=2 unit=u1 kind=attack path=1,1
        p1 tap 0,2 => orders_cleared unit=u1 count=2; defense_pending at=0,2
        p1: 0,2 0,2
        p1 tap 0,1 => order_placed number=3 unit=u1 kind=attack path=0,1
        p1: switch
        p2: 0,-2
        p2 tap 0,-1 => order_placed number=1 unit=u2 kind=attack path=0,-1
        p2: switch
        host: resolve
        p1: 0,1
        p1 tap 0,2 => order_placed number=1 unit=u1 kind=attack path=0,2
    "#;
    check(&toml, script);
}
