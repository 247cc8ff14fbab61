//! The memory of the service: all of its state is counted and can be evicted (SV-27).
//!
//! The short form of the soak test takes half a minute, and the form of `TURNFOLD_SERVE_LONG=1` ten minutes.

#![expect(clippy::disallowed_methods, reason = "decides when to stop waiting")]

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::http::{Call, Events, create, grant, main_of};
use super::readers::resident_kib;
use super::{Random, times};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

/// A service with metrics.
struct Measured {
    service: Running,
    metrics: String,
}

impl Measured {
    /// Starts a service with a cache of this number of MiB.
    fn start(sandbox: &Sandbox, cache: &str) -> Self {
        let metrics = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let line = ["serve", "--listen", "127.0.0.1:0", "--cache", cache, "--metrics", &metrics];
        let mut serve = sandbox.command(line);
        // The settings of the guide. Otherwise the GNU C library keeps freed memory for later requests.
        serve.env("MALLOC_MMAP_THRESHOLD_", "131072").env("MALLOC_TRIM_THRESHOLD_", "131072");
        Self { service: Running::start_by(serve), metrics }
    }

    /// Returns how much memory the service counts, in KiB.
    fn counted_kib(&self) -> u64 {
        self.metric("turnfold_table_bytes") / 1024
    }

    fn metric(&self, name: &str) -> u64 {
        let text = Call::get("/metrics", "").send(&self.metrics).unwrap().is(200).body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap().parse::<u64>().unwrap()
    }
}

/// SV-27: deltas sent to followers are counted, and freed with the last follower. The long form has 60 matches.
#[test]
fn sv_27_what_followers_were_sent_is_counted_and_goes_with_the_last_of_them() {
    let sandbox = Sandbox::new();
    let measured = Measured::start(&sandbox, "16");
    let service = &measured.service;
    let names: Vec<_> = (0..times(12, 60)).map(|place| format!("m{place}")).collect();
    let play = |name: &String| {
        let host = create(service, name, "hexcapture", &fixture("hexcapture", "small-world"));
        for count in [1000, 100] {
            let ticks = json!({"commands": vec!["tick 1"; count]});
            Call::post(&main_of(name, "entries"), &host, &ticks).to(service).is(201);
        }
        host
    };
    let hosts: Vec<_> = names.iter().map(play).collect();
    let before = resident_kib(service);
    let mut counted_most = 0;
    for (name, host) in names.iter().zip(&hosts) {
        let streams = (101..109).map(|after| {
            let mut events =
                Events::open(service, &Call::get(&main_of(name, &format!("events?after={after}")), host));
            assert_eq!(events.next().unwrap().id, Some(1100));
            events
        });
        let streams: Vec<_> = streams.collect();
        counted_most = counted_most.max(measured.counted_kib());
        drop(streams);
    }
    assert!((2_000..40_000).contains(&counted_most), "{counted_most} KiB are counted");
    // A closed stream ends once the service notices.
    let until = Instant::now() + Duration::from_secs(20);
    while measured.counted_kib() > 1_000 && Instant::now() < until {
        thread::sleep(Duration::from_millis(100));
    }
    assert!(measured.counted_kib() <= 1_000, "{} KiB stay", measured.counted_kib());
    let grown = resident_kib(service).saturating_sub(before);
    assert!(grown <= 40 << 10, "{grown} KiB are resident that were not");
}

/// SV-27: the count of an open branch is close to its real size.
#[test]
fn sv_27_an_open_branch_counts_about_what_it_takes() {
    let sandbox = Sandbox::new();
    let branches = 250;
    let names = ["a", "b", "c", "d"];
    {
        let service = Running::start(&sandbox);
        for name in names {
            let host = create(&service, name, "hexcapture", &fixture("hexcapture", "small-world"));
            for place in 0..branches {
                let body = json!({"name": format!("b{place}"), "from": "main:0"});
                Call::post(&format!("/v1/matches/{name}/branches"), &host, &body).to(&service).is(201);
            }
        }
    }
    let measured = Measured::start(&sandbox, "256");
    let service = &measured.service;
    let look = |name: &str| {
        for place in 0..branches {
            let path = format!("/v1/matches/{name}/branches/b{place}/view");
            Call::get(&path, service.admin()).to(service).is(200);
        }
        (resident_kib(service), measured.counted_kib())
    };
    // The first looks also include the memory of the service itself.
    let (resident, counted) = look("a");
    let (resident_then, counted_then) = ["b", "c", "d"].map(look)[2];
    let (taken, counted) = (resident_then.saturating_sub(resident), counted_then - counted);
    assert!(taken <= counted * 2 && counted <= taken * 3, "{taken} KiB are taken, {counted} KiB counted");
}

/// Plays, reads, follows and returns, as the page of a player does.
fn visit(service: &Running, random: &mut Random, name: &str, [host, seat]: &[String; 2]) {
    let entries = main_of(name, "entries");
    let ticks = json!({"commands": vec!["tick 1"; 1 + random.below(20)]});
    let head = Call::post(&entries, host, &ticks).to(service).is(201).json()["head"].as_u64().unwrap();
    let at = random.below(usize::try_from(head).unwrap());
    for rest in ["view".to_owned(), format!("view?at={at}"), format!("entries?after={at}"), "frames".into()] {
        Call::get(&main_of(name, &rest), seat).to(service).is(200);
    }
    for token in [host, seat] {
        let after = head.saturating_sub(1 + random.below(1500) as u64);
        let call = Call::get(&main_of(name, &format!("events?after={after}")), token);
        assert!(Events::open(service, &call).next().is_some());
    }
}

/// SV-27: after ten minutes of play, reading and streams (20 seconds in the short form), memory has grown by at most a
/// fifth. The baseline is taken after everything was used once.
#[test]
fn sv_27_a_soak_ends_within_a_fifth_of_where_it_began() {
    let sandbox = Sandbox::new();
    let measured = Measured::start(&sandbox, "16");
    let service = &measured.service;
    let new_match = |place: usize| {
        let name = format!("m{place}");
        let host = create(service, &name, "hexcapture", &fixture("hexcapture", "small-world"));
        Call::post(&main_of(&name, "entries"), &host, &json!({"commands": vec!["tick 1"; 1000]}))
            .to(service)
            .is(201);
        let seat = grant(service, &name, &json!({"kind": "seat", "seat": "p1"}));
        (name, [host, seat])
    };
    let matches: Vec<_> = (0..times(8, 60)).map(new_match).collect();
    let rounds = |time: Duration| {
        let until = Instant::now() + time;
        thread::scope(|scope| {
            for thread in 0..4_u64 {
                let matches = &matches;
                scope.spawn(move || {
                    let mut random = Random(0x5eed + thread);
                    while Instant::now() < until {
                        let (name, tokens) = &matches[random.below(matches.len())];
                        visit(service, &mut random, name, tokens);
                        // The requests of a seat per second are limited.
                        thread::sleep(Duration::from_millis(50));
                    }
                });
            }
        });
        thread::sleep(Duration::from_secs(2));
        resident_kib(service)
    };
    let began = rounds(Duration::from_secs(times(10, 60) as u64));
    let ended = rounds(Duration::from_secs(times(20, 600) as u64));
    assert!(ended <= began + began / 5, "it began with {began} KiB and ended with {ended} KiB");
}

/// SV-31: many readers with one token request pages, frames and searches of a long match, or leave them unread. Memory
/// stays below the limit of the guide, and is free again within a minute. The long form has a match of 100,000 entries.
#[test]
fn sv_31_long_answers_to_one_token_stay_within_bounds() {
    let sandbox = Sandbox::new();
    let measured = Measured::start(&sandbox, "16");
    let service = &measured.service;
    let host = create(service, "long", "hexcapture", &fixture("hexcapture", "small-world"));
    let ticks = json!({"commands": vec!["tick 1"; 1000]});
    for _ in 0..times(4, 100) {
        Call::post(&main_of("long", "entries"), &host, &ticks).to(service).is(201);
    }
    let spectator = grant(service, "long", &json!({"kind": "spectator"}));
    let half = times(2_000, 50_000);
    let paths = [
        "replay.html".to_owned(),
        "find?when=/ruleset%20==%20nothing".into(),
        format!("frames?after={half}&at={}", half + 400),
    ];
    Call::get(&main_of("long", "view"), &spectator).to(service).is(200);
    let rest_kib = resident_kib(service);
    let (mut most_kib, mut most_bytes, mut served) = (0, 0, 0);
    for path in &paths {
        let call = Call::get(&main_of("long", path), &spectator);
        let until = Instant::now() + Duration::from_secs(times(3, 15) as u64);
        thread::scope(|scope| {
            let unread: Vec<_> = (0..40).map(|_| call.open(service.origin()).unwrap()).collect();
            let readers = (0..40).map(|_| {
                scope.spawn(|| {
                    let mut count = 0;
                    while Instant::now() < until {
                        let status = call.to(service).status;
                        assert!([200, 429, 503].contains(&status), "{status}");
                        count += u64::from(status == 200);
                        if status != 200 {
                            thread::sleep(Duration::from_millis(200));
                        }
                    }
                    count
                })
            });
            let readers: Vec<_> = readers.collect();
            while Instant::now() < until {
                most_kib = most_kib.max(resident_kib(service));
                most_bytes = most_bytes.max(measured.metric("turnfold_answer_bytes"));
                thread::sleep(Duration::from_millis(50));
            }
            served += readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>();
            drop(unread);
        });
    }
    let grown = most_kib.saturating_sub(rest_kib);
    assert!(served > 0);
    assert!(most_bytes <= 64 << 20, "{most_bytes} bytes on their way");
    assert!(grown <= 200 << 10, "{grown} KiB more than the {rest_kib} KiB at rest");
    let until = Instant::now() + Duration::from_mins(1);
    while resident_kib(service) > rest_kib + (40 << 10) && Instant::now() < until {
        thread::sleep(Duration::from_millis(500));
    }
    let left = resident_kib(service).saturating_sub(rest_kib);
    assert!(left <= 40 << 10, "{left} KiB stay of {grown}");
    assert_eq!(measured.metric("turnfold_answer_bytes"), 0);
}
