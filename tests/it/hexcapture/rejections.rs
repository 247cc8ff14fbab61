//! Which rejection: the first that applies of malformed, `roll_due`, `no_roll_due`, `wrong_seat` and `bad_roll`.

use turnfold_core::Seat;

use super::{TWO_HEXES, check, start};
use crate::script::told;

const ROLL_DUE: &str = "
    p1 move se => cursor at=1,0; turtle at=0,0 facing=2
    p1 act => action held=true
    host tick 7 => charge_started at=1,0; roll_due purpose=capture chance=100; ticked ticks=7
";

#[test]
fn while_a_roll_is_due_everything_else_is_roll_due() {
    for command in ["move n", "stick n", "act", "release", "eat", "toggle", "tick", "tick 5"] {
        for seat in Seat::ALL {
            check(TWO_HEXES, &format!("{ROLL_DUE}\n{seat} {command} => rejected roll_due"));
        }
    }
}

#[test]
fn a_roll_is_the_hosts_and_has_one_value_in_range() {
    let script = r#"
        p1 roll 100 => rejected wrong_seat
        p2 roll 0 => rejected wrong_seat
        host roll 100 => rejected bad_roll
        host roll -1 => rejected bad_roll
        host roll 0 0 => rejected bad_roll
        host roll 2147483647 => rejected bad_roll
        host roll => rejected malformed
        host roll 99 => captured field=world at=1,0 color=0
        host roll 99 => rejected no_roll_due
        p1 roll 100 => rejected no_roll_due
        p8 roll 0 0 => rejected no_roll_due
    "#;
    check(TWO_HEXES, &format!("{ROLL_DUE}{script}"));
}

#[test]
fn players_are_p1_alone_and_ticks_are_the_hosts() {
    let script = r#"
        p1 tick => rejected wrong_seat
        p2 tick => rejected wrong_seat
        p2 move n => rejected wrong_seat
        p8 eat => rejected wrong_seat
        host move n => rejected wrong_seat
        host toggle => rejected wrong_seat
        # before any reason to ignore
        p2 release => rejected wrong_seat
    "#;
    check(TWO_HEXES, script);
}

#[test]
fn malformed_text_comes_before_everything() {
    let texts = [
        "",
        " ",
        "move",
        "move ",
        "move north",
        "move 6",
        "move -1",
        "move 01",
        "move n n",
        "move 1,0",
        "stick",
        "stick N",
        "act 1",
        "action",
        "release all",
        "eat it",
        "toggle inventory",
        "tick 0",
        "tick -1",
        "tick +1",
        "tick 01",
        "tick 100001",
        "tick 1 1",
        "tick 4294967296",
        "tick ",
        "tick  5",
        "ticks",
        "roll",
        "roll x",
        "roll 1 ",
        "roll 1  2",
        "roll +1",
        "roll 2147483648",
        "Act",
        "wait",
    ];
    let mut state = start(TWO_HEXES);
    for command in ["move se", "act", "tick 7"] {
        for text in texts {
            for seat in Seat::ALL {
                assert_eq!(state.judge(seat, text).unwrap_err().code, "malformed", "{seat} {text:?}");
            }
        }
        let seat = state.default_seat(command).unwrap();
        told(&mut *state, 1, seat, command);
    }
}

#[test]
fn commands_are_written_in_one_way_and_read_in_more() {
    let rules = turnfold_core::registry::find("hexcapture").unwrap();
    for (text, canonical) in [
        ("move 0", "move n"),
        ("move se", "move se"),
        ("stick 5", "stick nw"),
        ("tick 1", "tick"),
        ("tick", "tick"),
        ("tick 2", "tick 2"),
        ("tick 100000", "tick 100000"),
        ("roll -5 7", "roll -5 7"),
    ] {
        assert_eq!(rules.canonical(text).as_deref(), Ok(canonical));
    }
}

#[test]
fn legal_lists_what_applies() {
    let script = r#"
        legal p1 => stick n; stick ne; stick se; stick s; stick sw; stick nw; act; toggle
        legal host => tick; tick 6
        legal p2 => 
        p1 move se => cursor at=1,0; turtle at=0,0 facing=2
        p1 act => action held=true
        legal p1 => stick n; stick sw; stick nw; release; toggle
        host tick 6 => charge_started at=1,0; ticked ticks=6
        host tick => roll_due purpose=capture chance=100; ticked ticks=1
        legal p1 => 
        legal host => roll 0; roll 99
        host roll 0 => captured field=world at=1,0 color=0
        p1 stick nw => cursor at=0,0; turtle at=0,0 facing=5
        legal p1 => release; eat; toggle
        p1 eat => roll_due purpose=eat chance=none
        legal host => roll 0; roll 6
    "#;
    check(&format!("radius = 1\n{TWO_HEXES}"), script);
}
