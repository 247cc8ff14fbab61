//! `turnfold shrink`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

/// Returns a sandbox with a random log of 2,000 commands of this ruleset.
fn random_log(ruleset: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let printed = sandbox.ok(&format!("simulate --rules {ruleset} --seed 7 --steps 2000 -o random.tfl"));
    assert!(printed.starts_with("played 2000 entries at random into `random.tfl` #"), "{printed}");
    sandbox
}

/// Shrinks the random log of 2,000 commands and requires exactly these to be left, each as `SEQ SEAT COMMAND`.
fn check_shrunk(ruleset: &str, condition: &str, expected: &[&str]) {
    let sandbox = random_log(ruleset);
    sandbox.ok(&format!("shrink random.tfl --when \"{condition}\" -o least.tfl"));
    let least = sandbox.read("least.tfl");
    assert_eq!(commands(&least), expected);
    let comment = format!("\n# shrunk from `random.tfl`, 2000 → {} entr", expected.len());
    assert!(least.contains(&comment), "{least}");
    sandbox.ok("check least.tfl");
    assert_eq!(
        sandbox.ok(&format!("shrink random.tfl --when \"{condition}\"")),
        least,
        "it is deterministic"
    );
    let again = sandbox.ok(&format!("shrink least.tfl --when \"{condition}\""));
    assert_eq!(commands(&again), expected, "nothing more can be left out");
}

/// Returns the entries of a replay without their outcomes.
fn commands(replay: &str) -> Vec<&str> {
    let entries = replay.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    entries.map(|line| line.split(" => ").next().unwrap()).collect()
}

#[test]
fn two_thousand_commands_of_each_game_shrink_to_few() {
    for (ruleset, condition, expected) in [
        (
            "initiative",
            "/units/0/at == [1,1]",
            &["1 host roll 1 1 1 2", "2 p1 click 0,2", "3 p1 move 1,1"][..],
        ),
        (
            "cycletap",
            "/pools/p1/available == 0",
            &["1 p1 tap 0,1", "2 p1 tap 0,0", "3 p1 tap 0,2", "4 p1 tap 1,0"],
        ),
        (
            "hexcapture",
            "/eaten/0 == 1",
            &["1 p1 stick se", "2 p1 act", "3 host tick 2", "4 host roll 0", "5 p1 eat", "6 host roll 0"],
        ),
        ("channel", "/active == p2", &["1 p1 take 1 1"]),
    ] {
        check_shrunk(ruleset, condition, expected);
    }
}

#[test]
#[cfg(unix)]
fn two_thousand_commands_shrink_as_long_as_a_command_finds_it() {
    let sandbox = random_log("initiative");
    // `grep` succeeds if the text is there, which must count as bad. The other script is undecided on short logs.
    sandbox.write("finds.sh", "! grep -q 'stood unit=turret' \"$1\"\n");
    sandbox.write(
        "needs_five.sh",
        "grep -q '^= [0-4] ' \"$1\" && exit 125\n! grep -q 'stood unit=turret' \"$1\"\n",
    );
    sandbox.write("never.sh", "true\n");
    let shrink = |script: &str| {
        let still = format!("sh {script}");
        let args = ["shrink", "random.tfl", "--still", still.as_str()];
        let output = sandbox.command(args).env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), printed)
    };
    let (code, least) = shrink("finds.sh");
    assert_eq!(code, Some(0), "{least}");
    assert_eq!(commands(&least), ["1 host roll 1 2 1 1", "2 p2 click 1,-2", "3 p2 stand"]);
    assert!(
        least.contains("# shrunk from `random.tfl`, 2000 → 3 entries: `sh finds.sh` finds it\n"),
        "{least}"
    );
    let (code, least) = shrink("needs_five.sh");
    assert_eq!((code, commands(&least).len()), (Some(0), 5), "{least}");
    let (code, printed) = shrink("never.sh");
    assert_eq!(code, Some(1));
    assert_eq!(printed, "error: the command does not find it in `random.tfl` (2000 entries)\n");
    let (code, printed) = shrink("missing.sh");
    assert_eq!(code, Some(1));
    assert!(printed.ends_with("error: the setup shows it already, so no entry is needed\n"), "{printed}");
}

/// The result of a command that answers at random is not stated as a fact, whichever answer it gives first.
#[test]
#[cfg(unix)]
fn a_command_that_answers_every_second_time_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules initiative --seed 7 --steps 40 -o random.tfl");
    sandbox.write("flickers.sh", "echo >> calls; test $(($(wc -l < calls) % 2)) = 0\n");
    for calls in ["", "\n"] {
        sandbox.write("calls", calls);
        let args = ["shrink", "random.tfl", "--still", "sh flickers.sh"];
        let output = sandbox.command(args).env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty() && output.status.code() == Some(2), "{stderr}");
        assert!(stderr.contains("the command of `--still` flickers"), "{stderr}");
    }
}

/// Returns a random log of initiative in which a text that occurs once is replaced.
fn altered(args: &str, text: &str, other: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("simulate --rules initiative --seed 7 {args} -o random.tfl"));
    let replay = sandbox.read("random.tfl");
    assert_eq!(replay.matches(text).count(), 1, "{replay}");
    sandbox.write("altered.tfl", replay.replace(text, other));
    sandbox
}

#[test]
fn an_outcome_that_fails_the_check_keeps_only_what_leads_to_it() {
    let entry = "\n99 p2 click 1,-2 => cursor at=1,-2; selected unit=turret";
    let sandbox = altered("--steps 300", entry, &entry.replace("turret", "kit-fox"));
    sandbox.check(str![[r#"
$ turnfold shrink altered.tfl -o least.tfl
shrunk 300 entries to 4 in `least.tfl` (81 tries): `p2 click 1,-2` fails the check in the same way
$ turnfold check least.tfl
least.tfl:44: entry 4 (p2 click 1,-2): outcome differs
  cursor at=1,-2
- selected unit=kit-fox
+ selected unit=turret
state, before → after entry 4:
  /cursor [1,0] → [1,-2]
  /selected null → "turret"
  /prompt "Player 2: select a unit to move (1 remaining)" → "Player 2: move Turret"
to reproduce: turnfold replay least.tfl --to 4
0 passed, 1 failed (4 entries)
exit 1
$ turnfold --format json shrink altered.tfl -o least.tfl --force
{"source":"altered.tfl","shows":"`p2 click 1,-2` fails the check in the same way","entries_before":300,"entries":4,"tries":81,"file":"least.tfl","replay":null}
$ turnfold shrink least.tfl -o again.tfl
shrunk 4 entries to 4 in `again.tfl` (16 tries): `p2 click 1,-2` fails the check in the same way

"#]]);
    let least = sandbox.read("least.tfl");
    let expected = ["1 host roll 1 1 1 2", "2 p1 confirm", "3 p1 move 1,0", "4 p2 click 1,-2"];
    assert_eq!(commands(&least), expected);
    assert!(least.ends_with("\n4 p2 click 1,-2 => cursor at=1,-2; selected unit=kit-fox\n"), "{least}");
}

#[test]
fn an_entry_that_is_rejected_keeps_only_what_leads_to_it() {
    let sandbox = altered("--steps 300", "\n102 p1 stand", "\n102 p2 stand");
    sandbox.check(str![[r#"
$ turnfold shrink altered.tfl -o least.tfl
shrunk 300 entries to 2 in `least.tfl` (57 tries): `p2 stand` fails the check in the same way
$ turnfold check least.tfl
least.tfl:42: entry 2 (p2 stand): the rules reject it
- stood unit=locust
- movement_complete
+ rejected not_your_turn: it is the other player's impulse
to reproduce: turnfold replay least.tfl --to 2
0 passed, 1 failed (2 entries)
exit 1

"#]]);
    assert_eq!(commands(&sandbox.read("least.tfl")).len(), 2);
}

#[test]
fn an_attempt_that_is_accepted_keeps_only_what_leads_to_it() {
    let sandbox =
        altered("--steps 300", "\n102 p1 stand", "\n! p1 stand => rejected not_your_turn\n102 p1 stand");
    sandbox.check(str![[r#"
$ turnfold shrink altered.tfl -o least.tfl
shrunk 300 entries to 2 in `least.tfl` (137 tries): `p1 stand` fails the check in the same way
$ turnfold check least.tfl
least.tfl:43: attempt (p1 stand): verdict differs
- rejected not_your_turn
+ applied
to reproduce: turnfold check least.tfl
0 passed, 1 failed (2 entries)
exit 1

"#]]);
}

#[test]
fn nothing_before_a_state_hash_can_be_left_out() {
    let sandbox = altered("--steps 300", "#fa40e243b7636856", "#0000000000000000");
    sandbox.check(str![[r#"
$ turnfold shrink altered.tfl -o least.tfl
shrunk 300 entries to 13 in `least.tfl` (0 tries): `p2 stand` fails the check in the same way
only the state hash differs, which stands for all that went before, so nothing before it can be left out
$ turnfold check least.tfl
least.tfl:54: entry 13 (p2 stand): state hash differs
- 0000000000000000
+ fa40e243b7636856
state, before → after entry 13:
...
to reproduce: turnfold replay least.tfl --to 13
0 passed, 1 failed (13 entries)
exit 1

"#]]);
}

#[test]
fn nothing_before_a_seeded_roll_that_differs_is_left_out() {
    let sandbox = altered("--steps 30 --dice seeded", "\n1 host roll 5 5 3 3", "\n1 host roll 5 5 3 4");
    sandbox.check(str![[r#"
$ turnfold shrink altered.tfl -o least.tfl
shrunk 30 entries to 1 in `least.tfl` (0 tries): `host roll 5 5 3 4` fails the check in the same way
the seeded roll differs, which depends on the rolls before it, so nothing before it can be left out
$ turnfold check least.tfl
least.tfl:43: entry 1 (host roll 5 5 3 4): roll differs from the seeded dice
dice: the seed gives other values; for the file's values the rules give another outcome, too
- rolled 5 5 3 4
+ rolled 5 5 3 3
state, before → after entry 1:
...
to reproduce: turnfold replay least.tfl --to 1
0 passed, 1 failed (1 entry)
exit 1

"#]]);
}

#[test]
fn a_log_with_seeded_dice_becomes_one_with_recorded_dice() {
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules initiative --seed 7 --steps 300 --dice seeded --into random");
    sandbox.check(str![[r#"
$ turnfold shrink random --when "/phase == movement"
turnfold replay 2
+++
ruleset = "initiative"
version = 1
dice = "recorded"
title = "random play, seed 7"

...
# shrunk from `random`, 300 → 1 entry: `/phase == "movement"` becomes true
# the dice were seeded; the rolls are recorded here, because an earlier roll was left out
1 host roll 1 1 1 2 => rolled p1=2 p2=3; initiative p1=2 p2=3 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 2, P2 rolled 3 — P1 moves first"; cursor at=0,2 #3ba2109140a8887d
= 1 state 3ba2109140a8887d5c53299e73655bc9297ca2624d82d777e3787a0bf23074f9 log 348baa8b4f1586aaebcb343f3f585888f655402fa95bdf8c7b1f151514fd63a0 header febff521a7750bf88ee2825573b73550
$ turnfold --format json shrink random:200 --when "/units/2/at != [0,-2]" --view p2 -o least.tfl
{"source":"random:200","shows":"`/units/2/at != [0,-2]` becomes true","entries_before":200,"entries":3,"tries":101,"file":"least.tfl","replay":null}
$ turnfold check least.tfl
ok least.tfl 3 entries
1 passed, 0 failed (3 entries)

"#]]);
}

#[test]
fn what_cannot_be_shrunk_is_reported() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let golden = sandbox.read("duel.tfl");
    sandbox.write("cut.tfl", golden.split_inclusive("\n2 ").next().unwrap().trim_end_matches("2 "));
    sandbox.write("closing.tfl", golden.replace("= 3 state 8", "= 3 state 9"));
    sandbox.write("malformed.tfl", golden.replace("3 p1 move", "3 p1 fly"));
    sandbox.check(str![[r#"
$ turnfold shrink duel --when "/turn == 7"
exit 1| error: the condition is never true in `duel` (3 entries)
$ turnfold shrink duel --when "/turn == 1"
exit 1| error: the setup shows it already, so no entry is needed
$ turnfold shrink duel.tfl
exit 1| error: `duel.tfl` passes the check, so there is no failure to shrink; add `--when` or `--still` to look for something else
$ turnfold shrink cut.tfl
exit 1| error: cut.tfl:41: closing line: it is missing although every entry is blessed: cut short?; no entry causes it; get the whole file back
$ turnfold shrink closing.tfl
exit 1| error: closing.tfl:43: closing line: state hash differs; no entry causes it; `turnfold bless closing.tfl` rewrites it
$ turnfold shrink malformed.tfl
exit 2| error: malformed.tfl:42:6: entry 3: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `fly 0,1`
$ turnfold shrink malformed.tfl --when "/turn == 7"
exit 1| error: `malformed.tfl`: entry 3: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `fly 0,1`; correct the entry or cut the log before it
$ turnfold shrink duel
exit 2| error: a revision records no outcomes that could fail a check; say what to look for with `--when` or `--still`
$ turnfold shrink missing.tfl
exit 2| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)
$ turnfold shrink duel --when turn
exit 2| error: invalid value 'turn' for '--when <CONDITION>': expected a path into the view such as `/turn`, `count(PATH)`, `!` or `(` at the caret: `^turn`; see `--help`
$ turnfold shrink duel --when "/turn == 1" --still true
exit 2| error: the argument '--when <CONDITION>' cannot be used with '--still <COMMAND>'; see `--help`
$ turnfold shrink duel.tfl --view p1
exit 2| error: the following required arguments were not provided: --when <CONDITION>; see `--help`
$ turnfold shrink duel --when "/selected == atlas" -o duel.tfl
exit 2| error: `duel.tfl` exists; `--force` overwrites it
$ turnfold --format json shrink duel --when "/selected == atlas" -o least.tfl
{"source":"duel","shows":"`/selected == \"atlas\"` becomes true","entries_before":3,"entries":2,"tries":30,"file":"least.tfl","replay":null}

"#]]);
}

#[test]
fn a_condition_may_be_on_what_a_spectator_sees() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok("play ford \"p1: tap 0,1\" \"p1: tap 0,0\" \"p1: switch\"");
    for view in ["--view", "--as"] {
        let least = sandbox.ok(&format!("shrink ford --when \"/planning == p2\" {view} spectator"));
        assert_eq!(commands(&least), ["1 p1 switch"]);
    }
    let code = |view: &str| {
        sandbox.run(&format!("shrink ford --when \"/orders/0/seat == p1\" {view}")).status.code()
    };
    assert_eq!((code("--view p1"), code("--view spectator")), (Some(0), Some(2)), "it sees no orders of p1");
}
