//! `turnfold diff`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

#[test]
fn two_lines_of_play_part_somewhere() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank \"move 1,1\"");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox.check(str![[r#"
$ turnfold diff duel duel@flank
the histories part at entry 3
--- duel
+++ duel@flank
@@ -1,3 +1,3 @@
 1 host roll 1 2 3 4
 2 p1 confirm
-3 p1 move 0,1
+3 p1 move 1,1
state, duel → duel@flank
  /cursor [0,1] → [1,1]
  /units/0/at [0,1] → [1,1]
exit 1
$ turnfold diff duel duel:2
the histories part at entry 3
--- duel
+++ duel:2
@@ -1,3 +1,2 @@
 1 host roll 1 2 3 4
 2 p1 confirm
-3 p1 move 0,1
state, duel → duel:2
  /impulse 1 → 0
  /active_player "p2" → "p1"
  /moved ["atlas"] → []
  /cursor [0,1] → [0,2]
  /selected null → "atlas"
  /units/0/at [0,1] → [0,2]
  /prompt "Player 2: select a unit to move (1 remaining)" → "Player 1: move Atlas AS7-D"
  /status "Player 2's turn — move 1 of 1 units" → "Player 1's turn — move 1 of 1 units"
exit 1
$ turnfold diff duel duel.tfl
duel and duel.tfl are equal: 3 entries #8bc3cdd5a21478a4
$ turnfold --format json diff duel duel@flank
{"equal":false,"same_game":true,"parts_at":3,"only_in_a":1,"only_in_b":1,"outcomes_differ":0,"fields_differ":2,"a":{"name":"duel","entries":3,"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7","recorded_differs_at":null},"b":{"name":"duel@flank","entries":3,"state_hash":"d1e3fa94a390e8624eac9c81106f4e2f3fe5da58a71424ef0334817d4b0e7080","recorded_differs_at":null},"game":[],"entries":[{"a":{"seq":3,"seat":"p1","command":"move 0,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[0,1]},{"effect":"cursor","at":[0,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7"},"b":null},{"a":null,"b":{"seq":3,"seat":"p1","command":"move 1,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[1,1]},{"effect":"cursor","at":[1,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"d1e3fa94a390e8624eac9c81106f4e2f3fe5da58a71424ef0334817d4b0e7080"}}],"state":[{"path":"/cursor","old":[0,1],"new":[1,1]},{"path":"/units/0/at","old":[0,1],"new":[1,1]}]}
exit 1
$ turnfold diff other duel:0
the games differ from the start
--- other
+++ duel:0
@@ -1,5 +1,32 @@
 ruleset initiative version 1
 dice recorded
-radius = 1
-blocked = []
-units = []
+radius = 2
+blocked = [[0, 0]]
...
both play the same 0 commands
state, other → duel:0
  /units/0 (none) → {"id":"atlas","owner":"p1","name":"Atlas AS7-D","at":[0,2],"mp":3}
  /units/1 (none) → {"id":"locust","owner":"p1","name":"Locust LCT-1V","at":[-1,2],"mp":8}
  /units/2 (none) → {"id":"kit-fox","owner":"p2","name":"Kit Fox Prime","at":[0,-2],"mp":6}
  /units/3 (none) → {"id":"turret","owner":"p2","name":"Turret","at":[1,-2],"mp":0}
  /blocked/0 (none) → [0,0]
exit 1
$ turnfold diff duel missing.tfl
exit 2| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)

"#]]);
}

/// Returns a sandbox in which `duel` and its branch `held` continue. A unit moves in `duel` but stays in place in
/// `held`.
fn held() -> Sandbox {
    let sandbox = duel();
    sandbox.ok("branch duel:2 held");
    sandbox.ok("play duel@held stand \"p2: click 0,-2\" \"move 0,-1\" \"p1: click 0,1\"");
    sandbox.ok("play duel \"p2: click 0,-2\" \"move 0,-1\" \"p1: click 0,1\"");
    sandbox
}

#[test]
fn outcomes_of_the_same_commands_are_compared() {
    held().check(str![[r#"
$ turnfold diff duel duel@held
the histories part at entry 3
--- duel
+++ duel@held
@@ -1,6 +1,6 @@
 1 host roll 1 2 3 4
 2 p1 confirm
-3 p1 move 0,1
+3 p1 stand
 4 p2 click 0,-2
 5 p2 move 0,-1
 6 p1 click 0,1
outcomes that differ although the command is the same
  entry 6 (p1 click 0,1)
- ignored already_moved
+ ignored no_unit
state, duel → duel@held
  /units/0/at [0,1] → [0,2]
exit 1
$ turnfold diff --stat duel duel@held
parts at entry 3, 1 command only in duel, 1 command only in duel@held, 1 outcome differs, 1 field differs
exit 1
$ turnfold --format json diff --stat duel duel@held
{"equal":false,"same_game":true,"parts_at":3,"only_in_a":1,"only_in_b":1,"outcomes_differ":1,"fields_differ":1}
exit 1
$ turnfold --format json diff duel duel@held
{"equal":false,"same_game":true,"parts_at":3,"only_in_a":1,"only_in_b":1,"outcomes_differ":1,"fields_differ":1,"a":{"name":"duel","entries":6,"state_hash":"af5c882477b7222b8ef2b0e81907c6eed31bdc3b53a3d816d789abd4543c6f94","recorded_differs_at":null},"b":{"name":"duel@held","entries":6,"state_hash":"cd7936d394057771d1186f7b297b711056bb6a735c3ef0b2e749d78ba5bb7924","recorded_differs_at":null},"game":[],"entries":[{"a":{"seq":3,"seat":"p1","command":"move 0,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[0,1]},{"effect":"cursor","at":[0,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7"},"b":null},{"a":null,"b":{"seq":3,"seat":"p1","command":"stand","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"stood","unit":"atlas"},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"98a67c73afde8a635a2fa5cc549593b54ac403a210039a546bbaa850308cee97"}},{"a":{"seq":6,"seat":"p1","command":"click 0,1","outcome":"ignored","reason":"already_moved","message":"Already moved","effects":[],"state_hash":"af5c882477b7222b8ef2b0e81907c6eed31bdc3b53a3d816d789abd4543c6f94"},"b":{"seq":6,"seat":"p1","command":"click 0,1","outcome":"ignored","reason":"no_unit","message":"No unit here","effects":[],"state_hash":"cd7936d394057771d1186f7b297b711056bb6a735c3ef0b2e749d78ba5bb7924"}}],"state":[{"path":"/units/0/at","old":[0,1],"new":[0,2]}]}
exit 1
$ turnfold diff --stat duel:2 duel@held:2
duel:2 and duel@held:2 are equal: 2 entries #01c8c4ec6ad17e5a
$ turnfold diff -U 0 duel duel@held --as p1
the histories part at entry 3
--- duel
+++ duel@held
@@ -3 +3 @@
-3 p1 move 0,1
+3 p1 stand
outcomes that differ although the command is the same
  entry 6 (p1 click 0,1)
- ignored already_moved
+ ignored no_unit
state, duel → duel@held
  /units/0/at [0,1] → [0,2]
exit 1

"#]]);
}

#[test]
fn commands_are_aligned_whatever_their_numbers() {
    let sandbox = duel();
    sandbox.ok("branch duel:1 careful");
    sandbox.ok("play duel@careful cycle confirm \"move 0,1\"");
    sandbox.check(str![[r#"
$ turnfold diff -U 1 duel duel@careful
the histories part at entry 2
--- duel
+++ duel@careful
@@ -1,2 +1,3 @@
 1 host roll 1 2 3 4
+2 p1 cycle
 2 p1 confirm
outcomes that differ although the command is the same
  entry 2 (p1 confirm), there entry 3
- selected unit=atlas
+ selected unit=locust
  entry 3 (p1 move 0,1), there entry 4
- moved unit=atlas from=0,2 to=0,1
+ moved unit=locust from=-1,2 to=0,1
  cursor at=0,1
  impulse_advanced index=1 player=p2 units=1
state, duel → duel@careful
  /moved ["atlas"] → ["locust"]
  /units/0/at [0,1] → [0,2]
  /units/1/at [-1,2] → [0,1]
exit 1
$ turnfold diff --stat duel duel@careful
parts at entry 2, 0 commands only in duel, 1 command only in duel@careful, 2 outcomes differ, 3 fields differ
exit 1

"#]]);
}

#[test]
fn a_file_with_another_outcome_is_pointed_out() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let file = sandbox.read("duel.tfl");
    sandbox.write("other rules.tfl", file.replace("selected unit=atlas", "selected unit=locust"));
    sandbox.write("rejected.tfl", file.replace("2 p1 confirm", "2 p2 confirm"));
    let lines = file.lines().filter(|line| !line.starts_with("= "));
    let bare: Vec<_> = lines.map(|line| line.split(" => ").next().unwrap()).collect();
    sandbox.write("bare.tfl", bare.join("\n") + "\n");
    let outcome = "2 p1 confirm => selected unit=locust";
    sandbox.write("outcome.tfl", sandbox.read("bare.tfl").replace("2 p1 confirm", outcome));
    sandbox.write(
        "hash.tfl",
        sandbox.read("bare.tfl").replace("2 p1 confirm", "2 p1 confirm #0123456789abcdef"),
    );
    sandbox.check(str![[r#"
$ turnfold diff duel "other rules.tfl"
note: other rules.tfl records another outcome for entry 2 than the current rules give; the current rules are used here; a check of 'other rules.tfl' explains
duel and other rules.tfl are equal: 3 entries #8bc3cdd5a21478a4
$ turnfold --format json diff duel "other rules.tfl"
{"equal":true,"same_game":true,"parts_at":null,"only_in_a":0,"only_in_b":0,"outcomes_differ":0,"fields_differ":0,"a":{"name":"duel","entries":3,"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7","recorded_differs_at":null},"b":{"name":"other rules.tfl","entries":3,"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7","recorded_differs_at":2},"game":[],"entries":[],"state":[]}
$ turnfold diff duel rejected.tfl
exit 1| error: `rejected.tfl`: entry 2: rejected not_your_turn: it is the other player's impulse; correct the entry or cut the log before it
$ turnfold diff duel rejected.tfl --as p1
exit 1| error: `rejected.tfl`: its rules do not accept an entry; the host can see which
$ turnfold diff duel outcome.tfl
note: outcome.tfl records another outcome for entry 2 than the current rules give; the current rules are used here; a check of outcome.tfl explains
duel and outcome.tfl are equal: 3 entries #8bc3cdd5a21478a4
$ turnfold diff duel hash.tfl
note: hash.tfl records another outcome for entry 2 than the current rules give; the current rules are used here; a check of hash.tfl explains
duel and hash.tfl are equal: 3 entries #8bc3cdd5a21478a4
$ turnfold diff duel bare.tfl
duel and bare.tfl are equal: 3 entries #8bc3cdd5a21478a4

"#]]);
}
