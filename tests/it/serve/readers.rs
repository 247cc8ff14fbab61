//! Many who read one line of play, cut off and resumed, and one who never reads (SV-38, SV-17, SV-19).

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::attacks::Known;
use super::http::{Call, Events, create, grant, import, main_of};
use super::running::Running;
use super::{Random, times};
use crate::sandbox::{Sandbox, workspace};
use crate::script::fixture;

/// Reads from the start to the end, cut off and resumed at random, and returns what it knows.
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

/// A record without the time at which it was recorded.
fn without_time(record: &Value) -> Value {
    let mut record = record.clone();
    record["recorded_at_ms"] = Value::Null;
    record
}

/// Plays the entries of `main` again on another branch, each by whoever may.
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
    let told = |viewer: &str| {
        let path = main_of(&name, &format!("entries?limit=1000&as={viewer}"));
        let told = Call::get(&path, &host).to(service).is(200).json();
        told["items"].as_array().unwrap().iter().map(without_time).collect::<Vec<_>>()
    };
    let spectators = grant(service, &name, &json!({"kind": "spectator"}));
    let of_seat = |seat: &'static str| {
        (seat, grant(service, &name, &json!({"kind": "seat", "seat": seat})), told(seat))
    };
    // Seats' tokens have only so many requests, so each reader of theirs has its own.
    let seats = ["p1", "p2", "p1", "p2", "p1", "p2"].map(of_seat);
    let spectator = ("p8", spectators, told("p8"));
    let branches = format!("/v1/matches/{name}/branches");
    Call::post(&branches, &host, &json!({"name": "live", "from": "main:0"})).to(service).is(201);
    let path = format!("{branches}/live/events");
    thread::scope(|scope| {
        for place in 0..readers {
            let ((viewer, token, told), path) = (seats.get(place).unwrap_or(&spectator), &path);
            scope.spawn(move || {
                let known = reader(service, path, token, viewer, place as u64, &json!(told.len()));
                let known: Vec<_> = known.entries().iter().map(without_time).collect();
                assert_eq!(known, *told, "reader {place} of {golden} as {viewer}");
            });
        }
        play_again(service, &name, &host, &told("host"));
    });
}

/// SV-38: each ends with the records of one who reads from the start, each told once in each of its forms. The long form
/// has 1,000 readers.
#[test]
fn sv_38_readers_cut_off_and_resumed_end_with_the_same_records() {
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    for golden in ["cycletap/a-defense-taken-back", "initiative/seeded-dice"] {
        check_readers(&service, golden, times(25, 1000));
    }
}

/// The resident memory of a service, in KiB.
#[cfg(target_os = "linux")]
fn resident_kib(service: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Plays a game with or without somebody who watches and never reads, and returns the memory it took.
#[cfg(target_os = "linux")]
fn played_before_one_who_never_reads(is_watched: bool) -> u64 {
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let host = create(&service, "a", "hexcapture", &fixture("hexcapture", "small-world"));
    let watches = Call::get(&main_of("a", "events"), &host);
    let stream = is_watched.then(|| watches.open(service.origin()).unwrap());
    let commands = json!({"commands": vec!["tick 1"; 50]});
    for count in 1..=times(200, 1000) {
        let answer = Call::post(&main_of("a", "entries"), &host, &commands).to(&service).is(201).json();
        assert_eq!(answer["head"], 50 * count);
    }
    let resident = resident_kib(&service);
    drop(stream);
    resident
}

/// SV-38, SV-17: nothing is queued for it, and nobody waits for it.
#[test]
#[cfg(target_os = "linux")]
fn sv_38_one_who_never_reads_costs_no_memory_and_stalls_nobody() {
    let (alone, watched) = thread::scope(|scope| {
        let alone = scope.spawn(|| played_before_one_who_never_reads(false));
        (alone.join().unwrap(), played_before_one_who_never_reads(true))
    });
    assert!(alone.abs_diff(watched) <= 8 << 10, "{alone} KiB alone, {watched} KiB with one who never reads");
}
