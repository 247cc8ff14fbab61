//! `turnfold matches`.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn a_long_list_is_read_page_by_page() {
    let sandbox = Sandbox::new();
    for name in ["a", "b-long-name", "c", "d"] {
        sandbox.ok(&format!("new {name} --rules initiative --setup fixtures/initiative/no-units.toml"));
    }
    sandbox.check(str![[r#"
$ turnfold matches
a            initiative  0 entries, 1 branch  [TIME]
b-long-name  initiative  0 entries, 1 branch  [TIME]
c            initiative  0 entries, 1 branch  [TIME]
d            initiative  0 entries, 1 branch  [TIME]
$ turnfold matches --limit 2
a            initiative  0 entries, 1 branch  [TIME]
b-long-name  initiative  0 entries, 1 branch  [TIME]
$ turnfold matches --after b-long-name --limit 1
c  initiative  0 entries, 1 branch  [TIME]
$ turnfold matches --after bb
c  initiative  0 entries, 1 branch  [TIME]
d  initiative  0 entries, 1 branch  [TIME]
$ turnfold matches --after d
$ turnfold matches --limit 0
$ turnfold matches --after Not-A-Name
exit 2| error: invalid value 'Not-A-Name' for '--after <MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Not-A-Name`; see `--help`
$ turnfold matches --limit many
exit 2| error: invalid value 'many' for '--limit <N>': invalid digit found in string; see `--help`

"#]]);
    let json = sandbox.ok("--format json matches --after c");
    assert!(json.starts_with(r#"{"match":"d","ruleset":"initiative","version":1,"entries":0,"#), "{json}");
    assert_eq!(json.lines().count(), 1);
}

/// Returns a store with matches at three stages: a roll is due, `p2` is to move, and the match is over.
fn stages() -> Sandbox {
    let sandbox = super::duel();
    sandbox.ok("new due --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 5000 --into ended");
    sandbox
}

#[test]
fn a_long_list_shows_whose_turn_it_is_and_what_is_over() {
    stages().check(str![[r#"
$ turnfold matches --long
due    initiative  0 entries, 1 branch  [TIME]  turn 1 of host
duel   initiative  3 entries, 1 branch  [TIME]  turn 1 of p2
ended  lifecycle  53 entries, 1 branch  [TIME]  over: p1 won  random play, seed 1
$ turnfold matches --mine p2
duel  initiative  3 entries, 1 branch  [TIME]  turn 1 of p2
$ turnfold matches --mine host
due  initiative  0 entries, 1 branch  [TIME]  turn 1 of host
$ turnfold matches --mine p3
$ turnfold matches --mine p2 --limit 1 --after due
duel  initiative  3 entries, 1 branch  [TIME]  turn 1 of p2
$ turnfold matches --mine nobody
exit 2| error: invalid value 'nobody' for '--mine <SEAT>': unknown seat `nobody`: seats are `p1` to `p16` and `host`; see `--help`

"#]]);
}

#[test]
fn the_last_activity_is_that_of_any_branch() {
    let sandbox = super::duel();
    let matches = || -> serde_json::Value {
        serde_json::from_str(&sandbox.ok("matches --format json --long")).unwrap()
    };
    let last = |line: &str| -> serde_json::Value {
        let log = sandbox.ok(&format!("log {line} -n 1 --format json"));
        serde_json::from_str::<serde_json::Value>(&log).unwrap()["recorded_at_ms"].clone()
    };
    assert_eq!(matches()["active_at_ms"], last("duel"));
    assert_eq!(matches()["turn"], serde_json::json!(["p2"]));
    assert_eq!(matches()["over"], false);
    sandbox.ok("branch duel flank");
    sandbox.ok("play duel@flank \"p2: cycle\"");
    assert_eq!(matches()["active_at_ms"], last("duel@flank"));
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    let other: serde_json::Value =
        serde_json::from_str(&sandbox.ok("matches --format json --after duel")).unwrap();
    assert_eq!(other["active_at_ms"], other["created_at_ms"]);
    assert_eq!(other.get("turn"), None);
}
