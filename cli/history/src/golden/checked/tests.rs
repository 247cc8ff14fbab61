//! Every kind of mismatch and its report.

use turnfold_core::{DicePolicy, Seed};

use super::*;
use crate::example::{body, replay};
use crate::tfl::ReplayLine;

const SCRIPT: &str = "# roll\n1 host roll 6 6 1 1\n! p1 stand\n2 p2 click 0,-3\n3 p2 move 0,-2\n";

fn blessed() -> String {
    body(&replay(SCRIPT).bless().unwrap())
}

/// Changes the blessed match in one place and requires this report.
fn check_change(old: &str, new: &str, expected: &str) {
    let text = blessed();
    assert_eq!(text.matches(old).count(), 1, "{text}");
    let checked = replay(&text.replacen(old, new, 1)).check().unwrap();
    let mismatch = *checked.difference.expect("the change is found");
    let lines: Vec<String> = mismatch.lines().into_iter().map(|line| line.to_string()).collect();
    assert_eq!(lines.join("\n"), expected.trim_start_matches('\n').trim_end());
}

/// Finds a piece of the blessed text between two others.
fn piece(before: &str, after: &str) -> String {
    let text = blessed();
    let rest = text.split_once(before).unwrap().1;
    rest.split_once(after).unwrap().0.into()
}

#[test]
fn outcome_and_hash_may_differ_together() {
    let hash = piece("selected unit=b1 #", "\n");
    let before = piece("1 host", "\n").rsplit_once('#').unwrap().1.to_string();
    // If the file expects no change, its expected state is known.
    for (expected, states) in [
        ("0123456789abcdef", "state, before → after entry 2"),
        (before.as_str(), "state after entry 2, expected → got"),
    ] {
        let report = format!(
            r#"
x.tfl:21: entry 2 (p2 click 0,-3): outcome differs [IN-8, IN-9]
- ignored no_unit
+ cursor at=0,-3
+ selected unit=b1
- #{expected}
+ #{hash}
{states}:
  /selected null → "b1"
  /prompt "Player 2: select a unit to move (1 remaining)" → "Player 2: move b1"
to reproduce: turnfold replay x.tfl --to 2
"#
        );
        let old = format!("cursor at=0,-3; selected unit=b1 #{hash}");
        check_change(&old, &format!("ignored no_unit #{expected}"), &report);
    }
}

#[test]
fn an_attempt_that_is_judged_otherwise_is_found() {
    check_change(
        "rejected not_your_turn",
        "rejected wrong_seat",
        "
x.tfl:20: attempt (p1 stand): verdict differs
- rejected wrong_seat
+ rejected not_your_turn
to reproduce: turnfold check x.tfl
",
    );
    check_change(
        "! p1 stand",
        "! p2 stand",
        "
x.tfl:20: attempt (p2 stand): verdict differs [IN-10, IN-11, IN-12]
- rejected not_your_turn
+ ignored nothing_selected
to reproduce: turnfold check x.tfl
",
    );
}

#[test]
fn what_is_missing_is_to_be_blessed() {
    let bless_it = "to fill it in: turnfold bless x.tfl";
    let hash = piece("selected unit=b1", "\n");
    let click = "entry 2 (p2 click 0,-3)";
    check_change(&hash, "", &format!("x.tfl:21: {click}: the state hash is missing\n{bless_it}"));
    let outcome = " => cursor at=0,-3; selected unit=b1";
    check_change(outcome, "", &format!("x.tfl:21: {click}: the outcome is missing\n{bless_it}"));
    check_change(
        " => rejected not_your_turn",
        "",
        &format!("x.tfl:20: attempt (p1 stand): the rejection is missing\n{bless_it}"),
    );
    let closing = format!("={}", piece("\n=", "\n") + "\n");
    check_change(
        &closing,
        "",
        "x.tfl:23: closing line: it is missing although every entry is blessed: cut short?\nget the whole file back, then: turnfold check x.tfl",
    );
}

#[test]
fn a_changed_closing_line_is_found() {
    let check_digest = |digest: &str, what: &str| {
        let wrong = "ab".repeat(32);
        let report = format!(
            "x.tfl:23: closing line: {what} differs\n- {wrong}\n+ {digest}\nto reproduce: turnfold check x.tfl"
        );
        check_change(digest, &wrong, &report);
    };
    check_digest(&piece(" state ", " "), "state hash");
    check_digest(&piece(" log ", " "), "log digest");
}

/// Blesses a roll with recorded dice, changes its entry, and checks it with `dice`. If `is_seeds`, the roll has the
/// values of the seed.
fn check_roll(dice: DicePolicy, is_seeds: bool, change: impl Fn(&mut LogEntry)) -> Mismatch {
    let state = replay("").start().unwrap();
    let due = state.due_roll().unwrap();
    let values =
        DicePolicy::Seeded(SEED).values(1, &due).filter(|_| is_seeds).unwrap_or_else(|| vec![1, 1, 1, 2]);
    let mut replay = replay(&format!("1 host {}\n", state.roll_command(values).unwrap())).bless().unwrap();
    replay.header.dice = dice;
    replay.lines.iter_mut().for_each(|line| match line {
        ReplayLine::Entry(entry) => change(entry),
        _ => unreachable!("there is one entry"),
    });
    *replay.check().unwrap().difference.expect("the change is found")
}

const SEED: Seed = Seed::new([7; 32]);

#[test]
fn a_seeded_roll_must_be_the_one_of_the_seed() {
    let mismatch = check_roll(DicePolicy::Seeded(SEED), false, |_| {});
    assert_eq!(
        (mismatch.kind(), &*mismatch.divergence.expected()),
        (DivergenceKind::WrongRoll, "rolled 1 1 1 2")
    );
    assert!(mismatch.divergence.computed.to_string().starts_with("rolled "));
    assert_eq!(mismatch.dice, Some(DiceFinding::OtherValues));
    // The file's state is known, because the rules compute it from the file's values.
    let StateDifference { sides, fields } = mismatch.state.unwrap();
    assert_eq!(sides, StateSides::ExpectedAndActual);
    assert_eq!(fields[0].path, "/initiative/rolls/p1");
    assert_eq!(fields[0].old, Some(2.into()));
}

#[test]
fn a_roll_shows_whether_dice_or_rules_differ() {
    let other_rules = |entry: &mut LogEntry| entry.hash = Some("0123456789abcdef".parse().unwrap());
    let cases = [
        (DicePolicy::Seeded(SEED), false, DiceFinding::OtherValuesAndRules),
        (DicePolicy::Seeded(SEED), true, DiceFinding::OtherRules),
        (DicePolicy::Recorded, false, DiceFinding::RecordedValues),
    ];
    for (dice, is_seeds, expected) in cases {
        let mismatch = check_roll(dice, is_seeds, other_rules);
        assert_eq!(mismatch.dice, Some(expected));
        assert_eq!(mismatch.state.as_ref().unwrap().sides, StateSides::BeforeAndAfter);
        assert!(mismatch.lines()[1].to_string().starts_with("dice: "), "{:?}", mismatch.lines());
    }
}

#[test]
fn every_changed_character_is_found_or_refused() {
    let text = crate::example::text(&blessed());
    let entries = text.find("1 host").unwrap();
    for at in entries..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
        let checked =
            crate::tfl::read("x.tfl", &bytes, &turnfold_games::standard()).and_then(|replay| replay.check());
        let is_accepted = checked.is_ok_and(|checked| checked.difference.is_none());
        assert!(!is_accepted, "{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_hundred_differences_are_kept_and_hashes_are_one_only_in_a_row() {
    let attempts = "! p1 stand => rejected wrong_seat\n".repeat(DIFFERENCES_MAX + 2);
    let all = replay(&attempts).check_to_end().unwrap();
    // The missing closing line is one more difference.
    assert_eq!((all.count, all.later.len(), all.left_out), (Some(103), 99, 3));
    let other = |line: &str| match line.rsplit_once(" #") {
        Some((entry, _)) if !line.starts_with('3') => format!("{entry} #0123456789abcdef\n"),
        _ => format!("{line}\n"),
    };
    let blessed = body(&replay(&format!("{SCRIPT}4 p1 click 0,3\n")).bless().unwrap());
    let (entries, _) = blessed.split_once("\n= ").unwrap();
    let checked = replay(&entries.lines().map(other).collect::<String>()).check_to_end().unwrap();
    let first = checked.difference.unwrap();
    let later = checked.later;
    assert_eq!((first.divergence.subject.seq(), first.until), (Some(1), None));
    assert_eq!(
        later.iter().map(|later| later.divergence.subject.seq()).collect::<Vec<_>>(),
        [Some(2), Some(4), None]
    );
}
