//! Rolls at the command line, and the pictures.

use std::fs;

use snapbox::str;

use turnfold_tests::sandbox::{Sandbox, workspace};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hexes.toml",
        "radius = 2\ncells = [{ at = [1, 0], color = 0 }, { at = [0, 1], color = 2 }]\n",
    );
    sandbox.ok("new turtle --rules hexcapture --setup hexes.toml");
    sandbox
}

#[test]
fn in_a_recorded_match_the_roll_is_waited_for() {
    sandbox().check(str![[r#"
$ turnfold play turtle "move s" act "tick 12"
1 p1 move s => cursor at=0,1; turtle at=0,0 facing=3 #91b6d008ee889099
2 p1 act => action held=true #c1d096a34a9c38eb
3 host tick 12 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7 #35dc880af8e6413b
$ turnfold show turtle
tick 7, 300 s left, world: action
the action is held
chance of a capture: 50 %
a roll is due: 1 value in 0..=99 for capture

q     -2  -1  0   1   2
          -2 ___
      -1 ___/   \___
   0 ___/   \___/   \___
    /   \___/   \___/   \
   1\___/   \___/   \___/
    /   \___/   \___/   \
   2\___/   \@↓_/ A \___/
    /   \___/ C \___/   \
    \___/   \_^_/   \___/
        \___/   \___/
            \___/
q above its column, r at the upper left of its row, which runs down to the right

A #FF8000  chance 100 %, eaten 0, next to their like 0
B #CC6600  chance  75 %, eaten 0, next to their like 0
C #996600  chance  50 %, eaten 0, next to their like 0
D #666600  chance  25 %, eaten 0, next to their like 0
E #660099  chance  10 %, eaten 0, next to their like 0
F #9933FF  chance  25 %, eaten 0, next to their like 0
G #CC66FF  chance  50 %, eaten 0, next to their like 0
H #FF99FF  chance  75 %, eaten 0, next to their like 0
^ cursor  @ turtle and where it looks  [ ] carried
$ turnfold legal turtle
host: roll 0
host: roll 99
$ turnfold play turtle release
! p1 release => rejected roll_due (a roll is due first: 1 value in 0..=99 for capture, by `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules hexcapture roll_due` explains it
$ turnfold play turtle "roll 50"
4 host roll 50 => capture_failed cause=roll; cooldown ticks=12 #e2054be19cc14289
$ turnfold legal turtle --as p1
p1: move n
p1: move ne
p1: move se
p1: move s
p1: move sw
p1: move nw
p1: stick n
p1: stick ne
p1: stick se
p1: stick s
p1: stick sw
p1: stick nw
p1: release
p1: toggle

"#]]);
}

#[test]
fn the_inventory_is_drawn_in_its_turn_and_the_carried_hex_has_an_outline() {
    sandbox().check(str![[r#"
$ turnfold play turtle "move s" act "tick 12" "roll 0" eat "roll 9" toggle "move n" release act tick
1 p1 move s => cursor at=0,1; turtle at=0,0 facing=3 #91b6d008ee889099
2 p1 act => action held=true #c1d096a34a9c38eb
3 host tick 12 => charge_started at=0,1; roll_due purpose=capture chance=50; ticked ticks=7 #35dc880af8e6413b
4 host roll 0 => captured field=world at=0,1 color=2 #6aba8f398de08b2c
5 p1 eat => roll_due purpose=eat chance=none #520b4ac9c1a87dca
6 host roll 9 => eaten color=2 stored=0,0 #c0c449ba93ce68be
7 p1 toggle => field field=inventory #c341c7c75d16c8aa
8 p1 move n => cursor at=0,0; turtle at=0,0 facing=0 #f814ec95b0e9fa79
9 p1 release => action held=false #22fdd2743f2d0f65
10 p1 act => action held=true; charge_started at=0,0 #d5753bb32b0bdd21
11 host tick => captured field=inventory at=0,0 color=2; ticked ticks=1 #5475a89dedaa29a8
$ turnfold show turtle
tick 8, 300 s left, inventory: inventory
carrying the inventory hex at 0,0
the action is held

q     -2  -1  0   1   2
          -2 ___
      -1 ___/   \___
   0 ___/   \___/   \___
    /   \___/   \___/   \
   1\___/   \___/   \___/
    /   \___/[C]\___/   \
   2\___/   \_^_/   \___/
    /   \___/   \___/   \
    \___/   \___/   \___/
        \___/   \___/
            \___/
q above its column, r at the upper left of its row, which runs down to the right

...
C #996600  chance  50 %, eaten 1, next to their like 0
...
^ cursor  @ turtle and where it looks  [ ] carried

"#]]);
}

/// Returns the symbol of the turtle in pictures of a golden log at these entries.
fn heads(golden: &str, entries: &[usize]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let log = fs::read_to_string(workspace().join(format!("replays/hexcapture/{golden}.tfl"))).unwrap();
    sandbox.write("golden.tfl", log);
    let draw = |entry: &usize| {
        let shown = sandbox.ok(&format!("show golden.tfl:{entry}"));
        let (_, drawn) = shown.split_once('@').unwrap();
        drawn.chars().take(1).collect()
    };
    entries.iter().map(draw).collect()
}

#[test]
fn the_head_of_the_turtle_points_to_the_cursor_whatever_it_faces() {
    // The turtle faces the direction of its last step, which was up, not the cursor.
    assert_eq!(heads("release-interrupted", &[9, 11, 13]), ["↘", "↘", "↘"]);
    assert_eq!(heads("follower", &[21]), ["↓"]);
    // A hex that is being released takes precedence, and so does a carried hex if the cursor is under the turtle.
    assert_eq!(heads("release-interrupted", &[10, 14]), ["↑", "↑"]);
    assert_eq!(heads("release-at-the-rim", &[5, 14]), ["↑", "↗"]);
}
