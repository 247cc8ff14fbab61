//! Matches with fair dice that are not played by mail (FD-6, FD-11).

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

/// The head of the host's chain in the specification.
const HEAD: &str = "aae1ec56c7f26e2bcf89200629efdf3c799c36af0ce36f9cfddfd5d1ad6b5158";

/// Returns a sandbox with a match with fair dice whose first roll is due, and the file it was made from.
fn fair() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .ok("new other --rules initiative --setup fixtures/initiative/small-board.toml --dice recorded --title duel");
    sandbox.ok("export other -o recorded.tfl");
    let recorded = sandbox.read("recorded.tfl");
    let fair = format!("dice = \"fair\"\nhead = \"{HEAD}\"");
    sandbox.write("fair.tfl", recorded.replacen("dice = \"recorded\"", &fair, 1));
    sandbox.ok("bless --accept fair.tfl");
    sandbox.ok("import fair.tfl --name duel");
    sandbox
}

#[test]
fn fd_6_the_head_stands_in_the_header_and_in_the_match() {
    let sandbox = fair();
    sandbox.ok("export duel -o again.tfl");
    assert_eq!(sandbox.read("again.tfl"), sandbox.read("fair.tfl"));
    sandbox.ok("store backup all.tfb");
    sandbox.ok("store restore all.tfb second");
    assert_eq!(sandbox.ok("--store second export duel"), sandbox.read("fair.tfl"));
    let fair = sandbox.read("fair.tfl");
    let head = format!("head = \"{HEAD}\"\n");
    sandbox.write("no-head.tfl", fair.replacen(&head, "", 1));
    sandbox.write("short-head.tfl", fair.replacen(HEAD, "aae1", 1));
    sandbox.write("seed.tfl", fair.replacen("head =", "seed =", 1));
    sandbox.write("recorded-head.tfl", fair.replacen("\"fair\"", "\"recorded\"", 1));
    sandbox.write("seeded-head.tfl", fair.replacen("\"fair\"", "\"seeded\"", 1));
    sandbox.write("other-head.tfl", fair.replacen("aae1", "bbe1", 1));
    sandbox.check(str![[r#"
$ turnfold check fair.tfl no-head.tfl short-head.tfl seed.tfl recorded-head.tfl seeded-head.tfl other-head.tfl
ok fair.tfl 0 entries
failed no-head.tfl:5:8: expected `head` with fair dice, found none
failed short-head.tfl:6:8: expected 64 lowercase hex digits, found `aae1`
failed seed.tfl:6:8: expected no `seed` with fair dice, found one
failed recorded-head.tfl:6:8: expected no `head` with recorded dice, found one
failed seeded-head.tfl:6:8: expected no `head` with seeded dice, found one
other-head.tfl:6: header: it is not the one that was blessed, `head` differs
if that is meant: turnfold bless other-head.tfl
failed files:
...
1 passed, 6 failed (0 entries)
exit 1
$ turnfold diff duel other --format json
{"equal":false,"same_game":false,"parts_at":null,"only_in_a":0,"only_in_b":0,"outcomes_differ":0,"fields_differ":0,"a":{"name":"duel","entries":0,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","recorded_differs_at":null},"b":{"name":"other","entries":0,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","recorded_differs_at":null},"game":[{"path":"/dice","old":"fair aae1ec56c7f26e2bcf89200629efdf3c799c36af0ce36f9cfddfd5d1ad6b5158","new":"recorded"}],"entries":[],"state":[]}
exit 1

"#]]);
}

#[test]
fn fd_11_a_due_roll_stays_due_and_one_by_hand_is_checked_as_recorded() {
    fair().check(str![[r#"
$ turnfold play duel
nothing played; a roll is due: 4 values in 1..=6 for initiative
$ turnfold play duel --dice system
exit 2| error: `--dice system` is for recorded matches; this one has fair dice
$ turnfold play duel stand
! p1 stand => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative roll_due` explains it
$ turnfold play duel "roll 7 1 1 1"
! host roll 7 1 1 1 => rejected bad_roll (the roll takes 4 values in 1..=6 for initiative)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative bad_roll` explains it
$ turnfold play duel "roll 6 5 2 1"
1 host roll 6 5 2 1 => rolled p1=11 p2=3; initiative p1=11 p2=3 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 11, P2 rolled 3 — P2 moves first"; cursor at=0,-2 #7d36030dc68e1534
$ turnfold amend duel:1 "roll 1 2 6 5" --branch other
- 1 host roll 6 5 2 1
+ 1 host roll 1 2 6 5 => rolled p1=3 p2=11; initiative p1=3 p2=11 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 11 — P1 moves first"; cursor at=0,2 #6c2f1f36ebe89cf9
state, duel → duel@other
...
created duel@other, which begins after duel:0: 1 entry, 0 of them played again #6c2f1f36ebe89cf9
$ turnfold amend duel:1 --drop --branch none
- 1 host roll 6 5 2 1
state, duel → duel@none
...
created duel@none, which begins after duel:0: 0 entries, 0 of them played again #02f3c1e3d3b717c2
$ turnfold legal duel@none --as host
host: roll 1 2 5 6
host: roll 5 6 1 2
host: roll 3 4 3 4
$ turnfold verify duel
ok duel@main: 1 entry state 7d36030dc68e1534 link [LINK]
ok duel@none: 0 entries state 02f3c1e3d3b717c2 link [LINK]
ok duel@other: 1 entry state 6c2f1f36ebe89cf9 link [LINK]
dice duel: values are checked by audit, with the desk
$ turnfold verify duel@other:1
ok duel@other: 1 entry state 6c2f1f36ebe89cf9 link [LINK]
dice duel: values are checked by audit, with the desk
$ turnfold verify duel --format json
{"match":"duel","ok":true,"branches":[{"branch":"main","entries":1,"link":"[LINK]","state_hash":"7d36030dc68e1534dbfe0f34a1f86dc863f13822d56388f9605c0d9e6899d5fd"},{"branch":"none","entries":0,"link":"[LINK]","state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba"},{"branch":"other","entries":1,"link":"[LINK]","state_hash":"6c2f1f36ebe89cf935e94835563e1ff68d7f73bf3aa560c1a6dc0488318e62d1"}],"findings":[],"dice":"values are checked by audit, with the desk","referee":null}
$ turnfold export duel -o played.tfl
exported duel to `played.tfl`: 1 entry
$ turnfold check played.tfl
ok played.tfl 1 entry
1 passed, 0 failed (1 entry)
$ turnfold log duel --as p1
1 host roll 6 5 2 1 => rolled p1=11 p2=3; initiative p1=11 p2=3 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 11, P2 rolled 3 — P2 moves first"; cursor at=0,-2

"#]]);
}

#[test]
fn fd_11_values_are_not_checked_without_the_desk_and_stay_as_they_are() {
    let sandbox = fair();
    sandbox.ok("play duel \"roll 6 5 2 1\"");
    sandbox.ok("bundle duel -o duel.bundle");
    let rows = sandbox.ok("audit duel.bundle");
    let row = rows.lines().find(|line| line.starts_with("dice")).unwrap();
    assert_eq!(row, "dice         NOT CHECKED duel: fair dice are checked with the match's desk");
    sandbox.ok("shrink duel --when \"/due_roll == null\" -o least.tfl");
    let least = sandbox.read("least.tfl");
    assert!(least.contains(&format!("dice = \"fair\"\nhead = \"{HEAD}\"")), "{least}");
}
