//! Other files in a folder of replay files, and replay files that are truncated or have merge conflicts.

use std::fs;

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

/// Returns a golden log of four entries in a folder.
fn golden() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("games")).unwrap();
    sandbox.ok("simulate --rules cycletap --seed 1 --steps 4 -o games/a.tfl");
    sandbox
}

fn stderr(sandbox: &Sandbox, line: &str, code: i32) -> String {
    let output = sandbox.run(line);
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
    text
}

#[test]
fn an_ending_in_capitals_is_read_by_every_verb() {
    let sandbox = golden();
    fs::rename(sandbox.path("games/a.tfl"), sandbox.path("games/a.TFL")).unwrap();
    assert!(sandbox.ok("check games").starts_with("ok games/a.TFL 4 entries"));
    for line in [
        "game impact games",
        "bless games",
        "find games --seat p1",
        "table matches games",
        "table groups games",
        "log games",
        "show games",
        "show games/a.TFL",
        "log games/a.TFL:2",
        "import games",
    ] {
        let output = sandbox.run(line);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {output:?}");
    }
    sandbox.write("games/a.TFL", sandbox.read("games/a.TFL").replace("\n= 4", "\n= 5"));
    assert_eq!(sandbox.run("check games").status.code(), Some(1));
}

#[test]
fn what_looks_like_a_replay_file_and_is_not_read_is_named() {
    let sandbox = golden();
    let text = sandbox.read("games/a.tfl");
    sandbox.write("games/b.tfl.orig", &text);
    sandbox.write("games/c.txt", &text);
    sandbox.write("games/notes.txt", "turnfold replays are in this folder\n");
    let named = "\
warning: `games/b.tfl.orig` looks like a replay file and was not read; a name must end in `.tfl`, or be given
warning: `games/c.txt` looks like a replay file and was not read; a name must end in `.tfl`, or be given
";
    for line in [
        "check games",
        "check games --quiet",
        "game impact games",
        "bless games",
        "find games --seat p1",
        "table matches games",
        "table groups games",
        "log games",
        "show 'games/*'",
        "import games",
    ] {
        let output = sandbox.shell(&format!("turnfold {line} >/dev/null"));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), named, "{line}");
        assert!(output.status.success(), "{line}");
    }
    let report: serde_json::Value = serde_json::from_str(&sandbox.ok("check games --report json")).unwrap();
    assert_eq!(report["unread"][1], serde_json::json!({ "file": "games/c.txt", "why": "name" }));
}

#[test]
#[cfg(unix)] // links
fn links_are_followed_once_and_never_in_a_circle() {
    use std::os::unix::fs::symlink;
    let sandbox = golden();
    fs::create_dir(sandbox.path("others")).unwrap();
    fs::rename(sandbox.path("games/a.tfl"), sandbox.path("others/b.tfl")).unwrap();
    fs::create_dir(sandbox.path("games/in")).unwrap();
    sandbox.ok("simulate --rules cycletap --seed 2 --steps 4 -o games/in/a.tfl");
    symlink("in", sandbox.path("games/again")).unwrap();
    symlink("../../games", sandbox.path("games/in/loop")).unwrap();
    symlink("../others", sandbox.path("games/out")).unwrap();
    symlink("..", sandbox.path("games/up")).unwrap();
    symlink("../games", sandbox.path("others/back")).unwrap();
    let output = sandbox.run("check games");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "ok games/in/a.tfl 4 entries\nok games/out/b.tfl 4 entries\n2 passed, 0 failed (8 entries)\n"
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "warning: `games/up` is a link to a folder above it and was not searched\n"
    );
    symlink("nowhere", sandbox.path("games/gone.tfl")).unwrap();
    assert_eq!(sandbox.run("check games").status.code(), Some(1));
}

#[test]
fn a_file_that_was_cut_short_is_called_so() {
    let sandbox = golden();
    let text = sandbox.read("games/a.tfl");
    let (entries, _) = text.split_once("\n4 ").unwrap();
    sandbox.write("cut.tfl", format!("{entries}\n"));
    sandbox.write("in-line.tfl", &text[..text.len() - 30]);
    let (three, _) = entries.rsplit_once('\n').unwrap();
    let closing = text.lines().last().unwrap();
    sandbox.write("hole.tfl", format!("{three}\n{closing}\n"));
    let output = String::from_utf8(sandbox.run("check cut.tfl").stdout).unwrap();
    let headline = "closing line: it is missing although every entry is blessed: cut short?\n";
    assert!(output.contains(headline), "{output}");
    assert!(!output.contains("bless cut.tfl"), "{output}");
    let json = String::from_utf8(sandbox.run("--format json check cut.tfl").stdout).unwrap();
    assert!(json.contains(r#""kind":"cut_short""#) && !json.contains("bless cut.tfl"), "{json}");
    assert!(!stderr(&sandbox, "shrink cut.tfl", 1).contains("turnfold bless"));
    let output = String::from_utf8(sandbox.run("bless cut.tfl").stdout).unwrap();
    assert!(output.contains("cut short? cut.tfl: every entry is blessed, but the closing line is missing"));
    assert!(stderr(&sandbox, "log in-line.tfl", 2).contains("was the file cut short?"));
    let error = stderr(&sandbox, "log hole.tfl", 2);
    assert!(
        error.contains("expected 2, the number of entries above; are some of them lost?, found `4`"),
        "{error}"
    );
    // A script that is still being written is not blessed yet.
    sandbox.write("script.tfl", format!("{entries}\n4 p1 back\n"));
    let output = String::from_utf8(sandbox.run("check script.tfl").stdout).unwrap();
    assert!(output.contains("turnfold bless script.tfl"), "{output}");
}

#[test]
fn the_markers_of_a_merge_are_called_an_unresolved_merge() {
    let sandbox = golden();
    let text = sandbox.read("games/a.tfl");
    let number = text.lines().position(|line| line.starts_with("2 ")).unwrap() + 1;
    let body = |marker: &str| text.replacen("\n2 ", &format!("\n{marker}\n2 "), 1);
    for marker in ["<<<<<<< HEAD", "=======", ">>>>>>> theirs", "||||||| 1a2b3c"] {
        sandbox.write("x.tfl", body(marker));
        for verb in ["log", "check", "bless"] {
            let output = sandbox.run(&format!("{verb} x.tfl"));
            let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            let expected = format!("x.tfl:{number}:1: this is an unresolved merge: found `{marker}`");
            assert!(shown.contains(&expected), "{verb}: {shown}");
        }
    }
    sandbox.write("x.tfl", text.replacen("+++\n", "+++\n<<<<<<< HEAD\n", 1));
    assert!(stderr(&sandbox, "show x.tfl", 2).contains("x.tfl:3:1: this is an unresolved merge"));
    // In a title the marker is ordinary text.
    let titled = text.replacen("title = \"random play, seed 1\"", "title = \"\"\"\n=======\n\"\"\"", 1);
    sandbox.write("x.tfl", titled.split("\n= 4").next().unwrap().to_owned() + "\n");
    sandbox.ok("log x.tfl");
}

#[test]
fn one_bad_file_or_folder_leaves_the_answers_about_the_others() {
    let sandbox = golden();
    sandbox.write("games/b.tfl", "no replay\n");
    fs::create_dir(sandbox.path("none")).unwrap();
    sandbox.check(str![[r#"
$ turnfold find games none --seat p1 --command tap* --first
games/a.tfl:1 p1 tap -1,1 => origin_selected at=-1,1
stderr| error: no replay files (`*.tfl`) under `none`; nothing was checked
stderr| error: games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
exit 2| error: 1 of 2 logs cannot be read
$ turnfold table matches games none
source,ruleset,version,title,seats,entries,turn,over,winner,result,first_at_ms,last_at_ms,state_hash
games/a.tfl,cycletap,1,"random play, seed 1",p1 p2,4,1,false,,,,,12106dc55d5b150fd68f129d387bf41dcbf99916ec002a00e0f76e31e704d327
stderr| error: no replay files (`*.tfl`) under `none`; nothing was checked
stderr| error: games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
exit 2| error: 1 of 2 logs cannot be read
$ turnfold table matches games none -o games.csv
wrote 1 row to `games.csv`
stderr| error: no replay files (`*.tfl`) under `none`; nothing was checked
stderr| error: games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
exit 2| error: 1 of 2 logs cannot be read
$ turnfold table groups games none --format json
{"group":"cycletap 1","matches":1,"over":0,"draws":0,"wins":[{"seat":"p1","wins":0,"of":0},{"seat":"p2","wins":0,"of":0}],"lengths":{"sum":4,"least":4,"median":4,"most":4},"histogram":[{"from":4,"to":4,"matches":1}],"durations_ms":null,"commands":[{"name":"tap","count":4}],"outcomes":[{"name":"applied","count":4}],"reasons":[]}
stderr| {"error":{"kind":"usage","message":"no replay files (`*.tfl`) under `none`","hint":"nothing was checked","exit_code":2}}
stderr| {"error":{"kind":"usage","message":"games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`","hint":null,"exit_code":2}}
exit 2| {"error":{"kind":"usage","message":"1 of 2 logs cannot be read","hint":null,"exit_code":2}}
$ turnfold log games none -n 1
games/a.tfl:
4 p1 tap -1,1 => origin_selected at=-1,1 #12106dc55d5b150f
stderr| error: no replay files (`*.tfl`) under `none`; nothing was checked
exit 2| error: games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
$ turnfold check games none
ok games/a.tfl 4 entries
failed games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
failed files:
  games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
1 passed, 1 failed (4 entries)
exit 2| error: no replay files (`*.tfl`) under `none`; nothing was checked
$ turnfold game impact none games
cycletap version 1: 1 of 1 log folds the same (4 entries)
unreadable
  games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
in all, 1 of 2 logs fold the same, 1 unreadable (4 entries)
exit 2| error: no replay files (`*.tfl`) under `none`; nothing was checked
$ turnfold bless games none
failed games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
1 file unchanged
stderr| error: no replay files (`*.tfl`) under `none`; nothing was checked
exit 2| error: 1 of 2 files could not be blessed (listed above); the others were handled as usual
$ turnfold export none games/a.tfl --html -o exported/
exported games/a.tfl to `exported/a.html`: 4 entries, with everything in it, secrets and seed too
exit 2| error: no replay files (`*.tfl`) under `none`; nothing was checked
$ turnfold import games none
imported match a from `games/a.tfl`: 4 entries #12106dc55d5b150f
its id, times and links are new, because a replay file does not record them
stderr| error: no replay files (`*.tfl`) under `none`; nothing was checked
exit 2| error: games/b.tfl:1:1: expected `turnfold replay 2`, found `no replay`
$ turnfold check none
exit 2| error: no replay files (`*.tfl`) under `none`; nothing was checked

"#]]);
    assert_eq!(sandbox.read("games.csv").lines().count(), 2);
    assert!(sandbox.path("exported/a.html").exists());
}
