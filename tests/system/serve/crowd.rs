//! Many clients with one token, and readers of other matches meanwhile (SV-31).

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use super::http::{Call, create, grant, main_of};
use super::times;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

/// The connections that share a spectator's token.
const CROWD: usize = 80;

/// How often each reader of another match repeats all of its requests.
const ROUNDS: usize = 5;

/// Creates a match with this number of entries, and returns the token of its host.
fn played(service: &Running, name: &str, entries: usize) -> String {
    let host = create(service, name, "hexcapture", &fixture("hexcapture", "small-world"));
    let ticks = json!({"commands": vec!["tick 1"; 1000]});
    for _ in 0..entries / 1000 {
        Call::post(&main_of(name, "entries"), &host, &ticks).to(service).is(201);
    }
    host
}

/// SV-31: 80 connections of a spectator read a long match without end. Meanwhile, players of other matches, short or
/// long, get every response. The crowd waits, or is asked to wait. The long form has 100,000 entries.
#[test]
fn sv_31_one_token_does_not_stop_the_reading_of_others() {
    let sandbox = Sandbox::new();
    let service = &Running::start(&sandbox);
    let entries = times(20_000, 100_000);
    played(service, "long", entries);
    played(service, "also-long", 5_000);
    played(service, "short", 1_000);
    let spectator = grant(service, "long", &json!({"kind": "spectator"}));
    let seats = ["also-long", "short"]
        .map(|name| (name, grant(service, name, &json!({"kind": "seat", "seat": "p1"}))));
    let is_over = AtomicBool::new(false);
    let statuses = Mutex::new(BTreeMap::<u16, usize>::new());
    thread::scope(|scope| {
        for place in 0..CROWD {
            let rest = if place % 4 == 0 { "frames".into() } else { format!("view?at={}", entries - 2) };
            let call = Call::get(&main_of("long", &rest), &spectator);
            let (is_over, statuses) = (&is_over, &statuses);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    *statuses.lock().unwrap().entry(call.to(service).status).or_default() += 1;
                }
            });
        }
        let readers = seats.map(|(name, token)| {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    for rest in
                        ["entries", "entries?after=900", "view?at=7", "view?at=998", "legal?at=9", "frames"]
                    {
                        let answer = Call::get(&main_of(name, rest), &token).to(service);
                        assert_eq!(answer.status, 200, "{name} {rest}: {}", answer.body);
                    }
                }
            })
        });
        let answered = readers.map(thread::ScopedJoinHandle::join);
        is_over.store(true, Ordering::Relaxed);
        for reader in answered {
            reader.unwrap();
        }
    });
    let statuses = statuses.into_inner().unwrap();
    assert!(statuses.contains_key(&200), "the crowd is served, too: {statuses:?}");
    assert!(statuses.keys().all(|status| [200, 429, 503].contains(status)), "{statuses:?}");
}
