//! CH-5 and CH-7 to CH-12: channels, move by move.

use super::{Table, check, told};
use turnfold_core::Seat;

fn alone(energies: &str) -> Table {
    Table::alone("b1b2b3b4b5", energies)
}

#[test]
fn ch_5_a_channel_needs_a_token_that_is_not_on_it_and_a_move() {
    Table::alone("c1k1k2k3k4", "").check("p1 channel 1 => rejected no_token");
    let script = r#"
        p1 channel 1 => rejected channel_used
        p1 channel 2 => rejected impossible
        p1 channel 8 => rejected impossible
        view channels => []
    "#;
    Table::alone("c1b1k2k3k4", "").check(script);
    let script = r#"
        view channels => [1,7]
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        view players/0/tokens => "b1b2b3b4c7"
        view channels => null
    "#;
    alone("1 red p1 1 1").check(script);
}

#[test]
fn ch_7_the_first_move_fixes_the_variant() {
    let energies = "1 red p1 2 1, 2 red p1 4 1";
    let script = r#"
        p1 channel 3 => token token=5 to=c3; channel_opened channel=3
        view possibles => {"1":{"0":4,"1":3},"2":{"0":6,"1":5}}
        view choice => null
        p1 move 1 3 => moved id=1 from=2 to=3 variant=1; step step=1
        view choice => 1
        view step => 1
        view possibles => {"2":{"1":6}}
        # The step of the other variant, and the energy that moved already.
        p1 move 2 5 => rejected not_offered
        p1 move 1 5 => rejected not_offered
        p1 move 2 6 => moved id=2 from=4 to=6 variant=1; step step=2
        view state => "confirm"
        view possibles => {}
        view already_moved => [1,2]
        view already_moved_code => 102
        p1 confirm => confirmed; turn_ended next=p1
        view channel => null
        view already_moved => []
        view already_moved_code => 0
    "#;
    alone(energies).check(script);
}

#[test]
fn ch_7_every_variant_of_every_channel_leads_to_a_confirmation() {
    let energies = "1 red p1 4 1, 2 red p1 5 1, 3 orange p1 6 1";
    let cases = [
        ("1", "move 1 7"),
        ("2", "move 1 5; move 2 6; move 3 7"),
        ("3", "move 1 6; move 2 6"),
        ("3", "move 1 5; move 2 7"),
        ("4", "move 2 3"),
        ("5", "move 2 4; move 1 3"),
        ("6", "move 2 4; move 1 5"),
        ("6", "move 1 5; move 2 4"),
        ("7", "move 1 5"),
        ("7", "move 1 3"),
    ];
    for (channel, moves) in cases {
        let mut state = alone(energies).start();
        let before = state.state_hash();
        let mut say = |command: &str| {
            let told = told(&mut *state, Seat::P1, command);
            assert!(!told.starts_with("rejected"), "channel {channel}, {moves}: `{command}` is {told}");
        };
        say(&format!("channel {channel}"));
        moves.split("; ").for_each(&mut say);
        // CH-11
        say("undo");
        assert_eq!(state.state_hash(), before, "channel {channel}, {moves}");
    }
}

#[test]
fn ch_8_a_move_that_harmonises_returns_the_token_of_the_notch() {
    let energies = "1 green p1 4 1, 2 green p1 5 1, 3 green p1 5 2, 4 red p1 7 1";
    let script = r#"
        p1 channel 6 => token token=1 to=c6; channel_opened channel=6
        p1 move 1 5 => moved id=1 from=4 to=5 variant=1; harmonised row=5; token token=2 to=b1; step step=1
        view players/0/score => 1
        # Row 5 is now passed over, and its energies stay.
        p1 move 2 4 => rejected not_offered
        view possibles => {"4":{"1":6}}
        p1 move 4 6 => moved id=4 from=7 to=6 variant=1; step step=2
        # Everything goes back: the row, the token of the notch, the score.
        p1 undo => token token=1 to=b1; undone
        view players/0/tokens => "b1k4k7c1c2"
        view players/0/rows => [[],[],[],[1],[2,3],[],[4],[],[]]
        view players/0/score => 0
    "#;
    Table::alone("b1k4k7c1c2", energies).check(script);
}

#[test]
fn ch_9_harmonised_rows_cost_nothing_and_full_ones_stop_a_move() {
    let row_6 = "10 yellow p1 6 1, 11 yellow p1 6 2, 12 yellow p1 6 3";
    // Down 1 from row 5, over harmonised row 6.
    alone(&format!("1 red p1 5 1, {row_6}")).check(
        "p1 channel 7 => token token=5 to=c7; channel_opened channel=7\nview possibles => {\"1\":{\"0\":7,\"1\":4}}",
    );
    // Down 2 from row 5: 6 is passed over, 7 entered, 8 reached.
    alone(&format!("1 red p1 5 1, 2 blue p1 1 1, {row_6}")).check(
        "p1 channel 3 => token token=5 to=c3; channel_opened channel=3\n\
         view possibles => {\"1\":{\"0\":8,\"1\":7},\"2\":{\"0\":3,\"1\":2}}",
    );
    // The same row full, but not harmonised: neither passed over nor entered.
    let full = "10 yellow p1 6 1, 11 yellow p1 6 2, 12 black p1 6 3";
    alone(&format!("1 red p1 5 1, {full}")).check(
        "p1 channel 7 => token token=5 to=c7; channel_opened channel=7\n\
         view possibles => {\"1\":{\"1\":4},\"10\":{\"0\":7,\"1\":5},\"11\":{\"0\":7,\"1\":5},\"12\":{\"0\":7,\"1\":5}}",
    );
}

#[test]
fn ch_2_ch_9_a_temporarily_harmonised_row_is_passed_over_and_may_be_left() {
    let energies = "1 red p1 5 1, 10 yellow p1 6 1, 11 white p1 6 2, 12 blue p1 6 3";
    let script = r#"
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        view possibles => {"1":{"0":7,"1":4},"10":{"0":7,"1":5},"11":{"0":7,"1":5},"12":{"0":7,"1":5}}
        view players/0/score => 0
    "#;
    alone(energies).with_white().check(script);
}

#[test]
fn ch_9_only_black_and_white_enter_the_earth_and_nothing_leaves_it() {
    let script = r#"
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        view possibles => {"1":{"0":9,"1":7},"2":{"0":9,"1":7},"3":{"1":7}}
        p1 move 4 8 => rejected not_offered
        p1 move 3 9 => rejected not_offered
        p1 move 1 9 => moved id=1 from=8 to=9 variant=0; step step=1
        view players/0/rows/8 => [1,4]
    "#;
    let energies = "1 black p1 8 1, 2 white p1 8 2, 3 red p1 8 3, 4 black p1 9 2";
    alone(energies).with_white().check(script);
}

#[test]
fn ch_9_a_full_earth_lets_nothing_in() {
    let earth: Vec<String> = (1..=8).map(|col| format!("{} black p1 9 {col}", 20 + col)).collect();
    let table = alone(&format!("1 black p1 8 1, {}", earth.join(", ")));
    table.check(
        "json possible 1 => false\njson possible 7 => true\n\
         p1 channel 7 => token token=5 to=c7; channel_opened channel=7\nview possibles => {\"1\":{\"1\":7}}",
    );
    // One place is left: it can be reached once, so channel 2 cannot be carried out by two black energies.
    let table = alone(&format!("1 black p1 8 1, 2 black p1 8 2, 3 red p1 8 3, {}", earth[..7].join(", ")));
    table.check("json possible 2 => false\njson possible 7 => true");
}

#[test]
fn ch_9_the_universe_can_be_left_but_not_entered() {
    let script = r#"
        json possible 4 => false
        p1 channel 7 => token token=5 to=c7; channel_opened channel=7
        view possibles => {"1":{"0":2},"2":{"0":3}}
        p1 move 2 1 => rejected not_offered
    "#;
    alone("1 red p1 1 1, 2 red p1 2 1").check(script);
}

#[test]
fn ch_9_only_moves_are_offered_after_which_others_can_make_the_rest() {
    // Were energy 1 to go up first, energy 2 could not go down.
    let script = r#"
        p1 channel 6 => token token=5 to=c6; channel_opened channel=6
        view possibles => {"1":{"1":8},"2":{"0":7}}
        p1 move 1 6 => rejected not_offered
    "#;
    alone("1 red p1 7 1, 2 blue p1 8 1").check(script);
    // Who moves first is used up, so one energy makes no two steps.
    let script = r#"
        json possible 5 => false
        json possible 6 => false
        json possible 4 => true
    "#;
    alone("1 red p1 8 1").check(script);
    // Three steps down by three energies: two are not enough.
    alone("1 red p1 1 1, 2 red p1 1 2").check("json possible 2 => false\njson possible 3 => true");
}

#[test]
fn ch_9_with_every_row_harmonised_no_channel_can_be_carried_out() {
    let colors = ["purple", "darkblue", "blue", "green", "yellow", "orange", "red"];
    let rows = colors.iter().zip(2..);
    let energies = rows.flat_map(|(color, row): (_, u16)| {
        (1..=3).map(move |col| format!("{} {color} p1 {row} {col}", row * 10 + col))
    });
    let energies: Vec<String> = energies.collect();
    let script = (1..=8).map(|channel| format!("p1 channel {channel} => rejected impossible\n"));
    alone(&energies.join(", ")).check(&script.collect::<String>());
}

#[test]
fn ch_11_there_is_no_way_back_midway() {
    let script = r#"
        p1 confirm => rejected wrong_phase
        p1 undo => rejected wrong_phase
        p1 cancel => rejected wrong_phase
        p1 channel 2 => token token=5 to=c2; channel_opened channel=2
        p1 undo => rejected wrong_phase
        p1 confirm => rejected wrong_phase
        p1 move 1 2 => moved id=1 from=1 to=2 variant=0; step step=1
        p1 cancel => rejected wrong_phase
        p1 undo => rejected wrong_phase
        p1 confirm => rejected wrong_phase
        p1 move 2 2 => moved id=2 from=1 to=2 variant=0; step step=2
        p1 move 3 2 => moved id=3 from=1 to=2 variant=0; step step=3
        p1 cancel => rejected wrong_phase
        p1 move 1 3 => rejected wrong_phase
        p1 undo => token token=5 to=b5; undone
        p1 undo => rejected wrong_phase
    "#;
    alone("1 red p1 1 1, 2 red p1 1 2, 3 blue p1 1 3").check(script);
}

#[test]
fn ch_11_cancel_returns_the_token_to_its_place() {
    for (channel, energies) in [(7, "1 red p1 1 1"), (8, "1 black p1 9 1, 2 black bag")] {
        let mut state = Table::alone("b1b2k1c1b3", energies).start();
        let before = state.state_hash();
        let script = format!(
            "p1 channel {channel} => token token=5 to=c{channel}; channel_opened channel={channel}\n\
             p1 cancel => token token=5 to=b3; cancelled"
        );
        check(&mut *state, &script);
        assert_eq!(state.state_hash(), before);
    }
}

#[test]
fn ch_12_channel_8_gives_a_black_energy_for_one_of_the_bag() {
    let energies = "1 black p1 9 1, 2 black p1 9 4, 3 white p1 9 6, 4 red p1 2 1, 5 red p1 2 2, 6 red p1 3 1, \
                    22 green bag, 20 green bag, 21 black bag, 23 red bag";
    let script = r#"
        p1 pick green => rejected wrong_phase
        p1 channel 8 => token token=5 to=c8; channel_opened channel=8
        view state => "pick_color"
        view channel => 8
        view choice => null
        view possibles => {}
        p1 move 4 3 => rejected wrong_phase
        p1 confirm => rejected wrong_phase
        # Three reds are held, and no blue is in the bag.
        p1 pick red => rejected not_offered
        p1 pick blue => rejected not_offered
        # The black in the highest column leaves, though a white stands further on.
        p1 pick green => left_the_game id=2; picked color=green id=20; turn_ended next=p1
        view players/0/rows/0 => [20]
        view players/0/rows/8 => [1,0,0,0,0,3]
        view out => [2]
        view players/0/tokens => "b1b2b3b4c8"
    "#;
    alone(energies).with_white().check(script);
}

#[test]
fn ch_12_channel_8_needs_a_black_in_the_earth_room_in_the_universe_and_a_colour() {
    let cases = [
        ("1 black p1 9 1, 2 green bag", "true"),
        ("1 black p1 8 1, 2 green bag", "false"),
        ("1 white p1 9 1, 2 green bag", "false"),
        ("1 black p1 9 1", "false"),
        ("1 black p1 9 1, 2 green bag, 3 red p1 1 1, 4 red p1 1 2, 5 red p1 1 3", "false"),
        ("1 black p1 9 1, 2 red bag, 3 red p1 1 1, 4 red p1 1 2, 5 red p1 2 3", "false"),
        // Black may be picked however many are held, white as the other colours.
        ("1 black p1 9 1, 2 black bag, 3 black p1 9 2, 4 black p1 9 3, 5 black p1 1 1", "true"),
        ("1 black p1 9 1, 2 white bag, 3 white p1 9 2, 4 white p1 9 3", "true"),
        ("1 black p1 9 1, 2 white bag, 3 white p1 9 2, 4 white p1 9 3, 5 white p1 1 1", "false"),
    ];
    for (energies, possible) in cases {
        alone(energies).with_white().check(&format!("json possible 8 => {possible}"));
    }
}
