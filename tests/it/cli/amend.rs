//! `turnfold amend`.

use std::fs;

use serde_json::Value;
use snapbox::str;
use turnfold_games::rulesets;

use super::duel;
use turnfold_tests::sandbox::{Sandbox, workspace};

const SEED: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Returns a match with recorded dice over two turns, without units: `next-turn` and rolls alternate.
fn turns() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new turns --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox.ok("play turns \"roll 1 1 2 2\" next-turn \"roll 6 6 5 5\" next-turn");
    sandbox
}

#[test]
fn one_entry_is_replaced_and_the_rest_played_again() {
    let sandbox = duel();
    sandbox.ok("play duel confirm \"move 1,-1\"");
    sandbox.check(str![[r#"
$ turnfold amend duel:3 "move 1,1" --branch flank
- 3 p1 move 0,1
+ 3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
state, duel → duel@flank
  /cursor [0,1] → [1,1]
  /units/0/at [0,1] → [1,1]
created duel@flank, which begins after duel:2: 5 entries, 2 of them played again #d1e3fa94a390e862
$ turnfold amend duel@flank:5 stand --branch deeper
- 5 p2 move 1,-1
+ 5 p2 stand => ignored nothing_selected #d1e3fa94a390e862
the states at the end are equal
created duel@deeper, which begins after duel@flank:4: 5 entries, 0 of them played again #d1e3fa94a390e862
$ turnfold branch duel
main    5 entries  link [LINK]
deeper  5 entries, from flank:4  link [LINK]
flank   5 entries, from main:2  link [LINK]
$ turnfold log duel@flank
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
4 p2 confirm => ignored not_your_unit #d1e3fa94a390e862
5 p2 move 1,-1 => ignored nothing_selected #d1e3fa94a390e862
$ turnfold verify
ok duel@main: 5 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@deeper: 5 entries state d1e3fa94a390e862 link [LINK]
ok duel@flank: 5 entries state d1e3fa94a390e862 link [LINK]

"#]]);
}

#[test]
fn entries_that_no_longer_apply_are_conflicts_and_skipped_only_when_asked() {
    let sandbox = duel();
    sandbox.ok("play duel confirm \"move 1,-1\"");
    sandbox.check(str![[r#"
$ turnfold amend duel:2 --drop --branch without
- 2 p1 confirm
no longer applies (each was left out before the next was tried)
  4 p2 confirm => rejected not_your_turn (it is the other player's impulse)
  5 p2 move 1,-1 => rejected not_your_turn (it is the other player's impulse)
exit 1| error: 2 lines no longer apply, nothing was created; `--keep-going` leaves them out
$ turnfold branch duel
main  5 entries  link [LINK]
$ turnfold amend duel:2 --drop --branch without --keep-going
- 2 p1 confirm
no longer applies (each was left out before the next was tried)
  4 p2 confirm => rejected not_your_turn (it is the other player's impulse)
  5 p2 move 1,-1 => rejected not_your_turn (it is the other player's impulse)
1 outcome differs, first that of entry 3, now 2 (p1 move 0,1)
- moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
+ ignored nothing_selected
state, duel → duel@without
...
  /units/0/at [0,1] → [0,2]
  /prompt "Player 2: select a unit to move (1 remaining)" → "Player 1: select a unit to move (1 remaining)"
  /status "Player 2's turn — move 1 of 1 units" → "Player 1's turn — move 1 of 1 units"
created duel@without, which begins after duel:1: 2 entries, 1 of them played again #e67f02be3627678a
$ turnfold amend duel:4 --insert "p2: cycle" --branch other
+ 4 p2 cycle => cursor at=0,-2 #818c9af3972ebd4c
2 outcomes differ, first that of entry 4, now 5 (p2 confirm)
- ignored not_your_unit
+ selected unit=kit-fox
  entry 5, now 6 (p2 move 1,-1) was ignored nothing_selected, is applied now
state, duel → duel@other
  /impulse 1 → 2
  /active_player "p2" → "p1"
  /moved ["atlas"] → ["atlas","kit-fox"]
  /cursor [0,1] → [1,-1]
  /units/2/at [0,-2] → [1,-1]
  /prompt "Player 2: select a unit to move (1 remaining)" → "Player 1: select a unit to move (1 remaining)"
  /status "Player 2's turn — move 1 of 1 units" → "Player 1's turn — move 1 of 1 units"
created duel@other, which begins after duel:3: 6 entries, 2 of them played again #c4dc7ea9bca7b541
$ turnfold verify
ok duel@main: 5 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@other: 6 entries state c4dc7ea9bca7b541 link [LINK]
ok duel@without: 2 entries state e67f02be3627678a link [LINK]

"#]]);
}

#[test]
fn recorded_rolls_keep_their_values_and_stay_where_they_are_due() {
    turns().check(str![[r#"
$ turnfold amend turns:1 "roll 3 3 4 4" --branch other-values
- 1 host roll 1 1 2 2
+ 1 host roll 3 3 4 4 => rolled p1=6 p2=8; initiative p1=6 p2=8 loser=p1 winner=p2; movement_order impulses=; flash text="Initiative: P1 rolled 6, P2 rolled 8 — P1 moves first"; movement_complete #1ebc01584279a50d
the states at the end are equal
created turns@other-values, which begins after turns:0: 4 entries, 3 of them played again #67fc3e75a8adb9c5
$ turnfold amend turns:2 --drop --branch no-roll-due
- 2 host next-turn
no longer applies (each was left out before the next was tried)
  3 host roll 6 6 5 5 => rejected no_roll_due (no roll is due)
exit 1| error: 1 line no longer applies, nothing was created; `--keep-going` leaves them out
$ turnfold amend turns:3 --drop --branch no-values
- 3 host roll 6 6 5 5
no longer applies (each was left out before the next was tried)
  4 host next-turn => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`)
exit 1| error: 1 line no longer applies, nothing was created; `--keep-going` leaves them out
$ turnfold amend turns:3 --insert "roll 4 4 4 4" --branch a-tie-first
+ 3 host roll 4 4 4 4 => rolled p1=8 p2=8; flash text="Initiative: both rolled 8 — roll again" #2df496a842a9e500
the states at the end are equal
created turns@a-tie-first, which begins after turns:2: 5 entries, 2 of them played again #67fc3e75a8adb9c5

"#]]);
}

#[test]
fn seeded_rolls_are_made_again_as_they_are_counted() {
    let sandbox = Sandbox::new();
    let setup = "fixtures/initiative/no-units.toml";
    sandbox.ok(&format!("new seeded --rules initiative --setup {setup} --dice seeded --seed {SEED}"));
    sandbox.ok("play seeded next-turn next-turn");
    sandbox.check(str![[r#"
$ turnfold amend seeded:2 --insert next-turn --branch longer
+ 2 host next-turn => turn_started turn=2 #2df496a842a9e500
rolled again by the seed
  (none) → 3 roll 3 4 4 3
  (none) → 4 roll 6 3 5 3
  3 roll 3 4 4 3 → 6 roll 4 5 6 5
  4 roll 6 3 5 3 → (none)
  6 roll 4 5 6 5 → 8 roll 2 6 2 3
2 outcomes differ, first that of entry 2, now 5 (host next-turn)
- turn_started turn=2
+ turn_started turn=3
state, seeded → seeded@longer
  /turn 3 → 4
  /initiative/rolls/p1 9 → 8
  /initiative/rolls/p2 11 → 5
  /initiative/loser "p1" → "p2"
  /initiative/winner "p2" → "p1"
created seeded@longer, which begins after seeded:1: 8 entries, 4 of them played again #60e35574a02e53c2
$ turnfold amend seeded:5 --drop --branch shorter
- 5 host next-turn
rolled again by the seed
  6 roll 4 5 6 5 → (none)
state, seeded → seeded@shorter
  /turn 3 → 2
  /initiative/rolls/p2 11 → 8
  /initiative/loser "p1" → "p2"
  /initiative/winner "p2" → "p1"
created seeded@shorter, which begins after seeded:4: 4 entries, 0 of them played again #588f4746ad2c2ece
$ turnfold amend seeded:1 --drop --branch same
- 1 host roll 2 5 4 2
rolled again by the seed
  (none) → 1 roll 2 5 4 2
the states at the end are equal
created seeded@same, which begins after seeded:0: 6 entries, 5 of them played again #1a106c73e8d4528e
$ turnfold verify
ok seeded@main: 6 entries state 1a106c73e8d4528e link [LINK]
ok seeded@longer: 8 entries state 60e35574a02e53c2 link [LINK]
ok seeded@same: 6 entries state 1a106c73e8d4528e link [LINK]
ok seeded@shorter: 4 entries state 588f4746ad2c2ece link [LINK]

"#]]);
}

#[test]
fn what_cannot_be_amended_is_refused_and_creates_nothing() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("branch duel:1 taken");
    sandbox.write("false.tfl", sandbox.read("duel.tfl").replace("to=0,1", "to=0,0"));
    sandbox.check(str![[r#"
$ turnfold amend duel:3 "p2: stand" --branch x
! p2 stand => rejected not_your_turn (it is the other player's impulse)
exit 1| error: the command was rejected; nothing was created
$ turnfold amend duel:3 fly --branch x
! fly => rejected malformed (expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `fly`)
exit 1| error: the command was rejected; nothing was created
$ turnfold amend duel:3 "p17: stand" --branch x
! p17: stand => rejected malformed (unknown seat `p17`: seats are `p1` to `p16` and `host`)
exit 1| error: the command was rejected; nothing was created
$ turnfold amend duel:3 stand --branch taken
exit 2| error: match `duel` already has a branch `taken`; choose another name
$ turnfold amend duel:3 stand --branch main
exit 2| error: match `duel` already has a branch `main`; choose another name
$ turnfold amend duel:0 stand --branch x
exit 2| error: `duel:0` is the setup; entries count from 1
$ turnfold amend duel:4 stand --branch x
exit 2| error: `duel` has no entry 4; its last is 3; to go on at the end, `branch` and `play`
$ turnfold amend duel stand --branch x
exit 2| error: invalid value 'duel' for '<REV:SEQ|FILE:SEQ>': expected the number of an entry in `duel`; an entry is written REV:SEQ or FILE:SEQ; see `--help`
$ turnfold amend duel:1:2 stand --branch x
exit 2| error: invalid value 'duel:1:2' for '<REV:SEQ|FILE:SEQ>': expected a number, found `1:2` in revision `duel:1:2`, which is written MATCH[@BRANCH][:SEQ]; a replay file ends in `.tfl` or `.html`; see `--help`
$ turnfold amend duel:3 --branch x
exit 2| error: the following required arguments were not provided: <COMMAND>; see `--help`
$ turnfold amend duel:3 stand
exit 2| error: the following required arguments were not provided: <--branch <NAME>|--output <FILE>>; see `--help`
$ turnfold amend duel:3 stand --drop --branch x
exit 2| error: the argument '[COMMAND]' cannot be used with '--drop'; see `--help`
$ turnfold amend duel:3 --insert --drop --branch x
exit 2| error: the argument '--insert' cannot be used with '--drop'; see `--help`
$ turnfold amend duel:3 stand --branch x -o x.tfl
exit 2| error: the argument '--branch <NAME>' cannot be used with '--output <FILE>'; see `--help`
$ turnfold amend duel@nobody:3 stand --branch x
exit 2| error: match `duel` has no branch `nobody`; `turnfold branch duel` lists those there are
$ turnfold amend duel.tfl:3 stand --branch x
exit 2| error: `duel.tfl` is a file, it has no branches; name a new file with `--output`
$ turnfold amend duel.tfl:3 stand -o duel.tfl
exit 2| error: `duel.tfl` exists; `--force` overwrites it
$ turnfold amend duel.tfl:9 stand -o x.tfl
exit 2| error: `duel.tfl` has no entry 9; its last is 3; to go on at the end, `branch` and `play`
$ turnfold amend missing.tfl:3 stand -o x.tfl
exit 2| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)
$ turnfold amend false.tfl:1 "roll 1 1 1 2" -o x.tfl
exit 1| error: false.tfl:42: entry 3 does not do what the file says, nothing was written; `turnfold check false.tfl` explains it
$ turnfold branch duel
main   3 entries  link [LINK]
taken  1 entry, from main:1  link [LINK]

"#]]);
    assert!(!sandbox.path("x.tfl").exists());
}

#[test]
fn files_are_amended_with_their_comments_and_attempts() {
    let sandbox = duel();
    sandbox.ok("export duel -o plain.tfl");
    let plain = sandbox.read("plain.tfl");
    let (header, entries) = plain.split_once("+++\n1 ").unwrap();
    let body = entries.split_once("\n= ").unwrap().0.replace("\n2 ", "\n# it rolled badly\n\n2 ");
    let body = body.replace("\n3 ", "\n! p2 stand\n! p1 next-turn\n# the move\n3 ");
    sandbox.write("duel.tfl", format!("{header}+++\n# a duel\n1 {body}\n! p1 stand\n"));
    sandbox.ok("bless duel.tfl --accept");
    sandbox.check(str![[r#"
$ turnfold amend duel.tfl:3 "move 1,1" -o moved.tfl
- 3 p1 move 0,1
+ 3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
state, duel.tfl → moved.tfl
  /cursor [0,1] → [1,1]
  /units/0/at [0,1] → [1,1]
wrote `moved.tfl`: 3 entries, 0 of them played again #d1e3fa94a390e862
$ turnfold diff duel.tfl moved.tfl
the histories part at entry 3
--- duel.tfl
+++ moved.tfl
...
state, duel.tfl → moved.tfl
  /cursor [0,1] → [1,1]
  /units/0/at [0,1] → [1,1]
exit 1
$ turnfold amend duel.tfl:3 --insert "move 0,0" -o blocked.tfl
+ 3 p1 move 0,0 => ignored impassable #01c8c4ec6ad17e5a
the states at the end are equal
wrote `blocked.tfl`: 4 entries, 1 of them played again #8bc3cdd5a21478a4
$ turnfold amend duel.tfl:3 --drop -o dropped.tfl
- 3 p1 move 0,1
no longer applies (each was left out before the next was tried)
  ! p1 stand => accepted (the attempt is accepted now)
exit 1| error: 1 line no longer applies, nothing was created; `--keep-going` leaves them out
$ turnfold amend duel.tfl:3 --drop -o dropped.tfl --keep-going
- 3 p1 move 0,1
no longer applies (each was left out before the next was tried)
  ! p1 stand => accepted (the attempt is accepted now)
state, duel.tfl → dropped.tfl
...
wrote `dropped.tfl`: 2 entries, 0 of them played again #01c8c4ec6ad17e5a
$ turnfold check moved.tfl blocked.tfl dropped.tfl
ok moved.tfl 3 entries
ok blocked.tfl 4 entries
ok dropped.tfl 2 entries
3 passed, 0 failed (9 entries)
$ turnfold amend duel.tfl:3 "p1: move 1,1" --seat p2 -o duel.tfl --force
- 3 p1 move 0,1
+ 3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
state, duel.tfl → duel.tfl
  /cursor [0,1] → [1,1]
  /units/0/at [0,1] → [1,1]
wrote `duel.tfl`: 3 entries, 0 of them played again #d1e3fa94a390e862
$ turnfold diff duel.tfl moved.tfl
duel.tfl and moved.tfl are equal: 3 entries #d1e3fa94a390e862

"#]]);
    let lines = |file: &str| {
        let text = sandbox.read(file);
        let (_, body) = text.split_once("+++\n# a duel\n").unwrap();
        let shown = body.lines().map(|line| line.split(" =>").next().unwrap().to_owned());
        shown.filter(|line| !line.starts_with('=')).collect::<Vec<_>>().join("\n") + "\n"
    };
    snapbox::assert_data_eq!(
        lines("blocked.tfl"),
        str![[r#"
1 host roll 1 2 3 4
# it rolled badly

2 p1 confirm
! p2 stand
! p1 next-turn
3 p1 move 0,0
# the move
4 p1 move 0,1
! p1 stand

"#]]
    );
    snapbox::assert_data_eq!(
        lines("dropped.tfl"),
        str![[r#"
1 host roll 1 2 3 4
# it rolled badly

2 p1 confirm
! p2 stand
! p1 next-turn
# the move

"#]]
    );
}

#[test]
fn json_shows_all_of_it_whether_created_or_not() {
    let sandbox = duel();
    sandbox.ok("play duel confirm \"move 1,-1\"");
    sandbox.check(str![[r#"
$ turnfold --format json amend duel:3 "move 1,1" --branch flank
{"created":true,"source":"duel","seq":3,"target":"duel@flank","removed":{"seq":3,"seat":"p1","command":"move 0,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[0,1]},{"effect":"cursor","at":[0,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7"},"added":{"seq":3,"seat":"p1","command":"move 1,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[1,1]},{"effect":"cursor","at":[1,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"d1e3fa94a390e8624eac9c81106f4e2f3fe5da58a71424ef0334817d4b0e7080"},"entries":5,"kept":2,"state_hash":"d1e3fa94a390e8624eac9c81106f4e2f3fe5da58a71424ef0334817d4b0e7080","conflicts":[],"outcomes":[],"rolls":[],"state":[{"path":"/cursor","old":[0,1],"new":[1,1]},{"path":"/units/0/at","old":[0,1],"new":[1,1]}]}
$ turnfold --format json amend duel:3 --drop --branch without
{"created":false,"source":"duel","seq":3,"target":"duel@without","removed":{"seq":3,"seat":"p1","command":"move 0,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[0,1]},{"effect":"cursor","at":[0,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7"},"added":null,"entries":2,"kept":0,"state_hash":"01c8c4ec6ad17e5ade4125bd7705255954648578b138f503368e11ea7222239f","conflicts":[{"seq":4,"seat":"p2","command":"confirm","reason":"not_your_turn","message":"it is the other player's impulse"},{"seq":5,"seat":"p2","command":"move 1,-1","reason":"not_your_turn","message":"it is the other player's impulse"}],"outcomes":[],"rolls":[],"state":[{"path":"/impulse","old":1,"new":0},{"path":"/active_player","old":"p2","new":"p1"},{"path":"/moved","old":["atlas"],"new":[]},{"path":"/cursor","old":[0,1],"new":[0,2]},{"path":"/selected","old":null,"new":"atlas"},{"path":"/units/0/at","old":[0,1],"new":[0,2]},{"path":"/prompt","old":"Player 2: select a unit to move (1 remaining)","new":"Player 1: move Atlas AS7-D"},{"path":"/status","old":"Player 2's turn — move 1 of 1 units","new":"Player 1's turn — move 1 of 1 units"}]}
exit 1| {"error":{"kind":"negative","message":"2 lines no longer apply, nothing was created","hint":"`--keep-going` leaves them out","exit_code":1}}
$ turnfold --format json amend duel:3 fly --branch without
{"seq":null,"seat":null,"command":"fly","outcome":"rejected","reason":"malformed","message":"expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `fly`","effects":[],"state_hash":"01c8c4ec6ad17e5ade4125bd7705255954648578b138f503368e11ea7222239f"}
exit 1| {"error":{"kind":"negative","message":"the command was rejected; nothing was created","hint":null,"exit_code":1}}

"#]]);
}

#[test]
fn times_stay_with_the_entries_that_are_played_again_and_keys_do_not() {
    let sandbox = duel();
    sandbox.ok("play duel --once k1 confirm \"move 1,-1\"");
    sandbox.ok("amend duel:3 \"move 1,1\" --branch flank");
    let log = |revision: &str| -> Vec<Value> {
        let lines = sandbox.ok(&format!("--format json log {revision}"));
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (old, new) = (log("duel"), log("duel@flank"));
    assert_eq!(old.len(), new.len());
    for place in [0, 1, 3, 4] {
        assert_eq!(old[place]["recorded_at_ms"], new[place]["recorded_at_ms"], "entry {}", place + 1);
    }
    assert!(new[2]["recorded_at_ms"].as_i64() > old[2]["recorded_at_ms"].as_i64());
    assert_eq!((&old[4]["key"], &new[4]["key"]), (&Value::from("k1"), &Value::Null));
    // The key is free on the branch, and its append on `main` is unchanged.
    sandbox.ok("play duel@flank --once k1 confirm");
    assert_eq!(log("duel"), old);
}

/// A ruleset in which every command is a step of a turn, so that only the last can be left out.
const STEP_BY_STEP: &str = "channel";

/// A golden log and its entries as `SEAT: COMMAND`.
struct Golden {
    text: String,
    commands: Vec<String>,
}

impl Golden {
    fn is_seeded_roll(&self, command: &str) -> bool {
        self.text.contains("dice = \"seeded\"") && command.starts_with("host: roll ")
    }
}

/// Returns some golden logs of a ruleset: the first, the middle and the last.
fn goldens(ruleset: &str) -> Vec<Golden> {
    let folder = workspace().join("replays").join(ruleset);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let places = [0, files.len() / 2, files.len() - 1];
    let goldens = places.map(|place| fs::read_to_string(&files[place]).unwrap());
    goldens.map(|text| Golden { commands: commands(&text), text }).into()
}

fn commands(replay: &str) -> Vec<String> {
    let entries = replay.lines().filter(|line| line.starts_with(|digit: char| digit.is_ascii_digit()));
    let commands = entries.map(|entry| {
        let mut words = entry.split(" => ").next().unwrap().splitn(3, ' ').skip(1);
        format!("{}: {}", words.next().unwrap(), words.next().unwrap())
    });
    commands.collect()
}

/// Returns the record of a replay, without its comments and attempts.
fn record(replay: &str) -> Vec<&str> {
    let recorded = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit() || first == '=');
    replay.lines().filter(recorded).collect()
}

/// Returns some of the numbers from 1 to `count`, evenly spread, including both ends.
fn some_of(count: usize) -> impl Iterator<Item = usize> {
    (1..=count).step_by(count.div_ceil(6).max(1)).chain([count])
}

#[test]
fn the_same_command_gives_the_same_line_of_play_in_every_ruleset() {
    let sandbox = Sandbox::new();
    for rules in rulesets() {
        for golden in goldens(rules.name()) {
            sandbox.write("golden.tfl", &golden.text);
            for seq in some_of(golden.commands.len()) {
                let command = &golden.commands[seq - 1];
                sandbox.ok(&format!("amend golden.tfl:{seq} \"{command}\" -o same.tfl --force"));
                assert_eq!(sandbox.read("same.tfl"), golden.text, "{} {seq} {command}", rules.name());
            }
        }
        sandbox.ok(&format!("import golden.tfl --name {}", rules.name()));
        let name = rules.name();
        let last = goldens(name).pop().unwrap();
        let seq = last.commands.len().div_ceil(2);
        sandbox.ok(&format!("amend {name}:{seq} \"{}\" --branch same", last.commands[seq - 1]));
        assert!(sandbox.ok(&format!("diff {name} {name}@same")).contains("are equal"));
    }
    sandbox.ok("verify");
}

#[test]
fn a_dropped_command_put_back_gives_the_original_in_every_ruleset() {
    let sandbox = Sandbox::new();
    for rules in rulesets() {
        let mut tried = 0;
        for golden in goldens(rules.name()) {
            sandbox.write("golden.tfl", &golden.text);
            for seq in some_of(golden.commands.len() - 1) {
                let command = &golden.commands[seq - 1];
                let dropped = sandbox.run(&format!("amend golden.tfl:{seq} --drop -o dropped.tfl --force"));
                // Without a conflict no entry is lost, except that a seeded roll is made again at once.
                if !dropped.status.success() {
                    let stderr = String::from_utf8_lossy(&dropped.stderr);
                    assert!(stderr.contains("no longer appl"), "{stderr}");
                    continue;
                }
                if golden.is_seeded_roll(command) {
                    continue;
                }
                sandbox.ok(&format!("amend dropped.tfl:{seq} --insert \"{command}\" -o same.tfl --force"));
                let same = sandbox.read("same.tfl");
                assert_eq!(record(&same), record(&golden.text), "{} {seq} {command}", rules.name());
                tried += 1;
            }
        }
        assert_eq!(tried == 0, rules.name() == STEP_BY_STEP, "{tried} commands of {}", rules.name());
    }
}
