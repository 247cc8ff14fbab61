//! Random correspondences compared with a model of the turn rules that is written from the page.
//!
//! The toy games are played in turn or all at once, openly or in secret, by two or three players, with all terms. Each
//! match ends. After every run, either a turn is open and asks a seat, or the match is over. Every paper and status
//! agrees with the model. Some cases have a second match with the same mailbox, mails that overtake each other, or a
//! mailer that fails. `TURNFOLD_CORRESPONDENCES=20000` plays that number; `TURNFOLD_CORRESPONDENCES_TALLY=FILE` writes
//! a tally of what occurred.

mod announced;
mod cases;
mod club;
mod driver;
mod offers;
mod played;
mod relay;
mod replies;
pub(super) mod rules;
mod turns;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use self::cases::Tally;
use self::driver::correspond;

/// The number of correspondences if the variable is not set.
const FEW: u64 = 200;

#[test]
fn pm_9_to_21_random_correspondences_follow_the_model() {
    let count = std::env::var("TURNFOLD_CORRESPONDENCES").map_or(FEW, |count| count.parse().unwrap());
    let (next, tally) = (AtomicU64::new(0), Mutex::new(Tally::default()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= count {
                        break;
                    }
                    let found = correspond(case, case % 10 == 0);
                    tally.lock().unwrap().add(found);
                }
            });
        }
    });
    let Tally { outcomes, results, turns } = tally.into_inner().unwrap();
    let tally = format!("{count} correspondences, {turns} turns, {outcomes:?}, {results:?}");
    // Every possible outcome of a paper occurred, so each was compared with the model.
    for outcome in [
        "applied",
        "ignored gone",
        "ignored no_such_seat",
        "rejected not_in_terms",
        "plain applied",
        "plain not_taken",
        "plain unknown_code",
        "plain answered",
        "plain ignored no_such_seat",
        "plain ignored outdated",
        "mail: for two matches",
        "mail: another match by its marks",
        "rejected bad_signature",
        "ignored late",
        "ignored not_as_sealed",
        "ignored not_due",
        "ignored outdated",
        "ignored seal_first",
        "ignored no_such_offer",
        "ignored no_such_stand",
        "ignored stale_link",
        "ahead: answers of lines",
        "rejected match_over",
        "rejected not_yet",
        "rejected wait_for_seals",
    ] {
        assert!(outcomes.contains_key(outcome), "{outcome}: {tally}");
    }
    // These outcomes are rare.
    for outcome in [
        "ignored not_later",
        "rejected unseen_stand",
        "plain rejected hosted_first",
        "mail: a letter waits",
        "mail: a late letter moved the deadline",
    ] {
        assert!(count < 10 * FEW || outcomes.contains_key(outcome), "{outcome}: {tally}");
    }
    assert!(results.contains_key("played") && results.contains_key("p1"), "{tally}");
    if let Some(path) = std::env::var_os("TURNFOLD_CORRESPONDENCES_TALLY") {
        std::fs::write(path, tally).unwrap();
    }
}
