//! The closing line of a replay file covers its header.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

/// Returns a blessed log with seeded dice, and copies with a changed header.
fn altered() -> Sandbox {
    let sandbox = Sandbox::new();
    let seed = "00112233445566778899aabbccddeeff".repeat(2);
    sandbox.ok(&format!(
        "new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed {seed} --title first"
    ));
    sandbox.ok("play duel");
    sandbox.ok("export duel -o whole.tfl");
    let whole = sandbox.read("whole.tfl");
    let dice = format!("dice = \"seeded\"\nseed = \"{seed}\"");
    let unit = "id = \"atlas\"";
    assert!(whole.contains(&dice) && whole.contains(unit), "{whole}");
    for (name, old, new) in [
        ("title", "title = \"first\"", "title = \"second\""),
        ("no-title", "title = \"first\"\n", ""),
        ("seed", "seed = \"00", "seed = \"01"),
        ("dice", &dice, "dice = \"recorded\""),
        ("setup", unit, "id = \"atlas-2\""),
        ("invalid", "radius = 2", "radius = 1"),
        ("missing", "\nid = \"atlas\"", ""),
        ("two", "title = \"first\"\n\n[setup]\nradius = 2", "title = \"second\"\n\n[setup]\nradius = 3"),
        ("comment", "[setup]", "# a comment\n[setup] # and another"),
    ] {
        assert!(whole.contains(old), "{old} is not in {whole}");
        sandbox.write(&format!("{name}.tfl"), whole.replacen(old, new, 1));
    }
    sandbox
}

#[test]
fn a_header_that_was_not_blessed_is_named_and_the_rules_are_not_blamed() {
    altered().check(str![[r#"
$ turnfold check title.tfl no-title.tfl seed.tfl dice.tfl setup.tfl invalid.tfl missing.tfl two.tfl
title.tfl:7: header: it is not the one that was blessed, `title` differs
if that is meant: turnfold bless title.tfl
no-title.tfl:2: header: it is not the one that was blessed, `title` differs
if that is meant: turnfold bless no-title.tfl
seed.tfl:6: header: it is not the one that was blessed, `seed` differs
if that is meant: turnfold bless seed.tfl
dice.tfl:5: header: it is not the one that was blessed, `dice` differs
if that is meant: turnfold bless dice.tfl
setup.tfl:14: header: it is not the one that was blessed, `setup.units[0].id` differs
if that is meant: turnfold bless setup.tfl
invalid.tfl:10: header: it is not the one that was blessed, `setup.radius` differs
if that is meant: turnfold bless invalid.tfl
missing.tfl:2: header: it is not the one that was blessed, more than one value differs, or one is missing
if that is meant: turnfold bless missing.tfl
two.tfl:2: header: it is not the one that was blessed, more than one value differs, or one is missing
if that is meant: turnfold bless two.tfl
failed files:
...
0 passed, 8 failed (8 entries)
exit 1
$ turnfold check --all seed.tfl
seed.tfl:6: header: it is not the one that was blessed, `seed` differs
if that is meant: turnfold bless seed.tfl
seed.tfl: 1 difference
0 passed, 1 failed (1 entry)
exit 1
$ turnfold check comment.tfl whole.tfl
ok comment.tfl 1 entry
ok whole.tfl 1 entry
2 passed, 0 failed (2 entries)
$ turnfold import title.tfl
exit 1| error: title.tfl: the header is not the one that was blessed, nothing was imported; `turnfold check title.tfl` explains it
$ turnfold bless --accept title.tfl
blessed title.tfl
$ turnfold check title.tfl
ok title.tfl 1 entry
1 passed, 0 failed (1 entry)

"#]]);
}

#[test]
fn a_value_of_another_file_is_found_whatever_its_line_looks_like() {
    let sandbox = altered();
    let text = sandbox.read("whole.tfl");
    let title = "title = \"first\"\n";
    let moved = text.replacen(title, "", 1).replacen("+++\n", &format!("+++\n# spaced\n\n{title}"), 1);
    let moved = moved.replacen("radius = 2", "radius   = 0x2 # two", 1);
    sandbox.write("moved.tfl", &moved);
    assert_eq!(sandbox.ok("check moved.tfl"), "ok moved.tfl 1 entry\n1 passed, 0 failed (1 entry)\n");
    sandbox.write("moved.tfl", moved.replace("0x2", "0x5"));
    let shown = String::from_utf8(sandbox.run("check moved.tfl").stdout).unwrap();
    assert!(shown.contains("header: it is not the one that was blessed, `setup.radius` differs"), "{shown}");
}
