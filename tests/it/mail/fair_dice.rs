//! What an audit proves about fair dice (FD-19, FD-20), with honest and forged matches written by hand.

use std::fmt::Write as _;

use turnfold_core::Seat::{Host, P1, P2};
use turnfold_core::{Digest, DueRoll};
use turnfold_proof::audit::RowName::{Dice, Rules};
use turnfold_proof::audit::RowResult::{Fail, NotChecked, Pass};

use super::bundled::expect;
use super::correspondence::{Correspondence, MATCH_ID, element};

const TERMS: &str = "default = [\"stay\"]\nbetween = [\"next\"]\n";

/// Returns a match whose first turn is open. It began with a roll.
fn begun(terms: &str) -> Correspondence {
    let mut found = Correspondence::new("begins_with_roll = true", &format!("{TERMS}{terms}"), true);
    found.roll_due("turn:0:host");
    found.report_rolls();
    found.stand();
    found
}

/// Returns an order that causes a roll; an open gate is shut first.
fn attack(found: &Correspondence) -> Vec<&'static str> {
    let enter = found.may(P1, "enter").then_some("enter");
    enter.into_iter().chain(["attack", "stay"]).collect()
}

/// Hands in orders of both seats: p1 attacks, p2 stays. Returns the key of p1's order.
fn orders(found: &mut Correspondence) -> String {
    let plays = attack(found);
    let first = found.order(P1, &plays);
    found.script("p2: stay");
    found.order_key(first)
}

/// Plays a day on which every order is executed.
fn day(found: &mut Correspondence) {
    orders(found);
    found.script("carry p1 / carry p2 / end");
}

/// Plays a day on which the host plays the order of p1, rolls with `roll`, and then continues correctly.
fn forged_day(found: &mut Correspondence, mut roll: impl FnMut(&mut Correspondence, &str)) {
    let plays = attack(found);
    let key = orders(found);
    for play in &plays {
        found.play(P1, play, &key);
        if *play == "attack" {
            roll(found, &key);
        }
    }
    found.script(&format!("carried p1 {} / carry p2 / end", plays.len()));
}

#[test]
fn fd_19_an_honest_match_passes() {
    let mut found = begun("");
    found.expect(Dice, Pass, "1 roll recomputed; 1 of 1 roll used no secret from p1 or p2 yet, because they had not sent an order: \
         the host and the seat that joined last could have chosen these rolls together");
    day(&mut found);
    let reason = found.expect(Dice, Pass, &format!("{} rolls recomputed", found.rolls));
    assert_eq!(reason.split("; ").count(), 2, "{reason}");
    expect(&found.audit(), Rules, Pass, "");
}

#[test]
fn fd_7_all_rolls_of_a_turn_have_its_contributions() {
    let mut found = begun("");
    forged_day(&mut found, |found, key| {
        // The dice decide whether there is another roll, so here they are honest.
        found.roll_due(key);
        found.report_rolls();
    });
    let mut reported = Vec::new();
    found.audit_with(&mut |roll| reported.push(roll.clone()));
    assert_eq!(
        reported.iter().map(|roll| roll.number).collect::<Vec<_>>(),
        (1..=found.rolls).collect::<Vec<_>>()
    );
    let index = |roll: usize| reported[roll].contributions.iter().map(|part| part.index).collect::<Vec<_>>();
    assert_eq!((index(0), index(1)), (vec![0, 0], vec![1, 1]));
    assert!((1..reported.len()).all(|roll| index(roll) == [1, 1]));
}

#[test]
fn fd_19_a_roll_that_the_host_chose_fails_at_its_entry() {
    for value in 2..=6 {
        let (mut found, mut at) = (begun(""), 0);
        forged_day(&mut found, |found, key| {
            // After a 1 there is another roll, so the roll of the turn is a different one.
            found.roll(key, Some(value));
            at = found.head();
            found.report_rolls();
        });
        let rows = found.audit();
        expect(&rows, Rules, Pass, "");
        let mut honest = begun("");
        let is_honest = {
            let mut rolled = false;
            forged_day(&mut honest, |honest, key| {
                honest.roll_due(key);
                rolled = honest.last_command() == format!("roll {value}");
                honest.report_rolls();
            });
            rolled && honest.rolls == 2
        };
        if is_honest {
            expect(&rows, Dice, Pass, "");
        } else {
            expect(&rows, Dice, Fail, &format!("duel:{at}: the dice give `roll "));
        }
    }
}

#[test]
fn fd_19_each_roll_has_its_own_rolled() {
    // A skipped roll.
    let (mut found, mut at) = (begun(""), 0);
    forged_day(&mut found, |found, key| {
        found.roll_due(key);
        at = found.forget_rolls()[0];
    });
    expect(&found.audit(), Rules, Pass, "");
    found.expect(Dice, Fail, &format!("duel:{at}: the desk has no `rolled` for this roll"));
    // A `rolled` with another entry, and a repeated one.
    for seqs in [vec![1], vec![2], vec![99], vec![0, 1]] {
        let mut found = begun("");
        forged_day(&mut found, |found, key| {
            found.roll_due(key);
            let own = found.forget_rolls();
            for seq in &seqs {
                found.report_roll(if *seq == 0 { own[0] } else { *seq });
            }
        });
        expect(&found.audit(), Rules, Pass, "");
        found.expect(Dice, Fail, "duel");
    }
}

#[test]
fn fd_10_a_rolled_on_another_line_or_out_of_order_fails() {
    let mut found = begun("");
    forged_day(&mut found, |found, key| {
        found.roll_due(key);
        for seq in found.forget_rolls() {
            found.rolls += 1;
            let opened = element(Host, found.rolls.into());
            found.give(Host, &format!("rolled {} {opened} flank {seq}", found.rolls));
        }
    });
    found.expect(Dice, Fail, "names entry");
    // A skipped number, or an element of another roll: the desk itself refuses it.
    for (number, index) in [(2, 3), (3, 3), (1, 1), (2, 1)] {
        let mut found = begun("");
        let opened = element(Host, index);
        found.roll_forged(&format!("rolled {number} {opened} main 1"));
        let rows = found.audit();
        expect(&rows, Rules, Fail, "duel.desk:");
        expect(&rows, Dice, NotChecked, "duel.desk: the rules reject an entry");
    }
}

#[test]
fn fd_6_the_head_is_that_of_game_and_desk() {
    let head = element(Host, 1);
    let found = Correspondence::with_head("begins_with_roll = true", TERMS, head);
    found.expect(
        Dice,
        Fail,
        "duel.desk:0: the head of the host's chain is not the one in the game's Genesis",
    );
}

#[test]
fn fd_13_rolls_go_on_without_a_seat_that_is_silent() {
    let mut found = begun("");
    let plays = attack(&found).join("; ");
    found.script(&format!("p1: {plays} / clock 72 / carry p1 / p2 turn:1:p2: stay / end"));
    let reason = found.expect(Dice, Pass, "; p2 missed in turn 1");
    let first = format!("1 of {} rolls used no secret from p1 or p2 yet, ", found.rolls);
    let later = format!(
        "{} of {} rolls used no secret from p2 yet, because it had not sent an order: the secrets of the other seats protect",
        found.rolls - 1,
        found.rolls
    );
    assert!(reason.contains(&first) && reason.contains(&later), "{reason}");
    // A late order and a refused order are also named.
    found.late_order(P2, 1);
    found.script("p1: stay; stay / p2: stay / refused p1 day_ended / carry p2 / stand");
    found.expect(
        Dice,
        Pass,
        "; an order of p2 was late in turn 1; p2 missed in turn 1; the order of p1 was refused in turn 2",
    );
}

#[test]
fn fd_19_the_rolls_that_a_host_who_plays_could_foresee_are_counted() {
    let mut found = begun("hosted = [\"p2\"]\n");
    found.expect(Dice, Pass, "; p2 is played by the host and could foresee 1 roll;");
    // The host plays p2, which seals first. p1 does not order, so only the host contributed to the roll.
    let plays = attack(&found);
    found.sealed_order(P2, &plays);
    found.script("clock 144 / p1 turn:1:p1: stay / carry p2 / end");
    let so_far = found.rolls;
    assert!(so_far > 1);
    found.expect(Dice, Pass, &format!("; p2 is played by the host and could foresee {so_far} rolls;"));
    // With an order of p1 the host cannot know the roll.
    let plays = attack(&found);
    found.sealed_order(P2, &plays);
    found.script("p1: stay / carry p1 / carry p2 / end");
    found.expect(Dice, Pass, &format!("; p2 is played by the host and could foresee {so_far} rolls;"));
}

#[test]
fn fd_19_without_the_desk_or_with_records_left_out_it_is_not_checked() {
    let mut found = begun("");
    day(&mut found);
    let alone = found.records(false).audit(&mut |_| {});
    expect(&alone, Dice, NotChecked, "fair dice are checked with the match's desk");
    found.leave_out_letter(6);
    found.expect(Dice, NotChecked, "duel.desk: records are left out");
    let mut found = begun("");
    day(&mut found);
    found.leave_out_entry(3);
    found.expect(Dice, NotChecked, "duel: records are left out");
}

#[test]
fn fd_12_a_roll_whose_turn_is_still_carried_out_is_not_checked() {
    let mut found = begun("");
    orders(&mut found);
    found.script("play p1");
    found.expect(Dice, NotChecked, "the turn is not fully executed yet");
    found.report_rolls();
    found.expect(Dice, Pass, "");
}

#[test]
fn fd_20_each_roll_is_reported_with_everything_it_follows_from() {
    let mut found = begun("");
    day(&mut found);
    let mut reported = Vec::new();
    found.audit_with(&mut |roll| reported.push(roll.to_string()));
    assert_eq!(reported.len(), usize::from(found.rolls));
    for text in &reported {
        // Recompute the roll only from the text, with blake3:
        // `duel:1 is roll 1: host 1 HEX, p1 0 HEX, p2 0 HEX; key HEX; 1 of 1..=6: 4`.
        let (head, rest) = text.split_once("; key ").unwrap();
        let (key, values) = rest.split_once("; ").unwrap();
        let (_, parts) = head.split_once(": ").unwrap();
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 dice roll");
        hasher.update(&MATCH_ID);
        for (party, part) in parts.split(", ").enumerate() {
            let [_, index, element] = part.split(' ').collect::<Vec<_>>().try_into().unwrap();
            if party > 0 {
                hasher.update(&[u8::try_from(party - 1).unwrap()]);
            }
            hasher.update(&index.parse::<u64>().unwrap().to_le_bytes());
            hasher.update(element.parse::<Digest>().unwrap().as_bytes());
        }
        let found_key = Digest::new(hasher.finalize().into());
        assert_eq!(found_key.to_string(), key, "{text}");
        let due = DueRoll { purpose: "gate".into(), count: 1, low: 1, high: 6, owner: None };
        let (range, value) = values.split_once(": ").unwrap();
        let mut expected = String::new();
        write!(expected, "{} of {}..={}", due.count, due.low, due.high).unwrap();
        assert_eq!(range, expected);
        let number: u64 = parts.split(' ').nth(1).unwrap().parse().unwrap();
        let mut stream =
            blake3::Hasher::new_keyed(found_key.as_bytes()).update(&number.to_le_bytes()).finalize_xof();
        let mut word = [0; 8];
        stream.fill(&mut word);
        // A word that would favor a value is skipped, but only one in 10^18 is such a word.
        assert_eq!(value.parse::<u64>().unwrap(), 1 + u64::from_le_bytes(word) % 6, "{text}");
    }
}
