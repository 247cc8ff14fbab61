//! Random correspondences against a model of the turn rules that is written from the page.
//!
//! Toy games, in turn and all at once, openly and in secret, for two and three, under every policy. Each ends; a run
//! always leaves a turn open with a seat asked, or the match over; every paper and every status is as the model has it. Some
//! have a second match whose mails come into the same box, mails that overtake each other, or a mailer that fails.
//! `TURNFOLD_CORRESPONDENCES=20000` plays that number; `TURNFOLD_CORRESPONDENCES_TALLY=FILE` writes what was in them.

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

/// How many are played where the variable is not set.
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
    // Every outcome that a paper can have came up, so that each was held against the model.
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
    // These are rare.
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
