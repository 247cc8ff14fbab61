//! `turnfold check`.

use snapbox::str;

use super::{check, duel};

#[test]
fn a_failure_shows_entry_outcomes_and_state() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    let file = sandbox.read("good.tfl");
    sandbox.write("outcome.tfl", file.replace("selected unit=atlas", "selected unit=locust"));
    let hash =
        file.lines().find(|line| line.starts_with("3 ")).and_then(|line| line.split('#').nth(1)).unwrap();
    let flipped = hash.replacen(
        |digit: char| digit.is_ascii_hexdigit(),
        if hash.starts_with('0') { "1" } else { "0" },
        1,
    );
    sandbox.write("hash.tfl", file.replace(hash, &flipped));
    let (without_end, _) = file.trim_end().rsplit_once('\n').unwrap();
    sandbox.write("unclosed.tfl", format!("{without_end}\n"));
    sandbox.write("roll.tfl", file.replace("roll 1 2 3 4", "roll 1 2 3 5"));
    check(
        &sandbox,
        "check good.tfl
         check outcome.tfl
         check hash.tfl
         check unclosed.tfl
         check roll.tfl
         check outcome.tfl good.tfl
         --format json check outcome.tfl good.tfl",
        str![[r#"
$ turnfold check good.tfl
ok good.tfl 3 entries
1 passed, 0 failed (3 entries)
$ turnfold check outcome.tfl
outcome.tfl:41: entry 2 (p1 confirm): outcome differs
- selected unit=locust
+ selected unit=atlas
state, before → after entry 2:
  /selected null → "atlas"
  /prompt "Player 1: select a unit to move (1 remaining)" → "Player 1: move Atlas AS7-D"
to see it: turnfold replay outcome.tfl --to 2
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check hash.tfl
hash.tfl:42: entry 3 (p1 move 0,1): state hash differs
- 0bc3cdd5a21478a4
+ 8bc3cdd5a21478a4
state, before → after entry 3:
  /impulse 0 → 1
  /active_player "p1" → "p2"
  /moved [] → ["atlas"]
  /cursor [0,2] → [0,1]
  /selected "atlas" → null
  /units/0/at [0,2] → [0,1]
  /prompt "Player 1: move Atlas AS7-D" → "Player 2: select a unit to move (1 remaining)"
  /status "Player 1's turn — move 1 of 1 units" → "Player 2's turn — move 1 of 1 units"
to see it: turnfold replay hash.tfl --to 3
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check unclosed.tfl
unclosed.tfl:43: closing line: the closing line is missing
to fill it in: turnfold bless unclosed.tfl
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check roll.tfl
roll.tfl:40: entry 1 (host roll 1 2 3 5): outcome differs
- rolled p1=3 p2=7
- initiative p1=3 p2=7 loser=p1 winner=p2
+ rolled p1=3 p2=8
+ initiative p1=3 p2=8 loser=p1 winner=p2
  movement_order impulses=p1:1|p2:1|p1:1|p2:1
- flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"
+ flash text="Initiative: P1 rolled 3, P2 rolled 8 — P1 moves first"
  cursor at=0,2
- #e67f02be3627678a
+ #a9cf881031f87968
state, before → after entry 1:
  /phase "initiative" → "movement"
  /initiative null → {"rolls":{"p1":3,"p2":8},"loser":"p1","winner":"p2"}
  /movement_order/0 (none) → {"player":"p1","units":1}
  /movement_order/1 (none) → {"player":"p2","units":1}
  /movement_order/2 (none) → {"player":"p1","units":1}
  /movement_order/3 (none) → {"player":"p2","units":1}
  /impulse null → 0
  /active_player null → "p1"
  /remaining_in_impulse null → 1
  /cursor [0,0] → [0,2]
  /due_roll {"purpose":"initiative","count":4,"low":1,"high":6} → null
  /prompt "Roll for initiative" → "Player 1: select a unit to move (1 remaining)"
  /status "" → "Player 1's turn — move 1 of 1 units"
to see it: turnfold replay roll.tfl --to 1
0 passed, 1 failed (3 entries)
exit 1
$ turnfold check outcome.tfl good.tfl
outcome.tfl:41: entry 2 (p1 confirm): outcome differs
- selected unit=locust
+ selected unit=atlas
state, before → after entry 2:
  /selected null → "atlas"
  /prompt "Player 1: select a unit to move (1 remaining)" → "Player 1: move Atlas AS7-D"
to see it: turnfold replay outcome.tfl --to 2
ok good.tfl 3 entries
1 passed, 1 failed (6 entries)
exit 1
$ turnfold --format json check outcome.tfl good.tfl
{"file":"outcome.tfl","ok":false,"entries":3,"error":null,"mismatch":{"file":"outcome.tfl","line":41,"seq":2,"seat":"p1","command":"confirm","kind":"outcome","expected":"selected unit=locust","actual":"selected unit=atlas","state_hash":null,"state":[{"path":"/selected","old":null,"new":"atlas"},{"path":"/prompt","old":"Player 1: select a unit to move (1 remaining)","new":"Player 1: move Atlas AS7-D"}],"next":"to see it: turnfold replay outcome.tfl --to 2"}}
{"file":"good.tfl","ok":true,"entries":3,"error":null,"mismatch":null}
exit 1

"#]],
    );
}

#[test]
fn a_malformed_file_is_told_with_its_place() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    let good = sandbox.read("good.tfl");
    let cases = [
        ("seat", "2 p1 ", "2 p9 "),
        ("seq", "2 p1 ", "3 p1 "),
        ("spaces", "2 p1 ", "2  p1 "),
        ("key", "dice = ", "dices = "),
        ("fence", "+++", "---"),
        ("setup", "radius = 2", "radius = \"two\""),
        ("hash", " #", " #x"),
        ("command", "p1 confirm", "p1 conform"),
        ("carriage-return", "\n", "\r\n"),
    ];
    let mut lines = String::new();
    for (name, old, new) in cases {
        sandbox.write(&format!("{name}.tfl"), good.replacen(old, new, 1));
        lines += "check ";
        lines += name;
        lines += ".tfl\n";
    }
    sandbox.write("cut.tfl", &good[..30]);
    sandbox.write("latin-1.tfl", b"turnfold replay 1\n+++\ntitle = \"\xe9\"\n");
    lines += "check cut.tfl\ncheck latin-1.tfl";
    check(
        &sandbox,
        &lines,
        str![[r#"
$ turnfold check seat.tfl
failed seat.tfl:41:3: expected a seat, `p1` to `p8` or `host`, found `p9`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check seq.tfl
failed seq.tfl:41:1: expected entry number 2, found `3`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check spaces.tfl
failed spaces.tfl:41:3: expected a seat, `p1` to `p8` or `host`, found a space
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check key.tfl
failed key.tfl:5:1: expected a key of the header, found `dices`; the header's keys are `ruleset`, `version`, `dice`, `seed`, `title` and the table `setup`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check fence.tfl
failed fence.tfl:2:1: expected `+++` before the header, found `---`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check setup.tfl
failed setup.tfl:9:10: setup: invalid type: string "two", expected u8
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check hash.tfl
failed hash.tfl:40:211: expected 16 lowercase hex digits, found `xe67f02be3627678a`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check command.tfl
failed command.tfl:41:6: entry 2: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `conform`
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check carriage-return.tfl
failed carriage-return.tfl:1:18: expected a line end of LF alone, found U+000D
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check cut.tfl
failed cut.tfl:3:9: expected a line feed, found nothing
0 passed, 1 failed (0 entries)
exit 1
$ turnfold check latin-1.tfl
failed latin-1.tfl:3:10: expected UTF-8 text, found byte 0xe9
0 passed, 1 failed (0 entries)
exit 1

"#]],
    );
}

#[test]
fn nothing_to_check_is_no_pass() {
    let sandbox = duel();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    check(
        &sandbox,
        "check
         check empty
         check missing.tfl",
        str![[r#"
$ turnfold check
stderr| error: cannot read `replays`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it
exit 2
$ turnfold check empty
stderr| error: no replay files (`*.tfl`) under `empty`; nothing was checked
exit 2
$ turnfold check missing.tfl
stderr| error: cannot read `missing.tfl`: No such file or directory (os error 2); name replay files or a folder with `*.tfl` in it
exit 2

"#]],
    );
}
