//! `turnfold bisect`.

use serde_json::Value;
use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

#[test]
fn the_first_entry_that_makes_a_condition_true_is_found() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.check(str![[r#"
$ turnfold bisect duel --when "/phase == movement"
entry 1 makes `/phase == "movement"` true (3 steps)
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
  /phase "initiative" → "movement"
  /initiative null → {"rolls":{"p1":3,"p2":7},"loser":"p1","winner":"p2"}
...
$ turnfold bisect duel.tfl --when "/units/0/at == [0,1]"
entry 3 makes `/units/0/at == [0,1]` true (4 steps)
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
...
$ turnfold bisect duel --when "/selected == atlas"
exit 1| error: the condition is not true at the end, after 3 entries; use `--linear` to find an earlier entry at which it becomes true
$ turnfold bisect duel --when "/selected == atlas" --linear
entry 2 makes `/selected == "atlas"` true (3 steps)
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
  /selected null → "atlas"
  /prompt "Player 1: select a unit to move (1 remaining)" → "Player 1: move Atlas AS7-D"
$ turnfold bisect duel --when "/turn == 1"
exit 1| error: the condition already holds in the setup, so no entry makes it true
$ turnfold bisect duel --when turn
exit 2| error: invalid value 'turn' for '--when <CONDITION>': expected a path into the view such as `/turn`, `count(PATH)`, `!` or `(` at the caret: `^turn`; see `--help`
$ turnfold bisect duel
exit 2| error: the following required arguments were not provided: <--when <CONDITION>|--run <COMMAND>>; see `--help`
$ turnfold bisect duel --when "/selected == locust" --linear
exit 1| error: the condition is true neither in the setup nor after any of 3 entries
$ turnfold --format json bisect duel --when "/active_player == p2"
{"first":3,"suspects":[3],"probes":4,"entry":{"seq":3,"seat":"p1","command":"move 0,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[0,1]},{"effect":"cursor","at":[0,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7"},"state":[{"path":"/impulse","old":0,"new":1},{"path":"/active_player","old":"p1","new":"p2"},{"path":"/moved","old":[],"new":["atlas"]},{"path":"/cursor","old":[0,2],"new":[0,1]},{"path":"/selected","old":"atlas","new":null},{"path":"/units/0/at","old":[0,2],"new":[0,1]},{"path":"/prompt","old":"Player 1: move Atlas AS7-D","new":"Player 2: select a unit to move (1 remaining)"},{"path":"/status","old":"Player 1's turn — move 1 of 1 units","new":"Player 2's turn — move 1 of 1 units"}]}

"#]]);
}

#[test]
#[cfg(unix)]
fn a_command_may_judge_the_prefixes() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    // `grep` succeeds if the line is there, which must count as true.
    sandbox.write("bad.sh", "! grep -q 'p1 confirm' \"$1\"\n");
    sandbox.write("untold.sh", "grep -q '^= 2' \"$1\" && exit 125\n! grep -q 'p1 move' \"$1\"\n");
    let bisect = |script: &str| {
        let run = format!("sh {script}");
        let args = ["bisect", "duel", "--run", run.as_str()];
        let output = sandbox.command(args).env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, printed) = bisect("bad.sh");
    assert_eq!(code, Some(0));
    assert!(printed.starts_with("entry 2 makes the condition true"), "{printed}");
    let (code, printed) = bisect("untold.sh");
    assert_eq!(code, Some(1));
    assert!(printed.starts_with("one of the entries 2 to 3 makes the condition true"), "{printed}");
}

#[test]
#[cfg(unix)]
fn a_command_that_flickers_is_named_and_its_answer_is_not() {
    let sandbox = duel();
    // The script answers that entry 2 makes the condition true, but gives the opposite answer in its `$1`-th call.
    sandbox.write(
        "flickers.sh",
        "echo >> calls; calls=$(grep -c '' calls)\n\
         grep -q 'p1 confirm' \"$2\"; missing=$?\n\
         if [ \"$calls\" = \"$1\" ]; then exit $missing; else exit $((1 - missing)); fi\n",
    );
    for linear in ["", " --linear"] {
        for call in 1..=12 {
            sandbox.write("calls", "");
            let output =
                sandbox.shell(&format!("turnfold bisect duel --run 'sh flickers.sh {call}'{linear}"));
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let stderr = String::from_utf8(output.stderr).unwrap();
            if printed.starts_with("entry 2 makes the condition true") {
                // The wrong answer was never requested.
                let calls = sandbox.read("calls").lines().count();
                assert!(calls < call, "{call}{linear}: {printed}");
                continue;
            }
            assert!(
                stderr.starts_with("error: the command of `--run` is flaky: for the same log, "),
                "{call}{linear}: {printed}{stderr}"
            );
            assert_eq!((output.status.code(), printed.as_str()), (Some(2), ""));
        }
    }
}

#[test]
#[cfg(unix)]
fn a_command_undecided_in_the_setup_or_at_the_end_is_an_error() {
    let sandbox = duel();
    // The script is undecided if the number of entries matches the pattern `$1`.
    sandbox.write(
        "judge.sh",
        "count=$(grep -c '^[0-9]' \"$2\"); case $count in $1) exit 125;; *) exit 0;; esac\n",
    );
    let hint = "it must exit with 0 (false) in the setup and with 1 to 124 (true) at the end";
    for (pattern, place) in
        [("*", "in the setup"), ("0", "in the setup"), ("3", "at the end, after 3 entries")]
    {
        for linear in ["", " --linear"] {
            let output =
                sandbox.shell(&format!("turnfold bisect duel --run \"sh judge.sh '{pattern}'\"{linear}"));
            let stderr = String::from_utf8(output.stderr).unwrap();
            let cause = format!("the command of `--run` is undecided {place}: its exit code is 125");
            assert_eq!(stderr, format!("error: {cause}; {hint}\n"), "{pattern}{linear}");
            assert_eq!(output.status.code(), Some(2), "{pattern}{linear}");
        }
    }
}

#[test]
fn ten_thousand_entries_take_no_more_steps_than_their_number_has_bits() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules hexcapture --seed 7 --steps 10000 -o random.tfl");
    let printed = sandbox.ok("--format json bisect random.tfl --when \"/tick > 12345\"");
    let found: Value = serde_json::from_str(&printed).unwrap();
    let (first, steps) = (found["first"].as_u64().unwrap(), found["probes"].as_u64().unwrap());
    assert!(first > 5_000, "{found}");
    // The setup, the end, and each step of the binary search.
    assert!(steps <= 2 + 14, "{steps} steps at 10,000 entries");
}

#[test]
fn a_condition_that_no_view_can_answer_is_refused_with_what_there_is_instead() {
    duel().check(str![[r#"
$ turnfold bisect duel --when "/unit/0/at == [0,1]"
exit 2| error: `/unit/0/at` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `initiative`, `movement_order`, `impulse`, `active_player`, `remaining_in_impulse`, `moved`, `cursor`, `selected`, `units`, `blocked`, `due_roll`, `prompt`, `status`; did you mean `/units/0/at`?
$ turnfold bisect duel --when "/unit/0/at != [0,1]"
exit 2| error: `/unit/0/at` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `initiative`, `movement_order`, `impulse`, `active_player`, `remaining_in_impulse`, `moved`, `cursor`, `selected`, `units`, `blocked`, `due_roll`, `prompt`, `status`; did you mean `/units/0/at`?
$ turnfold bisect duel --when "/trun > 1" --linear
exit 2| error: `/trun` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `initiative`, `movement_order`, `impulse`, `active_player`, `remaining_in_impulse`, `moved`, `cursor`, `selected`, `units`, `blocked`, `due_roll`, `prompt`, `status`; did you mean `/turn`?
$ turnfold bisect duel --when "/units/9/mp == 3"
exit 2| error: `/units/9/mp` is nowhere in the view, after any entry: `/units` has 4 elements, from 0 on
$ turnfold bisect duel --when "/turn/now == 3"
exit 2| error: `/turn/now` is nowhere in the view, after any entry: `/turn` has no parts
$ turnfold bisect duel --when "/turn == three"
exit 2| error: `/turn == "three"` compares a number with a string, as `/turn` is `1`; write a number, as in `7`
$ turnfold bisect duel --when "/phase > 3"
exit 2| error: `/phase > 3` compares a string with a number, as `/phase` is `"movement"`; write a string with quotes where it could be taken for a number, as in `"7"`
$ turnfold bisect duel --when "/phase != 3"
exit 2| error: `/phase != 3` compares a string with a number, as `/phase` is `"movement"`; write a string with quotes where it could be taken for a number, as in `"7"`
$ turnfold bisect duel --when "/units/0/at == 0,1"
exit 2| error: `/units/0/at == "0,1"` compares an array with a string, as `/units/0/at` is `[0,1]`; write an array as JSON, as in `[0,3]`, or go on in the path to one of its elements
$ turnfold bisect duel --when "/turn == 1 && count(/units/*/at == [0,1]) > 0"
entry 3 makes `/turn == 1 && count(/units/*/at == [0,1]) > 0` true (4 steps)
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
  /impulse 0 → 1
  /active_player "p1" → "p2"
  /moved [] → ["atlas"]
  /cursor [0,2] → [0,1]
  /selected "atlas" → null
  /units/0/at [0,2] → [0,1]
  /prompt "Player 1: move Atlas AS7-D" → "Player 2: select a unit to move (1 remaining)"
  /status "Player 1's turn — move 1 of 1 units" → "Player 2's turn — move 1 of 1 units"
$ turnfold bisect duel --when "/turn == 1 && (/phase == movement"
exit 2| error: invalid value '/turn == 1 && (/phase == movement' for '--when <CONDITION>': expected `)` at the caret: `/turn == 1 && (/phase == movement^`; see `--help`
$ turnfold bisect duel --when "/turn = 1"
exit 2| error: invalid value '/turn = 1' for '--when <CONDITION>': expected ==, !=, <, <=, > or >= at the caret: `/turn ^= 1`; see `--help`
$ turnfold bisect duel --when "/turn > 0.1000000000000000000001"
exit 2| error: invalid value '/turn > 0.1000000000000000000001' for '--when <CONDITION>': expected a number of at most 17 digits at the caret: `/turn > ^0.1000000000000000000001`; see `--help`
$ turnfold bisect duel --when "/impulse > 0.5"
entry 3 makes `/impulse > 0.5` true (4 steps)
...
$ turnfold bisect duel --when "/turn < null"
exit 2| error: invalid value '/turn < null' for '--when <CONDITION>': expected a number or a string after `<`, found null; see `--help`

"#]]);
}

#[test]
fn a_field_that_is_there_now_and_then_is_no_mistake() {
    duel().check(str![[r#"
$ turnfold bisect duel --when "/movement_order/1/player == p17"
exit 1| error: the condition is not true at the end, after 3 entries; use `--linear` to find an earlier entry at which it becomes true
$ turnfold bisect duel --when "/selected == locust"
exit 1| error: the condition is not true at the end, after 3 entries; use `--linear` to find an earlier entry at which it becomes true
$ turnfold bisect duel --when "/initiative/rolls/p1 == 12"
exit 1| error: the condition is not true at the end, after 3 entries; use `--linear` to find an earlier entry at which it becomes true

"#]]);
}

#[test]
#[cfg(unix)]
fn a_command_that_cannot_be_run_judges_nothing() {
    let sandbox = duel();
    sandbox.write("plain.txt", "no program");
    for command in ["no-such-command-anywhere", "./plain.txt", "false || no-such-command-anywhere"] {
        for verb in [["bisect", "duel", "--run"], ["shrink", "duel", "--still"]] {
            let args = verb.into_iter().chain([command]);
            let path = std::env::var_os("PATH").unwrap();
            let output = sandbox.command(args).env("PATH", path).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{verb:?} {command}: {stderr}");
            assert!(stderr.contains(&format!("error: `{command}` cannot be run")), "{stderr}");
            assert!(output.stdout.is_empty());
        }
    }
}

#[test]
fn an_entry_that_is_not_the_first_is_reported_as_such() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 4 --steps 300 -o long.tfl");
    let first = |line: &str| {
        let found: Value = serde_json::from_str(&sandbox.ok(&format!("--format json {line}"))).unwrap();
        found["first"].as_u64().unwrap()
    };
    let search = "bisect long.tfl --when \"/active_player == p2\"";
    let (some, linear) = (first(search), first(&format!("{search} --linear")));
    assert!(linear < some, "the first entry is {linear}, the one found {some}");
    let text = sandbox.ok(search);
    let (last_true, next) = text
        .lines()
        .find_map(|line| line.strip_prefix("not the first: it is already true after entry "))
        .and_then(|line| line.split_once(" and false again after entry "))
        .unwrap();
    let first_false = next.strip_suffix("; use `--linear` to find the first").unwrap();
    let (last_true, first_false): (u64, u64) = (last_true.parse().unwrap(), first_false.parse().unwrap());
    assert!(linear <= last_true && last_true + 1 == first_false && first_false < some, "{text}");
    assert!(!sandbox.ok(&format!("{search} --linear")).contains("not the first"));
}
