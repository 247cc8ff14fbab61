//! Sources of a history: revisions, replay files up to an entry, and standard input.

use std::fs::File;

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::{Sandbox, words};

/// The verbs that read a history; `@` stands for its name.
const VERBS: [&str; 9] = [
    "show @",
    "legal @ --as p1",
    "ask @ \"reach atlas\"",
    "log @ --as p2",
    "replay @",
    "blame @ /selected",
    "bisect @ --when \"/selected == atlas\"",
    "shrink @ --when \"/selected == atlas\"",
    "verify --reload @",
];

/// Runs a command with a file as standard input. Returns its exit code and output.
fn run_on(sandbox: &Sandbox, line: &str, stdin: &str) -> (Option<i32>, String) {
    let words = words(line);
    let mut command = sandbox.command(words.iter().map(String::as_str));
    let output = command.stdin(File::open(sandbox.path(stdin)).unwrap()).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

#[test]
fn every_verb_reads_revisions_files_up_to_an_entry_and_standard_input_alike() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("export duel:2 -o two.tfl");
    for verb in VERBS {
        let answers = ["duel:2", "duel.tfl:2", "-"].map(|name| {
            let (code, printed) = run_on(&sandbox, &verb.replace('@', name), "two.tfl");
            assert_eq!(code, Some(0), "{verb} {name}: {printed}");
            let shown = if name == "-" { "<stdin>" } else { name };
            printed.replace(shown, "@")
        });
        assert!(!answers[0].is_empty(), "{verb}");
        assert_eq!(answers[0], answers[1], "{verb}");
        assert_eq!(answers[0], answers[2], "{verb}");
    }
}

#[test]
fn standard_input_may_end_at_an_entry_too_and_is_one_side_of_a_diff() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let (code, printed) = run_on(&sandbox, "diff duel:2 -- -:2", "duel.tfl");
    assert_eq!(code, Some(0));
    assert!(printed.starts_with("duel:2 and <stdin>:2 are equal: 2 entries "), "{printed}");
    let (code, printed) = run_on(&sandbox, "diff --stat duel.tfl:1 -", "duel.tfl");
    assert_eq!(code, Some(1), "{printed}");
    let (code, printed) = run_on(&sandbox, "amend --drop -o shorter.tfl -- -:3", "duel.tfl");
    assert_eq!(code, Some(0), "{printed}");
    assert!(sandbox.read("shorter.tfl").contains("\n= 2 state "));
    sandbox.write("broken.tfl", sandbox.read("duel.tfl").replace("confirm =>", "cycle =>"));
    let (code, printed) = run_on(&sandbox, "replay -", "broken.tfl");
    assert_eq!(code, Some(1));
    assert!(printed.contains("error: `<stdin>`: entry 2: expected outcome"), "{printed}");
    assert!(!printed.contains("turnfold check"), "{printed}");
    sandbox.write("no-replay.tfl", "turnfold replay 2\n+++\nx\n");
    let (code, printed) = run_on(&sandbox, "show -", "no-replay.tfl");
    assert_eq!(code, Some(2));
    assert!(printed.starts_with("error: <stdin>:4:1: "), "{printed}");
}

#[test]
fn an_entry_that_a_file_has_not_is_a_usage_error() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.check(str![[r#"
$ turnfold show duel.tfl:4
exit 2| error: `duel.tfl` has no entry 4; its last is 3
$ turnfold log duel.tfl:4
exit 2| error: `duel.tfl` has no entry 4; its last is 3
$ turnfold replay duel.tfl:2 --to 3
exit 2| error: `duel.tfl:2` has no entry 3; its last is 2
$ turnfold show duel.tfl:x
exit 2| error: invalid value 'duel.tfl:x' for '<REV>...': expected a number, found `x` in `duel.tfl:x`, which is written FILE[:SEQ]; see `--help`
$ turnfold diff - -
exit 2| error: standard input can be read only once; name a file for one of them
$ turnfold shrink duel.tfl:2
exit 2| error: `duel.tfl:2` is not a whole file, and only a whole one can fail a check; leave out the number of the entry, or say what to look for with `--when` or `--still`
$ turnfold amend duel.tfl --drop -o x.tfl
exit 2| error: invalid value 'duel.tfl' for '<REV:SEQ|FILE:SEQ>': expected the number of an entry in `duel.tfl`; an entry is written REV:SEQ or FILE:SEQ; see `--help`

"#]]);
}
