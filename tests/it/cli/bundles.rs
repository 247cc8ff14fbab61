//! Bundles as input of the verbs that read replay files, without a store.

use std::fs;

use snapbox::str;
use turnfold_tests::sandbox::Sandbox;

use super::duel;

#[test]
fn log_show_and_find_read_the_matches_of_a_bundle() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o one.bundle");
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank \"move 1,1\"");
    sandbox.ok("new taps --rules cycletap");
    sandbox.ok("bundle -o all.bundle duel taps");
    let [log, show, all] =
        ["log duel", "show duel:2 --as p1", "--format json log duel@flank"].map(|line| sandbox.ok(line));
    fs::rename(sandbox.path(".turnfold"), sandbox.path("elsewhere")).unwrap();
    for bundle in ["one.bundle", "./one.bundle", "one.bundle/duel", "all.bundle/duel"] {
        assert_eq!(sandbox.ok(&format!("log {bundle}")), log, "{bundle}");
        assert_eq!(sandbox.ok(&format!("show {bundle}:2 --as p1")), show, "{bundle}");
    }
    let line = sandbox.ok("--format json log all.bundle/duel@flank");
    assert_eq!(line.replace("all.bundle/duel@flank", "duel@flank"), all);
    assert!(!sandbox.path(".turnfold").exists());
    sandbox.check(str![[r#"
$ turnfold log all.bundle -n 1
all.bundle/duel:
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4

all.bundle/duel@flank:
3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
$ turnfold log one.bundle:2..2
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
$ turnfold find all.bundle one.bundle --command "move *"
all.bundle/duel:3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
all.bundle/duel@flank:3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1
one.bundle:3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
$ turnfold bisect all.bundle/duel --when "/selected == atlas" --linear
entry 2 makes `/selected == "atlas"` true (3 steps)
...
$ turnfold log all.bundle/nowhere
exit 2| error: the bundle `all.bundle` has no match `nowhere`; name one of `all.bundle/duel`, `all.bundle/duel@flank`, `all.bundle/taps`
$ turnfold replay ./all.bundle
exit 2| error: the bundle `./all.bundle` has several matches; name one of `./all.bundle/duel`, `./all.bundle/duel@flank`, `./all.bundle/taps`

"#]]);
}

#[test]
fn a_seats_bundle_is_read_up_to_what_is_left_out_of_it() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok("play ford \"tap 0,1\" \"tap 0,0\" switch --once order:4f2a7791c0");
    sandbox.ok("play ford \"tap 1,-2\" --once order:77b1c0d24e");
    sandbox.ok("bundle ford --as p1 -o p1.bundle");
    sandbox.ok("bundle ford --as p2 -o p2.bundle");
    let known = sandbox.ok("log ford:3");
    fs::rename(sandbox.path(".turnfold"), sandbox.path("elsewhere")).unwrap();
    let read = |line: &str| {
        let output = sandbox.shell(line);
        assert!(output.status.success(), "{line}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    // p1 knows its own orders, but not the later order of p2.
    let (printed, note) = read("turnfold log p1.bundle");
    assert_eq!(printed, known);
    let gap = "warning: p1.bundle: 1 of 4 entries are left out, from entry 4 on; it is read up to the entry before\n";
    assert_eq!(note, gap);
    for line in ["log p2.bundle", "log p2.bundle --as p2", "find p2.bundle --command 'tap *' || true"] {
        let (printed, note) = read(&format!("turnfold {line}"));
        assert_eq!(printed, "", "{line}: what follows the gap cannot be folded");
        assert_eq!(note, gap.replace("p1", "p2").replace("1 of", "3 of").replace("entry 4", "entry 1"));
    }
}

#[test]
fn verbs_that_need_a_match_say_what_a_file_or_folder_is() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o a.bundle");
    fs::create_dir(sandbox.path("games")).unwrap();
    sandbox.ok("export duel -o games/duel.tfl");
    sandbox.ok("export duel -o report.tfl");
    sandbox.ok("store backup saved.backup");
    fs::rename(sandbox.path("report.tfl"), sandbox.path("report")).unwrap();
    fs::rename(sandbox.path(".turnfold"), sandbox.path("elsewhere")).unwrap();
    sandbox.check(str![[r#"
$ turnfold legal a.bundle
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold ask a.bundle "reach atlas"
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold replay a.bundle
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold blame a.bundle /turn
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold bisect a.bundle --when "/turn == 2"
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold diff a.bundle games
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold verify a.bundle
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold play a.bundle confirm
exit 2| error: `a.bundle` is a bundle, not a match, and there is no store here; name a match in it, as in `a.bundle/MATCH`; `turnfold log a.bundle` shows a bundle, `turnfold audit a.bundle` checks it, `turnfold import a.bundle` takes it in
$ turnfold legal games
exit 2| error: `games` is a folder, not a match, and there is no store here; name a replay file in it, or check all with `turnfold check games`
$ turnfold legal report
exit 2| error: `report` is a replay file, not a match, and there is no store here; name it `./report`
$ turnfold legal saved.backup
exit 2| error: `saved.backup` is the backup of a store, not a match, and there is no store here; `turnfold store restore saved.backup NEWDIR` makes a store of it
$ turnfold legal elsewhere
exit 2| error: `elsewhere` is a store, not a match, and there is no store here; `turnfold --store elsewhere matches` lists what is in it
$ turnfold legal nothing
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory

"#]]);
}
