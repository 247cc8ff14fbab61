//! What an audit proves about who gave each command and what players saw (PM-32, PM-33, PM-2). The matches are written
//! by hand, honest and forged, with matching links and signatures.

use turnfold_core::Seat::{P1, P2};
use turnfold_core::paper::SeenRoot;
use turnfold_core::trust::TreeHash;
use turnfold_proof::audit::RowName::{Authorship, Chain, Consistency, Dice, Rules};
use turnfold_proof::audit::RowResult::{Fail, NotChecked, Pass};

use super::bundled::expect;
use super::correspondence::Correspondence;

const TERMS: &str = "default = [\"stay\"]\nbetween = [\"next\"]\n";
/// A day on which every order is executed.
const DAY: &str = "p1: attack; stay / p2: stay / carry p1 / carry p2 / end";

/// Returns a match whose first turn is open, after a script.
fn begun(script: &str) -> Correspondence {
    let mut found = Correspondence::new("begins_with_roll = false", TERMS, false);
    found.script(format!("stand / {script}").trim_end_matches([' ', '/']));
    found
}

/// Requires the row to fail at an entry, and the rows of the chain and the rules to pass: links match, and the game and
/// the desk accept what was forged. In the reason, `{here}` is the entry that the script marks, and `…` is any text.
fn fails(found: &Correspondence, reason: &str) {
    let rows = found.audit();
    expect(&rows, Chain, Pass, "");
    expect(&rows, Rules, Pass, "");
    for part in reason.replace("{here}", &found.here.to_string()).split('…') {
        expect(&rows, Authorship, Fail, part);
    }
}

#[test]
fn pm_32_an_honest_match_passes_with_its_counts() {
    let mut found = begun(DAY);
    let rolls = found.head() - 4;
    let host = format!("3 commands by signed orders, {} by the host", rolls + 1);
    assert_eq!(found.expect(Authorship, Pass, ""), host);
    found.script("p1: stay / clock 72 / carry p1 / p2 turn:2:p2: stay / end");
    found.analysis("flank", &[(P1, "stay")]);
    let counts = format!(
        "4 commands by signed orders, 1 by default for p2, {} by the host; duel@flank was not played",
        rolls + 2
    );
    assert_eq!(found.expect(Authorship, Pass, ""), counts);
    // The audit cannot know the true values of recorded dice.
    found.expect(Dice, NotChecked, "values came from outside; range and count only");
}

#[test]
fn pm_32_a_turn_that_is_still_carried_out_passes_as_far_as_it_is() {
    let mut found = begun("");
    for (script, count) in
        [("p1: attack; stay / p2: stay", 0), ("carry p1", 2), ("play p2", 3), ("carried p2 1", 3)]
    {
        found.script(script);
        found.expect(Authorship, Pass, &format!("{count} commands by signed orders"));
    }
    found.give(turnfold_core::Seat::Host, "close void the club has closed");
    found.expect(Authorship, Pass, "3 commands by signed orders");
}

/// Scripts of the first turn, and the reasons for which the row fails.
const FORGED: &str = "
# A command of its own in place of the default, behind an order with any key, and when no order is there.
p2: stay / clock 72 / p1 turn:1:p1: attack / p1 turn:1:p1: stay / carry p2 / end => duel:1: no paper by p1; expected `p1 stay`
p1: attack / p2: stay / carry p1 / here / p1 own: stay / carry p2 / end => duel:{here}: expected the key `turn:1:p1`, found `order:…
p1: attack / p2: stay / carry p1 / here / carry p2 / turn => duel:{here}: no paper by p2; expected `p1 stay`
p1: attack / p2: stay / carry p1 / here / p1 turn:1:host: stay / carry p2 / end => duel:{here}: expected the key `turn:1:p1`, found `turn:1:host`
p1 turn:1:p1: stay => duel:1: no paper by p1
# An order that is altered, cut short, and recorded as shorter than it was.
p1: stay / p2: stay / p1 own: attack / p1 own: stay / carried p1 1 / carry p2 / end => duel:1: no paper by p1; expected `p1 stay`
p1: attack; stay / p2: stay / p1 own: attack / here / carried p1 1 / carry p2 / turn => duel:{here}: no paper by p2; expected `p1 stay`
p1: attack; stay / p2: stay / play p1 / carried p1 1 / carry p2 / end => the desk records 1 played commands of the order of p1, but there are 2
# An order that was carried and left out.
p1: stay / p2: stay / carried p1 1 / carry p2 / turn => duel:1: no paper by p2; expected `p1 stay`
p1: stay / p2: stay / carry p1 / carried p2 1 / turn => duel.desk:10: the position leaves out `p2 stay`
# A legal order that was refused, one refused for a false reason, and one carried that the game rejects.
p1: stay / p2: stay / refused p1 day_ended / carry p2 / turn => duel.desk:7: the desk refuses the order of p1, but the game accepts it
p1: enter / p2: stay / refused p1 day_ended / carry p2 / turn => duel.desk:7: the game refuses the order of p1 as `gate_shut`
p1: enter / p2: stay / carried p1 1 / carry p2 / turn => duel.desk:7: the game rejects the order of p1 as `gate_shut`
# FD-11a: a roll that opens the gate lets the rest in.
p1: attack; enter; stay / p2: stay / p1 own 5: attack / carried p1 1 / carry p2 / turn => duel:3: no paper by p2; expected `p1 enter`
# What the host has to play.
p1: stay / p2: stay / carry p1 / carry p2 / clock 1 / stand none => duel.desk:10: the position leaves out `host next`
# PM-2: every entry has the key that records why it is there.
p1: stay / p2: stay / p1 -: stay / carried p1 1 / carry p2 / end => duel:1: expected the key `order:…, found none
p1: stay / p2: stay / p1 turn:1:host: stay / carried p1 1 / carry p2 / end => duel:1: expected the key `order:…, found `turn:1:host`
p1: stay / p2: stay / p1 turn:1:p1: stay / carried p1 1 / carry p2 / end => duel:1: expected the key `order:…, found `turn:1:p1`
# PM-14: a seat without a legal command is not asked.
p1: stay / p2: attack / carry p1 / carry p2 / p2 turn:1:p2: stay / next / clock 1 / stand p2 => the position asks p2; expected p1, p2
";

/// Correct scripts of the first turn.
const HONEST: &str = "
# PM-80: the default follows.
p1: enter / p2: stay / refused p1 gate_shut / p1 turn:1:p1: stay / carry p2 / end => 1 command by signed orders, 1 by default for p1
# FD-11a: an order that ends behind a roll is carried that far.
p1: attack; enter; stay / p2: stay / p1 own 2: attack / carried p1 1 / p1 turn:1:p1: stay / carry p2 / end => 2 commands by signed orders, 1 by default for p1, 2 by the host
";

fn cases(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" => ").unwrap())
}

#[test]
fn pm_32_and_2_what_the_host_forges_fails_at_its_entry() {
    for (script, reason) in cases(FORGED) {
        fails(&begun(script), reason);
    }
    for (script, reason) in cases(HONEST) {
        begun(script).expect(Authorship, Pass, reason);
    }
    // Terms without commands of the host permit none.
    let mut found = Correspondence::new("begins_with_roll = false", "default = [\"stay\"]\n", false);
    found.script("stand / p1: attack; stay / p2: stay / carry p1 / carry p2 / here / end");
    fails(&found, "duel:{here}: unexpected host command `next`");
}

#[test]
fn pm_32_a_position_that_was_moved_fails() {
    let mut found = begun("p1: attack; stay / p2: stay / carry p1 / carry p2");
    let (seq, link, state) = (found.head(), found.link(), found.state_hash());
    found.script("next / clock 1");
    found.stand_at(seq, link, &state, "p1,p2");
    fails(&found, "the position leaves out `host next`");
    // Its entry, link and state must match each other, and the entry must exist.
    let zero = "0".repeat(64);
    for (other, reason) in [
        ("before", "the position leaves out `host next`"),
        ("behind", "the position is at entry 4 of `main`, which ends at 3"),
        ("link", "another link"),
        ("state", "another state hash"),
    ] {
        let mut found = begun("p1: stay / p2: stay / carry p1 / carry p2 / next");
        let (seq, link, state) = (found.head(), found.link(), found.state_hash());
        found.script("clock 1");
        match other {
            "before" => found.stand_at(seq - 1, link, &state, "p1,p2"),
            "behind" => found.stand_at(seq + 1, link, &state, "p1,p2"),
            "link" => found.stand_at(seq, zero.parse().unwrap(), &state, "p1,p2"),
            _ => found.stand_at(seq, link, &zero, "p1,p2"),
        }
        fails(&found, reason);
    }
}

#[test]
fn pm_13_and_14_the_first_position_asks_all_and_has_a_state_unless_something_is_concealed() {
    for (seats, names) in [("p1", "p1"), ("p2", "p2"), ("none", "no one")] {
        let mut found = Correspondence::new("begins_with_roll = false", TERMS, false);
        found.stand_asking(seats);
        fails(&found, &format!("duel.desk:4: the position asks {names}; expected p1, p2"));
    }
    for (secret, state, result, reason) in [
        ("turn", true, Pass, ""),
        ("turn", false, Fail, "duel.desk:4: the position has no state hash, but nothing is concealed"),
        ("match", false, Pass, ""),
        ("match", true, Fail, "duel.desk:4: the position has a state hash, but something is concealed"),
    ] {
        let terms = format!("{TERMS}secret = \"{secret}\"\n");
        let mut found = Correspondence::new("begins_with_roll = false", &terms, false);
        let state = if state { found.state_hash() } else { "-".into() };
        found.stand_at(0, found.link(), &state, "p1,p2");
        expect(&found.audit(), Authorship, result, reason);
    }
}

#[test]
fn pm_1_the_desk_is_that_of_the_game() {
    let found = Correspondence::new("begins_with_roll = false", "seats = 3\n", false);
    found.expect(Authorship, Fail, "duel.desk:0: it has 3 seats, and the game 2 players");
    let mut found = begun("").records(true);
    found.outline.matches[1].genesis.match_id = [7; 16];
    expect(
        &found.audit(&mut |_| {}),
        Authorship,
        Fail,
        "duel.desk:0: its match id is not that of the desk of `duel`",
    );
    let mut found = begun("").records(true);
    found.outline.matches[0].genesis.title = "another".into();
    expect(
        &found.audit(&mut |_| {}),
        Authorship,
        Fail,
        "duel.desk:0: it is the desk of another match than `duel`",
    );
}

#[test]
fn pm_32_a_takeback_is_played_on_a_branch_that_begins_at_its_position() {
    for (fork, result, reason) in [
        (0, Pass, "5 commands by signed orders, "),
        (1, Fail, "duel@takeback-1: the branch does not begin at entry 0 of `main`, as was agreed"),
    ] {
        let mut found = begun(DAY);
        found.agree("takeback main 0");
        found.branch("takeback-1", fork);
        if fork == 1 {
            found.roll_due("turn:2:host");
        }
        found.script("stand / p1: stay / p2: stay / carry p1 / carry p2 / end");
        expect(&found.audit(), Authorship, result, reason);
    }
}

#[test]
fn pm_32_nothing_comes_behind_the_last_position_of_a_line() {
    fails(&begun(&format!("{DAY} / here / p1 turn:2:host: stay")), "duel:{here}: no paper by p1");
    let mut found = begun(&format!("{DAY} / here"));
    found.agree("takeback main 0");
    found.script("p1 -: stay");
    found.branch("takeback-1", 0);
    found.stand();
    fails(&found, "duel:{here}: the entry comes after the last position of its branch");
    // Also while a turn is executed on the new branch.
    found.script("p1: stay / p2: stay / carry p1");
    fails(&found, "duel:{here}: the entry comes after the last position of its branch");
}

#[test]
fn pm_32_with_records_left_out_only_what_is_there_is_checked() {
    let mut found = begun(DAY);
    found.leave_out_letter(7);
    let rows = found.audit();
    expect(&rows, Authorship, NotChecked, "duel.desk: records are left out");
    expect(&rows, Consistency, NotChecked, "; the history that 4 papers named is this one");
    let forged = "p2: stay / clock 72 / p1 turn:2:p1: attack / p1 turn:2:p1: stay / carry p2 / end";
    let mut found = begun(&format!("{DAY} / {forged}"));
    found.leave_out_entry(usize::try_from(found.head()).unwrap());
    found.expect(Authorship, Fail, "no paper by p1; expected `p1 stay`");
}

#[test]
fn tr_28_without_the_desk_authorship_rests_on_the_host_alone() {
    let found = begun(DAY);
    let rows = found.records(false).audit(&mut |_| {});
    let reason = expect(&rows, Authorship, NotChecked, "");
    assert_eq!(reason, "the host alone says who gave which command");
    let held = "no checkpoint is held; give one with `--held`; the history that 4 papers named is this one";
    found.expect(Consistency, NotChecked, held);
}

#[test]
fn pm_33_a_paper_that_saw_another_history_fails() {
    let mut found = begun("");
    let seen = SeenRoot { root: TreeHash::new([9; 32]), ..found.desk_root() };
    let order = found.order_of(P1, &["stay"]);
    found.paper_seeing(P1, order, seen);
    let rows = found.audit();
    expect(&rows, Rules, Pass, "");
    expect(&rows, Authorship, Pass, "");
    expect(&rows, Consistency, Fail, "duel.desk:5: the paper of p1 has seen another history of 5 records");
    // A seen size greater than the desk had.
    let mut found = begun("");
    let order = found.order_of(P1, &["stay"]);
    let seen = SeenRoot { size: 6, ..found.desk_root() };
    found.paper_seeing(P1, order, seen);
    found.expect(Consistency, Fail, "duel.desk:5: the paper of p1 has seen another history of 6 records");
}

#[test]
fn pm_33_an_order_has_seen_the_stand_of_its_turn() {
    let mut found = Correspondence::new("begins_with_roll = false", TERMS, false);
    let before = found.desk_root();
    found.stand();
    let order = found.order_of(P1, &["stay"]);
    found.paper_seeing(P1, order, before);
    found.expect(
        Consistency,
        Fail,
        "duel.desk:5: the paper of p1 is for turn 1 and has not seen its position",
    );
}

#[test]
fn pm_33_a_second_desk_of_the_game_fails() {
    let (mut found, mut other) = (begun(""), begun(""));
    found.order(P2, &["stay"]);
    other.order(P2, &["attack", "stay"]);
    // p1 was shown the other desk.
    let (order, seen) = (other.order_of(P1, &["stay"]), other.desk_root());
    found.paper_seeing(P1, order, seen);
    let rows = found.audit();
    expect(&rows, Rules, Pass, "");
    expect(&rows, Consistency, Fail, "duel.desk:6: the paper of p1 has seen another history of 6 records");
    // Both desks in one bundle.
    let mut both = found.records(true);
    both.add(other.records(true), 1, "duel.desk-2");
    let rows = both.audit(&mut |_| {});
    expect(&rows, Consistency, Fail, "duel.desk-2: `duel.desk` is a desk of `duel` too");
}
