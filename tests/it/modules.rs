//! Matches that pin a module, and modules that fail (MD-1, MD-6, MD-8).
//!
//! The game is `heaps` of `src/toys`. `m1` is its version 1 as a module. `f1` is the same module, but fails at a move
//! that takes three stones. `r1` fails there only when checks fold it twice.

mod shared;

use std::fs;

use snapbox::str;
use turnfold_tests::sandbox::{Sandbox, workspace};

fn recorded() -> Sandbox {
    let sandbox = Sandbox::of_toys();
    sandbox.ok("m1 new duel --rules heaps");
    sandbox.ok("m1 play duel \"take 1 1\" \"take 3 2\"");
    sandbox.ok("m1 new calm --rules heaps");
    sandbox.ok("m1 play calm stand");
    sandbox.ok("m1 export duel -o duel.tfl");
    sandbox.ok("m1 export calm -o calm.tfl");
    sandbox.ok("m1 bundle duel calm -o all.bundle");
    sandbox.ok("1 new plain --rules heaps");
    sandbox
}

/// MD-2, MD-7: a module next to the program needs neither an option nor a check.
#[test]
fn a_game_that_comes_with_the_program_is_there_at_once() {
    let sandbox = Sandbox::installed();
    let made = sandbox.ok("new duel --rules chess");
    assert!(made.contains("chess version 1"), "{made}");
    let played = sandbox.ok("play duel e4 e5 Nf3");
    assert!(played.contains("3 p1 g1f3 => moved san=Nf3"), "{played}");
    assert!(sandbox.ok("rules chess").contains("\nSETUPS\n"));
    let listed = sandbox.ok("game list");
    assert!(listed.contains("chess 1 module") && !listed.contains("laws not checked"), "{listed}");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("check duel.tfl");
    sandbox.ok("verify");
    // The module needs no check, so an import does not add it to a folder.
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("--store other import duel.bundle");
    assert!(!sandbox.path(".turnfold/modules").exists());
    // An added module takes precedence over it.
    let added =
        sandbox.ok(&format!("game add \"{}\"", workspace().join("fixtures/modules/chess.wasm").display()));
    assert!(added.contains("chess 1"), "{added}");
    assert!(sandbox.ok("show duel --format json").contains("\"ruleset\":\"chess\""));
    sandbox.ok("new again --rules chess");
}

/// MD-2: if the program is in `bin`, its modules are next to that folder. Otherwise no folder above the program is
/// searched.
#[test]
fn modules_of_the_program_are_found_by_where_it_lies() {
    let module = workspace().join("fixtures/modules/nim-1.wasm");
    for (program, is_found) in [("bin", true), ("programs", false)] {
        let sandbox = Sandbox::placed(program);
        fs::create_dir_all(sandbox.path("share/turnfold/modules")).unwrap();
        fs::copy(&module, sandbox.path("share/turnfold/modules/nim.wasm")).unwrap();
        assert_eq!(sandbox.run("new table --rules nim").status.success(), is_found, "{program}");
    }
}

/// MD-1, MD-8: a pin means exactly that module, in the store, in files and in bundles.
#[test]
fn a_match_is_played_by_the_module_that_it_pins_and_no_other() {
    let sandbox = recorded();
    assert!(sandbox.read("duel.tfl").contains(&format!("\nversion = 1\nmodule = \"{}\"\n", "a5".repeat(32))));
    sandbox.check(str![[r#"
$ turnfold m1 show duel --format json
{"ruleset":"heaps","heaps":[3,2],"turn":"p1"}
$ turnfold 1 show duel
exit 2| error: match `duel`: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold - play duel stand
exit 2| error: match `duel`: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold - log duel --raw
1 p1 0x000101 [TIME] link [LINK]
2 p2 0x000302 [TIME] link [LINK]
not checked: commands and outcomes; this build does not have `heaps` version 1
$ turnfold 1 check duel.tfl
failed duel.tfl:3:11: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing
0 passed, 1 failed (0 entries)
exit 1
$ turnfold m1 check duel.tfl
ok duel.tfl 2 entries
1 passed, 0 failed (2 entries)
$ turnfold 1 verify duel plain
unknown_rules duel: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing
ok plain@main: 0 entries state 3fe21ae87b74de08 link [LINK]
exit 1
$ turnfold m1 verify duel plain
ok duel@main: 2 entries state 316784fdcb34988b link [LINK]
ok plain@main: 0 entries state 3fe21ae87b74de08 link [LINK]
$ turnfold m1 import duel.tfl --name again
imported match again from `duel.tfl`: 2 entries #316784fdcb34988b
its id, times and links are new, because a replay file does not record them
$ turnfold m1 export again -o again.tfl
exported again to `again.tfl`: 2 entries
$ turnfold m1 check again.tfl
ok again.tfl 2 entries
1 passed, 0 failed (2 entries)
$ turnfold m1,2 migrate duel moved
exit 2| error: `duel` pins the module that it is played with
$ turnfold m1,2 migrate plain moved
migrated plain to moved: heaps version 1 → 2, 0 entries, 1 branch
every outcome is the same
$ turnfold 1 audit all.bundle
bytes        PASS        5 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT CHECKED calm: values came from outside; range and count only; 1 more like it
rules        NOT CHECKED calm: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing; 1 more like it
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, dice, rules, authorship
$ turnfold m1 audit all.bundle
bytes        PASS        5 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        PASS        3 entries of 2 branches folded from the setup, heaps 1 by the pinned module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain, rules; not proven: signature, consistency, cosignatures, authorship
$ turnfold 1 matches
again  heaps  2 entries, 1 branch  [TIME]
calm   heaps  1 entry, 1 branch  [TIME]
duel   heaps  2 entries, 1 branch  [TIME]
moved  heaps  0 entries, 1 branch  [TIME]
plain  heaps  0 entries, 1 branch  [TIME]
$ turnfold m1 game list
heaps 1 built in
$ turnfold - game list
$ turnfold - game show heaps
exit 2| error: there is no game and no file `heaps`; `turnfold game list` lists the games
$ turnfold 1 new other --module heaps.wasm
exit 2| error: cannot read `heaps.wasm`: No such file or directory (os error 2)

"#]]);
}

/// MD-6: a failing module gives one line of error in every command, and nothing is recorded.
#[test]
fn a_module_that_fails_ends_what_needs_it_and_nothing_else() {
    let sandbox = recorded();
    sandbox.check(str![[r#"
$ turnfold f1 show duel
exit 2| error: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
$ turnfold f1 --format json show duel
exit 2| {"error":{"kind":"usage","message":"ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable","hint":null,"exit_code":2}}
$ turnfold f1 show calm
1: 4
2: 5
$ turnfold f1 play calm "take 3 1"
exit 2| error: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
$ turnfold f1 log calm
1 p1 stand => stood seat=p1 #fc026293cfc9dd30
$ turnfold f1 check duel.tfl calm.tfl
failed duel.tfl: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
ok calm.tfl 1 entry
failed files:
  duel.tfl: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
1 passed, 1 failed (1 entry)
exit 1
$ turnfold f1 verify
ok calm@main: 1 entry state fc026293cfc9dd30 link [LINK]
disagrees duel@main: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
ok plain@main: 0 entries state 3fe21ae87b74de08 link [LINK]
exit 1
$ turnfold f1 bless calm.tfl duel.tfl --accept
failed duel.tfl: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
1 file unchanged
exit 2| error: 1 of 2 files could not be blessed (listed above); the others were handled as usual
$ turnfold f1 game impact calm.tfl duel.tfl
heaps version 1: 1 of 1 log folds the same (1 entry)
unreadable
  duel.tfl: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
in all, 1 of 2 logs fold the same, 1 unreadable (1 entry)
exit 1
$ turnfold f1 game impact --matches
heaps version 1: 2 of 2 logs fold the same (1 entry)
unreadable
  duel: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
in all, 2 of 3 logs fold the same, 1 unreadable (1 entry)
stored logs record no outcomes: what is compared is whether every command is accepted
exit 1
$ turnfold f1 audit all.bundle
bytes        PASS        5 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        FAIL        duel:2: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; failed: rules; not proven: signature, consistency, cosignatures, authorship
exit 1
$ turnfold f1 matches
calm   heaps  1 entry, 1 branch  [TIME]
duel   heaps  2 entries, 1 branch  [TIME]
plain  heaps  0 entries, 1 branch  [TIME]
$ turnfold f1 verify duel --reload
exit 2| error: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable

"#]]);
}

/// MD-7: checks fold a module twice, and find errors that a single fold does not show.
#[test]
fn checks_fold_a_module_twice() {
    let sandbox = recorded();
    sandbox.check(str![[r#"
$ turnfold r1 log duel
1 p1 take 1 1 => taken count=1 heap=1 #000858b0da4147f5
2 p2 take 3 2 => taken count=3 heap=2 #316784fdcb34988b
$ turnfold r1 check duel.tfl
failed duel.tfl: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
0 passed, 1 failed (0 entries)
exit 1
$ turnfold r1 verify duel
disagrees duel@main: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
exit 1
$ turnfold r1 audit all.bundle
bytes        PASS        5 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        FAIL        duel:2: ruleset heaps 1 (module a5a5a5a5a5a5a5a5): trapped: unreachable
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; failed: rules; not proven: signature, consistency, cosignatures, authorship
exit 1

"#]]);
}

/// MD-2, MD-7: a module is checked and copied once, and then plays like any game. Its file is all that another machine
/// needs.
#[test]
fn a_game_in_another_language_has_every_verb() {
    let sandbox = Sandbox::new();
    fs::copy(workspace().join("fixtures/modules/tictactoe.wasm"), sandbox.path("game.wasm")).unwrap();
    sandbox.write("text.wasm", "this is no WebAssembly");
    sandbox.check(str![[r#"
$ turnfold game show game.wasm
tictactoe 1 module 7d7e68dac64fd2ea, 13203 bytes, `game.wasm`, laws not checked
three marks in a line win; keeps no secrets
digest 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee
$ turnfold game check text.wasm
exit 2| error: `text.wasm`: no WebAssembly of a module: it does not begin as WebAssembly does
$ turnfold new nim --module text.wasm
exit 2| error: `text.wasm`: no WebAssembly of a module: it does not begin as WebAssembly does
$ turnfold new refused --rules tictactoe
exit 2| error: unknown ruleset `tictactoe`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
$ turnfold new duel --module game.wasm
created match duel in `.turnfold` (tictactoe version 1, recorded dice) #5a37369cf40b0a58
the setup is the example of tictactoe; `turnfold rules tictactoe` explains how to write another for `--setup`
$ turnfold game list
channel 1 built in
cycletap 1 built in
hexcapture 1 built in
initiative 1 built in
lifecycle 1 built in
tictactoe 1 module 7d7e68dac64fd2ea, 13203 bytes, `.turnfold/modules/7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee.wasm`
$ turnfold play duel "mark b2" "mark a1"
1 p1 mark b2 => marked square=b2 #1662e155f9169d7b
2 p2 mark a1 => marked square=a1 #ecba972ee86a82bb
$ turnfold log duel
1 p1 mark b2 => marked square=b2 #1662e155f9169d7b
2 p2 mark a1 => marked square=a1 #ecba972ee86a82bb
$ turnfold show duel
  a b c
3 . . . 3
2 . x . 2
1 o . . 1
  a b c
$ turnfold branch duel:1 flank
duel@flank begins after duel:1
$ turnfold export duel -o duel.tfl
exported duel to `duel.tfl`: 2 entries
$ turnfold check duel.tfl
ok duel.tfl 2 entries
1 passed, 0 failed (2 entries)
$ turnfold verify duel
ok duel@main: 2 entries state ecba972ee86a82bb link [LINK]
ok duel@flank: 1 entry state 1662e155f9169d7b link [LINK]
$ turnfold bundle duel -o duel.bundle
bundled 1 match to `duel.bundle`: 2 branches, 3 records, 0 checkpoints, 1 module
$ turnfold audit duel.bundle
bytes        PASS        3 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        PASS        2 entries of 2 branches folded from the setup, tictactoe 1 by the pinned module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain, rules; not proven: signature, consistency, cosignatures, authorship
$ turnfold --store elsewhere check duel.tfl
failed duel.tfl:3:11: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of `tictactoe` version 1 is missing
0 passed, 1 failed (0 entries)
exit 1
$ turnfold --store elsewhere --modules . check duel.tfl
ok duel.tfl 2 entries
1 passed, 0 failed (2 entries)
$ turnfold --store elsewhere --modules . import duel.bundle
duel@main: imported, 2 entries
duel@flank: imported, 0 entries after main:1
$ turnfold --store elsewhere --modules . game list
channel 1 built in
cycletap 1 built in
hexcapture 1 built in
initiative 1 built in
lifecycle 1 built in
tictactoe 1 module 7d7e68dac64fd2ea, 13203 bytes, `./game.wasm`, laws not checked
no module `./text.wasm`: no WebAssembly of a module: it does not begin as WebAssembly does
$ turnfold store backup all.backup
backed up to all.backup: 1 match, 2 branches, 2 entries, 465 bytes
stderr|  WARN turnfold::commands::store::backup: not in the backup, needed by its matches: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee
$ turnfold store restore all.backup restored
restored store restored: 1 match, 2 branches, 2 entries
stderr|  WARN turnfold::commands::store::restore: missing, needed by restored matches: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --store restored log duel --raw
1 p1 0x04 [TIME] link [LINK]
2 p2 0x00 [TIME] link [LINK]
not checked: commands and outcomes; this build does not have `tictactoe` version 1
$ turnfold --store restored --modules . show duel
  a b c
3 . . . 3
2 . x . 2
1 o . . 1
  a b c

"#]]);
}
