//! `turnfold new` and `turnfold matches`.

use snapbox::str;

use super::check;
use turnfold_tests::sandbox::Sandbox;

#[test]
fn a_match_is_created_once() {
    check(
        &Sandbox::new(),
        "new duel --rules initiative --setup fixtures/initiative/small-board.toml --title \"First blood\"
         new duel --rules initiative --setup fixtures/initiative/small-board.toml
         matches
         --format json show duel",
        str![[r#"
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --title "First blood"
created match duel (initiative version 1, recorded dice) #02f3c1e3d3b717c2
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play duel "roll …"`
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml
stderr| error: match `duel` already exists; choose another name
exit 2
$ turnfold matches
duel  initiative  0 entries, 1 branch  [TIME]  First blood
$ turnfold --format json show duel
{"ruleset":"initiative","turn":1,"phase":"initiative","initiative":null,"movement_order":[],"impulse":null,"active_player":null,"remaining_in_impulse":null,"moved":[],"cursor":[0,0],"selected":null,"units":[{"id":"atlas","owner":"p1","name":"Atlas AS7-D","at":[0,2],"mp":3},{"id":"locust","owner":"p1","name":"Locust LCT-1V","at":[-1,2],"mp":8},{"id":"kit-fox","owner":"p2","name":"Kit Fox Prime","at":[0,-2],"mp":6},{"id":"turret","owner":"p2","name":"Turret","at":[1,-2],"mp":0}],"blocked":[[0,0]],"due_roll":{"purpose":"initiative","count":4,"low":1,"high":6},"prompt":"Roll for initiative","status":""}

"#]],
    );
}

#[test]
fn a_seeded_match_keeps_its_seed() {
    check(
        &Sandbox::new(),
        "new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
         --format json new other --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
         play duel
         play other
         matches",
        str![[r#"
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
created match duel (initiative version 1, seeded dice) #02f3c1e3d3b717c2
a roll is due: 4 values in 1..=6 for initiative; `turnfold play duel` rolls it
$ turnfold --format json new other --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
{"match":"other","ruleset":"initiative","version":1,"example_setup":false,"dice":"seeded","seed":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","due_roll":{"purpose":"initiative","count":4,"low":1,"high":6}}
$ turnfold play duel
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; cursor at=0,-2 #33423e6fdd9b2619
$ turnfold play other
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; cursor at=0,-2 #33423e6fdd9b2619
$ turnfold matches
duel   initiative  1 entry, 1 branch  [TIME]
other  initiative  1 entry, 1 branch  [TIME]

"#]],
    );
}

#[test]
fn unusable_arguments_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("unknown-key.toml", "radius = 3\nheight = 2\n");
    sandbox.write("off-board.toml", "radius = 1\n[[units]]\nid = \"a\"\nowner = \"p1\"\nat = [2, 0]\n");
    sandbox.write("bad.toml", "radius = \n");
    sandbox.write("binary.toml", [0xff, 0xfe]);
    check(
        &sandbox,
        "new duel --rules chess --setup fixtures/initiative/small-board.toml
         new duel --rules initiative --setup missing.toml
         new duel --rules initiative --setup unknown-key.toml
         new duel --rules initiative --setup off-board.toml
         new duel --rules initiative --setup bad.toml
         new duel --rules initiative --setup binary.toml
         new duel --rules initiative --setup fixtures
         new Duel --rules initiative --setup fixtures/initiative/small-board.toml
         new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00
         new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
         matches",
        str![[r#"
$ turnfold new duel --rules chess --setup fixtures/initiative/small-board.toml
stderr| error: unknown ruleset `chess`; known: [RULESETS]
exit 2
$ turnfold new duel --rules initiative --setup missing.toml
stderr| error: cannot read setup `missing.toml`: No such file or directory (os error 2)
exit 2
$ turnfold new duel --rules initiative --setup unknown-key.toml
stderr| error: unknown-key.toml:2:1: unknown field `height`, expected one of `radius`, `blocked`, `units`
exit 2
$ turnfold new duel --rules initiative --setup off-board.toml
stderr| error: off-board.toml: units[0].at: hex 2,0 is off the board of radius 1
exit 2
$ turnfold new duel --rules initiative --setup bad.toml
stderr| error: bad.toml:1:10: string values must be quoted, expected literal string
exit 2
$ turnfold new duel --rules initiative --setup binary.toml
stderr| error: `binary.toml`: expected UTF-8 text
exit 2
$ turnfold new duel --rules initiative --setup fixtures
stderr| error: cannot read setup `fixtures`: it is a directory; name a regular file
exit 2
$ turnfold new Duel --rules initiative --setup fixtures/initiative/small-board.toml
stderr| error: invalid value 'Duel' for '<MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Duel`; see `--help`
exit 2
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00
stderr| error: invalid value '00' for '--seed <HEX>': expected a seed of 64 lowercase hex digits, found `00`; see `--help`
exit 2
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
stderr| error: `--seed` needs `--dice seeded`
exit 2
$ turnfold matches
stderr| error: no store at `.turnfold`; create a match first, or name the right directory
exit 3

"#]],
    );
}

#[test]
fn a_store_that_is_no_store_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "not a store");
    std::fs::create_dir(sandbox.path("foreign")).unwrap();
    sandbox.write("foreign/notes.txt", "mine");
    std::fs::create_dir(sandbox.path("future")).unwrap();
    sandbox.write("future/FORMAT", "turnfold store 1\n");
    check(
        &sandbox,
        "--store file matches
         --store file new duel --rules initiative --setup fixtures/initiative/small-board.toml
         --store foreign new duel --rules initiative --setup fixtures/initiative/small-board.toml
         --store future matches
         --store missing matches
         --store missing play duel cycle",
        str![[r#"
$ turnfold --store file matches
stderr| error: `file` is not a turnfold store: it is a file; use another directory
exit 3
$ turnfold --store file new duel --rules initiative --setup fixtures/initiative/small-board.toml
stderr| error: `file` is not a turnfold store: it is a file; use another directory
exit 3
$ turnfold --store foreign new duel --rules initiative --setup fixtures/initiative/small-board.toml
stderr| error: `foreign` is not a turnfold store: it has no file `FORMAT`, but `notes.txt`; use another directory
exit 3
$ turnfold --store future matches
stderr| error: store `future` has the format `turnfold store 1`, this build knows `turnfold store 4`; back it up with the build that wrote it and restore the backup with this one
exit 3
$ turnfold --store missing matches
stderr| error: no store at `missing`; create a match first, or name the right directory
exit 3
$ turnfold --store missing play duel cycle
stderr| error: no store at `missing`; create a match first, or name the right directory
exit 3

"#]],
    );
    assert_eq!(sandbox.read("file"), "not a store");
    assert_eq!(sandbox.read("foreign/notes.txt"), "mine");
}

#[test]
fn without_a_setup_the_example_of_the_ruleset_is_played_and_named() {
    let sandbox = Sandbox::new();
    check(
        &sandbox,
        "new duel --rules initiative
         new other --rules initiative --format json
         new given --rules initiative --setup fixtures/initiative/small-board.toml --format json",
        str![[r#"
$ turnfold new duel --rules initiative
created match duel (initiative version 1, recorded dice) #02f3c1e3d3b717c2
the setup is the example of initiative; `turnfold rules initiative` explains how to write another for `--setup`
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play duel "roll …"`
$ turnfold new other --rules initiative --format json
{"match":"other","ruleset":"initiative","version":1,"example_setup":true,"dice":"recorded","seed":null,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","due_roll":{"purpose":"initiative","count":4,"low":1,"high":6}}
$ turnfold new given --rules initiative --setup fixtures/initiative/small-board.toml --format json
{"match":"given","ruleset":"initiative","version":1,"example_setup":false,"dice":"recorded","seed":null,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","due_roll":{"purpose":"initiative","count":4,"low":1,"high":6}}

"#]],
    );
    for rules in turnfold_core::registry::RULESETS {
        let created = sandbox.ok(&format!("new {0} --rules {0}", rules.name()));
        assert!(created.contains(&format!("the setup is the example of {}", rules.name())), "{created}");
    }
}
