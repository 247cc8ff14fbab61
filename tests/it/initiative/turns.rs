//! IN-1 to IN-5: rolls, movement order and the course of a turn.

use super::{TWO_AGAINST_ONE, check, fixture};

#[test]
fn in_1_the_roll_is_due_by_the_host_with_two_dice_for_each_player() {
    let script = r#"
        view phase => "initiative"
        view turn => 1
        view due_roll => {"purpose":"initiative","count":4,"low":1,"high":6}
        view prompt => "Roll for initiative"
        view status => ""
        view cursor => [0,0]
        legal host => roll 1 2 5 6; roll 5 6 1 2; roll 3 4 3 4
        legal p1 =>
        legal p2 =>
        host roll 1 2 3 => rejected bad_roll
        host roll 1 2 3 4 5 => rejected bad_roll
        host roll 1 2 3 7 => rejected bad_roll
        host roll 0 2 3 4 => rejected bad_roll
        host roll -1 2 3 4 => rejected bad_roll
        p1 roll 1 2 3 4 => rejected wrong_seat
        p1 roll 1 2 3 => rejected wrong_seat
        host roll 6 1 3 5 => rolled p1=7 p2=8; initiative p1=7 p2=8 loser=p1 winner=p2; movement_order impulses=p1:2|p2:1; flash text="Initiative: P1 rolled 7, P2 rolled 8 — P1 moves first"; cursor at=0,2
        view due_roll => null
        host roll 6 1 3 5 => rejected no_roll_due
        p1 roll 6 1 3 5 => rejected no_roll_due
    "#;
    check(TWO_AGAINST_ONE, script);
}

#[test]
fn in_2_a_tie_is_recorded_and_decides_nothing() {
    let script = r#"
        host roll 1 6 3 4 => rolled p1=7 p2=7; flash text="Initiative: both rolled 7 — roll again"
        view initiative => null
        view phase => "initiative"
        view due_roll => {"purpose":"initiative","count":4,"low":1,"high":6}
        host roll 6 6 6 6 => rolled p1=12 p2=12; flash text="Initiative: both rolled 12 — roll again"
        p1 cycle => rejected roll_due
        host roll 2 2 1 2 => rolled p1=4 p2=3; initiative p1=4 p2=3 loser=p2 winner=p1; movement_order impulses=p2:1|p1:2; flash text="Initiative: P1 rolled 4, P2 rolled 3 — P2 moves first"; cursor at=0,-2
    "#;
    check(TWO_AGAINST_ONE, script);
}

#[test]
fn in_3_the_lower_total_loses_and_moves_first() {
    let low_p1 = r#"
        host roll 1 1 6 6 => rolled p1=2 p2=12; initiative p1=2 p2=12 loser=p1 winner=p2; movement_order impulses=p1:2|p2:1; flash text="Initiative: P1 rolled 2, P2 rolled 12 — P1 moves first"; cursor at=0,2
        view initiative => {"rolls":{"p1":2,"p2":12},"loser":"p1","winner":"p2"}
        view active_player => "p1"
    "#;
    let low_p2 = r#"
        host roll 6 6 5 6 => rolled p1=12 p2=11; initiative p1=12 p2=11 loser=p2 winner=p1; movement_order impulses=p2:1|p1:2; flash text="Initiative: P1 rolled 12, P2 rolled 11 — P2 moves first"; cursor at=0,-2
        view initiative => {"rolls":{"p1":12,"p2":11},"loser":"p2","winner":"p1"}
        view active_player => "p2"
    "#;
    check(TWO_AGAINST_ONE, low_p1);
    check(TWO_AGAINST_ONE, low_p2);
}

#[test]
fn in_4_the_movement_order_shares_both_sides_over_the_rounds() {
    let script = r#"
        ask order 3 5 => L1 W2 L1 W2 L1 W1
        ask order 5 3 => L2 W1 L2 W1 L1 W1
        ask order 4 4 => L1 W1 L1 W1 L1 W1 L1 W1
        ask order 1 6 => L1 W6
        ask order 6 1 => L6 W1
        ask order 0 3 => W3
        ask order 3 0 => L3
        ask order 0 0 =>
        ask order 2 11 => L1 W6 L1 W5
        ask order 7 3 => L3 W1 L2 W1 L2 W1
        ask order 1000 1 => L1000 W1
        json order 3 5 => [["L",1],["W",2],["L",1],["W",2],["L",1],["W",1]]
        json order 0 0 => []
        ask order 1001 1 => `order` takes two counts of 0 to 1000, found `1001 1`
        ask order -1 1 => `order` takes two counts of 0 to 1000, found `-1 1`
        ask order 1 => `order` takes two counts of 0 to 1000, found `1`
        ask order 1 2 3 => `order` takes two counts of 0 to 1000, found `1 2 3`
        ask order 01 2 => `order` takes two counts of 0 to 1000, found `01 2`
    "#;
    check(&fixture("no-units"), script);
}

#[test]
fn in_4_matches_of_every_proportion_begin_with_that_order() {
    // The loser, its fixture, the order, and what the roll ends with.
    let cases = [
        ("p1", "three-against-five", "p1:1|p2:2|p1:1|p2:2|p1:1|p2:1", "cursor at=0,4"),
        ("p1", "lance-against-star", "p1:1|p2:2|p1:1|p2:1|p1:1|p2:1|p1:1|p2:1", "cursor at=0,5"),
        ("p1", "equal-counts", "p1:1|p2:1|p1:1|p2:1|p1:1|p2:1|p1:1|p2:1", "cursor at=0,4"),
        ("p1", "one-against-many", "p1:1|p2:6", "cursor at=0,0"),
        ("p1", "a-side-without-units", "p2:3", "cursor at=0,-2"),
        ("p1", "no-units", "", "movement_complete"),
        ("p2", "three-against-five", "p2:2|p1:1|p2:2|p1:1|p2:1|p1:1", "cursor at=0,-4"),
        ("p2", "lance-against-star", "p2:2|p1:1|p2:1|p1:1|p2:1|p1:1|p2:1|p1:1", "cursor at=0,-5"),
        ("p2", "equal-counts", "p2:1|p1:1|p2:1|p1:1|p2:1|p1:1|p2:1|p1:1", "cursor at=0,-4"),
        ("p2", "one-against-many", "p2:6|p1:1", "cursor at=0,-5"),
        ("p2", "a-side-without-units", "p2:3", "cursor at=0,-2"),
        ("p2", "no-units", "", "movement_complete"),
    ];
    for (loser, name, order, last) in cases {
        let (dice, p1, p2, winner, first) =
            if loser == "p1" { ("3 4 5 5", 7, 10, "p2", "P1") } else { ("6 5 1 1", 11, 2, "p1", "P2") };
        let script = format!(
            "host roll {dice} => rolled p1={p1} p2={p2}; \
             initiative p1={p1} p2={p2} loser={loser} winner={winner}; movement_order impulses={order}; \
             flash text=\"Initiative: P1 rolled {p1}, P2 rolled {p2} — {first} moves first\"; {last}"
        );
        check(&fixture(name), &script);
    }
}

#[test]
fn in_4_without_any_units_a_decisive_roll_ends_the_turn() {
    let script = r#"
        host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; movement_complete
        view phase => "end"
        view impulse => null
        view cursor => [0,0]
        host next-turn => turn_started turn=2
        view phase => "initiative"
    "#;
    check(&fixture("no-units"), script);
}

#[test]
fn in_5_units_complete_impulses_and_impulses_the_turn() {
    let script = r#"
        host roll 1 2 5 5 => rolled p1=3 p2=10; initiative p1=3 p2=10 loser=p1 winner=p2; movement_order impulses=p1:2|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 10 — P1 moves first"; cursor at=0,2
        view impulse => 0
        view remaining_in_impulse => 2
        view moved => []
        p1 click 1,2 => cursor at=1,2; selected unit=locust
        p1 move 2,1 => moved unit=locust from=1,2 to=2,1; cursor at=2,1
        view moved => ["locust"]
        view remaining_in_impulse => 1
        view impulse => 0
        host next-turn => rejected wrong_phase
        p1 click 0,2 => cursor at=0,2; selected unit=atlas
        p1 stand => stood unit=atlas; impulse_advanced index=1 player=p2 units=1
        view moved => ["atlas","locust"]
        view impulse => 1
        view active_player => "p2"
        view remaining_in_impulse => 1
        # the cursor stays where the last impulse left it
        view cursor => [0,2]
        p2 click 0,-2 => cursor at=0,-2; selected unit=kit-fox
        p2 move 0,-1 => moved unit=kit-fox from=0,-2 to=0,-1; cursor at=0,-1; movement_complete
        view phase => "end"
        view moved => ["atlas","kit-fox","locust"]
        view initiative => {"rolls":{"p1":3,"p2":10},"loser":"p1","winner":"p2"}
        view movement_order => []
        view impulse => null
        view active_player => null
        view remaining_in_impulse => null
        legal host => next-turn
        legal p1 =>
        host next-turn => turn_started turn=2
        view turn => 2
        view phase => "initiative"
        view moved => []
        view initiative => null
        view cursor => [0,-1]
        # the next turn moves the same units from where they are now
        host roll 6 5 1 1 => rolled p1=11 p2=2; initiative p1=11 p2=2 loser=p2 winner=p1; movement_order impulses=p2:1|p1:2; flash text="Initiative: P1 rolled 11, P2 rolled 2 — P2 moves first"; cursor at=0,-1
        p2 confirm => selected unit=kit-fox
        p2 stand => stood unit=kit-fox; impulse_advanced index=1 player=p1 units=2
    "#;
    check(TWO_AGAINST_ONE, script);
}
