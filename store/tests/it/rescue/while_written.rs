//! Backups of a store during writes: each match is as of one moment, and no writer waits for a backup.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use turnfold_core::Seat;
use turnfold_store::{BranchName, GrantKind, MatchName, Store};

use super::unobserved;
use crate::game::{branch, genesis, labels, name, opaque};
use crate::grants::{new, token};

fn is_sound(store: &Store) {
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    for info in store.matches().unwrap() {
        assert_eq!(store.audit(&info.name).unwrap().damage, []);
    }
}

/// Appends an entry at the current head.
fn append(store: &Store, match_name: &str, on: &BranchName) {
    let head = store.head(&name(match_name), on).unwrap();
    store.append(&name(match_name), on, head, vec![opaque(head + 1)], None).unwrap();
}

#[test]
fn a_backup_has_every_match_as_it_was_at_one_moment() {
    // In memory, more entries are appended during a backup than on disk.
    let store = Store::in_memory();
    // `main` is always level with `last` or one append ahead. Reading the branches in between takes time.
    let (m, main, last) = (name("m"), BranchName::main(), branch("zz-last"));
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    for number in 0..200 {
        store.create_branch(&m, &branch(&format!("n{number}")), &main, 0, Vec::new()).unwrap();
    }
    store.create_branch(&m, &last, &main, 0, Vec::new()).unwrap();
    let done = AtomicBool::new(false);
    let append_three = |on: &BranchName| {
        let head = store.head(&m, on).unwrap();
        let key = format!("{on}-{head}").parse().unwrap();
        store
            .append(&m, on, head, (head + 1..=head + 3).map(opaque).collect::<Vec<_>>(), Some(&key))
            .unwrap();
    };
    let backups: Vec<Vec<u8>> = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                append_three(&main);
                append_three(&last);
            }
        });
        scope.spawn(|| {
            let passing = branch("passing");
            while !done.load(Ordering::Relaxed) {
                store.create_branch(&m, &passing, &main, 0, Vec::new()).unwrap();
                append_three(&passing);
                store.delete_branch(&m, &passing).unwrap();
            }
        });
        // Grants are not part of the backup and delay no one.
        scope.spawn(|| {
            for number in (0..).take_while(|_| !done.load(Ordering::Relaxed)) {
                store.grant(&token(number), new(GrantKind::Invitation(Seat::P1)), 0).unwrap();
                store.join(&token(number), &token(number + 1_000_000), None, 0).unwrap();
                let id = turnfold_store::GrantId::of(&token(number + 1_000_000));
                store.revoke_grant(&m, id, 0).unwrap();
            }
        });
        let backups = (0..20).map(|round| {
            let mut bytes = Vec::new();
            store.backup(&mut bytes, round % 2 == 0, &mut unobserved()).unwrap();
            bytes
        });
        let backups = backups.collect();
        done.store(true, Ordering::Relaxed);
        backups
    });
    for bytes in backups {
        let restored = Store::restore_in_memory(bytes.as_slice()).unwrap();
        is_sound(&restored);
        let [ahead, behind] = ["main", "zz-last"].map(|on| labels(&restored, "m", on).len());
        let is_whole = ahead.is_multiple_of(3) && (ahead == behind || ahead == behind + 3);
        assert!(is_whole, "`main` has {ahead} entries, `zz-last` {behind}");
        assert_eq!(restored.grants_of(&m).unwrap(), []);
    }
}

/// A target that reports the length of each write, and performs it only when permitted.
struct Slow {
    bytes: Vec<u8>,
    asks: Sender<usize>,
    may: Receiver<()>,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.asks.send(bytes.len()).map_err(io::Error::other)?;
        self.may.recv().map_err(io::Error::other)?;
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Does everything that a service does, while a backup is in the middle of a match.
fn append_and_read(store: &Store, m: &MatchName, main: &BranchName, doomed: &BranchName) {
    for _ in 0..100 {
        append(store, "m", main);
    }
    store.create_branch(m, &branch("new"), main, 5, Vec::new()).unwrap();
    append(store, "m", &branch("new"));
    assert_eq!(store.read(m, main, None).unwrap().entries.len(), 20_100);
    assert_eq!(store.branches(m).unwrap().len(), 3);
    assert_eq!(store.matches().unwrap().len(), 1);
    assert_eq!(store.links(m, doomed, 0..=19_000).unwrap().len(), 19_001);
    store.grant(&token(1), new(GrantKind::Host), 0).unwrap();
    assert_eq!(store.grants_of(m).unwrap().len(), 1);
}

#[test]
fn while_no_one_takes_a_backup_everyone_appends_and_reads_and_it_needs_little_memory() {
    let parent = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&parent.path().join("store")).unwrap();
    let (m, main, doomed) = (name("m"), BranchName::main(), branch("doomed"));
    // Far more entries than are read at a time.
    store.create_match(&m, &genesis(), (1..=20_000).map(opaque).collect()).unwrap();
    store.create_branch(&m, &doomed, &main, 19_000, Vec::new()).unwrap();
    let ((asks, asked), (lets, may)) = (channel(), channel());
    let bytes = thread::scope(|scope| {
        let lets = lets;
        let backup = scope.spawn(|| {
            let mut slow = Slow { bytes: Vec::new(), asks, may };
            store.backup(&mut slow, false, &mut unobserved()).unwrap();
            slow.bytes
        });
        let mut largest = 0;
        let mut is_stuck = false;
        // This loop ends with the backup.
        for length in asked {
            largest = largest.max(length);
            if length > 30_000 && !is_stuck {
                // The backup is in the middle of the match. The deletion of a branch waits for the backup, and nothing
                // waits for the deletion.
                is_stuck = true;
                scope.spawn(|| store.delete_branch(&m, &doomed).unwrap());
                thread::sleep(Duration::from_millis(50));
                let (done, is_done) = channel();
                let (store, m, main, doomed) = (&store, &m, &main, &doomed);
                scope.spawn(move || {
                    append_and_read(store, m, main, doomed);
                    done.send(()).unwrap();
                });
                // If the two wait for each other, the panic drops the backup's target and so ends both.
                is_done.recv_timeout(Duration::from_mins(5)).expect("a writer waits for the backup");
            }
            lets.send(()).unwrap();
        }
        assert!(is_stuck && largest < 128 * 1024, "{largest} bytes at a time");
        backup.join().unwrap()
    });
    assert_eq!(store.branches(&m).unwrap().len(), 2, "the branch is deleted once the match is written");
    let dir = parent.path().join("restored");
    Store::restore(bytes.as_slice(), &dir, &mut unobserved()).unwrap();
    let restored = Store::open(&dir).unwrap();
    is_sound(&restored);
    let heads: Vec<_> = restored
        .branches(&m)
        .unwrap()
        .into_iter()
        .map(|found| (found.name.to_string(), found.head))
        .collect();
    assert_eq!(heads, [("main".to_owned(), 20_000), ("doomed".to_owned(), 19_000)]);
}
