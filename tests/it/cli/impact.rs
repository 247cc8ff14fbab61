//! `turnfold game impact`.

use std::fs;

use snapbox::str;
use turnfold_core::{AnyRules, AnyState, CommandSource, DicePolicy, Logged, Seat};
use turnfold_games::rulesets;
use turnfold_store::{Genesis, NewEntry, Store};

use super::duel;
use turnfold_tests::sandbox::{Sandbox, workspace};

/// A version that no ruleset has.
const OTHER_VERSION: u32 = 99;

fn golden(name: &str) -> String {
    fs::read_to_string(workspace().join("replays").join(name)).unwrap()
}

/// Returns the entries of a replay: the number, seat, command and rest of each line.
fn entries(replay: &str) -> Vec<(u64, Seat, &str, &str)> {
    let lines = replay.lines().filter(|line| line.starts_with(|digit: char| digit.is_ascii_digit()));
    let entries = lines.map(|line| {
        let (entry, rest) = line.split_once(" => ").unwrap();
        let mut words = entry.splitn(3, ' ');
        let mut word = || words.next().unwrap();
        (word().parse().unwrap(), word().parse().unwrap(), word(), rest)
    });
    entries.collect()
}

fn start(replay: &str) -> (Box<dyn AnyState>, DicePolicy) {
    let header: toml::Table = replay.split("+++\n").nth(1).unwrap().parse().unwrap();
    let (name, version) = (&header["ruleset"], &header["version"]);
    let version = version.as_integer().unwrap().try_into().unwrap();
    let rules = turnfold_games::standard().resolve(name.as_str().unwrap(), version, None).unwrap();
    let setup = toml::to_string(&header["setup"]).unwrap();
    let seed = header.get("seed").map(|seed| seed.as_str().unwrap().parse().unwrap());
    let dice = seed.map_or(DicePolicy::Recorded, DicePolicy::Seeded);
    (rules.start(&rules.read_setup(&setup).unwrap()).unwrap(), dice)
}

/// Returns `true` if a log has this version of its ruleset, as most golden logs do.
fn is_of(rules: &dyn AnyRules, replay: &str) -> bool {
    replay.contains(&format!("\nversion = {}\n", rules.version()))
}

/// Returns a golden log as a build with the same rules under another version would have written it.
fn of_other_version(replay: &str) -> String {
    let (mut state, dice) = start(replay);
    let version = replay.lines().find(|line| line.starts_with("version = ")).unwrap();
    let version = format!("{version}\n");
    let mut text = replay.replacen(&version, &format!("version = {OTHER_VERSION}\n"), 1);
    let mut last = state.state_hash();
    for (seq, seat, command, _) in entries(replay) {
        let entry = Logged { seq, seat, command: CommandSource::Text(command) };
        state.fold(&[entry], &dice, &mut |step| last = step.state_hash()).unwrap();
        let [old, new] = [last, state.state_hash_as(OTHER_VERSION)].map(|hash| format!("#{hash:.16}"));
        // An ignored entry repeats the hash before it.
        text = text.replace(&old, &new);
    }
    text.replace(&format!(" state {last} "), &format!(" state {} ", state.state_hash_as(OTHER_VERSION)))
}

#[test]
fn the_golden_logs_fold_the_same_also_as_logs_of_another_version_with_the_same_rules() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("replays")).unwrap();
    for rules in rulesets() {
        let folder = workspace().join("replays").join(rules.name());
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = format!("replays/{}-{}", rules.name(), path.file_name().unwrap().to_str().unwrap());
            let text = fs::read_to_string(&path).unwrap();
            sandbox.write(&name, &text);
            if !is_of(&*rules, &text) {
                continue;
            }
            sandbox.write(&name.replace(".tfl", "-other.tfl"), of_other_version(&text));
        }
    }
    let printed = sandbox.ok("game impact");
    for rules in rulesets() {
        let row = |versions: &str| format!("{} version {versions}: ", rules.name());
        assert!(printed.contains(&row(&rules.version().to_string())), "{printed}");
        assert!(printed.contains(&row(&format!("{OTHER_VERSION} → {}", rules.version()))), "{printed}");
    }
    assert!(!printed.contains("differ") && !printed.contains("unreadable"), "{printed}");
}

#[test]
fn the_hash_as_of_the_own_version_is_the_state_hash() {
    for rules in rulesets() {
        let folder = workspace().join("replays").join(rules.name());
        for file in fs::read_dir(folder).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            if !is_of(&*rules, &text) {
                continue;
            }
            let (mut state, dice) = start(&text);
            for (seq, seat, command, _) in entries(&text) {
                let entry = Logged { seq, seat, command: CommandSource::Text(command) };
                state.fold(&[entry], &dice, &mut |_| {}).unwrap();
                assert_eq!(state.state_hash_as(rules.version()), state.state_hash());
                assert_ne!(state.state_hash_as(OTHER_VERSION), state.state_hash());
            }
        }
    }
}

/// Returns golden logs, of which some record false outcomes, as if the rules had changed since.
fn corpus() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("replays")).unwrap();
    let write = |name: &str, text: String| sandbox.write(&format!("replays/{name}.tfl"), text);
    let changed = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    };
    let taps = golden("cycletap/each-tap-in-turn.tfl");
    write("taps", taps.clone());
    for name in ["ignored-a", "ignored-b"] {
        write(name, changed(&taps, "=> defense_pending at=0,0", "=> ignored already_there"));
    }
    write("applied", changed(&taps, "=> ignored path_full", "=> path_extended at=1,2"));
    write("effect", changed(&taps, "number=2 unit=u1", "number=7 unit=u1"));
    write("state", changed(&taps, "#4ca61be86d57e686", "#0000000000000000"));
    let closing = taps.lines().last().unwrap();
    write("end", changed(&taps, closing.split(' ').nth(3).unwrap(), &"0".repeat(64)));
    let lines: Vec<_> = taps.lines().map(|line| line.split(" => ").next().unwrap()).collect();
    let script = lines.iter().filter(|line| !line.starts_with("= ")).map(|line| format!("{line}\n"));
    let script: String = script.collect();
    write("recorded-nothing", script.clone());
    write("rejected", script + "20 p2 tap 0,0\n");
    let version = changed(&taps, "version = 1", "version = 99");
    write("other-version", changed(&version, "=> path_kind kind=deploy", "=> ignored no_way"));
    write("other-version-hashes", version);
    let roll = golden("initiative/seeded-dice.tfl");
    write("roll", changed(&roll, "roll 6 3 5 3", "roll 6 3 5 4"));
    let attempt = golden("lifecycle/who-may-speak.tfl");
    write("attempt", changed(&attempt, "=> rejected ", "=> rejected other_"));
    sandbox
}

#[test]
fn logs_that_differ_are_grouped_by_what_differs_first() {
    corpus().check(str![[r#"
$ turnfold game impact
cycletap version 1: 2 of 9 logs fold the same, 7 differ (172 entries)
cycletap version 99 → 1: 0 of 2 logs fold the same, 2 differ (38 entries)
initiative version 1: 0 of 1 log folds the same, 1 differs (12 entries)
lifecycle version 1: 0 of 1 log folds the same, 1 differs (8 entries)
ignored already_there → applied: 2 logs of cycletap version 1
  replays/ignored-a.tfl: entry 2 (p1 tap 0,0), /tap/state "origin_selected" → "defense_pending"
  replays/ignored-b.tfl: entry 2 (p1 tap 0,0), /tap/state "origin_selected" → "defense_pending"
accepted → rejected not_your_turn [CT-2]: 1 log of cycletap version 1
  replays/rejected.tfl: entry 20 (p2 tap 0,0)
applied → ignored path_full [CT-8]: 1 log of cycletap version 1
  replays/applied.tfl: entry 14 (p1 tap 1,2)
effect order_placed differs: 1 log of cycletap version 1
  replays/effect.tfl: entry 9 (p1 tap 1,0), order_placed number=7 unit=u1 kind=attack path=1,0 → order_placed number=2 unit=u1 kind=attack path=1,0
same outcomes, another state at the end: 1 log of cycletap version 1
  replays/end.tfl: entry 19
same outcomes, other states from an entry on that changes /tap/state: 1 log of cycletap version 1
  replays/state.tfl: entry 5 (p1 tap 1,0)
ignored no_way → applied: 1 log of cycletap version 99
  replays/other-version.tfl: entry 11 (p1 tap 1,0), /tap/kind "movement" → "deploy"
same outcomes, other states from an entry on that changes /tap/state: 1 log of cycletap version 99
  replays/other-version-hashes.tfl: entry 1 (p1 tap 0,0)
the seed gives another roll: 1 log of initiative version 1
  replays/roll.tfl: entry 4 (host roll 6 3 5 4)
attempt rejected other_no_active_unit → rejected no_active_unit [LC-1]: 1 log of lifecycle version 1
  replays/attempt.tfl: attempt after entry 0 (p1 end)
in all, 2 of 13 logs fold the same, 11 differ (230 entries)
exit 1
$ turnfold game impact replays/taps.tfl replays/recorded-nothing.tfl
cycletap version 1: 2 of 2 logs fold the same (38 entries)
in all, 2 of 2 logs fold the same (38 entries)
$ turnfold game impact replays/state.tfl replays/end.tfl
cycletap version 1: 0 of 2 logs fold the same, 2 differ (38 entries)
...
in all, 0 of 2 logs fold the same, 2 differ (38 entries)
exit 1
$ turnfold --format json game impact replays/ignored-a.tfl replays/ignored-b.tfl replays/attempt.tfl replays/other-version.tfl replays/taps.tfl replays/roll.tfl
{"compared":"outcomes","logs":6,"same":1,"differ":5,"unreadable":0,"entries":96,"rulesets":[{"ruleset":"cycletap","version":1,"build_version":1,"logs":3,"same":1,"differ":2,"unreadable":0,"entries":57},{"ruleset":"cycletap","version":99,"build_version":1,"logs":1,"same":0,"differ":1,"unreadable":0,"entries":19},{"ruleset":"initiative","version":1,"build_version":1,"logs":1,"same":0,"differ":1,"unreadable":0,"entries":12},{"ruleset":"lifecycle","version":1,"build_version":1,"logs":1,"same":0,"differ":1,"unreadable":0,"entries":8}],"groups":[{"ruleset":"cycletap","version":1,"cause":"ignored already_there → applied","reason":"already_there","rules":[],"logs":[{"log":"replays/ignored-a.tfl","seq":2,"attempt":false,"seat":"p1","command":"tap 0,0","old":"ignored already_there","new":"defense_pending at=0,0","field":{"path":"/tap/state","old":"origin_selected","new":"defense_pending"}},{"log":"replays/ignored-b.tfl","seq":2,"attempt":false,"seat":"p1","command":"tap 0,0","old":"ignored already_there","new":"defense_pending at=0,0","field":{"path":"/tap/state","old":"origin_selected","new":"defense_pending"}}]},{"ruleset":"cycletap","version":99,"cause":"ignored no_way → applied","reason":"no_way","rules":[],"logs":[{"log":"replays/other-version.tfl","seq":11,"attempt":false,"seat":"p1","command":"tap 1,0","old":"ignored no_way","new":"path_kind kind=deploy","field":{"path":"/tap/kind","old":"movement","new":"deploy"}}]},{"ruleset":"initiative","version":1,"cause":"the seed gives another roll","reason":null,"rules":[],"logs":[{"log":"replays/roll.tfl","seq":4,"attempt":false,"seat":"host","command":"roll 6 3 5 4","old":"rolled 6 3 5 4","new":"rolled 6 3 5 3","field":null}]},{"ruleset":"lifecycle","version":1,"cause":"attempt rejected other_no_active_unit → rejected no_active_unit","reason":"no_active_unit","rules":["LC-1"],"logs":[{"log":"replays/attempt.tfl","seq":0,"attempt":true,"seat":"p1","command":"end","old":"rejected other_no_active_unit","new":"rejected no_active_unit","field":null}]}],"unreadable_logs":[]}
exit 1

"#]]);
}

#[test]
fn only_the_first_logs_of_a_group_are_named_unless_all_are_asked_for() {
    let sandbox = Sandbox::new();
    let text = golden("cycletap/each-tap-in-turn.tfl").replace("=> ignored path_full", "=> ignored full");
    for number in 1..=7 {
        sandbox.write(&format!("{number}.tfl"), &text);
    }
    sandbox.check(str![[r#"
$ turnfold game impact .
cycletap version 1: 0 of 7 logs fold the same, 7 differ (133 entries)
ignored full → ignored path_full [CT-8]: 7 logs of cycletap version 1
  ./1.tfl: entry 14 (p1 tap 1,2)
  ./2.tfl: entry 14 (p1 tap 1,2)
  ./3.tfl: entry 14 (p1 tap 1,2)
  ./4.tfl: entry 14 (p1 tap 1,2)
  ./5.tfl: entry 14 (p1 tap 1,2)
  and 2 more; `--all` names them
in all, 0 of 7 logs fold the same, 7 differ (133 entries)
exit 1
$ turnfold game impact . --all
cycletap version 1: 0 of 7 logs fold the same, 7 differ (133 entries)
...
  ./6.tfl: entry 14 (p1 tap 1,2)
  ./7.tfl: entry 14 (p1 tap 1,2)
in all, 0 of 7 logs fold the same, 7 differ (133 entries)
exit 1

"#]]);
}

#[test]
fn what_cannot_be_read_is_reported_and_not_skipped() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let duel = sandbox.read("duel.tfl");
    fs::create_dir(sandbox.path("logs")).unwrap();
    sandbox.write("logs/good.tfl", &duel);
    sandbox.write("logs/junk.tfl", "junk\n");
    sandbox.write("logs/bytes.tfl", [0xff, 0xfe]);
    sandbox.write("logs/ruleset.tfl", duel.replace("initiative", "backgammon"));
    sandbox.write("logs/command.tfl", duel.replace("p1 confirm", "p1 teleport"));
    sandbox.write("logs/setup.tfl", duel.replace("radius = 2", "diameter = 5"));
    sandbox.check(str![[r#"
$ turnfold game impact logs
initiative version 1: 1 of 3 logs fold the same, 2 unreadable (9 entries)
unreadable
  logs/bytes.tfl:1:1: expected UTF-8 text, found byte 0xff
  logs/command.tfl: entry 2: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `teleport`
  logs/junk.tfl:1:1: expected `turnfold replay 2`, found `junk`
  logs/ruleset.tfl:3:11: expected a ruleset of this build ([RULESETS]), found `backgammon`
  logs/setup.tfl:9:1: setup: unknown field `diameter`, expected one of `radius`, `blocked`, `units`
in all, 1 of 6 logs fold the same, 5 unreadable (9 entries)
exit 1
$ turnfold --format json game impact logs/command.tfl logs/junk.tfl
{"compared":"outcomes","logs":2,"same":0,"differ":0,"unreadable":2,"entries":3,"rulesets":[{"ruleset":"initiative","version":1,"build_version":1,"logs":1,"same":0,"differ":0,"unreadable":1,"entries":3}],"groups":[],"unreadable_logs":[{"log":"logs/command.tfl","ruleset":"initiative","version":1,"message":"logs/command.tfl: entry 2: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `teleport`"},{"log":"logs/junk.tfl","ruleset":null,"version":null,"message":"logs/junk.tfl:1:1: expected `turnfold replay 2`, found `junk`"}]}
exit 1

"#]]);
}

/// Stores a match as another build would have stored it, with a roll by the right seat or by another.
fn store_match(sandbox: &Sandbox, name: &str, ruleset: &str, ruleset_version: u32, seat: Seat) {
    let rules = turnfold_games::find("initiative").unwrap();
    let setup = rules.read_setup(&sandbox.read("fixtures/initiative/no-units.toml")).unwrap();
    let mut command = Vec::new();
    let roll = Logged { seq: 1, seat: Seat::Host, command: CommandSource::Text("roll 1 1 2 2") };
    let mut state = rules.start(&setup).unwrap();
    state.fold(&[roll], &DicePolicy::Recorded, &mut |step| command = step.command_bytes()).unwrap();
    let genesis = Genesis {
        format: Genesis::FORMAT,
        ruleset: ruleset.into(),
        ruleset_version,
        setup,
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: String::new(),
        created_at_ms: 0,
        module: None,
        played_by: None,
        origins: Vec::new(),
    };
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    let entries = vec![NewEntry { seat, command, recorded_at_ms: 0 }];
    store.create_match(&name.parse().unwrap(), &genesis, entries).unwrap();
    store.close().unwrap();
}

#[test]
fn every_branch_of_the_store_is_looked_at() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.check(str![[r#"
$ turnfold game impact --matches
initiative version 1: 2 of 2 logs fold the same (5 entries)
in all, 2 of 2 logs fold the same (5 entries)
stored logs record no outcomes: what is compared is whether every command is accepted

"#]]);
    store_match(&sandbox, "old", "initiative", OTHER_VERSION, Seat::Host);
    store_match(&sandbox, "older", "initiative", OTHER_VERSION, Seat::P1);
    store_match(&sandbox, "stranger", "backgammon", 1, Seat::Host);
    sandbox.check(str![[r#"
$ turnfold game impact --matches
initiative version 1: 2 of 2 logs fold the same (5 entries)
initiative version 99 → 1: 1 of 2 logs fold the same, 1 differs (2 entries)
accepted → rejected wrong_seat: 1 log of initiative version 99
  older: entry 1 (p1 roll 1 1 2 2)
unreadable
  stranger: unknown ruleset `backgammon`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
in all, 3 of 5 logs fold the same, 1 differs, 1 unreadable (7 entries)
stored logs record no outcomes: what is compared is whether every command is accepted
exit 1
$ turnfold --format json game impact --matches
{"compared":"acceptance","logs":5,"same":3,"differ":1,"unreadable":1,"entries":7,"rulesets":[{"ruleset":"initiative","version":1,"build_version":1,"logs":2,"same":2,"differ":0,"unreadable":0,"entries":5},{"ruleset":"initiative","version":99,"build_version":1,"logs":2,"same":1,"differ":1,"unreadable":0,"entries":2}],"groups":[{"ruleset":"initiative","version":99,"cause":"accepted → rejected wrong_seat","reason":"wrong_seat","rules":[],"logs":[{"log":"older","seq":1,"attempt":false,"seat":"p1","command":"roll 1 1 2 2","old":null,"new":"rejected wrong_seat","field":null}]}],"unreadable_logs":[{"log":"stranger","ruleset":null,"version":null,"message":"stranger: unknown ruleset `backgammon`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules"}]}
exit 1

"#]]);
}

#[test]
fn there_must_be_something_to_look_at() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.ok("new only --rules initiative --setup fixtures/initiative/no-units.toml --store one");
    Store::open_or_create(&sandbox.path("none")).unwrap().close().unwrap();
    sandbox.check(str![[r#"
$ turnfold game impact
exit 2| error: cannot read `replays`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it
$ turnfold game impact empty
exit 2| error: no replay files (`*.tfl`) under `empty`; nothing was checked
$ turnfold game impact missing.tfl
exit 2| error: cannot read `missing.tfl`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it
$ turnfold game impact --matches
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory
$ turnfold --store none game impact --matches
exit 2| error: the store holds no matches; nothing was folded
$ turnfold --store one game impact --matches
initiative version 1: 1 of 1 log folds the same (0 entries)
in all, 1 of 1 log folds the same (0 entries)
stored logs record no outcomes: what is compared is whether every command is accepted
$ turnfold game impact empty --matches
exit 2| error: the argument '[PATH]...' cannot be used with '--matches'; see `--help`

"#]]);
}
