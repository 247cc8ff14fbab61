//! CH-13 to CH-15: the end of a turn, the last round and the final score.

use turnfold_core::Seat;

use super::Table;

/// Harmonised rows of a player, given by colour, with ids from `first`.
fn harmonised(player: &str, first: u16, colors: &[(&str, u16)]) -> String {
    let energies = colors.iter().zip((first..).step_by(3)).flat_map(|((color, row), id)| {
        (0..3).map(move |place| format!("{} {color} {player} {row} {}", id + place, place + 1))
    });
    energies.collect::<Vec<_>>().join(", ")
}

const FIVE: [(&str, u16); 5] = [("purple", 2), ("darkblue", 3), ("blue", 4), ("green", 5), ("red", 8)];

#[test]
fn ch_13_a_white_and_a_black_in_a_row_leave_for_half_a_yin_yang() {
    // In row 4 the lower black; row 6 has two whites; rows 1 and 9 do not count; p2's row is not p1's turn.
    let energies = "1 black p1 4 1, 2 white p1 4 2, 3 black p1 4 3, 5 white p1 6 1, 6 black p1 6 2, 4 white p1 6 3, \
                    10 white p1 1 1, 11 black p1 1 2, 12 white p1 9 1, 13 black p1 9 2, 14 white p2 2 1, \
                    15 black p2 2 2";
    let table =
        Table::default().with_white().board("b1b2b3b4b5", "yinyang_halves = 2").board("b1b2b3b4b5", "");
    let script = r#"
        p1 meditate red => meditated color=red; yinyang row=4 halves=3; left_the_game id=2; left_the_game id=1; yinyang row=6 halves=4; left_the_game id=4; left_the_game id=6; turn_ended next=p2
        view out => [1,2,4,6]
        view players/0/rows => [[10,11],[],[],[0,0,3],[],[5],[],[],[12,13]]
        view players/0/yinyang_halves => 4
        view players/1/rows/1 => [14,15]
        p2 meditate red => meditated color=red; yinyang row=2 halves=1; left_the_game id=14; left_the_game id=15; turn_ended next=p1
    "#;
    table.energies(energies).check(script);
}

#[test]
fn ch_14_the_round_is_played_to_its_end() {
    let table = Table::default().board("b1b2b3b4b5", "").board("b1b2b3b4b5", "").board("b1b2b3b4b5", "");
    let mut table = table.energies(&harmonised("p1", 1, &FIVE));
    table.active = Some(Seat::P2);
    let script = r#"
        view last_round => false
        p2 meditate red => meditated color=red; last_round; turn_ended next=p3
        view last_round => true
        view winners => null
        p3 meditate red => meditated color=red; turn_ended next=none; match_over winners=p1
        view state => "over"
        view active => null
        view last_round => true
        view channels => null
        p1 meditate red => rejected match_over
    "#;
    table.check(script);
}

#[test]
fn ch_14_the_last_seat_may_bring_the_last_round_and_end_it() {
    let four = harmonised("p1", 1, &FIVE[..4]);
    let table = Table::alone("b1b2b3b4b5", &format!("{four}, 30 red p1 8 1, 31 red p1 8 2, 32 red maya 1 1"));
    let script = r"
        p1 take 8 32 => taken row=8 ids=32; token token=5 to=k7; harmonised row=8; token token=5 to=b5; last_round; turn_ended next=none; match_over winners=p1
    ";
    table.check(script);
}

#[test]
fn ch_15_the_final_score_adds_plenitude_blacks_alignment_and_yin_yang() {
    // Plenitude: purple 1, darkblue 4, blue 2, green 3, yellow 1, orange 2, red 3.
    let p1 = harmonised("p1", 1, &FIVE);
    let p2 = harmonised("p2", 20, &[("red", 8), ("yellow", 6)]);
    let p3 = harmonised("p3", 30, &[("orange", 7), ("yellow", 6)]);
    let table = Table::default()
        .with_white()
        .board("b1b2b3b4b5", "yinyang_halves = 3")
        .board("b1b2b3b4b5", "yinyang_halves = 19")
        .board("b1b2b3b4b5", "")
        .energies(&[p1, p2, p3].join(", "))
        .energies("40 black p1 9 1, 41 white p1 9 2, 42 black p1 1 1, 43 black p2 9 8, 44 black p3 9 1");
    let script = r#"
        view players/0/score => 5
        view players/1/score => 2
        view players/2/score => 2
        view plenitude => null
        p1 meditate red => meditated color=red; last_round; turn_ended next=p2
        p2 meditate red => meditated color=red; turn_ended next=p3
        p3 meditate red => meditated color=red; turn_ended next=none; match_over winners=p2
        # 13 for the rows, 1 black, 2 for one row from row 8 up, 4 for three halves
        view players/0/score => 20
        # 4, 1 black, 2 for one row from row 8 up, 28 for nineteen halves
        view players/1/score => 35
        # 3 and 1 black; the run does not begin at row 8
        view players/2/score => 4
        view winners => ["p2"]
        view plenitude => {"purple":1,"darkblue":4,"blue":2,"green":3,"yellow":1,"orange":2,"red":3}
        view players/2/known => {"purple":1,"darkblue":4,"blue":2,"green":3,"yellow":1,"orange":2,"red":3}
    "#;
    table.check(script);
}

#[test]
fn ch_15_the_longest_run_from_row_8_takes_the_bonus() {
    let p1 = harmonised("p1", 1, &[("red", 8), ("purple", 2), ("darkblue", 3), ("blue", 4), ("green", 5)]);
    let p2 = harmonised("p2", 20, &[("red", 8), ("orange", 7)]);
    let table =
        Table::default().board("b1b2b3b4b5", "").board("b1b2b3b4b5", "").energies(&[p1, p2].join(", "));
    let script = r"
        p1 meditate red => meditated color=red; last_round; turn_ended next=p2
        p2 meditate red => meditated color=red; turn_ended next=none; match_over winners=p1
        view players/0/score => 13
        view players/1/score => 7
    ";
    table.check(script);
}

#[test]
fn ch_15_equal_scores_share_the_win_and_a_run_of_none_is_no_run() {
    let rows = [("purple", 2), ("darkblue", 3), ("blue", 4), ("green", 5), ("yellow", 6)];
    let table = Table::default()
        .board("b1b2b3b4b5", "")
        .board("b1b2b3b4b5", "")
        .energies(&[harmonised("p1", 1, &rows), harmonised("p2", 20, &rows)].join(", "));
    let script = r"
        p1 meditate red => meditated color=red; last_round; turn_ended next=p2
        p2 meditate red => meditated color=red; turn_ended next=none; match_over winners=p1|p2
        view players/0/score => 11
        view players/1/score => 11
    ";
    table.check(script);
}
