//! Recordings: matches of a game without its rules (RF-18, RF-18a).

use snapbox::str;
use turnfold_tests::sandbox::Sandbox;

const DUEL: &str = r#"{"game":"charge","players":["ann","bob"],"secrets":"none","ignore":["/clock"],"title":"a duel","state":{"clock":1,"turn":"ann","units":[{"name":"ann","hp":4,"charge":0},{"name":"bob","hp":4,"charge":0}]}}
{"seat":"ann","command":"charge","effects":[{"effect":"charged","unit":"ann"}],"state":{"clock":2,"turn":"bob","units":[{"name":"ann","hp":4,"charge":1},{"name":"bob","hp":4,"charge":0}]},"at_ms":1764211200123}

{"seat":"p2","command":"say \"a => b\" # c","state":{"clock":3,"turn":"bob","units":[{"name":"ann","hp":4,"charge":1},{"name":"bob","hp":4,"charge":0}]},"took_ms":17}
{"command":"","state":{"clock":3,"turn":"ann","units":[{"name":"ann","hp":4,"charge":1},{"name":"bob","hp":3,"charge":0}]}}
{"seats":["ann","bob"],"command":"agree","status":{"active":["ann"],"turn":2}}
{"branch":"other","after":3,"seat":"ann","command":"strike bob","state":{"turn":"bob"}}
{"status":{"over":true,"result":{"winners":["ann"],"scores":{"ann":3,"bob":1},"reason":"resigned"}}}
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("duel.jsonl", DUEL);
    // Another run of the same game: its clock differs, and so do bob's points after the strike.
    sandbox.write("again.jsonl", DUEL.replace("\"clock\":3", "\"clock\":9").replace("\"hp\":3", "\"hp\":2"));
    sandbox
}

/// RF-18: everything that needs no rules works on a recording.
#[test]
fn rf_18_a_recording_is_shown_compared_and_searched() {
    sandbox().check(str![[r#"
$ turnfold import --recording duel.jsonl again.jsonl
imported match duel from `duel.jsonl`: 6 entries #0a09b22b8d0da3a6
imported match again from `again.jsonl`: 6 entries #f1a7e4b19598918e
$ turnfold log duel
1 host (set) => applied #dd2c0005cf122279
2 p1 charge => charged unit=ann #a70d6fd3d995e8e6
3 p2 "say \"a => b\" # c" => applied #6bf8ce1d44ff64db
4 host (set) => applied #0a09b22b8d0da3a6
5 host p1+p2 agree => applied #0a09b22b8d0da3a6
6 host (end) => applied #0a09b22b8d0da3a6
$ turnfold show duel
clock: 3
turn: "ann"
units:
  name ann, hp 4, charge 1
  name bob, hp 3, charge 0

p1 won: p1 3, p2 1 (resigned)
$ turnfold show duel:2
clock: 2
turn: "bob"
units:
  name ann, hp 4, charge 1
  name bob, hp 4, charge 0
$ turnfold show duel@other
turn: "bob"
$ turnfold diff duel again
both play the same 6 commands
the states part at entry 4
  /units/1/hp 3 → 2
state, duel → again
  /units/1/hp 3 → 2
exit 1
$ turnfold diff duel again --ignore "/units/*/hp"
duel and again are equal: 6 entries
$ turnfold bisect duel --when "/units/1/hp < 4"
entry 4 makes `/units/1/hp < 4` true (4 steps)
4 host (set) => applied #0a09b22b8d0da3a6
  /turn "bob" → "ann"
  /units/1/hp 4 → 3
$ turnfold blame duel /units/1/hp
/units/1/hp 4 → 3
  4 host (set) => applied #0a09b22b8d0da3a6
$ turnfold find duel --command charge
duel:2 p1 charge => charged unit=ann
$ turnfold verify
ok again@main: 6 entries state f1a7e4b19598918e link [LINK]
ok again@other: 4 entries state 582cd1368ef2ebb4 link [LINK]
ok duel@main: 6 entries state 0a09b22b8d0da3a6 link [LINK]
ok duel@other: 4 entries state 582cd1368ef2ebb4 link [LINK]
$ turnfold export duel -o duel.tfl
exported duel to `duel.tfl`: 6 entries
$ turnfold check duel.tfl
ok duel.tfl 6 entries
1 passed, 0 failed (6 entries)
$ turnfold import duel.tfl --name third
imported match third from `duel.tfl`: 6 entries #0a09b22b8d0da3a6
its id, times and links are new, because a replay file does not record them
$ turnfold diff duel third
duel and third are equal: 6 entries #0a09b22b8d0da3a6
$ turnfold bundle duel -o duel.bundle
bundled 1 match to `duel.bundle`: 2 branches, 8 records, 0 checkpoints
$ turnfold audit duel.bundle
bytes        PASS        8 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        NOT CHECKED duel: recorded, no rules; 1 more like it
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, rules, authorship

"#]]);
}

/// RF-18: verbs that need rules refuse in one line.
#[test]
fn rf_18_a_recording_has_no_rules() {
    let sandbox = sandbox();
    sandbox.ok("import --recording duel.jsonl");
    sandbox.check(str![[r#"
$ turnfold play duel "ann: charge"
exit 1| error: a recording has no rules: it can be shown, compared and searched, not played
$ turnfold legal duel
exit 2| error: nothing lists legal commands here; a referee offers `legal`, a recording has no rules; see `turnfold help referees`
$ turnfold amend duel:2 --drop -o new.tfl
exit 1| error: a recording has no rules: it can be shown, compared and searched, not played
$ turnfold shrink duel --when "/units/1/hp < 4"
exit 1| error: a recording has no rules: it can be shown, compared and searched, not played
$ turnfold new other --rules recorded
exit 1| error: a recording has no rules: it can be shown, compared and searched, not played
$ turnfold simulate --rules recorded --seed 1 --steps 3
exit 1| error: a recording has no rules: it can be shown, compared and searched, not played

"#]]);
}

/// RF-13, RF-18: everything is concealed unless the first line opens the recording.
#[test]
fn rf_18_secrets_of_a_recording_are_closed() {
    let sandbox = sandbox();
    sandbox.write(
        "closed.jsonl",
        DUEL.replace(",\"secrets\":\"none\"", "")
            .replace("\"command\":\"charge\"", "\"command\":\"charge\",\"to\":[\"bob\"]"),
    );
    sandbox.ok("import --recording closed.jsonl");
    sandbox.check(str![[r#"
$ turnfold log closed --as p1
1 p1 charge => charged unit=ann
$ turnfold log closed --as p2
1 p1 charge => applied
2 p2 "say \"a => b\" # c" => applied
$ turnfold show closed --as p2
the game does not define what p2 may see; the recording would say `"secrets":"none"`
$ turnfold export closed --as p2 -o p2.tfl
exit 2| error: `closed`: without what p2 may not know, `recorded` shows p2 something else
$ turnfold bundle closed --as p1 -o p1.bundle
exit 2| error: stored setup: it is not known what a seat may know of a setup of `recorded`; its matches are shown as a whole to the host alone

"#]]);
}

/// RF-13: a shown move contains the whole state, and no verb prints that to a seat.
#[test]
fn rf_13_a_shown_move_of_a_recording_brings_no_state_with_it() {
    let seen = |secret: &str| {
        let sandbox = Sandbox::new();
        let first = r#"{"game":"x","players":["ann","bob"]}"#;
        let state = format!(r#"{{"hand":"{secret}"}}"#);
        let line = format!(r#"{{"seat":"ann","command":"draw","to":"all","state":{state}}}"#);
        sandbox.write("duel.jsonl", format!("{first}\n{line}\n"));
        sandbox.ok("import --recording duel.jsonl");
        let mut seen = Vec::new();
        for seat in ["p1", "p2", "spectator"] {
            for verb in [
                "log duel",
                "show duel",
                "find duel --command draw",
                "export duel --html",
                "replay duel --to 1",
            ] {
                let output = sandbox.run(&format!("{verb} --as {seat}"));
                seen.push((
                    seat,
                    verb,
                    String::from_utf8(output.stdout).unwrap(),
                    String::from_utf8(output.stderr).unwrap(),
                ));
            }
            let page = &seen[seen.len() - 2];
            assert!(page.2.contains("draw"), "{page:?}");
        }
        seen
    };
    let (one, other) = (seen("ace"), seen("a much longer hand"));
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
}

/// RF-18: in an open recording `to` is an ordinary field of an effect.
#[test]
fn rf_18_effects_of_an_open_recording_may_go_somewhere() {
    let sandbox = Sandbox::new();
    let first = r#"{"game":"x","players":["ann","bob"],"secrets":"none"}"#;
    let line = r#"{"seat":"ann","command":"e4","effects":[{"effect":"moved","to":"e4"}],"state":{}}"#;
    sandbox.write("duel.jsonl", format!("{first}\n{line}\n"));
    sandbox.write("wrong.jsonl", r#"{"game":"x","players":["ann"],"status":{"over":true}}"#);
    sandbox.check(str![[r#"
$ turnfold import --recording duel.jsonl
imported match duel from `duel.jsonl`: 1 entry #b25c7432e22c609b
no end recorded
$ turnfold import --recording duel.jsonl
exit 2| error: match `duel` already exists; choose another name
$ turnfold log duel
1 p1 e4 => moved to=e4 #b25c7432e22c609b
$ turnfold import --recording wrong.jsonl
exit 2| error: wrong.jsonl:1: a `status` in the first line needs a `state`; nothing was imported

"#]]);
}

/// RF-18a: a wrong line is named, and nothing is imported.
#[test]
fn rf_18a_a_wrong_line_is_named_and_nothing_is_stored() {
    let sandbox = sandbox();
    let first = r#"{"game":"x","players":["ann","ann"],"drop":["/log"]}"#;
    for (name, line) in [
        ("json", "{"),
        ("field", r#"{"comand":"x"}"#),
        ("seat", r#"{"seat":"cid"}"#),
        ("names", r#"{"seat":"ann"}"#),
        ("third", r#"{"seat":"p3"}"#),
        ("effect", r#"{"effects":[{"name":"x"}]}"#),
        ("branch", r#"{"branch":"b"}"#),
        ("after", r#"{"branch":"b","after":9}"#),
        ("twice", r#"{"state":{"a":1,"a":2}}"#),
        ("large", &format!(r#"{{"state":{{"a":"{}"}}}}"#, "x".repeat(1 << 20))),
    ] {
        sandbox.write(&format!("{name}.jsonl"), format!("{first}\n{line}\n"));
    }
    sandbox
        .write("dropped.jsonl", format!("{first}\n{{\"state\":{{\"log\":\"{}\"}}}}\n", "x".repeat(1 << 20)));
    sandbox.write("headless.jsonl", "{\"command\":\"x\"}\n");
    sandbox.write(
        "two.jsonl",
        format!("{first}\n{{\"seat\":\"p2\",\"command\":\"x\"}}\n{first}\n{{\"command\":\"y\"}}\n"),
    );
    sandbox.check(str![[r#"
$ turnfold import --recording json.jsonl
exit 2| error: json.jsonl:2: EOF while parsing an object at line 1 column 1; nothing was imported
$ turnfold import --recording field.jsonl
exit 2| error: field.jsonl:2: unknown field `comand`, expected seat, seats, command, effects, texts, to, state, status, branch, after, took_ms, at_ms; nothing was imported
$ turnfold import --recording seat.jsonl
exit 2| error: seat.jsonl:2: "cid" is no player; the first line names them; nothing was imported
$ turnfold import --recording names.jsonl
exit 2| error: names.jsonl:2: two players are called "ann"; write `p1` and `p2`; nothing was imported
$ turnfold import --recording third.jsonl
exit 2| error: third.jsonl:2: the match has no p3; nothing was imported
$ turnfold import --recording effect.jsonl
exit 2| error: effect.jsonl:2: an effect has no name in its field `effect`; nothing was imported
$ turnfold import --recording branch.jsonl
exit 2| error: branch.jsonl:2: `b` is a new branch; `after` says after which entry it begins; nothing was imported
$ turnfold import --recording after.jsonl
exit 2| error: after.jsonl:2: there is no entry 9 to branch from; nothing was imported
$ turnfold import --recording twice.jsonl
exit 2| error: twice.jsonl:2: a key that is there twice at /state/a; nothing was imported
$ turnfold import --recording large.jsonl
exit 2| error: large.jsonl:2: it takes 1048600 bytes, and an entry at most 64 KiB; leave fields of the state out with `"drop":["/log"]` in the first line; nothing was imported
$ turnfold import --recording headless.jsonl
exit 2| error: headless.jsonl:1: the first line names the game: {"game":"…","players":["ann","bob"],"state":{…}}; nothing was imported
$ turnfold import --recording dropped.jsonl
imported match dropped from `dropped.jsonl`: 1 entry #b25c7432e22c609b
no end recorded
$ turnfold import --recording two.jsonl
imported match two from `two.jsonl`: 1 entry #b25c7432e22c609b
no end recorded
imported match two-2 from `two.jsonl`: 1 entry #b25c7432e22c609b
no end recorded
$ turnfold matches
dropped  recorded  1 entry, 1 branch  [TIME]
two      recorded  1 entry, 1 branch  [TIME]
two-2    recorded  1 entry, 1 branch  [TIME]

"#]]);
}
