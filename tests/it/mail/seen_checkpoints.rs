//! What players saw, held against the desk that is shown (PM-33).

use turnfold_core::Seat::{P1, P2};
use turnfold_core::paper::SeenRoot;
use turnfold_core::trust::TreeHash;
use turnfold_replay::audit::RowName::{Authorship, Consistency, Rules};
use turnfold_replay::audit::RowResult::{Fail, Pass};

use super::bundled::expect;
use super::correspondence::Correspondence;

/// A match whose first turn is open.
fn begun() -> Correspondence {
    let mut found = Correspondence::new("begins_with_roll = false", "default = [\"stay\"]\n", false);
    found.stand();
    found
}

#[test]
fn pm_33_a_paper_that_saw_another_history_fails() {
    let mut found = begun();
    let seen = SeenRoot { root: TreeHash::new([9; 32]), ..found.desk_root() };
    let order = found.order_of(P1, &["stay"]);
    found.paper_seeing(P1, order, seen);
    let rows = found.audit();
    expect(&rows, Rules, Pass, "");
    expect(&rows, Authorship, Pass, "");
    expect(&rows, Consistency, Fail, "duel.desk:5: the paper of p1 has seen another history of 5 records");
    // More than there was.
    let mut found = begun();
    let order = found.order_of(P1, &["stay"]);
    let seen = SeenRoot { size: 6, ..found.desk_root() };
    found.paper_seeing(P1, order, seen);
    found.expect(Consistency, Fail, "duel.desk:5: the paper of p1 has seen another history of 6 records");
}

#[test]
fn pm_33_an_order_has_seen_the_stand_of_its_turn() {
    let mut found = Correspondence::new("begins_with_roll = false", "", false);
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
    let (mut found, mut other) = (begun(), begun());
    found.order(P2, &["stay"]);
    other.order(P2, &["attack", "stay"]);
    // p1 was shown the other desk.
    let (order, seen) = (other.order_of(P1, &["stay"]), other.desk_root());
    found.paper_seeing(P1, order, seen);
    let rows = found.audit();
    expect(&rows, Rules, Pass, "");
    expect(&rows, Consistency, Fail, "duel.desk:6: the paper of p1 has seen another history of 6 records");
    // Both in one bundle.
    let mut both = found.records(true);
    both.add(other.records(true), 1, "duel.desk-2");
    let rows = both.audit(&mut |_| {});
    expect(&rows, Consistency, Fail, "duel.desk-2: `duel.desk` is a desk of `duel` too");
}
