//! Which rejection: the first that applies of malformed, `match_over`, `wrong_seat`, `wrong_phase` and `not_your_turn`.

use turnfold_core::Seat;

use super::{Table, check, fixture, start};

#[test]
fn malformed_text_comes_before_everything() {
    let state = start(&fixture("small-table"));
    let texts = [
        "",
        "take",
        "take 1",
        "take 1 ",
        "take 1  2",
        "take 1 0",
        "take 1 1001",
        "take 1 01",
        "take 1 +1",
        "take 1 1 2 3 4",
        "take x 1",
        "take 2147483648 1",
        "take 1,2",
        "channel",
        "channel 0",
        "channel 9",
        "channel -1",
        "channel 1 2",
        "move 1",
        "move 1 2 3",
        "move 0 2",
        "move 1001 2",
        "move 1 02",
        "confirm 1",
        "undo ",
        " cancel",
        "Cancel",
        "meditate",
        "meditate black",
        "meditate white",
        "meditate pink",
        "meditate Red",
        "pick",
        "pick pink",
        "pick 1",
        "roll 1",
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
fn the_seat_comes_before_the_phase_and_the_phase_before_the_turn() {
    let table = Table::default().board("b1b2b3b4b5", "").board("b1b2b3b4b5", "");
    let script = r#"
        host meditate red => rejected wrong_seat
        p3 meditate red => rejected wrong_seat
        p8 confirm => rejected wrong_seat
        p2 confirm => rejected wrong_phase
        p2 undo => rejected wrong_phase
        p2 cancel => rejected wrong_phase
        p2 move 1 2 => rejected wrong_phase
        p2 pick red => rejected wrong_phase
        p1 pick red => rejected wrong_phase
        # Before what is wrong with the command itself.
        p2 take 9 1 => rejected not_your_turn
        p2 channel 1 => rejected not_your_turn
        p2 meditate red => rejected not_your_turn
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        p1 channel 7 => rejected wrong_phase
        p1 take 1 1 => rejected wrong_phase
        p1 meditate red => rejected wrong_phase
        p2 take 1 1 => rejected wrong_phase
        p2 move 1 2 => rejected not_your_turn
        p2 cancel => rejected not_your_turn
        p1 move 999 2 => rejected not_offered
        p1 move 1 -2147483648 => rejected not_offered
        p1 move 1 2147483647 => rejected not_offered
        p1 move 1 65538 => rejected not_offered
        p1 move 1 2 => moved id=1 from=1 to=2 variant=0; step step=1
        p2 confirm => rejected not_your_turn
        p2 undo => rejected not_your_turn
        p1 confirm => confirmed; turn_ended next=p2
        p1 meditate red => rejected not_your_turn
    "#;
    table.energies("1 red p1 1 1").check(script);
}

#[test]
fn when_the_match_is_over_nothing_else_is_said() {
    let rows = [("purple", 2), ("darkblue", 3), ("blue", 4), ("green", 5), ("red", 8)];
    let energies = rows.iter().flat_map(|(color, row)| {
        (1..=3).map(move |col: u16| format!("{} {color} p1 {row} {col}", row * 10 + col))
    });
    let energies: Vec<String> = energies.collect();
    let mut state = Table::alone("b1b2b3b4b5", &energies.join(", ")).start();
    check(
        &mut *state,
        "p1 meditate red => meditated color=red; last_round; turn_ended next=none; match_over winners=p1",
    );
    for seat in Seat::ALL {
        for command in
            ["take 1 1", "channel 1", "move 1 1", "confirm", "undo", "cancel", "meditate red", "pick red"]
        {
            check(&mut *state, &format!("{seat} {command} => rejected match_over"));
        }
    }
    check(&mut *state, "json possible 1 => false");
}

#[test]
fn each_rejection_says_what_is_wrong() {
    let state = Table::alone("b1b2b3b4b5", "1 red maya 1 1, 2 red maya 2 1").start();
    let cases = [
        (Seat::Host, "confirm", "this command belongs to a player of the match"),
        (Seat::P1, "confirm", "this part of the turn takes other commands; `legal` lists them"),
        (Seat::P1, "take 1 3", "the energies are not all in one column of the maya"),
        (Seat::P1, "take 1 1 2", "the energies of a take have different colors"),
        (Seat::P1, "take 9 1", "energies are taken into rows 1 to 8"),
        (Seat::P1, "channel 1", "this channel cannot be carried out now"),
    ];
    for (seat, command, message) in cases {
        assert_eq!(state.judge(seat, command).unwrap_err().message, message, "{seat} {command}");
    }
}
