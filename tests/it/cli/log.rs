//! `turnfold log`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

#[test]
fn entries_are_listed_with_their_outcomes() {
    duel().check(str![[r#"
$ turnfold log duel
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold log duel:1
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
$ turnfold log duel --last 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold log duel --as p1
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2
2 p1 confirm => selected unit=atlas
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
$ turnfold log duel:0

"#]]);
}

#[test]
fn json_shows_when_and_under_which_key_an_entry_was_recorded() {
    let sandbox = duel();
    sandbox.ok("play duel --once k1 confirm");
    let log = sandbox.ok("log duel --format json -n 1");
    let line: serde_json::Value = serde_json::from_str(&log).unwrap();
    assert_eq!(line["key"], "k1");
    assert!(line["recorded_at_ms"].as_i64().unwrap() > 1_600_000_000_000);
    let times = sandbox.ok("log duel --times -n 1");
    assert_eq!(times.chars().nth(10), Some(' '), "{times}");
}

#[test]
fn a_player_is_shown_no_key_of_any_entry() {
    let sandbox = duel();
    sandbox.ok("play duel --once first \"p2: click 0,0\"");
    sandbox.ok("play duel --once second \"p2: cancel\"");
    let all = sandbox.ok("log duel --format json");
    assert!(all.contains("\"first\"") && all.contains("\"second\""), "{all}");
    for seat in ["p1", "p2", "spectator"] {
        let json = sandbox.ok(&format!("log duel --format json --as {seat}"));
        assert!(json.lines().count() > 3 && json.lines().all(|line| line.contains("\"key\":null")), "{json}");
    }
}

#[test]
fn ranges_include_both_ends_and_either_may_be_left_out() {
    let sandbox = duel();
    sandbox.ok("play duel \"p2: click 0,0\" \"p2: cancel\"");
    sandbox.ok("export duel -o duel.tfl");
    let log = |range: &str| {
        let text = sandbox.ok(&format!("log {range}"));
        text.lines().map(|line| line.split(' ').next().unwrap().to_string()).collect::<Vec<_>>().join(" ")
    };
    for (range, entries) in [
        ("2..4", "2 3 4"),
        ("4..", "4 5"),
        ("..2", "1 2"),
        ("..", "1 2 3 4 5"),
        ("3..3", "3"),
        ("0..1", "1"),
        // A reader that polls for new entries asks for the entry after the last.
        ("6..", ""),
    ] {
        for source in ["duel", "duel@main", "duel.tfl"] {
            assert_eq!(log(&format!("{source}:{range}")), entries, "{source}:{range}");
        }
    }
    assert_eq!(log("duel:2..4 -n 2"), "3 4");
    sandbox.check(str![[r#"
$ turnfold log duel:7..
exit 2| error: `duel` has no entry 7; its last is 5
$ turnfold log duel:2..9
exit 2| error: `duel@main` has no entry 9: its head is 5
$ turnfold log duel:4..2
exit 2| error: invalid value 'duel:4..2' for '<REV>...': expected a range that begins before it ends, found `duel:4..2`; see `--help`
$ turnfold log duel:2..x
exit 2| error: invalid value 'duel:2..x' for '<REV>...': expected a number, found `x` in `duel:2..x`; a range is written FIRST..LAST, and either may be left out; see `--help`
$ turnfold show duel:2..3
exit 2| error: invalid value 'duel:2..3' for '<REV>...': expected a number, found `2..3` in revision `duel:2..3`, which is written MATCH[@BRANCH][:SEQ]; a replay file ends in `.tfl` or `.html`; see `--help`

"#]]);
}

#[test]
fn a_range_of_a_long_log_is_folded_from_the_nearest_snapshot_and_shows_what_the_whole_log_shows() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules hexcapture --seed 7 --steps 3000 --into random");
    let whole = sandbox.ok("log random");
    let expected: String = whole.split_inclusive('\n').skip(2099).take(11).collect();
    assert_eq!(sandbox.ok("log random:2100..2110"), expected);
    assert_eq!(sandbox.ok("log random:2100..2110"), expected);
}

#[test]
fn entries_are_found_by_seat_and_by_what_they_record() {
    duel().check(str![[r#"
$ turnfold log duel --seat p1 --as p2
2 p1 confirm => selected unit=atlas
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
$ turnfold log duel --seat host --seat p2 --as p2
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2
$ turnfold log duel --grep "^p1 .*unit=atlas" --as p1
2 p1 confirm => selected unit=atlas
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
$ turnfold log duel --grep selected -n 1 --as p1
2 p1 confirm => selected unit=atlas
$ turnfold log duel:..2 --grep move --seat p1
$ turnfold log duel --grep "("
exit 2| error: invalid value '(' for '--grep <REGEX>': found open group without closing ')'; see `--help`
$ turnfold log duel --grep "(a{1000}){1000}"
exit 2| error: invalid value '(a{1000}){1000}' for '--grep <REGEX>': compiled regex exceeded size limit; see `--help`
$ turnfold log duel --seat p17
exit 2| error: invalid value 'p17' for '--seat <SEAT>': unknown seat `p17`: seats are `p1` to `p16` and `host`; see `--help`

"#]]);
}
