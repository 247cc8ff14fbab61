//! `turnfold simulate` with given commands.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn a_script_is_played_in_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("script.txt", "roll 1 2 3 4\nconfirm\nmove 5,5\np2: stand\nnonsense\nmove 0,1\n");
    sandbox.check(str![[r#"
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 5,5 => ignored out_of_bounds #01c8c4ec6ad17e5a
! p2 stand => rejected not_your_turn (it is the other player's impulse)
exit 1| error: script.txt:4: the command was rejected; the script stops here; `--keep-going` continues after rejections
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt --keep-going
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 5,5 => ignored out_of_bounds #01c8c4ec6ad17e5a
! p2 stand => rejected not_your_turn (it is the other player's impulse) at script.txt:4
! nonsense => rejected malformed (expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `nonsense`) at script.txt:5
4 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
exit 1
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff cycle
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; cursor at=0,-2 #33423e6fdd9b2619
2 p2 cycle => cursor at=1,-2 #a18f630d8934f816
$ turnfold matches
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory

"#]]);
}

#[test]
fn a_script_may_begin_with_a_byte_order_mark() {
    let sandbox = Sandbox::new();
    let run = "simulate --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt";
    let script = "roll 1 2 3 4\nconfirm\n";
    sandbox.write("script.txt", script);
    let without = sandbox.ok(run);
    sandbox.write("script.txt", format!("\u{feff}{script}"));
    assert_eq!(sandbox.ok(run), without);
}
