//! `turnfold show`, `legal` and `ask`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::{Sandbox, workspace};

#[test]
fn the_board_is_drawn_with_characters() {
    duel().check(str![[r#"
$ turnfold show duel
turn 1, movement
Player 2's turn — move 1 of 1 units
Player 2: select a unit to move (1 remaining)

q   -2 -1  0  1  2
       -2 __
    -1 __/b1\__
  0 __/  \__/b2\__
   /  \__/  \__/  \
  1\__/  \__/  \__/
   /  \__/##\__/  \
  2\__/  \##/  \__/
   /  \__/A1\__/  \
   \__/A2\^_/  \__/
      \__/  \__/
         \__/
q above its column, r at the upper left of its row, which runs down to the right

A1   p1 Atlas AS7-D (atlas) at 0,1, mp 3, moved
A2   p1 Locust LCT-1V (locust) at -1,2, mp 8
b1   p2 Kit Fox Prime (kit-fox) at 0,-2, mp 6
b2   p2 Turret (turret) at 1,-2, mp 0
^ cursor  <> selected  ' moved  ## blocked

turn 1
$ turnfold show duel:0
turn 1, initiative
Roll for initiative

...
  2\__/  \^_/  \__/
   /  \__/  \__/  \
   \__/A2\__/  \__/
      \__/A1\__/
         \__/
q above its column, r at the upper left of its row, which runs down to the right

A1   p1 Atlas AS7-D (atlas) at 0,2, mp 3
...
$ turnfold show duel:9
exit 2| error: `duel@main` has no entry 9: its head is 3

"#]]);
}

#[test]
fn the_view_is_one_json_document() {
    duel().check(str![[r#"
$ turnfold --format json show duel --as p2
{"ruleset":"initiative","turn":1,"phase":"movement","initiative":{"rolls":{"p1":3,"p2":7},"loser":"p1","winner":"p2"},"movement_order":[{"player":"p1","units":1},{"player":"p2","units":1},{"player":"p1","units":1},{"player":"p2","units":1}],"impulse":1,"active_player":"p2","remaining_in_impulse":1,"moved":["atlas"],"cursor":[0,1],"selected":null,"units":[{"id":"atlas","owner":"p1","name":"Atlas AS7-D","at":[0,1],"mp":3},{"id":"locust","owner":"p1","name":"Locust LCT-1V","at":[-1,2],"mp":8},{"id":"kit-fox","owner":"p2","name":"Kit Fox Prime","at":[0,-2],"mp":6},{"id":"turret","owner":"p2","name":"Turret","at":[1,-2],"mp":0}],"blocked":[[0,0]],"due_roll":null,"prompt":"Player 2: select a unit to move (1 remaining)","status":"Player 2's turn — move 1 of 1 units"}

"#]]);
}

#[test]
fn the_picture_is_well_formed_svg() {
    let svg = duel().ok("show duel --format svg");
    assert!(svg.starts_with("<svg ") || svg.starts_with("<?xml "), "{svg}");
    assert!(svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("Kit Fox Prime"), "{svg}");
}

#[test]
fn legal_lists_what_may_be_played() {
    duel().check(str![[r#"
$ turnfold legal duel:0
host: roll 1 2 5 6
host: roll 5 6 1 2
host: roll 3 4 3 4
$ turnfold legal duel
p2: cycle
p2: click 0,-2
p2: click 1,-2
$ turnfold legal duel:2 --as p1
p1: cycle
p1: confirm
p1: cancel
p1: stand
p1: click 0,2
p1: click -1,2
p1: move -2,1
p1: move -2,2
p1: move -1,0
p1: move -1,1
p1: move 0,1
p1: move 1,-1
p1: move 1,0
p1: move 1,1
p1: move 2,-1
p1: move 2,0
$ turnfold --format json legal duel --as p2
{"seat":"p2","command":"cycle"}
{"seat":"p2","command":"click 0,-2","targets":[[0,[0,-2]]]}
{"seat":"p2","command":"click 1,-2","targets":[[0,[1,-2]]]}
$ turnfold --format svg legal duel
exit 2| error: `--format svg` is for `show` only; use `text` or `json`

"#]]);
}

#[test]
fn queries_are_answered_or_refused() {
    duel().check(str![[r#"
$ turnfold ask duel order 3 5
L1 W2 L1 W2 L1 W1
$ turnfold --format json ask duel order 3 5
[["L",1],["W",2],["L",1],["W",2],["L",1],["W",1]]
$ turnfold ask duel reach turret

$ turnfold ask duel reach atlas
-2,0 -2,1 -2,2 -1,-1 -1,0 -1,1 0,-1 0,2 1,-1 1,0 1,1 2,-2 2,-1 2,0
$ turnfold ask duel reach nobody
exit 2| error: no unit has the id `nobody`
$ turnfold ask duel order 3
exit 2| error: `order` takes two counts of 0 to 1000, found `3`
$ turnfold ask duel weather
exit 2| error: unknown query `weather`: `initiative` answers `order LOSER_COUNT WINNER_COUNT` and `reach UNIT`

"#]]);
}

#[test]
fn options_stand_before_a_question_in_it_or_behind_it() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("new caps --rules hexcapture --setup fixtures/hexcapture/small-world.toml");
    sandbox.check(str![[r#"
$ turnfold ask --as p1 duel reach atlas
-2,1 -2,2 -1,0 -1,1 0,1 1,-1 1,0 1,1 2,-1 2,0
$ turnfold ask duel reach atlas --as p1
-2,1 -2,2 -1,0 -1,1 0,1 1,-1 1,0 1,1 2,-1 2,0
$ turnfold ask duel reach --as p1 atlas
-2,1 -2,2 -1,0 -1,1 0,1 1,-1 1,0 1,1 2,-1 2,0
$ turnfold ask duel --as p1 "reach atlas"
-2,1 -2,2 -1,0 -1,1 0,1 1,-1 1,0 1,1 2,-1 2,0
$ turnfold ask duel reach atlas --format json
[[-2,1],[-2,2],[-1,0],[-1,1],[0,1],[1,-1],[1,0],[1,1],[2,-1],[2,0]]
$ turnfold ask caps chance -1,1
none
$ turnfold ask caps chance -1,1 --as=p2
none
$ turnfold ask caps chance -1,1 --as p17
exit 2| error: invalid value 'p17' for '--as <SEAT>': unknown viewer `p17`: viewers are `p1` to `p16`, `host` and `spectator`; see `--help`
$ turnfold ask caps -1,1
exit 2| error: unknown query `-1,1`: `hexcapture` answers `chance Q,R`
$ turnfold ask duel reach atlas --sa p1
exit 2| error: invalid value '--sa' for '[QUERY]': there is no such option; see `--help`
$ turnfold ask duel 1 2 3 4 5 6 7 8 9 10 11 12 13
exit 2| error: unexpected argument '13' found; see `--help`
$ turnfold ask duel --as p1
exit 2| error: the following required arguments were not provided: <QUERY>; see `--help`
$ turnfold ask duel reach atlas --as
exit 2| error: a value is required for '--as <SEAT>' but none was supplied; see `--help`

"#]]);
}

/// VW-35: `*` is what the entry shown changed, `+` what `legal` names with the same `--as`.
#[test]
fn what_changed_and_what_is_in_reach_is_marked() {
    let sandbox = duel();
    for (marked, plain) in [("duel:2 --reach --as p2", "duel:2 --as p2"), ("duel:0 --changed", "duel:0")] {
        assert_eq!(sandbox.ok(&format!("show {marked}")), sandbox.ok(&format!("show {plain}")));
    }
    sandbox.check(str![[r#"
$ turnfold show duel:2 --changed --reach
turn 1, movement
Player 1's turn — move 1 of 1 units
Player 1: move Atlas AS7-D  *

q      -2   -1    0    1    2
             -2 ____
        -1 ____/ b1 \____
    0 ____/    \____/ b2 \____
     /    \____/    \____/    \
    1\____/    \____/    \____/
     /    \_+__/ ## \_+__/    \
    2\_+__/    \_##_/    \_+__/
     /    \_+__/    \_+__/    \
     \_+__/ A2 \_+__/    \_+__/
          \_+__/ A1 \_+__/
               \<>*+/
q above its column, r at the upper left of its row, which runs down to the right

A1   p1 Atlas AS7-D (atlas) at 0,2, mp 3, selected  *
...
* changed  + named by a legal command

turn 1
$ turnfold show duel:2 --changed --format json
exit 2| {"error":{"kind":"usage","message":"`--changed` and `--reach` mark a picture; use `--format text` or `svg`","hint":null,"exit_code":2}}

"#]]);
}

/// VW-35: marks of a picture are classes and shapes, and only where they are asked for.
#[test]
fn a_marked_picture_has_classes() {
    let count = |svg: &str, class: &str| svg.matches(class).count();
    let plain = duel().ok("show duel:2 --format svg");
    assert_eq!((count(&plain, " changed"), count(&plain, " reach")), (0, 0));
    let marked = duel().ok("show duel:2 --format svg --changed --reach");
    let named = duel().ok("legal duel:2").lines().filter(|line| line.contains(',')).count();
    assert!(count(&marked, "class=\"inner\"") <= named && count(&marked, "class=\"inner\"") > 5, "{marked}");
    assert_eq!(
        count(&marked, "class=\"cell ") - count(&plain, "class=\"cell "),
        count(&marked, "class=\"cell plain")
    );
    assert!(count(&marked, "class=\"line changed\"") > 0, "{marked}");
}

/// VW-35: marks tell no seat what it may not know: p1's plans change nothing that is drawn for p2.
#[test]
fn marks_tell_nothing_that_is_concealed() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    let seen = |seat: &str, format: &str| {
        sandbox.ok(&format!("show ford --changed --reach --as {seat} --format {format}"))
    };
    let before = ["text", "svg"].map(|format| seen("p2", format));
    let legal = sandbox.ok("legal ford --as p1");
    let tap = legal
        .lines()
        .find_map(|line| line.strip_prefix("p1: ").filter(|line| line.starts_with("tap")))
        .unwrap();
    sandbox.ok(&format!("play ford \"p1: {tap}\""));
    assert_eq!(["text", "svg"].map(|format| seen("p2", format)), before);
    assert!(seen("p1", "text").contains("* changed"), "{}", seen("p1", "text"));
}

/// VW-34: rows of pieces, bars with chips, and orders that a line tells as well as an arrow.
#[test]
fn pieces_bars_and_orders_are_drawn_with_characters() {
    let sandbox = Sandbox::new();
    for golden in [
        "channel/a-game-for-two",
        "lifecycle/stun",
        "lifecycle/death-of-the-target",
        "cycletap/while-the-other-plans",
    ] {
        let (_, name) = golden.split_once('/').unwrap();
        let file = workspace().join("replays").join(format!("{golden}.tfl"));
        sandbox.write(&format!("{name}.tfl"), std::fs::read(file).unwrap());
    }
    sandbox.check(str![[r#"
$ turnfold show a-game-for-two.tfl:20 --changed --as p1
p2: take  *

maya, 21 in the bag  *
G14 K19 K26  *
K13 O21 Y27  *
P7  K20 R24

channels on offer: 1 2 3 4 6 7  *

p1  score 0  *                  > p2  score 0  *
tokens k1c6c3k2k6  *            tokens b1k5c5k6k7
1 universe     G9  .   Y6       1 universe     P12 G11 .
2 purple     o P5  B25 P22  *   2 purple       .   .   .
3 darkblue   o D3  D17 .        3 darkblue     .   .   .
4 blue         .   .   .        4 blue         .   .   .
5 green        G18 .   .        5 green        .   .   .
6 yellow   1   .   .   .        6 yellow   1 o Y16 G10 Y23
7 orange     o O8  K2  .        7 orange     o O15 .   O1
8 red          .   .   .        8 red        o R4  .   .
9 earth        .   .   .        9 earth        .   .   .
               .   .   .                       .   .   .
               .   .                           .   .

P purple  D darkblue  B blue  G green  Y yellow
O orange  R red  K black  W white
+ may move  ' moved  o token in the notch
= harmonised  > to play; a number is the plenitude
* changed
$ turnfold show stun.tfl:4
time 2, round 1: monk acts for p1

next: prisoner brute monk brute monk brute monk brute monk brute

> player monk     charge [####################] 100/100  ap 12
                  hp     [####################]  20/20
  enemy  brute    charge [######..............]  30/100  ap 13
                  hp     [####################]  20/20   numb (stun, 1 left)
  enemy  prisoner charge [####################] 100/100  ap 0
                  hp     [####################]  20/20   chains (stun)

> acts  x dead  a full charge takes a turn

turn 1
$ turnfold show death-of-the-target.tfl --changed
time 2, round 1: team player has won  *

next: none  *

> player assassin charge [####################] 100/100  ap 10  attacked  mercy in 3  *
                  hp     [####################]  10/10
x enemy  guard    charge [############........]  60/100  dead
                  hp     [....................]   0/6
x enemy  king     charge [########............]  40/100  dead  *
                  hp     [....................]   0/8    *

> acts  x dead  a full charge takes a turn
* changed

p1 won
$ turnfold show while-the-other-plans.tfl:6
turn 1, planning by p2
p1 orders: 0 of 3 used, 3 available
p2 orders: 0 of 3 used, 3 available
path_building c2: movement 0,-1 > 1,-1

q   -3 -2 -1  0  1  2  3
          -3 __
       -2 __/  \__
    -1 __/  \__/  \__
  0 __/  \__/  \__/  \__
   /  \__/  \__/  \__/  \
  1\__/  \__/c2\__/  \__/
   /  \__/  \<>/  \__/  \
  2\__/  \__/  \+1/  \__/
   /  \__/  \__/  \__/  \
  3\__/  \__/C1\__/  \__/
   /  \__/  \[]/  \__/  \
   \__/  \__/  \__/  \__/
      \__/  \__/  \__/
         \__/  \__/
            \__/
q above its column, r at the upper left of its row, which runs down to the right

<> origin  +1 path being built  [] defends  x attacked  .1 waypoint  ~~ water
C1   p1 captain (u1) at 0,1, strength 2
c2   p2 captain (u2) at 0,-1, strength 2
p1 #1 C1 defense 0,1

turn 1
$ turnfold show while-the-other-plans.tfl --as p1
turn 2, planning by p1
p1 orders: 0 of 3 used, 3 available
p2 orders: secret
idle

...
  1\__/  \__/  \__/  \__/
   /  \__/  \__/c2\__/  \
  2\__/  \__/  \__/  \__/
   /  \__/  \__/  \__/  \
  3\__/  \__/C1\__/  \__/
   /  \__/  \__/  \__/  \
...
c2   p2 captain (u2) at 1,-1, strength 2

turn 2

"#]]);
}
