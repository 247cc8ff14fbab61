//! IN-6 to IN-12: selecting units and moving them.

use super::{TWO_AGAINST_ONE, check};

/// p1 lost: its two units move first, the cursor stands on the first of them.
const P1_MOVES: &str = r#"
    host roll 1 1 6 6 => rolled p1=2 p2=12; initiative p1=2 p2=12 loser=p1 winner=p2; movement_order impulses=p1:2|p2:1; flash text="Initiative: P1 rolled 2, P2 rolled 12 — P1 moves first"; cursor at=0,2
"#;

fn check_p1_moves(script: &str) {
    check(TWO_AGAINST_ONE, &[P1_MOVES, script].concat());
}

#[test]
fn in_6_selectable_are_the_active_players_units_that_have_not_moved() {
    let script = r"
        legal p1 => cycle; confirm; click 0,2; click 1,2
        legal p2 =>
        p1 confirm => selected unit=atlas
        legal p1 => cycle; confirm; cancel; stand; click 0,2; click 1,2
        p1 stand => stood unit=atlas
        legal p1 => cycle; click 1,2
        p1 click 1,2 => cursor at=1,2; selected unit=locust
        p1 stand => stood unit=locust; impulse_advanced index=1 player=p2 units=1
        legal p1 =>
        legal p2 => cycle; click 0,-2
    ";
    check_p1_moves(script);
}

#[test]
fn in_7_cycle_goes_round_the_selectable_units_in_setup_order() {
    let script = r"
        # the opponent's unit, second in the setup, is passed over
        p1 cycle => cursor at=1,2
        p1 cycle => cursor at=0,2
        p1 confirm => selected unit=atlas
        p1 cycle => deselected; cursor at=1,2
        view selected => null
        p1 confirm => selected unit=locust
        p1 move 3,0 => moved unit=locust from=1,2 to=3,0; cursor at=3,0
        # the unit under the cursor has moved and still counts as the place to go on from
        p1 cycle => cursor at=0,2
        # the only selectable unit follows itself
        p1 cycle => cursor at=0,2
        p1 confirm => selected unit=atlas
        p1 stand => stood unit=atlas; impulse_advanced index=1 player=p2 units=1
        # from the unit of p1, first in the setup, to p2's
        p2 cycle => cursor at=0,-2
    ";
    check_p1_moves(script);
}

#[test]
fn in_7_cycle_starts_with_the_first_where_no_unit_is_under_the_cursor() {
    let toml = TWO_AGAINST_ONE;
    let script = r"
        p1 click 1,2 => cursor at=1,2; selected unit=locust
        p1 stand => stood unit=locust
        p1 click 0,2 => cursor at=0,2; selected unit=atlas
        p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
        p2 cycle => cursor at=0,-2
    ";
    check(toml, &[P1_MOVES, script].concat());
}

/// `no_unit` cannot come of `confirm`: in movement the cursor always stands on a unit. It comes of `click` (IN-9).
#[test]
fn in_8_confirm_selects_the_unit_under_the_cursor() {
    let script = r#"
        p1 confirm => selected unit=atlas
        view selected => "atlas"
        # again: it is a legitimate input with an effect, though nothing is different
        p1 confirm => selected unit=atlas
        p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1
        p1 confirm => ignored already_moved "Already moved"
        p1 cycle => cursor at=1,2
        p1 confirm => selected unit=locust
        p1 stand => stood unit=locust; impulse_advanced index=1 player=p2 units=1
        # the cursor is still on the unit of p1
        p2 confirm => ignored not_your_unit "Not your unit"
    "#;
    check_p1_moves(script);
}

#[test]
fn in_9_click_takes_the_cursor_along_unless_it_is_ignored() {
    let script = r#"
        p1 click 1,2 => cursor at=1,2; selected unit=locust
        # the selection it replaces is not reported, and the cursor is, also where it was
        p1 click 0,2 => cursor at=0,2; selected unit=atlas
        p1 click 0,2 => cursor at=0,2; selected unit=atlas
        p1 click 0,-2 => ignored not_your_unit "Not your unit"
        p1 click 0,0 => ignored no_unit "No unit here"
        p1 click 1,1 => ignored no_unit "No unit here"
        p1 click 4,0 => ignored out_of_bounds
        p1 click -2147483648,2147483647 => ignored out_of_bounds
        view cursor => [0,2]
        view selected => "atlas"
        p1 stand => stood unit=atlas
        p1 click 0,2 => ignored already_moved "Already moved"
    "#;
    check_p1_moves(script);
}

#[test]
fn in_10_cancel_drops_the_selection() {
    let script = r"
        p1 cancel => ignored nothing_selected
        p1 confirm => selected unit=atlas
        p1 cancel => deselected
        view selected => null
        view cursor => [0,2]
        p1 cancel => ignored nothing_selected
        p1 move 0,1 => ignored nothing_selected
    ";
    check_p1_moves(script);
}

#[test]
fn in_11_move_is_ignored_for_the_first_reason_that_applies() {
    let script = r#"
        # before all: nothing is selected, also for a hex off the board
        p1 move 9,9 => ignored nothing_selected
        p1 move 0,0 => ignored nothing_selected
        p1 confirm => selected unit=atlas
        # all of these are out of reach as well
        p1 move 9,9 => ignored out_of_bounds
        p1 move 2147483647,2147483647 => ignored out_of_bounds
        p1 move 0,0 => ignored impassable "Hex is impassable"
        p1 move 0,-2 => ignored occupied "Hex is occupied"
        p1 move 1,2 => ignored occupied "Hex is occupied"
        p1 move 0,2 => ignored same_hex
        p1 move 0,-1 => ignored out_of_reach "Out of reach"
        p1 move 3,0 => ignored out_of_reach "Out of reach"
        view selected => "atlas"
        p1 move 1,0 => moved unit=atlas from=0,2 to=1,0; cursor at=1,0
        view selected => null
        view cursor => [1,0]
        p1 move 1,1 => ignored nothing_selected
    "#;
    check_p1_moves(script);
}

#[test]
fn in_11_own_units_may_be_passed_and_opponents_not() {
    // A corridor along r = 0: its first hex holds the unit that moves, its second a machine of `owner`.
    let corridor = |owner: &str| {
        let blocked: Vec<String> = (-2..=2_i32)
            .flat_map(|q| (-2..=2_i32).map(move |r| (q, r)))
            .filter(|(q, r)| *r != 0 && (q + r).abs() <= 2)
            .map(|(q, r)| format!("[{q}, {r}]"))
            .collect();
        format!(
            "radius = 2\nblocked = [{}]\n\
             [[units]]\nid = \"runner\"\nowner = \"p1\"\nat = [-2, 0]\n\
             [[units]]\nid = \"other\"\nowner = \"{owner}\"\nat = [-1, 0]\n",
            blocked.join(", ")
        )
    };
    check(&corridor("p1"), "ask reach runner => 0,0 1,0 2,0\njson reach other => [[0,0],[1,0],[2,0]]");
    check(&corridor("p2"), "ask reach runner =>\njson reach runner => []");
}

#[test]
fn in_12_stand_completes_the_movement_on_the_spot() {
    let script = r#"
        p1 stand => ignored nothing_selected
        p1 click 1,2 => cursor at=1,2; selected unit=locust
        p1 stand => stood unit=locust
        view selected => null
        view cursor => [1,2]
        view moved => ["locust"]
        p1 stand => ignored nothing_selected
        p1 click 0,2 => cursor at=0,2; selected unit=atlas
        p1 stand => stood unit=atlas; impulse_advanced index=1 player=p2 units=1
        p2 cycle => cursor at=0,-2
        p2 confirm => selected unit=kit-fox
        p2 stand => stood unit=kit-fox; movement_complete
    "#;
    check_p1_moves(script);
}
