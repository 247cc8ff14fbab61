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

#[test]
fn a_bundle_a_folder_and_a_store_are_named_with_the_verb_for_them() {
    let sandbox = duel();
    fs::create_dir_all(sandbox.path("games/none")).unwrap();
    sandbox.ok("export duel -o games/duel.tfl");
    sandbox.ok("bundle duel -o games/duel.bundle");
    sandbox.check(str![[r#"
$ turnfold legal games
exit 2| error: no match `games` in this store; `games` is a folder: name a replay file in it, or check all with `turnfold check games`
$ turnfold verify games
exit 2| error: no match `games` in this store; `games` is a folder: name a replay file in it, or check all with `turnfold check games`
$ turnfold show games/duel.bundle
exit 2| error: games/duel.bundle:1:1: expected `turnfold replay 2`, found `turnfold bundle 1`; `turnfold audit games/duel.bundle` checks a bundle, `turnfold import games/duel.bundle` takes it in
$ turnfold verify games/duel.bundle
exit 2| error: games/duel.bundle:1:1: expected `turnfold replay 2`, found `turnfold bundle 1`; `turnfold audit games/duel.bundle` checks a bundle, `turnfold import games/duel.bundle` takes it in
$ turnfold show .turnfold
exit 2| error: no replay files (`*.tfl`) under `.turnfold`; it is a store: `turnfold --store .turnfold matches` lists what is in it
$ turnfold log games/none
exit 2| error: no replay files (`*.tfl`) under `games/none`; nothing was checked

"#]]);
}

#[test]
fn help_is_colored_as_asked_for() {
    let sandbox = Sandbox::new();
    for line in ["--help", "show --help", "help show", "show"] {
        let colored = format!("CLICOLOR_FORCE=1 turnfold {line}");
        assert!(printed(&sandbox, &colored).contains('\u{1b}'), "{line}");
        for never in [" --color never", " --color=never"] {
            assert!(!printed(&sandbox, &(colored.clone() + never)).contains('\u{1b}'), "{line}{never}");
        }
        assert!(printed(&sandbox, &format!("turnfold {line} --color always")).contains('\u{1b}'), "{line}");
    }
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
    let searched = missing.replace("`;", "` in this directory or one above it;");
    assert_eq!(printed(&sandbox, "cd / && turnfold matches"), searched);
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
