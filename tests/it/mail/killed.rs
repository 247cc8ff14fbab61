//! A run that is killed between any two writes and repeated gives the same bytes (PM-2, PM-27, FD-12).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use turnfold_core::paper::DeskTime;
use turnfold_proof::bundle::{StoreRecords, write_bundle};
use turnfold_store::Store;
use turnfold_store::backend::MemoryBackend;
use turnfold_store::backend::{Backend, BackendError, RecordChange, StoredRecord};

use super::post::{Post, day, fixture};

/// A backend that accepts a limited number of writes.
#[derive(Clone)]
struct Ending {
    inner: MemoryBackend,
    left: Arc<AtomicI64>,
}

impl Backend for Ending {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.inner.get(key)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.inner.scan(range, limit)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.inner.last(range)
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(BackendError::Damaged("the process is gone".into()));
        }
        self.inner.write(changes)
    }
}

/// Returns everything recorded, as bytes.
fn bytes(store: &Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_bundle(&mut bytes, &StoreRecords::of_all(store).unwrap(), Vec::new()).unwrap();
    bytes
}

/// Runs a match without interruption. Then ends the run before each of its writes and repeats it.
fn check(mut post: Post, at: DeskTime, dice: &[i32], writes: usize) {
    let before = post.memory.copy();
    post.run(at, dice);
    let expected = bytes(&post.store);
    post.audited();
    let mut count = 0;
    loop {
        let inner = before.copy();
        let left = Arc::new(AtomicI64::new(i64::MAX));
        post.store =
            Store::with_backend(Box::new(Ending { inner: inner.clone(), left: left.clone() })).unwrap();
        left.store(count, Ordering::SeqCst);
        let is_whole = post.try_run(at, dice).is_ok();
        post.store = Store::with_backend(Box::new(inner)).unwrap();
        post.run(at, dice);
        assert!(bytes(&post.store) == expected, "after {count} writes: {:#?}", post.game("main"));
        if is_whole {
            break;
        }
        count += 1;
    }
    assert_eq!(usize::try_from(count).unwrap(), writes, "each write was the last of a run");
}

#[test]
fn pm_27_a_turn_with_orders_a_refusal_and_what_comes_between() {
    let terms = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.play("run 1 / p1: tap 0,2; switch / p2: tap 1,-2; switch");
    check(post, day(2), &[], 6);
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.play("run 1 / p1: tap 0,2 / p2: switch");
    // The default after the order of p1 is a separate step (PM-80).
    check(post, day(2), &[], 7);
}

#[test]
fn pm_27_a_deadline_that_passes() {
    let terms = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.play("run 1 / p2: switch");
    check(post, day(9), &[], 6);
}

#[test]
fn fd_12_rolls_of_fair_dice_are_the_same_again() {
    let terms = "fair\ndefault = [\"stay\"]\nbetween = [\"next\"]";
    let post = Post::begun("siege", "begins_with_roll = true", terms);
    check(post, day(1), &[], 3);
    let mut post = Post::begun("siege", "begins_with_roll = true", terms);
    post.play("run 1 / p1: attack; stay / p2: attack; enter; stay");
    check(post, day(2), &[], 7);
}

#[test]
fn pm_27_values_of_a_table_are_not_needed_twice() {
    let terms = "default = [\"stay\"]\nbetween = [\"next\"]";
    let mut post = Post::begun("siege", "begins_with_roll = true", terms);
    post.play("run 1 2 / p1: attack; stay / p2: attack; stay");
    check(post, day(2), &[1, 1, 2, 3], 6);
}

#[test]
fn pm_27_the_branch_of_a_takeback_that_was_left_is_used() {
    let terms = "fair\ndefault = [\"stay\"]\nbetween = [\"next\"]";
    let mut post = Post::begun("siege", "begins_with_roll = true", terms);
    post.play("run 1 / p1: attack; stay / p2: attack; stay");
    post.play("run 2");
    let first = post.desk().positions().next().unwrap().game_seq;
    post.play(&format!("p1 offer @back takeback main {first} / p2 agree @back"));
    check(post, day(3), &[], 2);
}

#[test]
fn pm_25_opening_a_match_is_made_good() {
    for fair in ["", "fair\n"] {
        let terms = format!("{fair}default = [\"stay\"]");
        for writes in 0..3 {
            let mut post = Post::new();
            let (inner, left) = (MemoryBackend::new(), Arc::new(AtomicI64::new(i64::MAX)));
            let ending = Ending { inner: inner.clone(), left: left.clone() };
            post.store = Store::with_backend(Box::new(ending)).unwrap();
            left.store(writes, Ordering::SeqCst);
            let is_whole = post.open("siege", "begins_with_roll = true", &terms).is_ok();
            assert_eq!(is_whole, writes == 2, "game and desk are a write each");
            post.store = Store::with_backend(Box::new(inner)).unwrap();
            let again = post.open("siege", "begins_with_roll = true", &terms);
            assert_eq!(again.is_err(), is_whole, "{again:?}");
            if let Err(error) = again {
                assert!(error.to_string().contains("already exists"), "{error}");
            }
            assert_eq!(post.desk().head(), 0);
        }
    }
    // Another match with the same name is not mistaken for this one.
    let post = Post::new();
    post.open("siege", "begins_with_roll = true", "default = [\"stay\"]").unwrap();
    post.store.delete_match(&"duel.desk".parse().unwrap()).unwrap();
    let other = post.open("siege", "begins_with_roll = false", "default = [\"stay\"]");
    assert!(other.unwrap_err().to_string().contains("already exists"));
}
