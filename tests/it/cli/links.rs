//! Links that people quote: `log --links`, `verify REV`, `verify FILE`, `verify --expect`.

use super::duel;
use snapbox::str;
use turnfold_tests::sandbox::Sandbox;

/// Returns the first 16 digits of the link after each entry of a history.
fn links(sandbox: &Sandbox, line: &str) -> Vec<String> {
    let printed = sandbox.ok(&format!("log {line} --links"));
    printed.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

/// Copies the store of a sandbox through a backup, as a person who received the backup would.
fn copy_store(sandbox: &Sandbox, to: &str) {
    sandbox.ok(&format!("store backup {to}.tfb"));
    sandbox.ok(&format!("store restore {to}.tfb {to}"));
}

/// Returns a match of twelve entries, and a copy of the store that diverges at the ninth.
fn parted() -> Sandbox {
    let sandbox = duel();
    let clicks = |hexes: &[&str]| format!(" \"p2: click {}\"", hexes.join("\" \"p2: click "));
    sandbox.ok(&format!("play duel{}", clicks(&["0,0", "0,1", "0,0", "0,1", "0,0"])));
    copy_store(&sandbox, "theirs");
    sandbox.ok(&format!("play duel{}", clicks(&["0,1", "0,0", "0,1", "0,0"])));
    sandbox.ok(&format!("--store theirs play duel{}", clicks(&["1,0", "1,1", "0,1", "0,0"])));
    sandbox
}

#[test]
fn two_stores_are_compared_by_the_links_that_are_read_out() {
    let sandbox = parted();
    let theirs = links(&sandbox, "duel --store theirs");
    assert_eq!(theirs.len(), 12);
    let quoted = |seqs: &[usize]| {
        let quoted = seqs.iter().map(|seq| format!(" --expect {}@{seq}", theirs[seq - 1]));
        let output = sandbox.run(&format!("verify duel{}", quoted.collect::<String>()));
        (output.status.code(), String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned())
    };
    for (seqs, code, expected) in [
        (&[8][..], 0, "same duel: as quoted, up to entry 8"),
        (
            &[12],
            1,
            "differs duel: they part at or before entry 12, or are not one match; ask for the link after entry 0, the setup",
        ),
        (
            &[12, 4],
            1,
            "differs duel: they part after entry 4 and at or before entry 12; ask for the link after entry 8",
        ),
        (
            &[12, 8],
            1,
            "differs duel: they part after entry 8 and at or before entry 12; ask for the link after entry 10",
        ),
        (&[12, 8, 10, 9], 1, "differs duel: they part at entry 9"),
    ] {
        assert_eq!(quoted(seqs), (Some(code), expected.to_owned()));
    }
    // The full link gives the same answer as its first sixteen digits.
    let json = sandbox.ok("--format json log duel --links -n 1");
    let whole: serde_json::Value = serde_json::from_str(&json).unwrap();
    let whole = whole["link"].as_str().unwrap();
    assert_eq!(whole.len(), 64);
    sandbox.ok(&format!("verify duel:12 --expect {whole}@12"));
    let misquoted = format!("verify duel --expect {}@8 --expect 0123456789abcdef@3", theirs[7]);
    let printed = String::from_utf8(sandbox.run(&misquoted).stdout).unwrap();
    assert!(printed.contains("the link after entry 3 is quoted wrongly"), "{printed}");
}

#[test]
fn a_line_that_ends_earlier_and_one_of_another_branch_are_recognized() {
    let sandbox = parted();
    let ours = links(&sandbox, "duel");
    sandbox.ok("branch duel:5 flank");
    sandbox.ok("play duel@flank \"p2: click 0,1\"");
    for (line, code, expected) in [
        (
            format!("verify duel:8 --expect {}@12 --expect {}@8", ours[11], ours[7]),
            1,
            "differs duel:8: the same up to entry 8, where it ends; the quoted history continues",
        ),
        (
            format!("verify duel@flank --expect {}@6", ours[5]),
            1,
            "differs duel@flank: the quoted link is that of `duel@main`, which parts at entry 6",
        ),
        (format!("verify duel@flank --expect {}@5", ours[4]), 0, "same duel@flank: as quoted, up to entry 5"),
    ] {
        let output = sandbox.run(&line);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), stdout.lines().last()), (Some(code), Some(expected)), "{line}");
    }
}

#[test]
fn an_import_reports_that_its_links_are_new() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let printed = sandbox.ok("import duel.tfl --name again");
    assert!(
        printed.ends_with("its id, times and links are new, because a replay file does not record them\n"),
        "{printed}"
    );
    let own = sandbox.ok("--format json log duel --links -n 1");
    let link = own.split("\"link\":\"").nth(1).unwrap();
    let output = sandbox.run(&format!("verify again --expect {}@3 --expect {}@0", &link[..16], &link[..16]));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.ends_with(
            "they differ from the start: this is another match, or an import with links of its own\n"
        ),
        "{stdout}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn revisions_and_files_are_verified_by_themselves() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.check(str![[r#"
$ turnfold verify duel:2
ok duel@main: 2 entries state 01c8c4ec6ad17e5a link [LINK]
$ turnfold verify duel@flank
ok duel@flank: 2 entries state 01c8c4ec6ad17e5a link [LINK]
$ turnfold verify duel:7
exit 2| error: `duel@main` has no entry 7: its head is 3
$ turnfold verify duel.tfl:2
exit 2| error: `duel.tfl:2` is a replay file, and `verify` is for matches of the store; `turnfold check duel.tfl:2` verifies it
$ turnfold verify duel.tfl --expect 0123456789abcdef@1
exit 2| error: `duel.tfl` is a replay file, and `verify` is for matches of the store; `turnfold check duel.tfl` verifies it
$ turnfold verify duel other --expect 0123456789abcdef@1
exit 2| error: links can be compared with one revision only, found several
$ turnfold verify duel --expect 0123@1
exit 2| error: invalid value '0123@1' for '--expect <LINK@SEQ>': expected LINK@SEQ, the first 16 or more hex digits of a link and the number of an entry, found `0123@1`; see `--help`
$ turnfold log duel --links --as p1
exit 2| error: links, which p1 may not see; leave out `--as`
$ turnfold log duel.tfl --links
exit 2| error: a replay file has no links

"#]]);
}
