//! `export --as SEAT`: a replay file that records what a seat may know.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

/// Returns a match of two players with secrets. p2 is planning, and p1's plan is concealed.
fn planning() -> Sandbox {
    let sandbox = Sandbox::new();
    let seed = "ab".repeat(32);
    sandbox.ok(&format!(
        "new ford --rules cycletap --setup fixtures/cycletap/ford.toml --dice seeded --seed {seed}"
    ));
    sandbox.ok("play ford \"tap 0,1\" \"tap 0,0\" switch \"tap 1,-2\" \"tap 1,-3\"");
    sandbox.ok("export ford --as p2 -o p2.tfl");
    sandbox
}

#[test]
fn a_seats_file_shows_neither_seed_nor_hidden_entries_and_states_this() {
    let sandbox = planning();
    let text = sandbox.read("p2.tfl");
    assert!(text.contains("dice = \"seeded\"\n") && text.contains("view = \"p2\"\n"), "{text}");
    for secret in ["seed =", "abab", "tap 0,1", "tap 0,0", " #", "\n= "] {
        let text = text.replace("\n# ", "\n");
        assert!(!text.contains(secret), "`{secret}` is in {text}");
    }
    assert!(text.contains("\n1 p1 switch => planning_ended"), "{text}");
}

#[test]
fn a_seats_file_is_read_shown_and_stepped_with_that_seats_eyes() {
    let sandbox = planning();
    for verb in ["show", "--format json show", "--format svg show", "legal", "ask"] {
        let question = if verb == "ask" { " suggest 0,0" } else { "" };
        let of_match = sandbox.ok(&format!("{verb} --as p2 ford{question}"));
        for viewer in ["", "--as p2"] {
            assert_eq!(sandbox.ok(&format!("{verb} {viewer} p2.tfl{question}")), of_match, "{verb} {viewer}");
        }
    }
    let log = sandbox.ok("log ford --as p2");
    assert_eq!(sandbox.ok("log p2.tfl"), log);
    assert_eq!(sandbox.ok("replay p2.tfl"), format!("{log}3 entries, as p2 may know them\n"));
    let stepped = sandbox.ok("replay p2.tfl --step");
    let drawn = |line: &str| {
        let shown = sandbox.ok(&format!("show {line} --as p2"));
        shown.strip_suffix("\nturn 1\n").unwrap().to_owned()
    };
    assert!(stepped.contains(&drawn("ford")) && stepped.starts_with(&drawn("ford:0")), "{stepped}");
    assert_eq!(sandbox.ok("diff p2.tfl ford --as p2"), "p2.tfl and ford are equal: 3 entries\n");
    assert_eq!(sandbox.ok("show p2.tfl:1"), sandbox.ok("show ford:1 --as p2"));
    // Once the plans are carried out, every seat may know them.
    sandbox.ok("play ford switch resolve");
    sandbox.ok("export ford --as p2 -o open.tfl");
    assert!(sandbox.read("open.tfl").contains("p1 tap 0,1 => "));
}

#[test]
fn a_seats_file_is_neither_blessed_nor_imported_nor_seen_by_others() {
    let sandbox = planning();
    let seen = sandbox.read("p2.tfl");
    sandbox.write("seed.tfl", seen.replacen("view", &format!("seed = \"{}\"\nview", "ab".repeat(32)), 1));
    sandbox.write("host.tfl", seen.replacen("view = \"p2\"", "view = \"host\"", 1));
    sandbox.write("hash.tfl", seen.replacen("from=p1", "from=p1 #0123456789abcdef", 1));
    sandbox.write(
        "false.tfl",
        seen.replacen("2 p2 tap 1,-2 => origin_selected", "2 p2 tap 1,-2 => path_shown", 1),
    );
    sandbox.check(str![[r#"
$ turnfold check p2.tfl
failed p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
0 passed, 1 failed (0 entries)
exit 1
$ turnfold bless --accept p2.tfl
exit 2| error: p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
$ turnfold import p2.tfl
exit 2| error: p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
$ turnfold game impact p2.tfl
unreadable
  p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
in all, 0 of 1 log folds the same, 1 unreadable (0 entries)
exit 1
$ turnfold verify --reload p2.tfl
exit 2| error: p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
$ turnfold amend p2.tfl:1 back -o x.tfl
exit 2| error: p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
$ turnfold shrink p2.tfl --when "/turn == 1"
exit 2| error: p2.tfl:7:1: expected a whole replay file, found what `p2` may know of one, which can only be shown and stepped
$ turnfold bisect p2.tfl --run true
exit 2| error: the command of `--run` is given whole replay files, which p2 may not see; leave out `--as`
$ turnfold diff p2.tfl ford
exit 2| error: one of the two holds only what `p2` may know; compare them with `--as p2`
$ turnfold show p2.tfl --as p1
exit 2| error: expected what `p1` may know, found what `p2` may know
$ turnfold log p2.tfl --as p3
exit 2| error: expected what `p3` may know, found what `p2` may know
$ turnfold show seed.tfl
exit 2| error: seed.tfl:7:8: expected no `seed` next to `view`, found one
$ turnfold show host.tfl
exit 2| error: host.tfl:7:8: expected a player's seat as `view`, `p1` to `p16`, or `spectator`
$ turnfold export ford:9 --as p2
exit 2| error: `ford` has no entry 9; its last is 3
$ turnfold replay false.tfl
1 p1 switch => planning_ended seat=p1
2 p2 tap 1,-2 => origin_selected at=1,-2 [recorded: path_shown at=1,-2]
exit 1| error: `false.tfl`: entry 2: expected another outcome

"#]]);
}
