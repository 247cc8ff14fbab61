//! CH-2 to CH-4, CH-6 and CH-8: takes, tokens and meditation.

use super::Table;

/// Three flows: green yellow orange; purple, black and red; and a flow with a white, a black and a blue.
const MAYA: &str = "1 green maya 1 1, 2 yellow maya 2 1, 3 orange maya 3 1, 4 purple maya 1 2, 5 black maya 2 2, \
                    6 red maya 3 2, 7 white maya 1 3, 8 black maya 2 3, 9 blue maya 3 3";

fn table(tokens: &str, more: &str) -> Table {
    Table::alone(tokens, "").with_white().energies(MAYA).energies(more)
}

#[test]
fn ch_4_energies_come_in_the_order_given_and_each_place_is_refilled_from_the_lowest_id() {
    let script = r#"
        p1 take 4 3 1 => taken row=4 ids=3|1; refilled row=3 col=1 id=20; refilled row=1 col=1 id=21; token token=5 to=k3; turn_ended next=p1
        view players/0/rows => [[],[],[],[3,1],[],[],[],[],[]]
        view maya => [[21,4,7],[2,5,8],[20,6,9]]
        view bag => {"total":0,"colors":{}}
        # The bag is empty: the place stays so.
        p1 take 1 2 => taken row=1 ids=2; turn_ended next=p1
        view maya => [[21,4,7],[0,5,8],[20,6,9]]
        view players/0/tokens => "b1b2b3b4k3"
    "#;
    table("b1b2b3b4b5", "21 red bag, 20 blue bag").check(script);
}

#[test]
fn ch_4_a_take_is_rejected_for_the_first_reason_that_applies() {
    // Row 1 full, rows 2 and 3 nearly; three oranges held.
    let board =
        "30 orange p1 1 1, 31 orange p1 1 2, 32 orange p1 1 3, 33 red p1 2 1, 34 red p1 2 2, 35 blue p1 3 1";
    let script = r#"
        p1 take 0 1 4 => rejected not_one_flow
        p1 take 0 30 => rejected not_one_flow
        p1 take 0 999 => rejected not_one_flow
        p1 take 0 1 1 => rejected same_colour
        p1 take 0 1 => rejected bad_row
        p1 take 9 8 => rejected bad_row
        p1 take -2147483648 1 => rejected bad_row
        p1 take 2147483647 1 => rejected bad_row
        p1 take 65538 1 => rejected bad_row
        p1 take 1 4 => rejected row_full
        p1 take 2 4 6 => rejected row_full
        p1 take 2 4 => rejected must_take_black_or_white
        p1 take 3 4 6 => rejected must_take_black_or_white
        p1 take 3 7 8 => rejected black_and_white
        p1 take 3 3 => rejected notch_blocked
        p1 take 4 3 => rejected no_token
    "#;
    table("k2c2c3c4c5", board).check(script);
    let script = r#"
        p1 take 3 3 => rejected notch_blocked
        p1 take 4 3 => rejected too_many_of_colour
        p1 take 4 1 => rejected last_token
        p1 take 4 8 => rejected last_token
    "#;
    table("k2k5k6k7b1", board).check(script);
}

#[test]
fn ch_4_two_energies_of_one_colour_are_not_taken_together() {
    let table = Table::alone("b1b2b3b4b5", "1 green maya 1 1, 2 green maya 2 1, 3 red maya 3 1");
    table.check("p1 take 2 1 2 => rejected same_colour\np1 take 2 1 3 2 => rejected same_colour");
}

#[test]
fn ch_4_a_flow_that_shows_black_or_white_is_taken_with_one_of_them() {
    let script = r#"
        p1 take 1 9 => rejected must_take_black_or_white
        p1 take 1 7 9 => taken row=1 ids=7|9; turn_ended next=p1
        # The black is still there.
        p1 take 1 8 => taken row=1 ids=8; turn_ended next=p1
    "#;
    table("b1b2b3b4b5", "").check(script);
}

#[test]
fn ch_4_the_universe_needs_no_token() {
    table("c1c2c3c4c5", "").check("p1 take 1 1 2 3 => taken row=1 ids=1|2|3; turn_ended next=p1");
}

#[test]
fn ch_4_the_last_token_may_be_locked_by_harmonising_only() {
    // In row 5, green is missing one; the token comes back at once.
    let board = "30 green p1 5 1, 31 green p1 5 3";
    let script = r#"
        p1 take 7 1 => rejected last_token
        p1 take 5 1 => taken row=5 ids=1; token token=5 to=k4; harmonised row=5; token token=5 to=b1; turn_ended next=p1
        view players/0/rows => [[],[],[],[],[30,1,31],[],[],[],[]]
        view players/0/score => 1
        view players/0/tokens => "k1k2k3k5b1"
    "#;
    table("k1k2k3k5b1", board).check(script);
}

#[test]
fn ch_4_four_tokens_in_notches_leave_the_universe_free() {
    table("k1k2k3k5b1", "").check("p1 take 1 1 => taken row=1 ids=1; turn_ended next=p1");
}

#[test]
fn ch_2_ch_8_only_three_energies_of_the_rows_own_colour_harmonise_it() {
    let script = r#"
        p1 take 5 2 => taken row=5 ids=2; token token=5 to=k4; turn_ended next=p1
        view players/0/score => 0
    "#;
    table("b1b2b3b4b5", "30 green p1 5 1, 31 green p1 5 3").check(script);
    // Two and a white are no harmony either, though moves pass over such a row.
    let script = r#"
        p1 take 5 7 => taken row=5 ids=7; token token=5 to=k4; turn_ended next=p1
        view players/0/score => 0
    "#;
    table("b1b2b3b4b5", "30 green p1 5 1, 31 green p1 5 3").check(script);
}

#[test]
fn ch_3_the_token_at_the_highest_place_is_used_first_and_one_returns_above_it() {
    let script = r#"
        p1 take 2 1 => taken row=2 ids=1; token token=2 to=k1; turn_ended next=p1
        p1 take 3 2 => taken row=3 ids=2; token token=4 to=k2; turn_ended next=p1
        view players/0/tokens => "b1k1b2k2k7"
    "#;
    table("b1b4b2b3k7", "").check(script);
}

#[test]
fn ch_6_meditation_brings_the_tokens_of_channels_back_in_the_order_of_their_numbers() {
    let script = r#"
        p1 meditate darkblue => token token=1 to=b2; token token=4 to=b3; token token=5 to=b4; meditated color=darkblue; turn_ended next=p1
        view players/0/tokens => "b2k3b1b3b4"
        view players/0/known/darkblue => 4
        view players/0/known/red => null
        # A second time, with nothing on the channels.
        p1 meditate darkblue => meditated color=darkblue; turn_ended next=p1
    "#;
    table("c5k3b1c1c8", "").check(script);
}

#[test]
fn ch_16_meditation_is_always_possible() {
    // No token is free, nothing is in the maya, nothing on the board.
    let table = Table::alone("k1k2k3k4k5", "");
    table.check("json options => {\"takes\":[],\"channels\":[],\"moves\":{}}");
    for color in ["purple", "darkblue", "blue", "green", "yellow", "orange", "red"] {
        table.check(&format!("p1 meditate {color} => meditated color={color}; turn_ended next=p1"));
    }
}
