//! What an auditor proves of who gave which command, and of what players saw (PM-32, PM-33, PM-2): matches written by
//! hand, honest and forged, whose links and signatures fit.

use turnfold_core::Seat::{Host, P1, P2};
use turnfold_replay::audit::RowName::{Authorship, Chain, Consistency, Dice, Rules};
use turnfold_replay::audit::RowResult::{Fail, NotChecked, Pass};

use super::bundled::expect;
use super::correspondence::Correspondence;

const TERMS: &str = "default = [\"stay\"]\nbetween = [\"next\"]\n";

/// A match whose first turn is open.
fn begun() -> Correspondence {
    let mut found = Correspondence::new("begins_with_roll = false", TERMS, false);
    found.stand();
    found
}

fn end_day(found: &mut Correspondence) {
    found.between("next");
    found.clock(1);
    found.stand();
}

/// A day of which all is carried out: p1 attacks, p2 stays.
fn day(found: &mut Correspondence) {
    let orders = [found.order(P1, &["attack", "stay"]), found.order(P2, &["stay"])];
    found.carry_all(orders);
    end_day(found);
}

/// Requires the row to fail at an entry, and the chain and the rules to be in order: links fit, and the game and the desk
/// accept what was forged.
fn fails(found: &Correspondence, reason: &str) {
    let rows = found.audit();
    expect(&rows, Chain, Pass, "");
    expect(&rows, Rules, Pass, "");
    expect(&rows, Authorship, Fail, reason);
}

#[test]
fn pm_32_an_honest_match_passes_with_its_counts() {
    let mut found = begun();
    day(&mut found);
    let rolls = found.head() - 4;
    let host = format!("3 commands by signed orders, {} by the host", rolls + 1);
    assert_eq!(found.expect(Authorship, Pass, ""), host);
    let order = found.order(P1, &["stay"]);
    found.clock(72);
    found.carry(order);
    found.play(P2, "stay", "turn:2:p2");
    end_day(&mut found);
    found.analysis("flank", &[(P1, "stay")]);
    let counts = format!(
        "4 commands by signed orders, 1 by default for p2, {} by the host; duel@flank was not played",
        rolls + 2
    );
    assert_eq!(found.expect(Authorship, Pass, ""), counts);
    // What recorded dice were, nobody can say.
    found.expect(Dice, NotChecked, "values came from outside; range and count only");
}

#[test]
fn pm_32_a_turn_that_is_still_carried_out_passes_as_far_as_it_is() {
    let mut found = begun();
    let [first, second] = [found.order(P1, &["attack", "stay"]), found.order(P2, &["stay"])];
    found.expect(Authorship, Pass, "0 commands by signed orders");
    found.carry(first);
    found.expect(Authorship, Pass, "2 commands by signed orders");
    found.play_order(second);
    found.expect(Authorship, Pass, "3 commands by signed orders");
    found.tell(Host, &format!("carried {second} 1"));
    found.tell(Host, "close void the club has closed");
    found.expect(Authorship, Pass, "3 commands by signed orders");
}

#[test]
fn pm_32_a_command_that_the_host_plays_as_a_player_fails() {
    // In place of the default.
    let mut found = begun();
    let order = found.order(P2, &["stay"]);
    found.clock(72);
    found.play(P1, "attack", "turn:1:p1");
    found.roll_due("turn:1:p1");
    found.play(P1, "stay", "turn:1:p1");
    found.carry(order);
    end_day(&mut found);
    fails(&found, "duel:1: no paper by p1; expected `p1 stay`");
    // Behind the order, with its key and with another one.
    for key in ["", "turn:1:p1", "turn:1:host"] {
        let mut found = begun();
        let [first, second] = [found.order(P1, &["attack"]), found.order(P2, &["stay"])];
        found.carry(first);
        let (at, own) = (found.head() + 1, found.order_key(first));
        found.play(P1, "stay", if key.is_empty() { &own } else { key });
        found.carry(second);
        end_day(&mut found);
        fails(&found, &format!("duel:{at}: no paper by p1; expected `p2 stay`"));
    }
    // When nobody is asked.
    let mut found = begun();
    found.play(P1, "stay", "turn:1:p1");
    fails(&found, "duel:1: no paper by p1");
}

#[test]
fn pm_32_an_order_that_the_host_alters_fails() {
    let mut found = begun();
    let [first, second] = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    let key = found.order_key(first);
    found.play(P1, "attack", &key);
    found.roll_due(&key);
    found.play(P1, "stay", &key);
    found.tell(Host, &format!("carried {first} 1"));
    found.carry(second);
    end_day(&mut found);
    fails(&found, "duel:1: no paper by p1; expected `p1 stay`");
    // Cut short.
    let mut found = begun();
    let [first, second] = [found.order(P1, &["attack", "stay"]), found.order(P2, &["stay"])];
    let key = found.order_key(first);
    found.play(P1, "attack", &key);
    found.roll_due(&key);
    let at = found.head() + 1;
    found.tell(Host, &format!("carried {first} 1"));
    found.carry(second);
    found.clock(1);
    found.stand();
    fails(&found, &format!("duel:{at}: no paper by p2; expected `p1 stay`"));
    // All of it was played, and the desk says less.
    let mut found = begun();
    let [first, second] = [found.order(P1, &["attack", "stay"]), found.order(P2, &["stay"])];
    found.play_order(first);
    found.tell(Host, &format!("carried {first} 1"));
    found.carry(second);
    end_day(&mut found);
    fails(&found, "the desk records 1 played commands of the order of p1, but there are 2");
}

#[test]
fn pm_32_an_order_that_was_carried_and_left_out_fails() {
    let mut found = begun();
    let [first, second] = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    found.tell(Host, &format!("carried {first} 1"));
    found.carry(second);
    found.clock(1);
    found.stand();
    fails(&found, "duel:1: no paper by p2; expected `p1 stay`");
    let mut found = begun();
    let [first, second] = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    found.carry(first);
    found.tell(Host, &format!("carried {second} 1"));
    found.clock(1);
    found.stand();
    fails(&found, "duel.desk:10: the position leaves out `p2 stay`");
}

#[test]
fn pm_32_a_legal_order_that_was_refused_fails() {
    let mut found = begun();
    let [first, second] = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    found.tell(Host, &format!("refused {first} day_ended"));
    found.carry(second);
    found.clock(1);
    found.stand();
    fails(&found, "duel.desk:7: the desk refuses the order of p1, but the game accepts it");
    // Refused rightly, for another reason than the game gives, and carried though the game rejects it.
    for (settled, result, reason) in [
        ("refused gate_shut", Pass, ""),
        ("refused day_ended", Fail, "duel.desk:7: the game refuses the order of p1 as `gate_shut`"),
        ("carried 1", Fail, "duel.desk:7: the game rejects the order of p1 as `gate_shut`"),
    ] {
        let mut found = begun();
        let [first, second] = [found.order(P1, &["enter"]), found.order(P2, &["stay"])];
        let (word, code) = settled.split_once(' ').unwrap();
        found.tell(Host, &format!("{word} {first} {code}"));
        found.carry(second);
        found.clock(1);
        found.stand();
        expect(&found.audit(), Authorship, result, reason);
    }
}

#[test]
fn fd_11a_an_order_that_ends_behind_a_roll_is_carried_that_far() {
    let mut found = begun();
    let [first, second] = [found.order(P1, &["attack", "enter", "stay"]), found.order(P2, &["stay"])];
    let key = found.order_key(first);
    found.play(P1, "attack", &key);
    found.roll(&key, Some(2));
    found.tell(Host, &format!("carried {first} 1"));
    found.carry(second);
    found.clock(1);
    found.stand();
    found.expect(Authorship, Pass, "2 commands by signed orders, 1 by the host");
    // A roll that opens the gate lets the rest in.
    let mut found = begun();
    let [first, second] = [found.order(P1, &["attack", "enter", "stay"]), found.order(P2, &["stay"])];
    let key = found.order_key(first);
    found.play(P1, "attack", &key);
    found.roll(&key, Some(5));
    found.tell(Host, &format!("carried {first} 1"));
    found.carry(second);
    found.clock(1);
    found.stand();
    fails(&found, "duel:3: no paper by p2; expected `p1 enter`");
}

#[test]
fn pm_32_what_the_host_plays_and_rolls_follows_from_the_terms() {
    let mut found = begun();
    let orders = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    found.carry_all(orders);
    found.clock(1);
    found.stand_asking("none");
    fails(&found, "duel.desk:10: the position leaves out `host next`");
    let mut found = Correspondence::new("begins_with_roll = false", "default = [\"stay\"]\n", false);
    found.stand();
    day(&mut found);
    let at = found.head();
    fails(&found, &format!("duel:{at}: unexpected host command `next`"));
}

#[test]
fn pm_2_every_entry_has_the_key_that_says_why_it_is_there() {
    for (key, found_key) in [("", "none"), ("turn:1:host", "`turn:1:host`"), ("turn:1:p1", "`turn:1:p1`")] {
        let mut found = begun();
        let [first, second] = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
        let own = found.order_key(first);
        found.play(P1, "stay", key);
        found.tell(Host, &format!("carried {first} 1"));
        found.carry(second);
        end_day(&mut found);
        fails(&found, &format!("duel:1: expected the key `{own}`, found {found_key}"));
    }
}

#[test]
fn pm_32_a_stand_that_was_moved_fails() {
    let mut found = begun();
    let orders = [found.order(P1, &["attack", "stay"]), found.order(P2, &["stay"])];
    found.carry_all(orders);
    let (seq, link, state) = (found.head(), found.link(), found.state_hash());
    found.between("next");
    found.clock(1);
    found.stand_at(seq, link, &state, "p1,p2");
    fails(&found, "the position leaves out `host next`");
    // Its entry, link and state have to fit each other.
    let zero = "0".repeat(64);
    for (other, reason) in [("seq", "no paper"), ("link", "another link"), ("state", "another state hash")] {
        let mut found = begun();
        let orders = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
        found.carry_all(orders);
        found.between("next");
        let (seq, link, state) = (found.head(), found.link(), found.state_hash());
        found.clock(1);
        match other {
            "seq" => found.stand_at(seq - 1, link, &state, "p1,p2"),
            "link" => found.stand_at(seq, zero.parse().unwrap(), &state, "p1,p2"),
            _ => found.stand_at(seq, link, &zero, "p1,p2"),
        }
        let reason = if other == "seq" { "the position leaves out `host next`" } else { reason };
        fails(&found, reason);
    }
    // Beyond the end of the game.
    let mut found = begun();
    let orders = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    found.carry_all(orders);
    found.between("next");
    let (seq, link, state) = (found.head() + 1, found.link(), found.state_hash());
    found.clock(1);
    found.stand_at(seq, link, &state, "p1,p2");
    fails(&found, "the position is at entry 4 of `main`, which ends at 3");
}

#[test]
fn pm_14_a_stand_asks_whom_it_has_to() {
    for (seats, found_seats) in [("p1", "p1"), ("p2", "p2"), ("none", "no one")] {
        let mut found = Correspondence::new("begins_with_roll = false", TERMS, false);
        found.stand_asking(seats);
        fails(&found, &format!("duel.desk:4: the position asks {found_seats}; expected p1, p2"));
    }
    // Who has nothing legal is not asked.
    let mut found = begun();
    let [first, second] = [found.order(P1, &["stay"]), found.order(P2, &["attack"])];
    found.carry_all([first, second]);
    found.clock(1);
    found.stand_asking("p1,p2");
    fails(&found, "the position asks p1, p2; expected p2");
}

#[test]
fn pm_13_a_stand_has_a_state_unless_something_is_concealed() {
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
    let mut found = begun().records(true);
    found.outline.matches[1].genesis.match_id = [7; 16];
    expect(
        &found.audit(&mut |_| {}),
        Authorship,
        Fail,
        "duel.desk:0: its match id is not that of the desk of `duel`",
    );
    let mut found = begun().records(true);
    found.outline.matches[0].genesis.title = "another".into();
    expect(
        &found.audit(&mut |_| {}),
        Authorship,
        Fail,
        "duel.desk:0: it is the desk of another match than `duel`",
    );
}

#[test]
fn pm_32_a_takeback_is_played_on_a_branch_that_begins_at_its_stand() {
    for (fork, result, reason) in [
        (0, Pass, "5 commands by signed orders, "),
        (1, Fail, "duel@takeback-1: the line does not begin at entry 0 of `main`, as was agreed"),
    ] {
        let mut found = begun();
        day(&mut found);
        found.agree("takeback main 0");
        found.branch("takeback-1", fork);
        if fork == 1 {
            found.roll_due("turn:2:host");
        }
        found.stand();
        let orders = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
        found.carry_all(orders);
        end_day(&mut found);
        expect(&found.audit(), Authorship, result, reason);
    }
}

#[test]
fn pm_32_nothing_stands_behind_the_last_stand_of_a_line() {
    let mut found = begun();
    day(&mut found);
    let at = found.head() + 1;
    found.play(P1, "stay", "turn:2:host");
    fails(&found, &format!("duel:{at}: no paper by p1"));
    let mut found = begun();
    day(&mut found);
    let at = found.head() + 1;
    found.agree("takeback main 0");
    found.play(P1, "stay", "");
    found.branch("takeback-1", 0);
    found.stand();
    fails(&found, &format!("duel:{at}: the entry comes after the last position of its line"));
    // While a turn is carried out on the new line, too.
    let [first, _] = [found.order(P1, &["stay"]), found.order(P2, &["stay"])];
    found.carry(first);
    fails(&found, &format!("duel:{at}: the entry comes after the last position of its line"));
}

#[test]
fn pm_32_with_records_left_out_only_what_is_there_is_checked() {
    let mut found = begun();
    day(&mut found);
    found.leave_out_letter(7);
    let rows = found.audit();
    expect(&rows, Authorship, NotChecked, "duel.desk: records are left out");
    expect(&rows, Consistency, NotChecked, "; the history that 4 papers named is this one");
    let mut found = begun();
    day(&mut found);
    let order = found.order(P2, &["stay"]);
    found.clock(72);
    found.play(P1, "attack", "turn:2:p1");
    found.roll_due("turn:2:p1");
    found.play(P1, "stay", "turn:2:p1");
    found.carry(order);
    end_day(&mut found);
    found.leave_out_entry(usize::try_from(found.head()).unwrap());
    found.expect(Authorship, Fail, "no paper by p1; expected `p1 stay`");
}

#[test]
fn tr_28_without_the_desk_the_host_alone_says_it() {
    let mut found = begun();
    day(&mut found);
    let rows = found.records(false).audit(&mut |_| {});
    let reason = expect(&rows, Authorship, NotChecked, "");
    assert_eq!(reason, "the host alone says who gave which command");
    let rows = found.audit();
    expect(
        &rows,
        Consistency,
        NotChecked,
        "no checkpoint is held; give one with `--held`; the history that 4 papers named is this one",
    );
}
