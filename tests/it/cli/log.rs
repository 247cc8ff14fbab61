//! `turnfold log`.

use snapbox::str;

use super::{check, duel};

#[test]
fn entries_are_listed_with_their_outcomes() {
    check(
        &duel(),
        "log duel
         log duel:1
         log duel --last 1
         log duel --as p1
         log duel:0",
        str![[r#"
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

"#]],
    );
}

#[test]
fn json_tells_when_and_under_which_key_an_entry_was_recorded() {
    let sandbox = duel();
    sandbox.ok("play duel --key k1 confirm");
    let log = sandbox.ok("log duel --format json -n 1");
    let line: serde_json::Value = serde_json::from_str(&log).unwrap();
    assert_eq!(line["key"], "k1");
    assert!(line["recorded_at_ms"].as_i64().unwrap() > 1_600_000_000_000);
    let times = sandbox.ok("log duel --times -n 1");
    assert_eq!(times.chars().nth(10), Some(' '), "{times}");
}
