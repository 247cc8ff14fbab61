//! CT-14 and CT-15: deploys, and movement step by step.

use super::{check, setup};

#[test]
fn ct_14_deploys_come_first_and_cannot_be_blocked_on_the_way() {
    let toml = setup("radius = 3", "p1 officer 0,2; p1 officer 2,1; p2 officer 2,-1; p2 officer -2,0");
    let script = r"
        # u2 walks to 2,0, where u3 has deployed before
        p1: 0,2 0,1 0,1 0,1 0,2 2,1 2,0 2,0 2,1 switch
        p2: 2,-1 2,0 2,0 2,0 2,-1 switch
        host resolve => deployed unit=u1 to=0,1; deployed unit=u3 to=2,0; blocked unit=u2 at=2,1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_14_deploys_to_the_same_hex_all_stay() {
    let toml = setup("radius = 3", "p1 officer 0,1; p1 officer 1,0; p2 officer 0,-1; p2 officer -3,0");
    let script = r"
        p1: 1,0 0,0 0,0 0,0 1,0 0,1 0,0 0,0 0,0 0,1 switch
        p2: 0,-1 0,0 0,0 0,0 0,-1 switch
        # by seat, then order number
        host resolve => deploy_held unit=u2; deploy_held unit=u1; deploy_held unit=u3; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_14_where_a_unit_deploys_it_can_be_attacked() {
    let toml = setup("radius = 3", "p1 officer 0,1; p1 infantry 3,0; p2 captain 0,-1");
    let script = r"
        p1: 0,1 0,0 0,0 0,0 0,1 switch
        p2: 0,-1 0,0 switch
        host resolve => deployed unit=u1 to=0,0; hex_won at=0,0 side=p2 claim=2 against=1; eliminated unit=u1; advanced unit=u3 to=0,0; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_15_units_that_aim_at_one_hex_are_all_blocked() {
    let toml = setup("radius = 3", "p1 officer 0,1; p1 officer 1,0; p2 officer 0,-1");
    let script = r"
        p1: 0,1 0,0 0,0 0,1 1,0 0,0 0,0 1,0 switch
        p2: 0,-1 0,0 0,0 0,-1 switch
        host resolve => blocked unit=u1 at=0,1; blocked unit=u2 at=1,0; blocked unit=u3 at=0,-1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_15_two_units_do_not_exchange_hexes() {
    let toml = setup("radius = 3", "p1 officer 0,1; p2 officer 0,-2");
    let script = r"
        p1: 0,1 0,0 0,0 0,-1 0,1 switch
        p2: 0,-2 0,-1 0,-1 0,0 0,-2 switch
        host resolve => moved unit=u1 to=0,0; moved unit=u2 to=0,-1; blocked unit=u1 at=0,0; blocked unit=u2 at=0,-1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_15_a_third_unit_does_not_slip_into_an_exchange() {
    // In the second step u1 and u2 aim at each other's hex, and u3 at that of u1.
    let toml = setup("radius = 3", "p1 officer 0,1; p1 officer 2,0; p2 officer 0,-2");
    let script = r"
        p1: 0,1 0,0 0,0 0,-1 0,1 2,0 1,0 1,0 0,0 2,0 switch
        p2: 0,-2 0,-1 0,-1 0,0 0,-2 switch
        host resolve => moved unit=u1 to=0,0; moved unit=u2 to=1,0; moved unit=u3 to=0,-1; blocked unit=u1 at=0,0; blocked unit=u2 at=1,0; blocked unit=u3 at=0,-1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_15_a_unit_may_follow_one_that_leaves() {
    let toml = setup("radius = 3", "p1 officer 0,0; p1 officer 1,0; p2 officer 0,3");
    let script = r"
        p1: 0,0 0,-1 0,-1 0,-2 0,0 1,0 1,-1 1,-1 0,-1 1,0 switch
        p2: switch
        host resolve => moved unit=u1 to=0,-1; moved unit=u2 to=1,-1; moved unit=u1 to=0,-2; moved unit=u2 to=0,-1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_15_a_unit_whose_path_has_ended_holds_its_hex() {
    let toml = setup("radius = 3", "p1 officer 0,0; p1 officer 1,0; p2 officer 0,3");
    let script = r"
        p1: 0,0 0,-1 0,-1 0,0 1,0 1,-1 1,-1 0,-1 0,-2 1,0 switch
        p2: switch
        host resolve => moved unit=u1 to=0,-1; moved unit=u2 to=1,-1; blocked unit=u2 at=1,-1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_15_a_closed_ring_turns_and_an_open_one_does_not() {
    let ring = |third: &str| {
        format!(
            r"
        p1: 0,-1 0,0 0,0 1,0 0,-1 2,0 1,0 1,0 0,1 2,0 switch
        p2: 0,2 0,1 0,1 {third} switch
        host resolve => moved unit=u1 to=0,0; moved unit=u2 to=1,0; moved unit=u3 to=0,1;"
        )
    };
    let toml = setup("radius = 3", "p1 captain 0,-1; p1 infantry 2,0; p2 officer 0,2");
    let turning = " moved unit=u1 to=1,0; moved unit=u2 to=0,1; moved unit=u3 to=0,0; turn_started turn=2";
    check(&toml, &(ring("0,0 0,2") + turning));
    // The third stays, so that the second cannot leave, and the first neither.
    let standing = " blocked unit=u1 at=0,0; blocked unit=u2 at=1,0; turn_started turn=2";
    check(&toml, &(ring("0,2") + standing));
}

#[test]
fn ct_15_a_blocked_unit_stops_for_good_while_others_go_on() {
    let toml = setup("radius = 3", "p1 officer 0,1; p1 officer -2,0; p2 officer 0,-1; p2 infantry 3,0");
    let script = r"
        p1: 0,1 0,0 0,0 1,0 0,1 -2,0 -2,1 -2,1 -2,2 -2,0 switch
        p2: 0,-1 0,0 0,0 0,-1 switch
        host resolve => blocked unit=u1 at=0,1; blocked unit=u3 at=0,-1; moved unit=u2 to=-2,1; moved unit=u2 to=-2,2; turn_started turn=2
    ";
    check(&toml, script);
}
