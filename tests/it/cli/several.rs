//! Several sources in one call of `show`, `log`, `export`, `bundle` or `import`.

use std::fs;

use serde_json::Value;
use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;

/// Returns the sandbox of [`duel`] with a match `ford` without entries, and replay files of both in `games`, one of
/// them in a subfolder.
fn matches_and_files() -> Sandbox {
    let sandbox = duel();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    fs::create_dir_all(sandbox.path("games/late")).unwrap();
    sandbox.ok("export duel -o games/a.tfl");
    sandbox.ok("export duel:1 -o games/late/b.tfl");
    sandbox
}

#[test]
fn entries_stand_under_the_name_of_their_source_where_there_are_several() {
    matches_and_files().check(str![[r#"
$ turnfold log duel:2..3 ford games --seat p1
duel:
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4

games/a.tfl:
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold log games/a.tfl --seat p1 -n 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold log "games/*.tfl" --seat p1 -n 1
games/a.tfl:
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold log duel ford games --seat p2
$ turnfold --format json log games/late/b.tfl games/a.tfl:2..2
{"source":"games/late/b.tfl","seq":1,"seat":"host","command":"roll 1 2 3 4","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":3,"p2":7},{"effect":"initiative","p1":3,"p2":7,"loser":"p1","winner":"p2"},{"effect":"movement_order","impulses":[{"player":"p1","units":1},{"player":"p2","units":1},{"player":"p1","units":1},{"player":"p2","units":1}]},{"effect":"flash","text":"Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"},{"effect":"cursor","at":[0,2]}],"state_hash":"e67f02be3627678a2b07e2fc706870cf7ab6b4747457af5e4294664af4f844d7","recorded_at_ms":null,"key":null}
{"source":"games/a.tfl","seq":2,"seat":"p1","command":"confirm","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"selected","unit":"atlas"}],"state_hash":"01c8c4ec6ad17e5ade4125bd7705255954648578b138f503368e11ea7222239f","recorded_at_ms":null,"key":null}
$ turnfold log duel ford --raw -n 1 --seat p1
duel:
3 p1 0x050002 [TIME] link [LINK]
not checked: commands and outcomes; `--raw` does not ask `initiative` version 1

ford:
not checked: commands and outcomes; `--raw` does not ask `cycletap` version 1
$ turnfold log - -
exit 2| error: standard input can be read only once; name a file for one of them
$ turnfold log "none/*.tfl" duel
duel:
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
exit 2| error: no replay files (`*.tfl`) under `none/*.tfl`; nothing was checked
$ turnfold log games/a:x games
exit 2| error: invalid value 'games/a:x' for '<REV>...': expected a number, found `x` in `games/a:x`, which is written FILE[:SEQ]; see `--help`

"#]]);
}

#[test]
fn every_board_stands_under_its_name_and_a_single_source_has_none() {
    let sandbox = matches_and_files();
    let boards = ["duel:1", "ford", "games/a.tfl"].map(|name| (name, sandbox.ok(&format!("show {name}"))));
    let expected = boards.map(|(name, board)| format!("{name}:\n{board}")).join("\n");
    assert_eq!(sandbox.ok("show duel:1 ford games/a.tfl"), expected);
    let views = ["games/a.tfl", "games/late/b.tfl"].map(|name| {
        let view = sandbox.ok(&format!("--format json show {name} --as p1"));
        format!("{{\"source\":\"{name}\",\"view\":{}}}\n", view.trim_end())
    });
    assert_eq!(sandbox.ok("--format json show games --as p1"), views.concat());
    sandbox.check(str![[r#"
$ turnfold --format svg show duel ford
exit 2| error: `--format svg` prints the picture of one source; name one, or use `text` or `json`

"#]]);
}

#[test]
fn a_source_that_fails_leaves_the_others_and_gives_the_exit_code() {
    let sandbox = matches_and_files();
    sandbox.write("games/bad.tfl", "no replay");
    sandbox.check(str![[r#"
$ turnfold log games/bad.tfl deul duel:1 duel:9
duel:
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
stderr| error: games/bad.tfl:1:1: expected `turnfold replay 2`, found `no replay`
stderr| error: no match `deul` in this store; did you mean `duel`? `turnfold matches` lists those there are
exit 2| error: duel: `duel@main` has no entry 9: its head is 3
$ turnfold --format json log nowhere games/a.tfl:2 games/bad.tfl -n 1
{"source":"games/a.tfl","seq":2,"seat":"p1","command":"confirm","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"selected","unit":"atlas"}],"state_hash":"01c8c4ec6ad17e5ade4125bd7705255954648578b138f503368e11ea7222239f","recorded_at_ms":null,"key":null}
stderr| {"error":{"kind":"usage","message":"no match `nowhere` in this store","hint":"`turnfold matches` lists those there are","exit_code":2}}
exit 2| {"error":{"kind":"usage","message":"games/bad.tfl:1:1: expected `turnfold replay 2`, found `no replay`","hint":null,"exit_code":2}}
$ turnfold export duel deul ford -o out
exported duel to `out/duel.tfl`: 3 entries
exported ford to `out/ford.tfl`: 0 entries
exit 2| error: no match `deul` in this store; did you mean `duel`? `turnfold matches` lists those there are
$ turnfold bundle ford deul -o out/
bundled 1 match to `out/ford.bundle`: 1 branch, 1 record, 0 checkpoints
exit 2| error: no match `deul` in this store; did you mean `duel`? `turnfold matches` lists those there are
$ turnfold import games/bad.tfl games/a.tfl out/ford.bundle
imported match a from `games/a.tfl`: 3 entries #8bc3cdd5a21478a4
its id, times and links are new, because a replay file does not record them
ford@main: already up to date
exit 2| error: games/bad.tfl:1:1: expected `turnfold replay 2`, found `no replay`
$ turnfold import games/a.tfl games/late/b.tfl games/a.tfl
imported match b from `games/late/b.tfl`: 1 entry #e67f02be3627678a
its id, times and links are new, because a replay file does not record them
stderr| error: games/a.tfl: match `a` already exists; choose another name
exit 2| error: games/a.tfl: match `a` already exists; choose another name

"#]]);
}

#[test]
fn a_name_that_a_match_and_a_folder_have_means_the_match() {
    let sandbox = matches_and_files();
    let entry = sandbox.ok("log duel:1");
    fs::create_dir(sandbox.path("duel")).unwrap();
    fs::copy(sandbox.path("games/a.tfl"), sandbox.path("duel/a.tfl")).unwrap();
    assert_eq!(sandbox.ok("log duel -n 1"), sandbox.ok("log duel:3 -n 1"));
    assert_eq!(sandbox.ok("log duel:1"), entry);
    assert!(sandbox.ok("log duel/ -n 1").starts_with("duel/a.tfl:\n"));
    assert!(sandbox.ok("--store other/.turnfold log duel -n 1").starts_with("duel/a.tfl:\n"));
}

#[test]
fn each_match_goes_to_a_file_of_its_own_and_comes_back_from_it() {
    let sandbox = matches_and_files();
    sandbox.ok("branch duel:1 flank");
    sandbox.check(str![[r#"
$ turnfold export duel duel@flank duel:2 ford -o out
exported duel to `out/duel.tfl`: 3 entries
exported duel@flank to `out/duel@flank.tfl`: 1 entry
exported duel:2 to `out/duel-2.tfl`: 2 entries
exported ford to `out/ford.tfl`: 0 entries
$ turnfold export duel ford -o out
stderr| error: duel: `out/duel.tfl` exists; `--force` overwrites it
exit 2| error: ford: `out/ford.tfl` exists; `--force` overwrites it
$ turnfold --format json export ford duel --as p1 -o seen
{"revision":"ford","view":"p1","entries":0,"state_hash":null,"file":"seen/ford.tfl","replay":null,"page":null}
{"revision":"duel","view":"p1","entries":3,"state_hash":null,"file":"seen/duel.tfl","replay":null,"page":null}
$ turnfold export games --html -o pages
exported games/a.tfl to `pages/a.html`: 3 entries, with everything in it, secrets and seed too
exported games/late/b.tfl to `pages/b.html`: 1 entry, with everything in it, secrets and seed too
$ turnfold export duel:2 duel-2 duel:2 -o out
exit 2| error: `duel:2` and `duel-2` would both be written to `out/duel-2.tfl`; export one of them by itself
$ turnfold export duel ford
exit 2| error: several files need a folder; name one with `-o`
$ turnfold export games -o again
stderr| error: `games/a.tfl` is a file already; `--html` makes a page of it
exit 2| error: `games/late/b.tfl` is a file already; `--html` makes a page of it
$ turnfold bundle duel ford -o both.bundle
bundled 2 matches to `both.bundle`: 3 branches, 5 records, 0 checkpoints
$ turnfold bundle duel ford -o out/
bundled 1 match to `out/duel.bundle`: 2 branches, 4 records, 0 checkpoints
bundled 1 match to `out/ford.bundle`: 1 branch, 1 record, 0 checkpoints
$ turnfold bundle duel ford -o out
stderr| error: duel: `out/duel.bundle` exists; `--force` overwrites it
exit 2| error: ford: `out/ford.bundle` exists; `--force` overwrites it
$ turnfold --store new/.turnfold import out/duel.tfl out/ford.tfl
imported match duel from `out/duel.tfl`: 3 entries #8bc3cdd5a21478a4
its id, times and links are new, because a replay file does not record them
imported match ford from `out/ford.tfl`: 0 entries #5e51ff86e8de222b
its id, times and links are new, because a replay file does not record them
$ turnfold --store new/.turnfold import out/duel.tfl --name again
imported match again from `out/duel.tfl`: 3 entries #8bc3cdd5a21478a4
its id, times and links are new, because a replay file does not record them
$ turnfold --store new/.turnfold import out --name again
exit 2| error: `--name` is for one file; import the files one by one
$ turnfold --store third/.turnfold import "out/*.bundle"
duel@main: imported, 3 entries
duel@flank: imported, 0 entries after main:1
ford@main: imported, 0 entries
$ turnfold --store new/.turnfold import nowhere
exit 2| error: cannot read replay `nowhere`: No such file or directory (os error 2)
$ turnfold --store new/.turnfold matches
again  initiative  3 entries, 1 branch  [TIME]
duel   initiative  3 entries, 1 branch  [TIME]
ford   cycletap  0 entries, 1 branch  [TIME]

"#]]);
    for (name, file) in [("duel", "duel"), ("duel@flank", "duel@flank"), ("duel:2", "duel-2")] {
        assert_eq!(sandbox.read(&format!("out/{file}.tfl")), sandbox.ok(&format!("export {name}")));
    }
    assert_eq!(sandbox.read("seen/duel.tfl"), sandbox.ok("export duel --as p1"));
    assert_eq!(sandbox.read("pages/a.html"), sandbox.ok("export games/a.tfl --html"));
    assert_eq!(sandbox.ok("--store new/.turnfold show duel"), sandbox.ok("show duel"));
    assert_eq!(sandbox.ok("--store third/.turnfold log duel --links"), sandbox.ok("log duel --links"));
}

#[test]
fn every_line_of_json_names_its_source() {
    let sandbox = matches_and_files();
    let fields = |line: &str, field: &str| -> Vec<String> {
        let documents = sandbox.ok(&format!("--format json {line}"));
        let documents = documents.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        documents.map(|document| document[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(fields("log duel:2..3", "source"), ["duel", "duel"]);
    assert_eq!(fields("log duel:1 games/a.tfl:2..2", "source"), ["duel", "games/a.tfl"]);
    assert_eq!(fields("log duel ford --raw", "source").len(), 3 + 2);
    assert_eq!(fields("show duel:1 ford", "source"), ["duel:1", "ford"]);
    assert_eq!(fields("export duel:1 ford -o out", "revision"), ["duel:1", "ford"]);
    assert_eq!(fields("bundle duel ford -o out", "file"), ["out/duel.bundle", "out/ford.bundle"]);
    let imported = fields("--store new/.turnfold import out/duel-1.tfl out/ford.bundle", "file");
    assert_eq!(imported, ["out/duel-1.tfl", "out/ford.bundle"]);
}
