//! Many readers of one history, cut off and resumed, and a client that never reads (SV-38, SV-17, SV-19).

use std::collections::BTreeMap;
use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Call, Event, Events, create, grant, import, main_of};
use super::{Random, times};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

/// How many readers share a spectator token.
const SPECTATORS_OF_TOKEN: usize = 100;

/// The records that a follower has, by number.
#[derive(Default)]
struct Known(BTreeMap<u64, Value>);

impl Known {
    /// Applies an event. Each record must come once in each of its forms.
    fn apply(&mut self, event: &Event) {
        assert_eq!((event.kind.as_str(), event.id), ("entries", event.data["head"].as_u64()));
        let records = event.data["entries"].as_array().unwrap();
        assert!(!records.is_empty(), "an event without records");
        for record in records {
            let seq = record["seq"].as_u64().unwrap();
            let before = self.0.insert(seq, record.clone());
            assert_ne!(before.as_ref(), Some(record), "a record twice");
        }
    }

    /// Returns the records in the order of their numbers.
    fn entries(&self) -> Vec<Value> {
        self.0.values().cloned().collect()
    }
}

/// Reads from the start to the end, cut off and resumed at random, and returns the records.
fn reader(service: &Running, path: &str, token: &str, viewer: &str, place: u64, head: &Value) -> Known {
    let mut random = Random(0x9e37_79b9 + place * 7919);
    let mut known = Known::default();
    let mut after = 0;
    while json!(after) != *head {
        let call = Call::get(&format!("{path}?as={viewer}&after=0"), token);
        let call = if after > 0 { call.with("last-event-id", &after.to_string()) } else { call };
        let mut events = Events::open(service, &call);
        for _ in 0..=random.below(6) {
            let event = events.next().expect("the stream ended");
            known.apply(&event);
            after = event.id.unwrap();
            if json!(after) == *head {
                break;
            }
        }
    }
    known
}

/// Returns a record without its time.
fn without_time(record: &Value) -> Value {
    let mut record = record.clone();
    record["recorded_at_ms"] = Value::Null;
    record
}

/// Plays the entries of `main` again on another branch, each with a token of its seat.
fn play_again(service: &Running, name: &str, host: &str, records: &[Value]) {
    let seats = ["p1", "p2"].map(|seat| (seat, grant(service, name, &json!({"kind": "seat", "seat": seat}))));
    for record in records {
        let own = seats.iter().find(|(seat, _)| record["seat"] == *seat).map_or(host, |(_, token)| token);
        let body = json!({"commands": [record["command"]], "roll": false});
        let path = format!("/v1/matches/{name}/branches/live/entries");
        Call::post(&path, own, &body).to(service).is(201);
        thread::sleep(Duration::from_millis(5));
    }
}

fn check_readers(service: &Running, golden: &str, readers: usize) {
    let text = fs::read_to_string(workspace().join(format!("replays/{golden}.tfl"))).unwrap();
    let name = golden.replace('/', "-");
    let host = import(service, &name, &text);
    let shown = |viewer: &str| {
        let path = main_of(&name, &format!("entries?limit=1000&as={viewer}"));
        let shown = Call::get(&path, &host).to(service).is(200).json();
        shown["items"].as_array().unwrap().iter().map(without_time).collect::<Vec<_>>()
    };
    // The streams and requests of a token are limited, so the readers share several tokens.
    let spectators: Vec<_> = (0..readers.div_ceil(SPECTATORS_OF_TOKEN))
        .map(|_| grant(service, &name, &json!({"kind": "spectator"})))
        .collect();
    let shown_to_spectators = shown("p8");
    let of_seat = |seat: &'static str| {
        (seat, grant(service, &name, &json!({"kind": "seat", "seat": seat})), shown(seat))
    };
    let seats = ["p1", "p2", "p1", "p2", "p1", "p2"].map(of_seat);
    let branches = format!("/v1/matches/{name}/branches");
    Call::post(&branches, &host, &json!({"name": "live", "from": "main:0"})).to(service).is(201);
    let path = format!("{branches}/live/events");
    thread::scope(|scope| {
        for place in 0..readers {
            let spectator = ("p8", &spectators[place / SPECTATORS_OF_TOKEN], &shown_to_spectators);
            let of_seat = seats.get(place).map(|(viewer, token, shown)| (*viewer, token, shown));
            let ((viewer, token, shown), path) = (of_seat.unwrap_or(spectator), &path);
            scope.spawn(move || {
                let known = reader(service, path, token, viewer, place as u64, &json!(shown.len()));
                let known: Vec<_> = known.entries().iter().map(without_time).collect();
                assert_eq!(known, *shown, "reader {place} of {golden} as {viewer}");
            });
        }
        play_again(service, &name, &host, &shown("host"));
    });
}

/// SV-38: each reader ends with the same records as a reader from the start, each once in each of its forms. The long
/// form has 1,000 readers.
#[test]
fn sv_38_readers_cut_off_and_resumed_end_with_the_same_records() {
    let service = Running::alone();
    for golden in [
        "cycletap/a-defense-taken-back",
        "cycletap/mutual-attacks",
        "channel/yin-yang",
        "initiative/seeded-dice",
    ] {
        check_readers(&service, golden, times(15, 1000));
    }
}

/// SV-38, SV-31: readers who all return at one moment, as after a restart, are all served from wherever they were. They
/// are more than may wait for a fold. The long form has 1,000 readers.
#[test]
fn sv_38_readers_who_all_come_again_at_one_moment_are_all_served() {
    let service = Running::alone();
    let text = fs::read_to_string(workspace().join("replays/cycletap/a-defense-taken-back.tfl")).unwrap();
    let host = import(&service, "a", &text);
    let readers = times(100, 1000);
    let tokens: Vec<_> = (0..readers.div_ceil(SPECTATORS_OF_TOKEN))
        .map(|_| grant(&service, "a", &json!({"kind": "spectator"})))
        .collect();
    let shown = Call::get(&main_of("a", "entries?limit=1000&as=p8"), &host).to(&service).is(200).json();
    let shown = shown["items"].as_array().unwrap();
    let head = shown.len() as u64;
    let at_once = Barrier::new(readers);
    thread::scope(|scope| {
        for place in 0..readers {
            let (service, at_once, token) = (&service, &at_once, &tokens[place / SPECTATORS_OF_TOKEN]);
            scope.spawn(move || {
                let seen = place as u64 % head;
                let call = Call::get(&main_of("a", "events"), token).with("last-event-id", &seen.to_string());
                at_once.wait();
                let event = Events::open(service, &call).next().unwrap();
                assert_eq!(event.id, Some(head), "{seen}");
                assert_eq!(event.data["entries"].as_array().unwrap().last(), shown.last(), "{seen}");
            });
        }
    });
}

/// Returns the resident memory of a service, in KiB.
#[cfg(target_os = "linux")]
pub(super) fn resident_kib(service: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Plays a game with or without a follower that never reads, and returns the memory that it took.
#[cfg(target_os = "linux")]
fn played_before_one_who_never_reads(is_watched: bool) -> u64 {
    let service = Running::alone();
    let host = create(&service, "a", "hexcapture", &fixture("hexcapture", "small-world"));
    let watches = Call::get(&main_of("a", "events"), &host);
    let stream = is_watched.then(|| watches.open(service.origin()).unwrap());
    let commands = json!({"commands": vec!["tick 1"; 50]});
    for count in 1..=times(200, 4_000) {
        let answer = Call::post(&main_of("a", "entries"), &host, &commands).to(&service).is(201).json();
        assert_eq!(answer["head"], 50 * count);
    }
    let resident = resident_kib(&service);
    drop(stream);
    resident
}

/// SV-38, SV-17: the service queues nothing for a client that never reads, and no one waits for this client.
#[test]
#[cfg(target_os = "linux")]
fn sv_38_one_who_never_reads_costs_no_memory_and_stalls_no_one() {
    let (alone, watched) = thread::scope(|scope| {
        let alone = scope.spawn(|| played_before_one_who_never_reads(false));
        (alone.join().unwrap(), played_before_one_who_never_reads(true))
    });
    // Any two processes differ by some MiB. The long form plays enough to reveal a queue.
    assert!(
        watched.saturating_sub(alone) <= 16 << 10,
        "{alone} KiB alone, {watched} KiB with one who never reads"
    );
}
