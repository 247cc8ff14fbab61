//! `turnfold new` and `turnfold matches`.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn a_match_is_created_once() {
    Sandbox::new().check(str![[r#"
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --title "First blood"
created match duel in `.turnfold` (initiative version 1, recorded dice) #02f3c1e3d3b717c2
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play duel "roll …"`
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml
exit 2| error: match `duel` already exists; choose another name
$ turnfold matches
duel  initiative  0 entries, 1 branch  [TIME]  First blood

"#]]);
}

#[test]
fn sv_45_a_match_whose_terms_have_no_room_is_not_made() {
    let sandbox = Sandbox::new();
    sandbox.write("terms.toml", "hours = 24\n");
    sandbox.check(str![[r#"
$ turnfold new duel.accord --rules cycletap --setup ford
created match duel.accord in `.turnfold` (cycletap version 1, recorded dice) #5e51ff86e8de222b
$ turnfold new duel --rules cycletap --setup ford --terms terms.toml
exit 2| error: match `duel.accord` already exists; choose another name
$ turnfold matches
duel.accord  cycletap  0 entries, 1 branch  [TIME]

"#]]);
}

#[test]
fn a_seeded_match_keeps_its_seed() {
    Sandbox::new().check(str![[r#"
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
created match duel in `.turnfold` (initiative version 1, seeded dice) #02f3c1e3d3b717c2
a roll is due: 4 values in 1..=6 for initiative; `turnfold play duel` rolls it
$ turnfold --format json new other --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
{"match":"other","store":".turnfold","ruleset":"initiative","version":1,"module":null,"example_setup":false,"dice":"seeded","seed":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","due_roll":{"purpose":"initiative","count":4,"low":1,"high":6}}
$ turnfold play duel
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; cursor at=0,-2 #33423e6fdd9b2619
$ turnfold play other
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; cursor at=0,-2 #33423e6fdd9b2619
$ turnfold matches
duel   initiative  1 entry, 1 branch  [TIME]
other  initiative  1 entry, 1 branch  [TIME]

"#]]);
}

#[test]
fn unusable_arguments_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("unknown-key.toml", "radius = 3\nheight = 2\n");
    sandbox.write("off-board.toml", "radius = 1\n[[units]]\nid = \"a\"\nowner = \"p1\"\nat = [2, 0]\n");
    sandbox.write("bad.toml", "radius = \n");
    sandbox.write("binary.toml", [0xff, 0xfe]);
    sandbox.check(str![[r#"
$ turnfold new duel --rules chess --setup fixtures/initiative/small-board.toml
exit 2| error: unknown ruleset `chess`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
$ turnfold new duel --rules initiative --setup missing.toml
exit 2| error: cannot read setup `missing.toml`: No such file or directory (os error 2)
$ turnfold new duel --rules initiative --setup unknown-key.toml
exit 2| error: unknown-key.toml:2:1: unknown field `height`, expected one of `radius`, `blocked`, `units`
$ turnfold new duel --rules initiative --setup off-board.toml
exit 2| error: off-board.toml: units[0].at: hex 2,0 is off the board of radius 1
$ turnfold new duel --rules initiative --setup bad.toml
exit 2| error: bad.toml:1:10: string values must be quoted, expected literal string
$ turnfold new duel --rules initiative --setup binary.toml
exit 2| error: `binary.toml`: expected UTF-8 text
$ turnfold new duel --rules initiative --setup ./fixtures
exit 2| error: cannot read setup `./fixtures`: it is a directory; name a regular file
$ turnfold new Duel --rules initiative --setup fixtures/initiative/small-board.toml
exit 2| error: invalid value 'Duel' for '<MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Duel`; see `--help`
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00
exit 2| error: invalid value '00' for '--seed <HEX>': expected a seed of 64 lowercase hex digits, found `00`; see `--help`
$ turnfold new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
exit 2| error: `--seed` needs `--dice seeded`
$ turnfold matches
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory

"#]]);
}

#[test]
fn a_store_that_is_no_store_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "not a store");
    std::fs::create_dir(sandbox.path("foreign")).unwrap();
    sandbox.write("foreign/notes.txt", "mine");
    std::fs::create_dir(sandbox.path("future")).unwrap();
    sandbox.write("future/FORMAT", "turnfold store 1\n");
    sandbox.check(str![[r#"
$ turnfold --store file matches
exit 3| error: `file` is not a turnfold store: it is a file; use another directory
$ turnfold --store file new duel --rules initiative --setup fixtures/initiative/small-board.toml
exit 3| error: `file` is not a turnfold store: it is a file; use another directory
$ turnfold --store foreign new duel --rules initiative --setup fixtures/initiative/small-board.toml
exit 3| error: `foreign` is not a turnfold store: it has no file `FORMAT`, but `notes.txt`; use another directory
$ turnfold --store future matches
exit 3| error: store `future` has the format `turnfold store 1`, this build knows `turnfold store 4`; back it up with the build that wrote it and restore the backup with this one
$ turnfold --store missing matches
exit 3| error: no store at `missing`; create a match first, or name the right directory
$ turnfold --store missing play duel cycle
exit 3| error: no store at `missing`; create a match first, or name the right directory

"#]]);
    assert_eq!(sandbox.read("file"), "not a store");
    assert_eq!(sandbox.read("foreign/notes.txt"), "mine");
}

#[test]
fn without_a_setup_the_example_of_the_ruleset_is_played_and_named() {
    let sandbox = Sandbox::new();
    sandbox.check(str![[r#"
$ turnfold new duel --rules initiative
created match duel in `.turnfold` (initiative version 1, recorded dice) #02f3c1e3d3b717c2
the setup is the example of initiative; `turnfold rules initiative` explains how to write another for `--setup`
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play duel "roll …"`
$ turnfold new other --rules initiative --format json
{"match":"other","store":".turnfold","ruleset":"initiative","version":1,"module":null,"example_setup":true,"dice":"recorded","seed":null,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","due_roll":{"purpose":"initiative","count":4,"low":1,"high":6}}
$ turnfold new given --rules initiative --setup fixtures/initiative/small-board.toml --format json
{"match":"given","store":".turnfold","ruleset":"initiative","version":1,"module":null,"example_setup":false,"dice":"recorded","seed":null,"state_hash":"02f3c1e3d3b717c28e8d773974c80c605649d7e68fe33045f1f0951eda5fe1ba","due_roll":{"purpose":"initiative","count":4,"low":1,"high":6}}

"#]]);
    for rules in turnfold_games::rulesets() {
        let created = sandbox.ok(&format!("new {0} --rules {0}", rules.name()));
        assert!(created.contains(&format!("the setup is the example of {}", rules.name())), "{created}");
    }
}
