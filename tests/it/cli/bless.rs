//! `turnfold bless`.

use snapbox::{assert_data_eq, str};
use turnfold_history::tfl;

use turnfold_tests::sandbox::Sandbox;

const SCRIPT: &str = "turnfold replay 2
+++
ruleset = \"initiative\"
version = 1
dice = \"recorded\"
title = \"A bug report\"
[setup]
radius = 1
+++
# The roll that started it.
1 host roll 1 1 2 2

! p1 cycle
2 host next-turn
";

#[test]
fn outcomes_are_filled_in_and_comments_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("bug.tfl", SCRIPT);
    sandbox.check(str![[r#"
$ turnfold check bug.tfl
bug.tfl:11: entry 1 (host roll 1 1 2 2): the outcome is missing
to fill it in: turnfold bless bug.tfl
0 passed, 1 failed (2 entries)
exit 1
$ turnfold bless --check bug.tfl
bug.tfl:11: entry 1 (host roll 1 1 2 2)
+ rolled p1=2 p2=4
+ initiative p1=2 p2=4 loser=p1 winner=p2
+ movement_order impulses=
+ flash text="Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first"
+ movement_complete
+ #f4cff325fe92f4c2
bug.tfl:13: attempt (p1 cycle)
+ rejected wrong_phase
bug.tfl:14: entry 2 (host next-turn)
+ turn_started turn=2
+ #2df496a842a9e500
bug.tfl:15: closing line
+ = 2 state 2df496a842a9e50086d9a4e0cfec8d96f37fe00abfbc2e14131f9681a4c9cc2f log 590a7bc389c8d7df4491efea73c5ac3279d306836e675d23fc5413d1f98ba5c8 header 1796af28e5e5d29c6a9babeee4d82241
would bless bug.tfl
exit 1
$ turnfold bless bug.tfl
bug.tfl:11: entry 1 (host roll 1 1 2 2)
...
exit 1| error: 1 file would change; `--accept` writes them
$ turnfold check --quiet bug.tfl
bug.tfl:11: entry 1 (host roll 1 1 2 2): the outcome is missing
to fill it in: turnfold bless bug.tfl
0 passed, 1 failed (2 entries)
exit 1
$ turnfold bless --accept bug.tfl
blessed bug.tfl
$ turnfold bless bug.tfl
unchanged bug.tfl
$ turnfold bless --check bug.tfl
unchanged bug.tfl
$ turnfold check bug.tfl
ok bug.tfl 2 entries
1 passed, 0 failed (2 entries)

"#]]);
    assert_data_eq!(
        sandbox.read("bug.tfl"),
        str![[r#"
turnfold replay 2
+++
ruleset = "initiative"
version = 1
dice = "recorded"
title = "A bug report"
[setup]
radius = 1
+++
# The roll that started it.
1 host roll 1 1 2 2 => rolled p1=2 p2=4; initiative p1=2 p2=4 loser=p1 winner=p2; movement_order impulses=; flash text="Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first"; movement_complete #f4cff325fe92f4c2

! p1 cycle => rejected wrong_phase
2 host next-turn => turn_started turn=2 #2df496a842a9e500
= 2 state 2df496a842a9e50086d9a4e0cfec8d96f37fe00abfbc2e14131f9681a4c9cc2f log 590a7bc389c8d7df4491efea73c5ac3279d306836e675d23fc5413d1f98ba5c8 header 1796af28e5e5d29c6a9babeee4d82241

"#]]
    );
}

/// Returns a golden log as a build with other rules would have blessed it: from entry 2 on, its hashes are of other
/// states.
fn of_other_rules(sandbox: &Sandbox) -> String {
    sandbox.write("bug.tfl", SCRIPT.to_owned() + "3 host roll 1 1 2 2\n4 host next-turn\n");
    sandbox.ok("bless --accept bug.tfl");
    let blessed = sandbox.read("bug.tfl");
    let header = tfl::read("bug.tfl", blessed.as_bytes(), &turnfold_games::standard()).unwrap().header;
    let mut entries = blake3::Hasher::new();
    entries.update(header.canonical().as_bytes());
    let mut altered = String::new();
    for line in blessed.lines() {
        let mut line = line.to_owned();
        if line.starts_with(|digit: char| digit.is_ascii_digit()) {
            if !line.starts_with('1') {
                line.replace_range(line.len() - 16.., "0123456789abcdef");
            }
            entries.update(format!("{line}\n").as_bytes());
        }
        if let Some((state, _)) = line.rsplit_once(" log ").filter(|_| line.starts_with('=')) {
            line = format!("{state} log {} header {}", entries.finalize(), header.mark());
        }
        altered += &(line + "\n");
    }
    altered
}

#[test]
fn other_states_under_the_same_version_are_a_rules_change() {
    let sandbox = Sandbox::new();
    let altered = of_other_rules(&sandbox);
    sandbox.write("altered.tfl", &altered);
    sandbox.write("edited.tfl", altered.replace("1 host roll 1 1 2 2", "1 host roll 1 1 2 3"));
    sandbox.check(str![[r#"
$ turnfold bless altered.tfl
altered.tfl:14: entries 2 to 4: only the state hashes change
altered.tfl:17: closing line
- = 4 state 67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498 log dcca7bc207536a5e7a220b54ecb1d554e9dfda875e9fcbb99506ab68f15d9067 header 1796af28e5e5d29c6a9babeee4d82241
+ = 4 state 67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498 log c0d1ab055dcef50f3a33e81cd5b8f7fae206e3c86607ef334bdd3086b1434be4 header 1796af28e5e5d29c6a9babeee4d82241
rules change? altered.tfl: from entry 2 on, state hashes differ from those recorded, under the same version 1 of `initiative`: that is a rules change; raise the ruleset's VERSION
would bless altered.tfl
exit 1| error: 1 file would change; `--accept` writes them
$ turnfold bless --check edited.tfl
edited.tfl:11: entry 1 (host roll 1 1 2 3)
- rolled p1=2 p2=4
- initiative p1=2 p2=4 loser=p1 winner=p2
+ rolled p1=2 p2=5
+ initiative p1=2 p2=5 loser=p1 winner=p2
  movement_order impulses=
- flash text="Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first"
+ flash text="Initiative: P1 rolled 2, P2 rolled 5 — P1 moves first"
  movement_complete
- #f4cff325fe92f4c2
+ #a0ed4d9747fe686b
edited.tfl:14: entries 2 to 4: only the state hashes change
edited.tfl:17: closing line
- = 4 state 67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498 log dcca7bc207536a5e7a220b54ecb1d554e9dfda875e9fcbb99506ab68f15d9067 header 1796af28e5e5d29c6a9babeee4d82241
+ = 4 state 67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498 log 1c0094910c4f0a0c1a2b7811e908963d6923597966d5a19f146f4a8f5c88f2e8 header 1796af28e5e5d29c6a9babeee4d82241
rules change? edited.tfl: from entry 1 on, state hashes differ from those recorded, under the same version 1 of `initiative`: unless that comes from editing the file, it is a rules change; raise the ruleset's VERSION
would bless edited.tfl
exit 1
$ turnfold --format json bless --check altered.tfl
{"file":"altered.tfl","changed":true,"written":false,"error":null,"rules_change":{"from_entry":2,"edited":false,"ruleset":"initiative","version":1},"changes":[{"line":14,"seq":2,"seat":"host","command":"next-turn","written_as":null,"outcome":{"old":"turn_started turn=2","new":"turn_started turn=2"},"state_hash":{"old":"0123456789abcdef","new":"2df496a842a9e500"}},{"line":15,"seq":3,"seat":"host","command":"roll 1 1 2 2","written_as":null,"outcome":{"old":"rolled p1=2 p2=4; initiative p1=2 p2=4 loser=p1 winner=p2; movement_order impulses=; flash text=\"Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first\"; movement_complete","new":"rolled p1=2 p2=4; initiative p1=2 p2=4 loser=p1 winner=p2; movement_order impulses=; flash text=\"Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first\"; movement_complete"},"state_hash":{"old":"0123456789abcdef","new":"f0da8fb1918e1382"}},{"line":16,"seq":4,"seat":"host","command":"next-turn","written_as":null,"outcome":{"old":"turn_started turn=3","new":"turn_started turn=3"},"state_hash":{"old":"0123456789abcdef","new":"67fc3e75a8adb9c5"}},{"line":17,"seq":null,"seat":null,"command":null,"written_as":null,"outcome":{"old":"= 4 state 67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498 log dcca7bc207536a5e7a220b54ecb1d554e9dfda875e9fcbb99506ab68f15d9067 header 1796af28e5e5d29c6a9babeee4d82241","new":"= 4 state 67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498 log c0d1ab055dcef50f3a33e81cd5b8f7fae206e3c86607ef334bdd3086b1434be4 header 1796af28e5e5d29c6a9babeee4d82241"},"state_hash":{"old":null,"new":null}}]}
exit 1
$ turnfold bless --accept altered.tfl bug.tfl
rules change? altered.tfl: from entry 2 on, state hashes differ from those recorded, under the same version 1 of `initiative`: that is a rules change; raise the ruleset's VERSION
blessed altered.tfl
1 file unchanged
$ turnfold --format json bless altered.tfl
{"file":"altered.tfl","changed":false,"written":false,"error":null,"rules_change":null,"changes":[]}

"#]]);
    assert_eq!(sandbox.read("altered.tfl"), sandbox.read("bug.tfl"));
}

#[test]
fn nothing_is_written_under_continuous_integration() {
    let sandbox = Sandbox::new();
    sandbox.write("bug.tfl", SCRIPT);
    let run = |ci: &str, args: &str| {
        let args = format!("bless {args} bug.tfl");
        sandbox.command(args.split_whitespace()).env("CI", ci).output().unwrap()
    };
    for args in ["", "--accept"] {
        let output = run("true", args);
        assert_eq!(output.status.code(), Some(2));
        assert_data_eq!(
            String::from_utf8(output.stderr).unwrap(),
            str![[r#"
error: golden logs are not blessed when the variable `CI` is set; `--check` shows what would change

"#]]
        );
    }
    assert_eq!(run("true", "--check").status.code(), Some(1));
    assert_eq!(sandbox.read("bug.tfl"), SCRIPT);
    assert_eq!(run("false", "--accept").status.code(), Some(0));
    assert_eq!(run("true", "--check").status.code(), Some(0));
}

#[test]
fn a_bad_file_is_named_and_the_others_are_blessed() {
    let sandbox = Sandbox::new();
    sandbox.write("good.tfl", SCRIPT);
    sandbox.write("more.tfl", SCRIPT);
    sandbox.write("torn.tfl", "turnfold replay 2\n");
    sandbox.check(str![[r#"
$ turnfold bless --check --format json torn.tfl
{"file":"torn.tfl","changed":null,"written":false,"error":"torn.tfl:2:1: expected `+++` before the header, found the end of the file","rules_change":null,"changes":[]}
exit 2| {"error":{"kind":"usage","message":"torn.tfl:2:1: expected `+++` before the header, found the end of the file","hint":null,"exit_code":2}}
$ turnfold bless --accept good.tfl torn.tfl missing.tfl more.tfl
blessed good.tfl
failed torn.tfl:2:1: expected `+++` before the header, found the end of the file
failed cannot read replay `missing.tfl`: No such file or directory (os error 2)
blessed more.tfl
exit 2| error: 2 of 4 files could not be blessed (listed above); the others were handled as usual
$ turnfold bless --check torn.tfl good.tfl
failed torn.tfl:2:1: expected `+++` before the header, found the end of the file
1 file unchanged
exit 2| error: 1 of 2 files could not be blessed (listed above); the others were handled as usual
$ turnfold check --quiet good.tfl more.tfl
2 passed, 0 failed (4 entries)

"#]]);
    assert_eq!(sandbox.read("torn.tfl"), "turnfold replay 2\n");
}

#[test]
fn a_folder_or_pattern_stands_for_its_replay_files_and_only_changes_are_listed() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("games/late")).unwrap();
    sandbox.write("games/a.tfl", SCRIPT);
    sandbox.ok("bless --accept games/a.tfl");
    sandbox.write("games/b.tfl", sandbox.read("games/a.tfl"));
    sandbox.write("games/late/c.tfl", SCRIPT);
    sandbox.write("games/notes.txt", "no replay");
    sandbox.check(str![[r#"
$ turnfold bless --accept games
blessed games/late/c.tfl
2 files unchanged
$ turnfold bless --check games/a.tfl games/b.tfl
2 files unchanged
$ turnfold bless --check games/a.tfl
unchanged games/a.tfl
$ turnfold bless --check "games/*.tfl"
2 files unchanged
$ turnfold bless --format json --check games/late
{"file":"games/late/c.tfl","changed":false,"written":false,"error":null,"rules_change":null,"changes":[]}
$ turnfold bless --check "none/*"
exit 2| error: no replay files (`*.tfl`) under `none/*`; nothing was checked

"#]]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let sandbox = Sandbox::new();
    sandbox.write("bug.tfl", SCRIPT);
    std::os::unix::fs::symlink("bug.tfl", sandbox.path("link.tfl")).unwrap();
    sandbox.ok("bless --accept link.tfl");
    assert!(sandbox.path("link.tfl").is_symlink());
    sandbox.ok("check bug.tfl");
}

#[test]
fn a_file_that_cannot_be_blessed_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let rejected = SCRIPT.replace("2 host next-turn", "2 p1 cycle");
    let accepted = SCRIPT.replace("! p1 cycle", "! host next-turn");
    let malformed = SCRIPT.replace("2 host next-turn", "2 host dance");
    sandbox.write("rejected.tfl", &rejected);
    sandbox.write("accepted.tfl", &accepted);
    sandbox.write("malformed.tfl", &malformed);
    sandbox.check(str![[r#"
$ turnfold bless rejected.tfl
exit 2| error: rejected.tfl:14:6: entry 2: rejected wrong_phase: units are selected and moved in `movement`, and `next-turn` comes once all have moved; if that is meant, write `! p1 cycle`
$ turnfold bless accepted.tfl
exit 2| error: accepted.tfl:13:1: expected a command that is not accepted, found one that is (applied); if that is meant, write `SEQ host next-turn`
$ turnfold bless malformed.tfl
exit 2| error: malformed.tfl:14:8: entry 2: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `dance`
$ turnfold bless missing.tfl
exit 2| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)
$ turnfold bless --accept --check x.tfl
exit 2| error: the argument '--accept' cannot be used with '--check'; see `--help`

"#]]);
    assert_eq!(sandbox.read("rejected.tfl"), rejected);
    assert_eq!(sandbox.read("accepted.tfl"), accepted);
}
