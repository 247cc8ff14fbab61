//! `turnfold rename`, `delete` and `branch --rename`.

use snapbox::str;

use super::duel;
use turnfold_tests::parts::has_or_skips;
use turnfold_tests::sandbox::Sandbox;

/// Returns the sandbox of [`duel`] with a branch on a branch.
fn branched() -> Sandbox {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank \"move 1,1\"");
    sandbox.ok("branch duel@flank deeper");
    sandbox
}

#[test]
fn a_match_gets_another_name_and_keeps_its_branches_and_entries() {
    let sandbox = branched();
    let before = ["log duel", "log duel@deeper", "branch duel"].map(|line| sandbox.ok(line));
    sandbox.check(str![[r#"
$ turnfold rename duel final
renamed duel to final
$ turnfold log duel
exit 2| error: no match `duel` in this store; `turnfold matches` lists those there are
$ turnfold matches
final  initiative  3 entries, 3 branches  [TIME]
$ turnfold --format json rename final last.game
{"match":"last.game","renamed_from":"final"}
$ turnfold verify
ok last.game@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok last.game@deeper: 3 entries state d1e3fa94a390e862 link [LINK]
ok last.game@flank: 3 entries state d1e3fa94a390e862 link [LINK]
$ turnfold store check
sound 1 match, 3 branches, 4 entries

"#]]);
    let after = ["log last.game", "log last.game@deeper", "branch last.game"].map(|line| sandbox.ok(line));
    assert_eq!(after, before);
    sandbox.ok("new duel --rules initiative");
}

#[test]
fn a_branch_gets_another_name_and_what_begins_on_it_shows_it() {
    branched().check(str![[r#"
$ turnfold branch --rename duel@flank edge
renamed duel@flank to duel@edge
$ turnfold branch duel
main    3 entries  link [LINK]
deeper  3 entries, from edge:3  link [LINK]
edge    3 entries, from main:2  link [LINK]
$ turnfold log duel@flank
exit 2| error: match `duel` has no branch `flank`; `turnfold branch duel` lists those there are
$ turnfold play duel@edge cycle
4 p2 cycle => cursor at=0,-2 #e630a14527d1ef79
$ turnfold --format json branch --rename duel@edge ridge
{"match":"duel","branch":"ridge","seq":null,"renamed_from":"edge","deleted":false}
$ turnfold branch --rename duel ridge
exit 2| error: branch `main` of match `duel` cannot be renamed: every match has it
$ turnfold branch --rename duel@deeper ridge
exit 2| error: match `duel` already has a branch `ridge`; choose another name
$ turnfold branch --rename duel@ridge:2 other
exit 2| error: `--rename` takes a whole branch, written MATCH@NAME
$ turnfold branch --rename duel@nowhere other
exit 2| error: match `duel` has no branch `nowhere`; `turnfold branch duel` lists those there are
$ turnfold branch --rename duel@ridge
exit 2| error: the following required arguments were not provided: <NAME>; see `--help`
$ turnfold branch --rename --delete duel@ridge
exit 2| error: the argument '--rename' cannot be used with '--delete'; see `--help`
$ turnfold verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@deeper: 3 entries state d1e3fa94a390e862 link [LINK]
ok duel@ridge: 4 entries state e630a14527d1ef79 link [LINK]
$ turnfold store check
sound 1 match, 3 branches, 5 entries

"#]]);
}

#[test]
fn a_name_that_cannot_be_is_refused() {
    let sandbox = branched();
    sandbox.ok("new ford --rules cycletap");
    sandbox.check(str![[r#"
$ turnfold rename duel ford
exit 2| error: match `ford` already exists; choose another name
$ turnfold rename duel duel
exit 2| error: match `duel` already exists; choose another name
$ turnfold rename nobody other
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are
$ turnfold rename duel last.tfl
exit 2| error: invalid value 'last.tfl' for '<NEW>': a name that ends in `.tfl` means a replay file, so no match can have it; see `--help`
$ turnfold rename duel Last
exit 2| error: invalid value 'Last' for '<NEW>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Last`; see `--help`
$ turnfold rename duel@flank other
exit 2| error: invalid value 'duel@flank' for '<MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `duel@flank`; see `--help`
$ turnfold rename duel
exit 2| error: the following required arguments were not provided: <NEW>; see `--help`

"#]]);
}

#[test]
fn a_match_is_deleted_with_all_its_branches_but_not_unasked() {
    let sandbox = branched();
    sandbox.ok("new ford --rules cycletap");
    sandbox.check(str![[r#"
$ turnfold delete duel
exit 2| error: cannot ask for confirmation because this is not a terminal; use `--force` to delete match `duel`
$ turnfold --format json delete duel
exit 2| {"error":{"kind":"usage","message":"cannot ask for confirmation because this is not a terminal","hint":"use `--force` to delete match `duel`","exit_code":2}}
$ turnfold delete --force nobody
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are
$ turnfold delete --force duel@flank
exit 2| error: invalid value 'duel@flank' for '<MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `duel@flank`; see `--help`
$ turnfold delete --force duel
deleted duel with 3 branches and 4 entries
$ turnfold log duel
exit 2| error: no match `duel` in this store; `turnfold matches` lists those there are
$ turnfold matches
ford  cycletap  0 entries, 1 branch  [TIME]
$ turnfold --format json delete --force ford
{"match":"ford","branches":1,"entries":0,"desk":null}
$ turnfold matches
$ turnfold verify
$ turnfold store check
sound 0 matches, 0 branches, 0 entries
$ turnfold store salvage .turnfold saved
saved everything in store saved: 0 matches, 0 branches, 0 entries
$ turnfold new duel --rules initiative
created match duel in `.turnfold` (initiative version 1, recorded dice) #02f3c1e3d3b717c2
the setup is the example of initiative; `turnfold rules initiative` explains how to write another for `--setup`
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play duel "roll …"`

"#]]);
}

#[cfg(target_os = "linux")] // the options of `script` differ elsewhere
#[test]
fn on_a_terminal_a_match_or_branch_is_deleted_when_the_answer_is_yes() {
    let sandbox = branched();
    if !has_or_skips("script", "a question on a terminal, which it makes") {
        return;
    }
    let binary = turnfold_tests::sandbox::binary().display();
    let answer = |line: &str, answers: &str| {
        let line = format!("printf '{answers}' | script -qec \"'{binary}' {line}\" /dev/null");
        let output = sandbox.shell(&line);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).replace('\r', ""))
    };
    let (code, shown) = answer("branch --delete duel@deeper", "n\\n");
    assert!(shown.contains("delete duel@deeper with 0 entries of its own [y,n]?"), "{shown}");
    assert!(shown.ends_with("duel@deeper is kept\n"), "{shown}");
    assert_eq!(code, Some(1));
    let (code, shown) = answer("branch --delete duel@deeper", "y\\n");
    assert!(shown.ends_with("deleted duel@deeper\n"), "{shown}");
    assert_eq!(code, Some(0));
    let (code, shown) = answer("delete duel", "what\\nn\\n");
    assert!(shown.contains("delete duel with 2 branches and 4 entries [y,n]?"), "{shown}");
    assert!(shown.contains("y: delete it, n: keep it"), "{shown}");
    assert!(shown.ends_with("duel is kept\n"), "{shown}");
    assert_eq!(code, Some(1));
    assert_eq!(sandbox.ok("branch duel").lines().count(), 2);
    let (code, shown) = answer("delete duel", "y\\n");
    assert!(shown.ends_with("deleted duel with 2 branches and 4 entries\n"), "{shown}");
    assert_eq!(code, Some(0));
    assert_eq!(sandbox.ok("matches"), "");
}
