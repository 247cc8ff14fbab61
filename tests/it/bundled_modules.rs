//! Modules in bundles, and the commands that list missing modules (MD-10).

mod hostile;
mod served;
mod trusted;

use std::fs;

use snapbox::str;
use turnfold_store::{Genesis, Store};
use turnfold_tests::sandbox::{Sandbox, workspace};

/// The digest of the module.
const DIGEST: &str = "7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee";

fn module() -> Vec<u8> {
    fs::read(workspace().join("fixtures/modules/tictactoe.wasm")).unwrap()
}

/// Creates a match that pins a module. The laws take long, so they are marked as passed.
fn recorded() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    sandbox.write(&format!(".turnfold/modules/{DIGEST}.wasm"), module());
    sandbox.write(&format!(".turnfold/modules/{DIGEST}.passed"), "");
    sandbox.ok(&format!("new duel --module {DIGEST}"));
    sandbox.ok("play duel \"p1: mark b2\" --once order:1");
    sandbox.ok("play duel \"p2: mark a1\" --once order:2");
    sandbox
}

/// Returns a sandbox with this file, without a store or modules.
fn with_file(name: &str, content: &[u8]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(name, content);
    sandbox
}

/// Bundles the match with these options, and puts the bundle into a sandbox without a store or modules.
fn bundled_elsewhere(options: &str) -> Sandbox {
    let sandbox = recorded();
    sandbox.ok(&format!("bundle duel -o duel.bundle {options}"));
    with_file("duel.bundle", &fs::read(sandbox.path("duel.bundle")).unwrap())
}

fn files(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let files = fs::read_dir(sandbox.path(folder)).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// MD-10: an auditor needs only the bundle and the program, and `import` adds the module once it has passed the laws.
#[test]
fn md_10_a_bundle_is_audited_and_imported_where_there_is_nothing_else() {
    recorded().check(str![[r#"
$ turnfold bundle duel -o duel.bundle
bundled 1 match to `duel.bundle`: 1 branch, 3 records, 0 checkpoints, 1 module
$ turnfold bundle duel --format json -o json.bundle
{"file":"json.bundle","matches":1,"lines":1,"records":3,"checkpoints":0,"modules":["7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee"],"missing_modules":[]}
$ turnfold bundle duel --without-modules -o bare.bundle
bundled 1 match to `bare.bundle`: 1 branch, 3 records, 0 checkpoints

"#]]);
    let sandbox = bundled_elsewhere("");
    sandbox.check(str![[r#"
$ turnfold audit duel.bundle
bytes        PASS        3 records and 0 checkpoints in canonical form
chain        PASS        1 branch linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        NOT CHECKED duel: rules brought by the bundle: module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee, and no signature covers the pin
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, rules, authorship

"#]]);
    assert!(!sandbox.path(".turnfold").exists(), "an audit writes nothing");
    sandbox.check(str![[r#"
$ turnfold import duel.bundle
added tictactoe 1 (module 7d7e68dac64fd2ea): all laws passed
duel@main: imported, 2 entries
$ turnfold import duel.bundle
duel@main: already up to date
$ turnfold show duel
  a b c
3 . . . 3
2 . x . 2
1 o . . 1
  a b c
$ turnfold verify duel
ok duel@main: 2 entries state ecba972ee86a82bb link [LINK]

"#]]);
    let expected = [format!("{DIGEST}.passed"), format!("{DIGEST}.wasm")];
    assert_eq!(files(&sandbox, ".turnfold/modules"), expected);
    assert_eq!(fs::read(sandbox.path(".turnfold/modules").join(&expected[1])).unwrap(), module());
}

/// MD-10: a bundle without modules is otherwise the same, and commands that read it name the digest they need.
#[test]
fn md_10_a_bundle_without_modules_names_the_digest_it_needs() {
    let sandbox = recorded();
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("bundle duel --without-modules -o bare.bundle");
    let (with, without) = (sandbox.read("duel.bundle"), sandbox.read("bare.bundle"));
    let (before, _) = with.split_once("-- module 13203\n").unwrap();
    assert!(without.starts_with(before) && without[before.len()..].starts_with("-- end "));
    with_file("duel.bundle", without.as_bytes()).check(str![[r#"
$ turnfold audit duel.bundle
bytes        PASS        3 records and 0 checkpoints in canonical form
chain        PASS        1 branch linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT CHECKED duel: values came from outside; range and count only
rules        NOT CHECKED duel: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of `tictactoe` version 1 is missing
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, dice, rules, authorship
$ turnfold import duel.bundle
duel@main: imported, 2 entries
not checked rules: duel: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of `tictactoe` version 1 is missing
$ turnfold show duel
exit 2| error: match `duel`: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of `tictactoe` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`

"#]]);
    // A missing module cannot be bundled; the rest of the match can.
    fs::remove_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    sandbox.check(str![[r#"
$ turnfold bundle duel -o rest.bundle
bundled 1 match to `rest.bundle`: 1 branch, 3 records, 0 checkpoints
stderr|  WARN turnfold::commands::bundle: not bundled, because it is missing here: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee
$ turnfold bundle duel --format json -o json.bundle
{"file":"json.bundle","matches":1,"lines":1,"records":3,"checkpoints":0,"modules":[],"missing_modules":[{"ruleset":"tictactoe","version":1,"module":"7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee"}]}
stderr|  WARN turnfold::commands::bundle: not bundled, because it is missing here: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee

"#]]);
    assert_eq!(sandbox.read("rest.bundle"), without);
}

/// MD-9, MD-10: a bundle also contains the module recorded for a match without a pin.
#[test]
fn md_10_a_bundle_has_the_module_that_is_recorded_for_a_match() {
    let sandbox = recorded();
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    let pinned = store.genesis(&"duel".parse().unwrap()).unwrap();
    let unpinned =
        Genesis { format: Genesis::FORMAT, match_id: [7; 16], module: None, played_by: None, ..pinned };
    store.create_match(&"open".parse().unwrap(), &unpinned, Vec::new()).unwrap();
    store.close().unwrap();
    sandbox.check(str![[r#"
$ turnfold bundle open -o before.bundle
bundled 1 match to `before.bundle`: 1 branch, 1 record, 0 checkpoints
$ turnfold play open "p1: mark b2"
1 p1 mark b2 => marked square=b2 #1662e155f9169d7b
$ turnfold bundle open -o after.bundle
bundled 1 match to `after.bundle`: 1 branch, 2 records, 0 checkpoints, 1 module

"#]]);
    with_file("open.bundle", &fs::read(sandbox.path("after.bundle")).unwrap()).check(str![[r#"
$ turnfold audit open.bundle
...

"#]]);
}

/// MD-10: a module holds no secrets of a match, so a seat's bundle has it too.
#[test]
fn md_10_a_bundle_for_a_seat_has_the_modules() {
    bundled_elsewhere("--as p2").check(str![[r#"
$ turnfold audit duel.bundle
bytes        PASS        3 records and 0 checkpoints in canonical form
chain        PASS        1 branch linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        NOT CHECKED duel: rules brought by the bundle: module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee, and no signature covers the pin
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, rules, authorship
$ turnfold --format json import duel.bundle
{"file":"duel.bundle","lines":[{"match":"duel","branch":"main","change":"new","added":2}],"modules":[{"ruleset":"tictactoe","version":1,"module":"7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee"}],"not_checked":null}

"#]]);
}

/// MD-10: backups contain no modules, but list the modules that a restore needs.
#[test]
fn md_10_backups_list_the_modules_that_a_restore_needs() {
    let sandbox = recorded();
    sandbox.ok("new plain --rules initiative");
    sandbox.check(str![[r#"
$ turnfold store backup all.backup
backed up to all.backup: 2 matches, 2 branches, 2 entries, 658 bytes
stderr|  WARN turnfold::commands::store::backup: not in the backup, needed by its matches: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee
$ turnfold store backup --format json json.backup
{"file":"json.backup","matches":2,"branches":2,"entries":2,"bytes":658,"modules":[{"ruleset":"tictactoe","version":1,"module":"7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee"}]}
stderr|  WARN turnfold::commands::store::backup: not in the backup, needed by its matches: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee
$ turnfold store restore all.backup restored
restored store restored: 2 matches, 2 branches, 2 entries
stderr|  WARN turnfold::commands::store::restore: missing, needed by restored matches: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold store restore --format json all.backup json
{"store":"json","matches":2,"branches":2,"entries":2,"missing_modules":[{"ruleset":"tictactoe","version":1,"module":"7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee"}]}
stderr|  WARN turnfold::commands::store::restore: missing, needed by restored matches: module tictactoe 1 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules .turnfold/modules store restore all.backup complete
restored store complete: 2 matches, 2 branches, 2 entries
$ turnfold --store restored show duel
exit 2| error: match `duel`: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of `tictactoe` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`

"#]]);
    let listed = sandbox.run("store backup -");
    assert!(String::from_utf8_lossy(&listed.stderr).contains("module tictactoe 1 7d7e68dac64fd2ea"));
}

/// MD-10: a page contains no module, and `check` names the digest it needs.
#[test]
fn md_10_a_page_names_the_module_it_needs() {
    let sandbox = recorded();
    sandbox.ok("export duel --html -o duel.html");
    assert!(!sandbox.read("duel.html").contains("AGFzbQ"), "the page holds a module");
    with_file("duel.html", sandbox.read("duel.html").as_bytes()).check(str![[r#"
$ turnfold check duel.html
failed duel.html:3:11: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of `tictactoe` version 1 is missing
0 passed, 1 failed (0 entries)
exit 1

"#]]);
    sandbox.check(str![[r#"
$ turnfold check duel.html
ok duel.html 2 entries; checked: the replay in the page; not checked: what the page shows
1 passed, 0 failed (2 entries)

"#]]);
}
