//! CT-16 to CT-18: combat, advances and the end of a turn or of the match.

use super::{check, setup};

#[test]
fn ct_16_the_greater_claim_wins_and_the_loser_on_the_hex_is_eliminated() {
    let toml = setup("radius = 3", "p1 infantry 0,1; p1 captain -1,1 2; p2 infantry 0,0 3; p2 officer 0,-3");
    let script = r#"
        p1: 0,1 0,0 -1,1 0,0 switch
        p2: switch
        host resolve => hex_won at=0,0 side=p1 claim=4 against=3; eliminated unit=u3; advanced unit=u1 to=0,0; turn_started turn=2
        view p1 /units/2/id => "u4"
    "#;
    check(&toml, script);
}

#[test]
fn ct_16_equal_claims_change_nothing() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 infantry 0,0; p2 officer 0,-3");
    let script = r"
        p1: 0,1 0,0 1,0 switch
        p2: switch
        host resolve => hex_held at=0,0; hex_won at=1,0 side=p1 claim=2 against=0; advanced unit=u1 to=1,0; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_16_a_defense_adds_the_bonus_to_its_own_hex_only() {
    let units = "p1 infantry 0,0; p1 captain 2,0; p2 cavalry 0,-1; p2 captain 0,-2";
    for (bonus, outcome) in [
        (0, "hex_won at=0,0 side=p2 claim=3 against=2; eliminated unit=u1; advanced unit=u3 to=0,0"),
        (1, "hex_held at=0,0"),
        (100, "hex_won at=0,0 side=p1 claim=102 against=3"),
    ] {
        let script = format!(
            "p1: 0,0 0,0 switch\np2: 0,-1 0,0 switch\nhost resolve => {outcome}; turn_started turn=2"
        );
        check(&setup(&format!("radius = 3\ndefense_bonus = {bonus}"), units), &script);
    }
}

#[test]
fn ct_16_an_attacker_counts_in_full_on_each_target_and_on_its_own_hex() {
    let toml =
        setup("radius = 3", "p1 captain 0,0 5; p2 infantry 0,-1 4; p2 infantry 0,1 4; p2 officer 1,0 4");
    let script = r"
        p1: 0,0 0,-1 0,1 1,0 switch
        p2: 1,0 0,0 switch
        host resolve => hex_won at=0,-1 side=p1 claim=5 against=4; hex_won at=0,0 side=p1 claim=5 against=4; hex_won at=0,1 side=p1 claim=5 against=4; hex_won at=1,0 side=p1 claim=5 against=4; eliminated unit=u2; eliminated unit=u3; eliminated unit=u4; advanced unit=u1 to=0,-1; match_over winner=p1
    ";
    check(&toml, script);
}

#[test]
fn ct_16_what_moves_out_of_an_attacked_hex_is_safe_and_what_moves_in_is_not() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 officer 0,0; p2 officer 2,-1; p2 infantry 3,-3");
    let script = r"
        p1: 0,1 0,0 switch
        p2: 0,0 -1,0 -1,0 0,0 2,-1 1,-1 1,-1 0,0 2,-1 switch
        host resolve => moved unit=u2 to=-1,0; moved unit=u3 to=1,-1; moved unit=u3 to=0,0; hex_won at=0,0 side=p1 claim=2 against=1; eliminated unit=u3; advanced unit=u1 to=0,0; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_16_a_hex_may_be_won_by_the_side_that_holds_it() {
    let toml = setup("radius = 3", "p1 captain 0,1; p1 officer 2,-2; p2 officer 0,-3");
    let script = r"
        # u2 walks into the hex that u1 attacks
        p1: 0,1 0,0 2,-2 1,-1 1,-1 0,0 2,-2 switch
        p2: switch
        host resolve => moved unit=u2 to=1,-1; moved unit=u2 to=0,0; hex_won at=0,0 side=p1 claim=3 against=0; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_17_the_strongest_attacker_advances_or_the_one_with_the_lower_number() {
    let toml = |second: &str| {
        setup(
            "radius = 3",
            &format!("p1 captain 0,1 2; p1 infantry 1,0 {second}; p2 officer 0,0; p2 officer 0,-3"),
        )
    };
    for (second, unit) in [("1", "u1"), ("2", "u2"), ("3", "u2")] {
        let script = format!(
            "p1: 1,0 0,0 0,1 0,0 switch\np2: switch\n\
             host resolve => hex_won at=0,0 side=p1 claim={} against=1; eliminated unit=u3; advanced unit={unit} to=0,0; turn_started turn=2",
            2 + second.parse::<u32>().unwrap()
        );
        check(&toml(second), &script);
    }
}

#[test]
fn ct_17_hexes_are_taken_by_lowest_number_then_seat() {
    let toml = setup("radius = 3", "p1 captain 0,2; p2 captain 0,-2");
    let script = r"
        p1: 0,2 1,1 0,1 switch
        p2: 0,-2 1,-2 0,-1 switch
        # number 1 of p1, number 1 of p2; what the units attacked second stays empty
        host resolve => hex_won at=0,-1 side=p2 claim=2 against=0; hex_won at=0,1 side=p1 claim=2 against=0; hex_won at=1,-2 side=p2 claim=2 against=0; hex_won at=1,1 side=p1 claim=2 against=0; advanced unit=u1 to=1,1; advanced unit=u2 to=1,-2; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_17_the_number_of_a_lost_attacker_still_counts() {
    let toml = setup("radius = 3", "p1 infantry 0,1; p1 captain 1,1; p1 captain -3,0; p2 captain -1,2 4");
    let script = r"
        p1: 0,1 1,0 1,1 2,0 1,0 switch
        p2: -1,2 0,1 switch
        host resolve => hex_won at=0,1 side=p2 claim=4 against=2; hex_won at=1,0 side=p1 claim=4 against=0; hex_won at=2,0 side=p1 claim=2 against=0; eliminated unit=u1; advanced unit=u2 to=1,0; advanced unit=u4 to=0,1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_17_a_won_hex_whose_attackers_are_lost_stays_empty() {
    let toml = setup("radius = 3", "p1 captain 0,3; p1 infantry 0,1; p2 captain 1,1 3; p2 officer 0,0");
    let script = r"
        p1: 0,1 0,0 switch
        p2: 1,1 0,1 switch
        host resolve => hex_won at=0,0 side=p1 claim=2 against=1; hex_won at=0,1 side=p2 claim=3 against=2; eliminated unit=u2; eliminated unit=u4; advanced unit=u3 to=0,1; turn_started turn=2
    ";
    check(&toml, script);
}

#[test]
fn ct_18_orders_vanish_and_the_next_turn_begins() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 officer 0,-3");
    let script = r#"
        p1: 0,1 0,1 switch
        p2: 0,-3 1,-3 switch
        view p1 /orders/1/seat => "p2"
        host: resolve
        view host /orders => []
        view host /turn => 2
        view host /pools/p2 => {"total":1,"used":0,"available":1}
        view host /tap => {"state":"idle","origin":null,"path":[],"kind":null}
    "#;
    check(&toml, script);
}

#[test]
fn ct_18_a_side_without_units_has_lost() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 officer 0,0");
    let script = r#"
        p1: 0,1 0,0 switch
        p2: switch
        host resolve => hex_won at=0,0 side=p1 claim=2 against=1; eliminated unit=u2; advanced unit=u1 to=0,0; match_over winner=p1
        view p2 /phase => "over"
        view p2 /turn => 1
        view p2 /planning => null
        view p2 /winner => "p1"
        view p2 /tap => null
        view p2 /orders => []
        view p2 /pools => {"p1":{"total":3,"used":0,"available":3},"p2":{"total":0,"used":0,"available":0}}
        legal p1 =>
        legal p2 =>
        legal host =>
        host resolve => rejected match_over
    "#;
    check(&toml, script);
}

#[test]
fn ct_18_both_sides_may_be_lost_at_once() {
    let toml = setup("radius = 2", "p1 captain 1,-1; p1 captain 0,1; p2 captain 0,0; p2 captain 1,0");
    let script = r#"
        p1: 1,-1 0,0 1,0 0,1 0,0 1,0 switch
        p2: 0,0 1,-1 0,1 1,0 1,-1 0,1 switch
        host resolve => hex_won at=0,0 side=p1 claim=4 against=2; hex_won at=0,1 side=p2 claim=4 against=2; hex_won at=1,-1 side=p2 claim=4 against=2; hex_won at=1,0 side=p1 claim=4 against=2; eliminated unit=u1; eliminated unit=u2; eliminated unit=u3; eliminated unit=u4; match_over winner=none
        view p1 /winner => null
        view p1 /phase => "over"
        view p1 /units => []
    "#;
    check(&toml, script);
}
