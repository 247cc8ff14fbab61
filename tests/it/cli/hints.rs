//! Suggestions for misspelled names and commands, and where the program looks for the store.

use std::fs;

use snapbox::str;
use turnfold_tests::parts::skipped;
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
exit 2| error: no match `x.bundle` in this store; `turnfold log x.bundle` shows a bundle, `turnfold audit x.bundle` checks it, `turnfold import x.bundle` takes it in
$ turnfold verify b.tfb
exit 2| error: no match `b.tfb` in this store; `turnfold log b.tfb` shows a bundle, `turnfold audit b.tfb` checks it, `turnfold import b.tfb` takes it in
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
turn 1, movement
Player 2's turn — move 1 of 1 units
Player 2: select a unit to move (1 remaining)

q   -2 -1  0  1  2
       -2 __
    -1 __/b1\__
  0 __/  \__/b2\__
   /  \__/  \__/  \
  1\__/  \__/  \__/
   /  \__/##\__/  \
  2\__/  \##/  \__/
   /  \__/A1\__/  \
   \__/A2\^_/  \__/
      \__/  \__/
         \__/
q above its column, r at the upper left of its row, which runs down to the right

A1   p1 Atlas AS7-D (atlas) at 0,1, mp 3, moved
A2   p1 Locust LCT-1V (locust) at -1,2, mp 8
b1   p2 Kit Fox Prime (kit-fox) at 0,-2, mp 6
b2   p2 Turret (turret) at 1,-2, mp 0
^ cursor  <> selected  ' moved  ## blocked

turn 1
$ turnfold verify games/duel.bundle
exit 2| error: `games/duel.bundle` is a replay file, and `verify` is for matches of the store; `turnfold check games/duel.bundle` verifies it
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

#[cfg(unix)]
#[test]
fn a_store_above_that_belongs_to_another_user_is_named_and_not_used() {
    let sandbox = duel();
    fs::create_dir_all(sandbox.path("deep")).unwrap();
    if std::os::unix::fs::chown(sandbox.path(".turnfold"), Some(12_345), None).is_err() {
        skipped("a store of another user", "only root can give a folder to another user");
        return;
    }
    let store = fs::canonicalize(sandbox.path(".turnfold")).unwrap().display().to_string();
    let hint =
        format!("`{store}` belongs to another user, so it is used only if `--store {store}` names it\n");
    let missing = "error: no store at `.turnfold` in this directory or one above it; ";
    assert_eq!(printed(&sandbox, "cd deep && turnfold matches"), format!("{missing}{hint}"));
    let made = printed(&sandbox, "cd deep && turnfold new other --rules cycletap");
    assert!(made.starts_with("created match other in `.turnfold` ("), "{made}");
    assert!(made.ends_with(&format!("warning: {hint}")), "{made}");
}

#[test]
fn colors_are_printed_where_they_are_asked_for() {
    let sandbox = duel();
    assert!(sandbox.ok("--color always log duel").contains("\u{1b}["));
    assert_eq!(sandbox.ok("--color auto log duel"), sandbox.ok("--color never log duel"));
    assert!(!sandbox.ok("log duel").contains('\u{1b}'));
    assert_eq!(printed(&sandbox, "CLICOLOR_FORCE=1 turnfold --color never log duel"), sandbox.ok("log duel"));
}
