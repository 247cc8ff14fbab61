//! Which rejection: the first that applies of malformed, `roll_due`, `no_roll_due`, `wrong_seat`, `bad_roll`,
//! `wrong_phase` and `not_your_turn`.

use turnfold_core::Seat;

use super::{TWO_AGAINST_ONE, check, fixture, start};

#[test]
fn in_the_initiative_phase_everything_but_a_roll_is_roll_due() {
    let commands = ["cycle", "confirm", "click 0,2", "click 9,9", "cancel", "move 0,0", "stand", "next-turn"];
    for seat in Seat::ALL {
        for command in commands {
            check(TWO_AGAINST_ONE, &format!("{seat} {command} => rejected roll_due"));
        }
    }
}

#[test]
fn in_movement_the_seat_comes_before_the_phase_and_the_phase_before_the_turn() {
    let script = r#"
        host roll 1 1 6 6 => rolled p1=2 p2=12; initiative p1=2 p2=12 loser=p1 winner=p2; movement_order impulses=p1:2|p2:1; flash text="Initiative: P1 rolled 2, P2 rolled 12 — P1 moves first"; cursor at=0,2
        # no_roll_due before wrong_seat and bad_roll
        p1 roll 9 => rejected no_roll_due
        p3 roll 1 2 3 4 => rejected no_roll_due
        host roll 1 2 3 4 => rejected no_roll_due
        # wrong_seat before wrong_phase and not_your_turn
        p1 next-turn => rejected wrong_seat
        p3 next-turn => rejected wrong_seat
        p3 cycle => rejected wrong_seat
        p8 move 0,1 => rejected wrong_seat
        host cycle => rejected wrong_seat
        host click 0,2 => rejected wrong_seat
        host next-turn => rejected wrong_phase
        p2 cycle => rejected not_your_turn
        # not_your_turn before any reason to ignore
        p2 cancel => rejected not_your_turn
        p2 click 9,9 => rejected not_your_turn
    "#;
    check(TWO_AGAINST_ONE, script);
}

#[test]
fn at_the_end_of_a_turn_movement_commands_are_wrong_phase() {
    let script = r#"
        host roll 1 1 6 6 => rolled p1=2 p2=12; initiative p1=2 p2=12 loser=p1 winner=p2; movement_order impulses=; flash text="Initiative: P1 rolled 2, P2 rolled 12 — P1 moves first"; movement_complete
        p1 cycle => rejected wrong_phase
        p2 confirm => rejected wrong_phase
        p1 click 9,9 => rejected wrong_phase
        p2 cancel => rejected wrong_phase
        p1 move 0,0 => rejected wrong_phase
        p2 stand => rejected wrong_phase
        host cycle => rejected wrong_seat
        p4 stand => rejected wrong_seat
        p1 next-turn => rejected wrong_seat
        host roll 1 2 3 4 => rejected no_roll_due
        host next-turn => turn_started turn=2
    "#;
    check(&fixture("no-units"), script);
}

#[test]
fn malformed_text_comes_before_everything() {
    let state = start(TWO_AGAINST_ONE);
    let texts = [
        "",
        " ",
        "roll",
        "roll ",
        "roll 1 2 3 4 ",
        "roll 1  2 3 4",
        "roll 1 2 3 x",
        "roll 1,2,3,4",
        "roll +1 2 3 4",
        "roll 01 2 3 4",
        "roll 1 2 3 2147483648",
        "roll 1.0 2 3 4",
        "cycle 1",
        "cycle ",
        " cycle",
        "Cycle",
        "confirm 0,0",
        "click",
        "click 0",
        "click 0, 0",
        "click 0 0",
        "click 0,0,0",
        "click +0,0",
        "click -0,0",
        "click 00,0",
        "click [0,0]",
        "click 2147483648,0",
        "cancel it",
        "move",
        "move n",
        "move 1,-2147483649",
        "stand still",
        "next_turn",
        "next-turn 1",
        "next turn",
        "tick",
    ];
    for text in texts {
        for seat in Seat::ALL {
            let rejected = state.judge(seat, text).unwrap_err();
            assert_eq!(rejected.code, "malformed", "{seat} {text:?}");
            assert!(!rejected.message.is_empty());
        }
    }
}

#[test]
fn each_rejection_says_what_is_wrong() {
    let rejected = |toml: &str, roll: Option<&str>, seat: Seat, command: &str| {
        let mut state = start(toml);
        if let Some(roll) = roll {
            super::told(&mut *state, 1, Seat::Host, roll);
        }
        state.judge(seat, command).unwrap_err().message
    };
    let decisive = Some("roll 1 1 6 6");
    let due = "4 values in 1..=6 for initiative";
    let cases = [
        (None, Seat::P1, "cycle", format!("a roll is due first: {due}, by `host`")),
        (None, Seat::Host, "roll 1", format!("the roll takes {due}")),
        (None, Seat::P1, "roll 1 2 3 4", "this command belongs to `host`".into()),
        (decisive, Seat::Host, "roll 1 2 3 4", "no roll is due".into()),
        (decisive, Seat::Host, "cycle", "this command belongs to a player of the match".into()),
        (decisive, Seat::P2, "cycle", "it is the other player's impulse".into()),
    ];
    for (roll, seat, command, message) in cases {
        assert_eq!(rejected(TWO_AGAINST_ONE, roll, seat, command), message, "{seat} {command}");
    }
}
