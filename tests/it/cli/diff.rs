//! `turnfold diff`.

use snapbox::str;

use super::{check, duel};

#[test]
fn two_lines_of_play_part_somewhere() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank \"move 1,1\"");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    check(
        &sandbox,
        "diff duel duel@flank
         diff duel duel:2
         diff duel duel.tfl
         --format json diff duel duel@flank
         diff other duel:0
         diff duel missing.tfl",
        str![[r#"
$ turnfold diff duel duel@flank
the lines of play part at entry 3
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
the lines of play part at entry 3
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
{"equal":false,"a":{"name":"duel","entries":3,"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7"},"b":{"name":"duel@flank","entries":3,"state_hash":"d1e3fa94a390e8624eac9c81106f4e2f3fe5da58a71424ef0334817d4b0e7080"},"parts_at":3,"game":"","commands":"--- duel\n+++ duel@flank\n@@ -1,3 +1,3 @@\n 1 host roll 1 2 3 4\n 2 p1 confirm\n-3 p1 move 0,1\n+3 p1 move 1,1\n","state":[{"path":"/cursor","old":[0,1],"new":[1,1]},{"path":"/units/0/at","old":[0,1],"new":[1,1]}]}
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
+
+[[units]]
+id = "atlas"
+owner = "p1"
+name = "Atlas AS7-D"
+at = [0, 2]
+mp = 3
+
+[[units]]
+id = "locust"
+owner = "p1"
+name = "Locust LCT-1V"
+at = [-1, 2]
+mp = 8
+
+[[units]]
+id = "kit-fox"
+owner = "p2"
+name = "Kit Fox Prime"
+at = [0, -2]
+mp = 6
+
+[[units]]
+id = "turret"
+owner = "p2"
+name = "Turret"
+at = [1, -2]
+mp = 0
both play the same 0 commands
state, other → duel:0
  /units/0 (none) → {"id":"atlas","owner":"p1","name":"Atlas AS7-D","at":[0,2],"mp":3}
  /units/1 (none) → {"id":"locust","owner":"p1","name":"Locust LCT-1V","at":[-1,2],"mp":8}
  /units/2 (none) → {"id":"kit-fox","owner":"p2","name":"Kit Fox Prime","at":[0,-2],"mp":6}
  /units/3 (none) → {"id":"turret","owner":"p2","name":"Turret","at":[1,-2],"mp":0}
  /blocked/0 (none) → [0,0]
exit 1
$ turnfold diff duel missing.tfl
stderr| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)
exit 2

"#]],
    );
}
