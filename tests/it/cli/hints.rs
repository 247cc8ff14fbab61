//! What is suggested where a name or a command is not what was meant, and where the store is looked for.

use std::fs;

use snapbox::str;
use turnfold_tests::sandbox::Sandbox;

use super::duel;

#[test]
fn a_like_name_another_verb_or_quotes_are_suggested() {
    duel().check(str![[r#"
$ turnfold log deul
exit 2| error: no match `deul` in this store; did you mean `duel`? `turnfold matches` lists those there are
$ turnfold log something
exit 2| error: no match `something` in this store; `turnfold matches` lists those there are
$ turnfold show x.bundle
exit 2| error: no match `x.bundle` in this store; `turnfold audit x.bundle` checks a bundle, `turnfold import x.bundle` takes it in
$ turnfold verify b.tfb
exit 2| error: no match `b.tfb` in this store; `turnfold audit b.tfb` checks a bundle, `turnfold import b.tfb` takes it in
$ turnfold play duel move 0,-2
! move => rejected malformed (expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `move`)
exit 1| error: the command was rejected; none of the 2 commands was recorded; a command with spaces needs quotes: `turnfold play duel "move 0,-2"`
$ turnfold play duel "move 0,-2" fly
! fly => rejected malformed (expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `fly`)
exit 1| error: the command was rejected; none of the 2 commands was recorded; `turnfold rules initiative malformed` explains it

"#]]);
}

fn printed(sandbox: &Sandbox, line: &str) -> String {
    let output = sandbox.shell(line);
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn the_store_of_a_directory_above_is_found_unless_another_is_named() {
    let sandbox = duel();
    fs::create_dir_all(sandbox.path("deep/deeper")).unwrap();
    let matches = sandbox.ok("matches");
    assert!(matches.starts_with("duel "), "{matches}");
    assert_eq!(printed(&sandbox, "cd deep/deeper && turnfold matches"), matches);
    let missing = "error: no store at `.turnfold`; create a match first, or name the right directory\n";
    assert_eq!(printed(&sandbox, "cd deep && turnfold --store .turnfold matches"), missing);
    assert_eq!(printed(&sandbox, "cd deep && TURNFOLD_STORE=.turnfold turnfold matches"), missing);
    assert_eq!(
        printed(&sandbox, "cd deep && turnfold new ford --rules cycletap > ../new.txt && ls -A"),
        "deeper\n"
    );
    sandbox.ok("--store deep/.turnfold new other --rules cycletap");
    assert!(printed(&sandbox, "cd deep/deeper && turnfold matches").starts_with("other "));
}

#[test]
fn colors_are_printed_where_they_are_asked_for() {
    let sandbox = duel();
    assert!(sandbox.ok("--color always log duel").contains("\u{1b}["));
    assert_eq!(sandbox.ok("--color auto log duel"), sandbox.ok("--color never log duel"));
    assert!(!sandbox.ok("log duel").contains('\u{1b}'));
    assert_eq!(printed(&sandbox, "CLICOLOR_FORCE=1 turnfold --color never log duel"), sandbox.ok("log duel"));
}
