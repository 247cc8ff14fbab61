//! `turnfold play`.

use snapbox::str;

use super::{check, duel};
use crate::sandbox::Sandbox;

#[test]
fn commands_are_appended_and_their_outcomes_printed() {
    check(
        &duel(),
        "play duel cycle \"p2: confirm\" cancel cancel \"click 9,9\"
         log duel -n 2",
        str![[""]],
    );
}

#[test]
fn all_commands_of_a_call_are_recorded_or_none() {
    check(
        &duel(),
        "play duel confirm \"p1: confirm\" stand
         play duel confirm nonsense
         play duel \"p9: confirm\"
         play duel --as p3 confirm
         play duel --as p9 confirm
         log duel -n 1",
        str![[""]],
    );
}

#[test]
fn a_moved_head_is_a_conflict() {
    check(
        &duel(),
        "play duel --expect 2 confirm
         play duel:2 confirm
         play duel --expect 3 confirm
         play nobody confirm
         play duel@nowhere confirm",
        str![[""]],
    );
}

#[test]
fn a_key_appends_once() {
    check(
        &duel(),
        "play duel --key monday confirm \"move 1,-1\"
         play duel --key monday confirm \"move 1,-1\"
         play duel --key monday confirm
         play duel --key \"not a key\" confirm
         log duel -n 3",
        str![[""]],
    );
}

#[test]
fn scripts_come_from_files_and_standard_input() {
    let sandbox = duel();
    sandbox.write("moves.txt", "# p2's answer\n\np2: confirm\nmove 1,-1 # beside the block\n");
    check(
        &sandbox,
        "play duel --script moves.txt
         play duel --script missing.txt
         play duel --script moves.txt cycle
         play duel --script -",
        str![[""]],
    );
}

#[test]
fn seeded_dice_roll_by_themselves_unless_told_not_to() {
    let sandbox = Sandbox::new();
    sandbox.ok(
        "new duel --rules initiative --setup fixtures/initiative/no-units.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    );
    check(
        &sandbox,
        "play duel --no-auto-roll \"p1: cycle\"
         play duel --no-auto-roll
         play duel \"roll 1 1 2 2\"
         play duel
         play duel --no-auto-roll next-turn
         play duel --dice system
         --format json play duel next-turn",
        str![[""]],
    );
}

#[test]
fn recorded_matches_wait_for_their_dice_or_ask_the_system() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/no-units.toml");
    check(
        &sandbox,
        "play duel
         play duel --dice system --no-auto-roll",
        str![[""]],
    );
    let rolled = sandbox.ok("play duel --dice system");
    assert!(rolled.contains("host roll "), "{rolled}");
    assert!(rolled.contains("movement_complete"), "{rolled}");
}
