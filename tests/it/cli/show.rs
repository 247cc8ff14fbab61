//! `turnfold show`, `legal` and `ask`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

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
exit 2| error: `--format svg` is for `show` and `table groups` only; use `text` or `json`

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
$ turnfold ask duel reach
exit 2| error: expected `reach UNIT`, found `reach`
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
exit 2| error: `caps` has no seat `p2`; its seats are p1 and host
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

/// VW-35: `*` marks what the shown entry changed, and `+` marks what `legal` names with the same `--as`.
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

/// VW-35: marks in a picture are classes and shapes, and are present only on request.
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
