//! Which rejection: the first that applies of malformed, `match_over`, `wrong_seat`, then `unit_active` and `stalemate`
//! of the host, `no_active_unit` and `not_your_turn` of the players.

use turnfold_core::{Seat, registry};

use super::{check, start, units};

const DUEL: &str = "a player 10 100\n b enemy 10 0";

const TURN_COMMANDS: [&str; 6] = ["move", "attack b", "attack nobody", "skill x", "skill x b", "end"];

#[test]
fn lc_1_without_an_active_unit_no_player_acts() {
    for command in TURN_COMMANDS {
        for seat in ["p1", "p2"] {
            check(&units(DUEL), &format!("{seat} {command} => rejected no_active_unit"));
        }
        for seat in ["p3", "p8", "host"] {
            check(&units(DUEL), &format!("{seat} {command} => rejected wrong_seat"));
        }
    }
    for command in ["tick", "tick 3", "advance"] {
        for seat in ["p1", "p2", "p3"] {
            check(&units(DUEL), &format!("{seat} {command} => rejected wrong_seat"));
        }
    }
}

#[test]
fn lc_1_only_the_active_units_player_acts_and_time_stands_still() {
    let starts =
        "host advance => ticked ticks=1; turn_change previous=none next=a is_new_round=true; ap_set ap=23";
    for command in TURN_COMMANDS {
        check(&units(DUEL), &format!("{starts}\np2 {command} => rejected not_your_turn"));
        check(&units(DUEL), &format!("{starts}\np4 {command} => rejected wrong_seat"));
    }
    for command in ["tick", "tick 100000", "advance"] {
        check(&units(DUEL), &format!("{starts}\nhost {command} => rejected unit_active"));
        check(&units(DUEL), &format!("{starts}\np1 {command} => rejected wrong_seat"));
    }
}

#[test]
fn commands_have_one_spelling_and_bounds() {
    let malformed = [
        "tick 0",
        "tick -1",
        "tick +1",
        "tick 01",
        "tick 100001",
        "tick 4294967297",
        "tick ",
        "tick 1 1",
        "tick x",
        "advance 1",
        "move 1",
        "move 0,0",
        "attack",
        "attack ",
        "attack A",
        "attack a b",
        "skill",
        "skill ",
        "skill X",
        "skill a B",
        "skill a ",
        "skill a b c",
        "end now",
        "End",
        "roll 1",
        "roll",
        "attack a234567890123456789012345678901234",
    ];
    let state = start(&units(DUEL));
    for text in malformed {
        for seat in [Seat::Host, Seat::P1] {
            assert_eq!(state.judge(seat, text).unwrap_err().code, "malformed", "{text}");
        }
    }
    let rules = registry::find("lifecycle").unwrap();
    for (text, canonical) in [
        ("tick 1", "tick"),
        ("tick", "tick"),
        ("tick 100000", "tick 100000"),
        ("skill x", "skill x"),
        ("skill x b", "skill x b"),
        ("attack -_0", "attack -_0"),
    ] {
        assert_eq!(rules.canonical(text).unwrap(), canonical);
    }
}

#[test]
fn commands_go_by_default_to_the_host_or_the_active_units_player() {
    let mut state = start(&units("a enemy 10 100"));
    assert_eq!(state.default_seat("tick 2"), Some(Seat::Host));
    assert_eq!(state.default_seat("advance"), Some(Seat::Host));
    assert_eq!(state.default_seat("end"), Some(Seat::P1));
    super::told(&mut *state, 1, Seat::Host, "advance");
    for command in ["end", "move", "attack b", "skill x"] {
        assert_eq!(state.default_seat(command), Some(Seat::P2));
    }
}
