//! `turnfold replay`.

use snapbox::str;

use super::duel;

#[test]
fn a_revision_or_file_is_folded_again() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let tampered = sandbox.read("duel.tfl").replace("selected unit=atlas", "selected unit=locust");
    sandbox.write("tampered.tfl", tampered);
    sandbox.check(str![[r#"
$ turnfold replay duel
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
3 entries, state 8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7
$ turnfold replay duel.tfl --to 1
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
1 entry, state e67f02be3627678a2b07e2fc706870cf7ab6b4747457af5e4294664af4f844d7
$ turnfold replay duel --to 4
exit 2| error: `duel` has no entry 4; its last is 3
$ turnfold replay tampered.tfl
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
exit 1| error: `tampered.tfl`: entry 2: expected outcome `selected unit=locust`, got `selected unit=atlas`; `turnfold check tampered.tfl` explains it
$ turnfold replay duel:1 --step
turn 1, initiative
...
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
turn 1, movement
Player 1's turn — move 1 of 1 units
Player 1: select a unit to move (1 remaining)

...
         \^_/
...
1 entry, state e67f02be3627678a2b07e2fc706870cf7ab6b4747457af5e4294664af4f844d7

"#]]);
}
