//! `turnfold export` and `import`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

#[test]
fn an_exported_match_imports_with_the_same_hashes() {
    duel().check(str![[r#"
$ turnfold export duel -o duel.tfl
exported duel to `duel.tfl`: 3 entries
$ turnfold export duel -o duel.tfl
exit 2| error: `duel.tfl` exists; `--force` overwrites it
$ turnfold export duel nowhere.tfl
exit 2| error: cannot read replay `nowhere.tfl`: there is no such file; `-o nowhere.tfl` writes to it
$ turnfold export nowhere.tfl
exit 2| error: cannot read replay `nowhere.tfl`: there is no such file; `-o nowhere.tfl` writes to it
$ turnfold export duel -o duel.tfl --force
exported duel to `duel.tfl`: 3 entries
$ turnfold --store elsewhere import duel.tfl
imported match duel from `duel.tfl`: 3 entries #8bc3cdd5a21478a4
its id, times and links are new, because a replay file does not record them
$ turnfold --store elsewhere import duel.tfl
exit 2| error: match `duel` already exists; choose another name
$ turnfold --store elsewhere import duel.tfl --name again
imported match again from `duel.tfl`: 3 entries #8bc3cdd5a21478a4
its id, times and links are new, because a replay file does not record them
$ turnfold --store elsewhere verify
ok again@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
$ turnfold --store elsewhere export again
turnfold replay 2
+++
ruleset = "initiative"
version = 1
dice = "recorded"
title = ""

[setup]
radius = 2
blocked = [[0, 0]]

[[setup.units]]
id = "atlas"
owner = "p1"
name = "Atlas AS7-D"
at = [0, 2]
mp = 3

[[setup.units]]
id = "locust"
owner = "p1"
name = "Locust LCT-1V"
at = [-1, 2]
mp = 8

[[setup.units]]
id = "kit-fox"
owner = "p2"
name = "Kit Fox Prime"
at = [0, -2]
mp = 6

[[setup.units]]
id = "turret"
owner = "p2"
name = "Turret"
at = [1, -2]
mp = 0
+++
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
= 3 state 8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7 log d4a8dba2dd74f2fd16fbaeb1fd3338b17b12a4c0578ff625e2cd75cf68c00567 header 62b6232913792fadf54efebc3ea66c7f
$ turnfold diff duel duel.tfl
duel and duel.tfl are equal: 3 entries #8bc3cdd5a21478a4

"#]]);
}

#[test]
fn nothing_is_imported_from_a_file_that_lies() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let file = sandbox.read("duel.tfl");
    sandbox.write("lies.tfl", file.replace("to=0,1", "to=0,2"));
    sandbox.write("Bad Name.tfl", &file);
    sandbox.write("ends-otherwise.tfl", file.replace("= 3 state 8", "= 3 state 9"));
    sandbox.check(str![[r#"
$ turnfold --store elsewhere import lies.tfl
exit 1| error: lies.tfl:42: entry 3 does not do what the file says, nothing was imported; `turnfold check lies.tfl` explains it
$ turnfold --store elsewhere import ends-otherwise.tfl
exit 1| error: ends-otherwise.tfl: the closing line is not that of its entries, nothing was imported; `turnfold check ends-otherwise.tfl` explains it
$ turnfold --store elsewhere import "Bad Name.tfl"
exit 2| error: no match can be named after the file: expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Bad Name`; give one with `--name`
$ turnfold --store elsewhere import missing.tfl
exit 2| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)
$ turnfold --store elsewhere matches
exit 3| error: no store at `elsewhere`; create a match first, or name the right directory

"#]]);
}

#[test]
fn a_seeded_match_takes_its_seed_along() {
    let sandbox = Sandbox::new();
    sandbox.ok(
        "new duel --rules initiative --setup fixtures/initiative/no-units.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    );
    sandbox.ok("play duel next-turn next-turn");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("--store elsewhere import duel.tfl");
    let next = sandbox.ok("play duel next-turn");
    assert_eq!(sandbox.ok("--store elsewhere play duel next-turn"), next);
    sandbox.ok("--store elsewhere verify duel");
}

#[test]
fn an_output_that_cannot_be_written_is_named_as_the_user_named_it() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("key new ann.key --name games.example/ann");
    let file = "no-such-folder/new.tfl";
    let verbs = [
        format!("export duel -o {file}"),
        format!("export duel --html -o {file}.html"),
        format!("simulate --rules cycletap --seed 1 --steps 3 -o {file}"),
        format!("shrink duel --when \"/phase == movement\" -o {file}"),
        format!("bundle duel -o {file}.bundle"),
        format!("store backup {file}"),
        format!("store heads -o {file}"),
        format!("checkpoint sign duel --key ann.key -o {file}"),
        format!("key new {file} --name games.example/bob"),
    ];
    for line in verbs {
        let output = sandbox.run(&line);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(2 | 3)), "{line}: {text}");
        assert!(text.contains("no-such-folder"), "{line}: {text}");
        assert!(!text.contains("draft"), "{line}: {text}");
    }
}
