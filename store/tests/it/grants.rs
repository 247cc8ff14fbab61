//! Grants: they permit access to a match, are judged when written, and are deleted with the match.

mod kept;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use turnfold_core::{Digest, Seat};
use turnfold_store::backend::MemoryBackend;
use turnfold_store::backend::{Backend, BackendError, RecordChange, StoredRecord};
use turnfold_store::{
    ErrorKind, Grant, GrantId, GrantKind, GrantLabel, JoinedSeat, NewGrant, PlayerName, Store, StoreError,
};

use crate::engines::fleet;
use crate::game::{commands, genesis, name};
use crate::rescue::unobserved;

const NOW: i64 = 1_700_000_000_000;

/// Returns the hash of a token. No two hashes begin with the same bytes.
pub(crate) fn token(number: u64) -> Digest {
    Digest::new(blake3::derive_key("a token of a test", &number.to_le_bytes()))
}

pub(crate) fn new(kind: GrantKind) -> NewGrant {
    let label = "Ann, on her phone".parse().unwrap();
    NewGrant { kind, match_name: name("m"), label, expires_at_ms: None }
}

fn expiring(kind: GrantKind, at: i64) -> NewGrant {
    NewGrant { expires_at_ms: Some(at), ..new(kind) }
}

const SPECTATOR: GrantKind = GrantKind::Spectator { reserved: 0 };

fn is_sound(store: &Store) {
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
}

/// Calls `check` with a store in memory, one on disk and one on PostgreSQL, each with a match `m`.
fn on_all(check: impl Fn(&Store)) {
    let dir = tempfile::tempdir().unwrap();
    let disk = Store::open_or_create(&dir.path().join("store")).unwrap();
    let stores = [Some(Store::in_memory()), Some(disk), fleet()];
    for store in stores.into_iter().flatten() {
        store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
        check(&store);
        is_sound(&store);
        store.close().unwrap();
    }
}

/// Returns the message of a refusal, and requires that it changed nothing.
fn refusal<T: std::fmt::Debug>(store: &Store, result: Result<T, StoreError>, kind: ErrorKind) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    is_sound(store);
    error.to_string()
}

#[test]
fn a_grant_is_found_by_its_hash_and_listed_for_its_match() {
    on_all(|store| {
        let kinds = [
            GrantKind::Host,
            GrantKind::Seat(Seat::P1),
            SPECTATOR,
            GrantKind::Invitation(Seat::P2),
            GrantKind::Player(Seat::P3),
            GrantKind::Calendar { token: token(5) },
        ];
        for (number, kind) in (1..).zip(kinds) {
            store.grant(&token(number), new(kind), NOW).unwrap();
            let grant = Grant {
                kind,
                match_name: name("m"),
                label: "Ann, on her phone".parse().unwrap(),
                created_at_ms: NOW,
                expires_at_ms: None,
                revoked_at_ms: None,
                became: None,
            };
            assert_eq!(store.find_grant(&token(number)).unwrap(), Some(grant));
        }
        assert_eq!(store.find_grant(&token(9)).unwrap(), None);
        let listed = store.grants_of(&name("m")).unwrap();
        assert!(listed.is_sorted_by_key(|(hash, _)| *hash) && listed.len() == 6);
        for (hash, grant) in listed {
            assert_eq!(store.find_grant(&hash).unwrap(), Some(grant));
        }
        assert!(matches!(store.grants_of(&name("x")), Err(StoreError::NoSuchMatch { .. })));
    });
}

/// Earlier builds had spectators with a delay. Without the delay such a spectator would see too much.
#[test]
fn a_grant_with_a_delay_is_not_live() {
    on_all(|store| {
        store.grant(&token(1), new(GrantKind::Spectator { reserved: 90 }), NOW).unwrap();
        assert!(!store.find_grant(&token(1)).unwrap().unwrap().is_live(NOW));
    });
}

/// The first player to join gets the seat, with a name that no other player of the match has.
#[test]
fn sv_41_a_seat_has_one_player_and_a_name_one_holder() {
    on_all(|store| {
        let called = |name: &str| name.parse::<PlayerName>().unwrap();
        for (number, seat) in [(1, Seat::P1), (2, Seat::P1), (3, Seat::P2), (4, Seat::P2)] {
            store.grant(&token(number), new(GrantKind::Invitation(seat)), NOW).unwrap();
        }
        let ann = called("Ann Lee");
        let JoinedSeat::Now(first) = store.join(&token(1), &token(11), Some(&ann), NOW).unwrap() else {
            panic!()
        };
        assert_eq!((first.kind, first.label.as_str()), (GrantKind::Player(Seat::P1), "Ann Lee"));
        let names = |at| store.names_of(&name("m"), at).unwrap();
        assert_eq!(names(NOW), BTreeMap::from([(Seat::P1, ann.clone().into())]));
        // A repeated join may send the name that the player already has.
        let again = store.join(&token(1), &token(11), Some(&called("Bo")), NOW + 1).unwrap();
        assert_eq!(again, JoinedSeat::Again(first));
        let second = store.join(&token(2), &token(12), None, NOW);
        let message = refusal(store, second, ErrorKind::Negative);
        assert_eq!(message, "the seat p1 is taken: the first to join has it");
        for alike in ["Ann Lee", "ANN LEE", "annlee", "Ａnn Lee"] {
            let second = store.join(&token(3), &token(13), Some(&called(alike)), NOW);
            let message = refusal(store, second, ErrorKind::Negative);
            assert!(message.starts_with(&format!("the name `{alike}` is taken")), "{message}");
        }
        assert!(!store.is_played(&name("m"), Seat::P2, NOW).unwrap());
        // Neither refusal spent its invitation.
        store.join(&token(3), &token(13), Some(&called("Ana\u{301} 李")), NOW).unwrap();
        assert_eq!(names(NOW).len(), 2);
        // After the host revokes a grant, its seat and name are free again.
        store.revoke_grant(&name("m"), GrantId::of(&token(11)), NOW).unwrap();
        store.join(&token(2), &token(12), Some(&ann), NOW).unwrap();
        assert_eq!(names(NOW)[&Seat::P1].as_str(), "Ann Lee");
        store.revoke_grant(&name("m"), GrantId::of(&token(13)), NOW).unwrap();
        store.join(&token(4), &token(14), None, NOW).unwrap();
        assert_eq!(names(NOW).len(), 1, "who joined without a name has none");
    });
}

#[test]
fn sv_41_of_two_invitations_to_a_seat_one_is_accepted_at_once() {
    on_all(|store| {
        for number in 0..4 {
            store.grant(&token(number), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
        }
        let joined: Vec<_> = thread::scope(|scope| {
            let join = |number| store.join(&token(number), &token(number + 10), None, NOW);
            let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || join(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(joined.iter().filter(|joined| joined.is_ok()).count(), 1);
        let taken = |joined: &&Result<_, _>| matches!(joined, Err(StoreError::SeatTaken { .. }));
        assert_eq!(joined.iter().filter(taken).count(), 3);
    });
}

#[test]
fn what_cannot_be_granted_is_refused_and_changes_nothing() {
    on_all(|store| {
        store.grant(&token(1), new(GrantKind::Host), NOW).unwrap();
        let again = store.grant(&token(1), new(SPECTATOR), NOW);
        let message = refusal(store, again, ErrorKind::Unusable);
        assert_eq!(message, format!("a grant `{}` already exists", GrantId::of(&token(1))));
        // This token differs, but has the same id, so that a revocation could not distinguish the two.
        let mut alike = *token(1).as_bytes();
        alike[31] ^= 1;
        let alike = store.grant(&Digest::new(alike), new(SPECTATOR), NOW);
        assert_eq!(refusal(store, alike, ErrorKind::Unusable), message);
        let host = store.grant(&token(2), new(GrantKind::Invitation(Seat::Host)), NOW);
        assert_eq!(refusal(store, host, ErrorKind::Unusable), "`host` is no player's seat");
        let nowhere = NewGrant { match_name: name("x"), ..new(SPECTATOR) };
        let nowhere = store.grant(&token(2), nowhere, NOW);
        assert_eq!(refusal(store, nowhere, ErrorKind::Unusable), "no match `x` in this store");
        assert_eq!(store.grants_of(&name("m")).unwrap().len(), 1);
        assert!("x".repeat(65).parse::<GrantLabel>().is_err());
    });
}

#[test]
fn an_invitation_is_spent_once_and_answers_again_only_the_same_token() {
    on_all(|store| {
        let invitation = expiring(GrantKind::Invitation(Seat::P2), NOW + 100);
        store.grant(&token(1), invitation, NOW).unwrap();
        assert!(store.is_taken(&name("m"), Seat::P2, NOW).unwrap());
        let JoinedSeat::Now(grant) = store.join(&token(1), &token(2), None, NOW + 50).unwrap() else {
            panic!()
        };
        assert_eq!(grant.kind, GrantKind::Seat(Seat::P2));
        assert_eq!((grant.label.as_str(), grant.expires_at_ms), ("Ann, on her phone", None));
        assert_eq!(grant.created_at_ms, NOW + 50);
        assert_eq!(store.find_grant(&token(2)).unwrap().as_ref(), Some(&grant));
        let spent = store.find_grant(&token(1)).unwrap().unwrap();
        assert_eq!(spent.became, Some(token(2)));
        assert!(!spent.is_live(NOW + 50) && grant.is_live(NOW + 1_000_000));
        // The same join also succeeds after the invitation has expired, because the first answer may have been lost.
        assert_eq!(
            store.join(&token(1), &token(2), None, NOW + 500).unwrap(),
            JoinedSeat::Again(grant.clone())
        );
        let other = store.join(&token(1), &token(3), None, NOW + 60);
        assert_eq!(
            refusal(store, other, ErrorKind::Negative),
            format!("the invitation `{}` was accepted with another token", GrantId::of(&token(1)))
        );
        assert_eq!(store.grants_of(&name("m")).unwrap().len(), 2);
        store.revoke_grant(&name("m"), GrantId::of(&token(2)), NOW + 70).unwrap();
        let revoked = Grant { revoked_at_ms: Some(NOW + 70), ..grant };
        assert_eq!(store.join(&token(1), &token(2), None, NOW + 80).unwrap(), JoinedSeat::Again(revoked));
        assert!(!store.is_taken(&name("m"), Seat::P2, NOW + 80).unwrap());
    });
}

#[test]
fn only_an_invitation_that_counts_can_be_spent_and_only_for_a_new_token() {
    on_all(|store| {
        store.grant(&token(1), expiring(GrantKind::Invitation(Seat::P1), NOW + 100), NOW).unwrap();
        store.grant(&token(2), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
        store.grant(&token(3), new(GrantKind::Seat(Seat::P2)), NOW).unwrap();
        store.revoke_grant(&name("m"), GrantId::of(&token(2)), NOW).unwrap();
        for (invitation, now_ms) in [(1, NOW + 100), (2, NOW), (3, NOW), (4, NOW)] {
            let joined = store.join(&token(invitation), &token(5), None, now_ms);
            let message = refusal(store, joined, ErrorKind::Unusable);
            assert!(
                message.starts_with(&format!("no grant `{}`", GrantId::of(&token(invitation)))),
                "{message}"
            );
        }
        for used in [1, 3] {
            let joined = store.join(&token(1), &token(used), None, NOW);
            assert!(refusal(store, joined, ErrorKind::Unusable).contains("already exists"));
        }
        assert!(matches!(store.join(&token(1), &token(5), None, NOW + 99), Ok(JoinedSeat::Now(_))));
    });
}

#[test]
fn the_last_live_host_grant_of_a_match_is_not_revoked() {
    on_all(|store| {
        let [first, second, late] = [1, 2, 3].map(|number| GrantId::of(&token(number)));
        store.grant(&token(1), new(GrantKind::Host), NOW).unwrap();
        store.grant(&token(2), expiring(GrantKind::Host, NOW + 50), NOW).unwrap();
        store.grant(&token(4), new(SPECTATOR), NOW).unwrap();
        // By then the second has expired, and a spectator is not a host.
        let last = store.revoke_grant(&name("m"), first, NOW + 50);
        assert!(matches!(last, Err(StoreError::LastHost { .. })), "{last:?}");
        let message = refusal(store, last, ErrorKind::Negative);
        assert_eq!(message, format!("the grant `{first}` is the last host grant of match `m`"));
        assert!(store.find_grant(&token(1)).unwrap().unwrap().is_live(NOW + 50));
        store.revoke_grant(&name("m"), second, NOW + 50).unwrap();
        store.grant(&token(3), new(GrantKind::Host), NOW + 50).unwrap();
        store.revoke_grant(&name("m"), first, NOW + 60).unwrap();
        // Revoking a revoked grant again changes nothing and is not refused.
        store.revoke_grant(&name("m"), first, NOW + 61).unwrap();
        assert!(store.revoke_grant(&name("m"), late, NOW + 62).is_err());
    });
}

#[test]
fn a_revoked_grant_stays_listed_with_when_that_was_first() {
    on_all(|store| {
        store.create_match(&name("n"), &genesis(), Vec::new()).unwrap();
        store.grant(&token(1), new(SPECTATOR), NOW).unwrap();
        let id = GrantId::of(&token(1));
        let elsewhere = store.revoke_grant(&name("n"), id, NOW);
        assert!(refusal(store, elsewhere, ErrorKind::Unusable).starts_with(&format!("no grant `{id}`")));
        assert!(store.find_grant(&token(1)).unwrap().unwrap().is_live(NOW));
        for now_ms in [NOW + 5, NOW + 10] {
            assert_eq!(store.revoke_grant(&name("m"), id, now_ms).unwrap(), token(1));
            let [(_, grant)] = &store.grants_of(&name("m")).unwrap()[..] else { panic!() };
            assert_eq!(grant.revoked_at_ms, Some(NOW + 5));
            assert!(!grant.is_live(NOW + 6));
        }
    });
}

#[test]
fn a_seat_has_eight_live_grants_and_what_counts_no_more_makes_room() {
    on_all(|store| {
        let seat = GrantKind::Seat(Seat::P1);
        let invitation = GrantKind::Invitation(Seat::P1);
        store.grant(&token(0), expiring(invitation, NOW + 100), NOW).unwrap();
        (1..8).for_each(|number| store.grant(&token(number), new(invitation), NOW).unwrap());
        let full = |kind, now_ms| {
            let message = refusal(store, store.grant(&token(100), new(kind), now_ms), ErrorKind::Negative);
            let limit = "seat `p1` of match `m` has 8 live grants, as many as there may be";
            assert_eq!(message, limit);
        };
        full(seat, NOW + 99);
        full(invitation, NOW + 99);
        // Other kinds still have room, and an invitation makes room for the grant that it becomes.
        store.grant(&token(8), new(GrantKind::Seat(Seat::P2)), NOW).unwrap();
        store.grant(&token(9), new(SPECTATOR), NOW).unwrap();
        assert!(matches!(store.join(&token(1), &token(10), None, NOW + 99), Ok(JoinedSeat::Now(_))));
        full(seat, NOW + 99);
        store.grant(&token(11), new(seat), NOW + 100).unwrap();
        full(seat, NOW + 100);
        store.revoke_grant(&name("m"), GrantId::of(&token(10)), NOW + 100).unwrap();
        store.grant(&token(12), new(seat), NOW + 100).unwrap();
        full(seat, NOW + 100);
    });
}

#[test]
fn a_match_has_a_thousand_live_grants_and_keeps_no_more_than_two_thousand() {
    let store = Store::in_memory();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    for number in 0..999 {
        store.grant(&token(number), expiring(SPECTATOR, NOW + 100), NOW).unwrap();
    }
    store.grant(&token(999), new(SPECTATOR), NOW).unwrap();
    for kind in [GrantKind::Host, SPECTATOR, GrantKind::Seat(Seat::P1)] {
        let message = refusal(&store, store.grant(&token(5_000), new(kind), NOW + 99), ErrorKind::Negative);
        assert_eq!(message, "match `m` has 1000 live grants, as many as there may be");
    }
    for number in 1_000..1_998 {
        store.grant(&token(number), expiring(SPECTATOR, NOW + 200), NOW + 100).unwrap();
    }
    let live = |now_ms| {
        let grants = store.grants_of(&name("m")).unwrap();
        (grants.len(), grants.iter().filter(|(_, grant)| grant.is_live(now_ms)).count())
    };
    assert_eq!(live(NOW + 100), (1_998, 999));
    for number in 1_998..2_003 {
        store.revoke_grant(&name("m"), GrantId::of(&token(number - 1)), NOW + 101).unwrap();
        store.grant(&token(number), new(SPECTATOR), NOW + 101).unwrap();
    }
    assert_eq!(live(NOW + 101), (2_000, 999));
    // The deleted grants are the oldest that no longer counted.
    let first = store.grants_of(&name("m")).unwrap();
    assert_eq!(first.iter().filter(|(_, grant)| grant.created_at_ms == NOW).count(), 997);
    assert!(first.iter().any(|(hash, _)| *hash == token(999)), "the one that does not expire is kept");
    is_sound(&store);
}

/// A backend that counts the records that are read from it.
struct Counting(MemoryBackend, Arc<AtomicUsize>);

impl Counting {
    fn count<T>(
        &self,
        read: Result<T, BackendError>,
        records: impl Fn(&T) -> usize,
    ) -> Result<T, BackendError> {
        read.inspect(|read| {
            self.1.fetch_add(records(read), Ordering::Relaxed);
        })
    }
}

impl Backend for Counting {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.count(self.0.get(key), |_| 1)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.count(self.0.scan(range, limit), Vec::len)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.count(self.0.last(range), |_| 1)
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.0.write(changes)
    }
}

/// However many grants a match has, creating, spending or revoking a grant and looking up a seat read only a few
/// records.
#[test]
fn a_grant_costs_the_same_however_many_there_are() {
    let reads = Arc::new(AtomicUsize::new(0));
    let backend = Counting(MemoryBackend::new(), Arc::clone(&reads));
    let store = Store::with_backend(Box::new(backend)).unwrap();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    let round = |number: u64| {
        reads.store(0, Ordering::Relaxed);
        store.grant(&token(number), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
        store.join(&token(number), &token(number + 1), None, NOW).unwrap();
        assert!(store.is_taken(&name("m"), Seat::P1, NOW).unwrap());
        store.revoke_grant(&name("m"), GrantId::of(&token(number + 1)), NOW).unwrap();
        reads.load(Ordering::Relaxed)
    };
    round(0);
    let first = round(2);
    for number in 10..1_000 {
        store.grant(&token(number), new(SPECTATOR), NOW).unwrap();
    }
    (0..600).for_each(|pair| assert!(round(1_000 + 2 * pair) <= first + 2));
    assert_eq!(store.grants_of(&name("m")).unwrap().len(), 2_000);
}

#[test]
fn of_many_at_once_no_more_get_in_than_may() {
    on_all(|store| {
        store.grant(&token(0), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
        let joined: Vec<_> = thread::scope(|scope| {
            let spawn = |number| scope.spawn(move || store.join(&token(0), &token(number), None, NOW));
            let threads: Vec<_> = (1..=16).map(spawn).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(joined.iter().filter(|joined| matches!(joined, Ok(JoinedSeat::Now(_)))).count(), 1);
        let spent = |joined: &&Result<_, _>| matches!(joined, Err(StoreError::InvitationSpent { .. }));
        assert_eq!(joined.iter().filter(spent).count(), 15);
        let made: usize = thread::scope(|scope| {
            let make = |number| store.grant(&token(number), new(GrantKind::Seat(Seat::P1)), NOW);
            let threads: Vec<_> = (100..120).map(|number| scope.spawn(move || make(number))).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap().is_ok())).sum()
        });
        assert_eq!(made, 7, "one seat has the token of the invitation");
    });
}

#[test]
fn a_seat_is_taken_at_every_moment_while_an_invitation_is_spent() {
    let store = Store::in_memory();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    store.grant(&token(0), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
    thread::scope(|scope| {
        let joins = scope.spawn(|| {
            for number in 1..300 {
                store.grant(&token(1_000 + number), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
                // Now only the invitation shows that the seat is taken, and afterwards only the grant that it became.
                store.revoke_grant(&name("m"), GrantId::of(&token(number - 1)), NOW).unwrap();
                store.join(&token(1_000 + number), &token(number), None, NOW).unwrap();
            }
        });
        while !joins.is_finished() {
            assert!(store.is_taken(&name("m"), Seat::P1, NOW).unwrap());
        }
    });
    assert!(!store.is_taken(&name("m"), Seat::P2, NOW).unwrap());
}
