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
        str![[""]],
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
