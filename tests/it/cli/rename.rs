//! `turnfold rename`, `delete` and `branch --rename`.

use snapbox::str;

use super::{check, duel};
use turnfold_tests::sandbox::Sandbox;

/// The store of [`duel`] with a branch on a branch.
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
    let before = ["log duel", "log duel@deeper", "branches duel"].map(|line| sandbox.ok(line));
    check(
        &sandbox,
        "rename duel final
         log duel
         matches
         --format json rename final last.game
         verify
         store check",
        str![[r#"
$ turnfold rename duel final
renamed duel to final
$ turnfold log duel
stderr| error: no match `duel` in this store; `turnfold matches` lists those there are
exit 2
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

"#]],
    );
    let after = ["log last.game", "log last.game@deeper", "branches last.game"].map(|line| sandbox.ok(line));
    assert_eq!(after, before);
    sandbox.ok("new duel --rules initiative");
}

#[test]
fn a_branch_gets_another_name_and_what_begins_on_it_says_so() {
    check(
        &branched(),
        "branch --rename duel@flank edge
         branches duel
         log duel@flank
         play duel@edge cycle
         --format json branch --rename duel@edge ridge
         branch --rename duel ridge
         branch --rename duel@deeper ridge
         branch --rename duel@ridge:2 other
         branch --rename duel@nowhere other
         branch --rename duel@ridge
         branch --rename --delete duel@ridge
         verify
         store check",
        str![[r#"
$ turnfold branch --rename duel@flank edge
renamed duel@flank to duel@edge
$ turnfold branches duel
main    3 entries  link [LINK]
deeper  3 entries, from edge:3  link [LINK]
edge    3 entries, from main:2  link [LINK]
$ turnfold log duel@flank
stderr| error: match `duel` has no branch `flank`; `turnfold branches duel` lists those there are
exit 2
$ turnfold play duel@edge cycle
4 p2 cycle => cursor at=0,-2 #e630a14527d1ef79
$ turnfold --format json branch --rename duel@edge ridge
{"match":"duel","branch":"ridge","seq":null,"renamed_from":"edge","deleted":false}
$ turnfold branch --rename duel ridge
stderr| error: branch `main` of match `duel` cannot be renamed: every match has it
exit 2
$ turnfold branch --rename duel@deeper ridge
stderr| error: match `duel` already has a branch `ridge`; choose another name
exit 2
$ turnfold branch --rename duel@ridge:2 other
stderr| error: `--rename` takes a whole branch, written MATCH@NAME
exit 2
$ turnfold branch --rename duel@nowhere other
stderr| error: match `duel` has no branch `nowhere`; `turnfold branches duel` lists those there are
exit 2
$ turnfold branch --rename duel@ridge
stderr| error: the following required arguments were not provided: <NAME>; see `--help`
exit 2
$ turnfold branch --rename --delete duel@ridge
stderr| error: the argument '--rename' cannot be used with '--delete'; see `--help`
exit 2
$ turnfold verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@deeper: 3 entries state d1e3fa94a390e862 link [LINK]
ok duel@ridge: 4 entries state e630a14527d1ef79 link [LINK]
$ turnfold store check
sound 1 match, 3 branches, 5 entries

"#]],
    );
}

#[test]
fn a_name_that_cannot_be_is_refused() {
    let sandbox = branched();
    sandbox.ok("new ford --rules cycletap");
    check(
        &sandbox,
        "rename duel ford
         rename duel duel
         rename nobody other
         rename duel last.tfl
         rename duel Last
         rename duel@flank other
         rename duel",
        str![[r#"
$ turnfold rename duel ford
stderr| error: match `ford` already exists; choose another name
exit 2
$ turnfold rename duel duel
stderr| error: match `duel` already exists; choose another name
exit 2
$ turnfold rename nobody other
stderr| error: no match `nobody` in this store; `turnfold matches` lists those there are
exit 2
$ turnfold rename duel last.tfl
stderr| error: invalid value 'last.tfl' for '<NEW>': a name that ends in `.tfl` means a replay file, so no match can have it; see `--help`
exit 2
$ turnfold rename duel Last
stderr| error: invalid value 'Last' for '<NEW>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Last`; see `--help`
exit 2
$ turnfold rename duel@flank other
stderr| error: invalid value 'duel@flank' for '<MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `duel@flank`; see `--help`
exit 2
$ turnfold rename duel
stderr| error: the following required arguments were not provided: <NEW>; see `--help`
exit 2

"#]],
    );
}

#[test]
fn a_match_is_deleted_with_all_its_branches_but_not_unasked() {
    let sandbox = branched();
    sandbox.ok("new ford --rules cycletap");
    check(
        &sandbox,
        "delete duel
         --format json delete duel
         delete --force nobody
         delete --force duel@flank
         delete --force duel
         log duel
         matches
         --format json delete --force ford
         matches
         verify
         store check
         store salvage .turnfold saved
         new duel --rules initiative",
        str![[r#"
$ turnfold delete duel
stderr| error: cannot ask for confirmation because this is not a terminal; use `--force` to delete match `duel`
exit 2
$ turnfold --format json delete duel
stderr| {"error":{"kind":"usage","message":"cannot ask for confirmation because this is not a terminal","hint":"use `--force` to delete match `duel`","exit_code":2}}
exit 2
$ turnfold delete --force nobody
stderr| error: no match `nobody` in this store; `turnfold matches` lists those there are
exit 2
$ turnfold delete --force duel@flank
stderr| error: invalid value 'duel@flank' for '<MATCH>': expected a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `duel@flank`; see `--help`
exit 2
$ turnfold delete --force duel
deleted duel with 3 branches and 4 entries
$ turnfold log duel
stderr| error: no match `duel` in this store; `turnfold matches` lists those there are
exit 2
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
created match duel (initiative version 1, recorded dice) #02f3c1e3d3b717c2
the setup is the example of initiative; `turnfold rules initiative` explains how to write another for `--setup`
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play duel "roll …"`

"#]],
    );
}

#[cfg(target_os = "linux")] // the options of `script` differ elsewhere
#[test]
#[expect(clippy::print_stderr, reason = "a test that does not run says so")]
fn on_a_terminal_a_match_is_deleted_when_the_answer_is_yes() {
    let sandbox = branched();
    if !sandbox.shell("command -v script").status.success() {
        eprintln!("SKIPPED: `script`, which makes a terminal, is missing");
        return;
    }
    let binary = turnfold_tests::sandbox::binary().display();
    let answer = |answers: &str| {
        let line = format!("printf '{answers}' | script -qec \"'{binary}' delete duel\" /dev/null");
        let output = sandbox.shell(&line);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).replace('\r', ""))
    };
    let (code, shown) = answer("what\\nn\\n");
    assert!(shown.contains("delete duel with 3 branches and 4 entries [y,n]?"), "{shown}");
    assert!(shown.contains("y: delete it, n: keep it"), "{shown}");
    assert!(shown.ends_with("duel is kept\n"), "{shown}");
    assert_eq!(code, Some(1));
    assert_eq!(sandbox.ok("branches duel").lines().count(), 3);
    let (code, shown) = answer("y\\n");
    assert!(shown.ends_with("deleted duel with 3 branches and 4 entries\n"), "{shown}");
    assert_eq!(code, Some(0));
    assert_eq!(sandbox.ok("matches"), "");
}
