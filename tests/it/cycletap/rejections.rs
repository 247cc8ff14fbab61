//! Which rejection: the first that applies of malformed, `match_over`, `no_roll_due` (never: there are no rolls),
//! `wrong_seat`, `wrong_phase` and `not_your_turn`.

use turnfold_core::Seat;

use super::{check, setup, start};

fn two_officers() -> String {
    setup("radius = 3", "p1 officer 0,1; p2 officer 0,-1")
}

#[test]
fn ct_2_in_planning_the_seat_comes_before_the_phase_and_the_phase_before_the_turn() {
    let script = r"
        p3 tap 0,1 => rejected wrong_seat
        p8 switch => rejected wrong_seat
        host tap 0,1 => rejected wrong_seat
        host back => rejected wrong_seat
        host switch => rejected wrong_seat
        p1 resolve => rejected wrong_seat
        p2 resolve => rejected wrong_seat
        p3 resolve => rejected wrong_seat
        host resolve => rejected wrong_phase
        p2 tap 0,-1 => rejected not_your_turn
        # before any reason to ignore
        p2 tap 9,9 => rejected not_your_turn
        p2 back => rejected not_your_turn
        p2 switch => rejected not_your_turn
        p1: switch
        p1 tap 0,1 => rejected not_your_turn
        p1 switch => rejected not_your_turn
        host resolve => rejected wrong_phase
    ";
    check(&two_officers(), script);
}

#[test]
fn ct_2_in_execution_players_have_nothing_to_say() {
    let script = r"
        p1: switch
        p2: switch
        p1 tap 0,1 => rejected wrong_phase
        p2 tap 9,9 => rejected wrong_phase
        p1 back => rejected wrong_phase
        p2 switch => rejected wrong_phase
        p3 switch => rejected wrong_seat
        host switch => rejected wrong_seat
        p1 resolve => rejected wrong_seat
        host: resolve
    ";
    check(&two_officers(), script);
}

#[test]
fn ct_18_once_the_match_is_over_everything_is_match_over() {
    let toml = setup("radius = 3", "p1 captain 0,1; p2 officer 0,0");
    for seat in Seat::ALL {
        for command in ["tap 0,0", "tap 9,9", "back", "switch", "resolve"] {
            let script = format!(
                "p1: 0,1 0,0 switch\np2: switch\nhost: resolve\n{seat} {command} => rejected match_over"
            );
            check(&toml, &script);
        }
    }
}

#[test]
fn malformed_text_comes_before_everything() {
    let state = start(&two_officers());
    let texts = [
        "",
        " ",
        "tap",
        "tap ",
        "tap 1",
        "tap 1,2,3",
        "tap 1, 2",
        "tap +1,2",
        "tap 01,2",
        "tap -0,2",
        "tap  1,2",
        "tap 1,2 ",
        " tap 1,2",
        "tap n",
        "tap 2147483648,0",
        "tap [1,2]",
        "Tap 1,2",
        "back 1",
        "back ",
        "switch p1",
        "resolve now",
        "Resolve",
        "roll 1",
        "tick",
    ];
    for text in texts {
        for seat in Seat::ALL {
            assert_eq!(state.judge(seat, text).unwrap_err().code, "malformed", "{seat} {text:?}");
        }
    }
}

#[test]
fn each_rejection_says_what_is_wrong() {
    let state = start(&two_officers());
    let cases = [
        (Seat::P1, "resolve", "this command belongs to `host`"),
        (Seat::Host, "switch", "this command belongs to a player of the match"),
        (Seat::P2, "switch", "the other player is planning"),
        (
            Seat::Host,
            "resolve",
            "players give orders in planning, and `resolve` comes once both have planned",
        ),
        (Seat::P1, "tip 0,0", "expected `tap Q,R`, `back`, `switch` or `resolve`, found `tip 0,0`"),
    ];
    for (seat, command, message) in cases {
        assert_eq!(state.judge(seat, command).unwrap_err().message, message, "{seat} {command}");
    }
}

#[test]
fn commands_without_a_seat_come_from_whoever_may_give_them() {
    let mut state = start(&two_officers());
    for (seat, command) in [(Seat::P1, "tap 0,1"), (Seat::P1, "back"), (Seat::Host, "resolve")] {
        assert_eq!(state.default_seat(command), Some(seat));
    }
    super::play(&mut *state, Seat::P1, "switch");
    assert_eq!(state.default_seat("switch"), Some(Seat::P2));
    super::play(&mut *state, Seat::P2, "switch");
    assert_eq!(state.default_seat("switch"), Some(Seat::P1));
}
