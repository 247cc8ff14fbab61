//! Neither `kill -9` nor broken connections lose anything (SV-37, SV-14 to SV-16, SV-25).

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Call, create, main_of};
use super::{Random, times};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const CLIENTS: usize = 32;
const MATCHES: usize = 4;

/// How many commands of each match must be answered for the test to be meaningful.
const ANSWERED_MIN: usize = 10;

/// The response for each idempotency key of a match: the head and the records.
type Answered = BTreeMap<String, (u64, Value)>;

/// Appends with one key after another until the end, and retries without a response.
fn client(
    place: usize,
    origin: &str,
    hosts: &[String],
    is_over: &AtomicBool,
    answered: &Mutex<Vec<Answered>>,
) {
    let of_match = place % MATCHES;
    let path = main_of(&format!("m{of_match}"), "entries");
    let mut seen = 0;
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        let key = format!("c{place}-{count}");
        count += 1;
        let call = Call::post(&path, &hosts[of_match], &json!({"commands": ["tick 1"]}));
        let call = call.with("idempotency-key", &key);
        let answer = loop {
            match call.send(origin) {
                Ok(answer) if answer.status == 503 => {}
                Ok(answer) => break answer,
                Err(_) => {}
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert!([200, 201].contains(&answer.status), "{answer:?}");
        let is_again = answer.header("idempotency-replayed").is_some();
        assert_eq!(answer.status == 200, is_again, "{answer:?}");
        let body = answer.json();
        let head = body["head"].as_u64().unwrap();
        if !is_again {
            assert!(head > seen, "the head went back from {seen} to {head}");
            seen = head;
        }
        // Once a request was answered, a retry returns the same records.
        if count % 3 == 0
            && let Ok(again) = call.send(origin)
            && again.status != 503
        {
            assert_eq!((again.status, again.json()), (200, body.clone()), "{key}");
            assert_eq!(again.header("etag"), answer.header("etag"));
        }
        let records = body["entries"].clone();
        answered.lock().unwrap()[of_match].insert(format!("host/{key}"), (head, records));
    }
}

/// SV-37, SV-16: the log contains each 201 with its number, each keyed retry counts once, and heads never go back. The
/// long form kills 200 times.
#[test]
fn sv_37_what_was_answered_with_201_survives_kill_9() {
    let sandbox = Sandbox::new();
    let mut service = Running::start(&sandbox);
    let origin = service.origin().to_owned();
    let address = origin.trim_start_matches("http://").to_owned();
    let setup = fixture("hexcapture", "small-world");
    let hosts: Vec<_> =
        (0..MATCHES).map(|place| create(&service, &format!("m{place}"), "hexcapture", &setup)).collect();
    let (is_over, answered) = (AtomicBool::new(false), Mutex::new(vec![Answered::new(); MATCHES]));
    thread::scope(|scope| {
        for place in 0..CLIENTS {
            let (origin, hosts, is_over, answered) = (&origin, &hosts, &is_over, &answered);
            scope.spawn(move || client(place, origin, hosts, is_over, answered));
        }
        let mut random = Random(0x5eed);
        let service = &mut service;
        for _ in 0..times(5, 200) {
            thread::sleep(Duration::from_millis(100 + random.below(400) as u64));
            service.kill();
            *service = Running::start_by(sandbox.command(["serve", "--listen", &address]));
        }
        // A busy machine takes longer until enough requests are answered.
        let is_enough = || answered.lock().unwrap().iter().all(|answered| answered.len() > ANSWERED_MIN);
        for _ in 0..300 {
            thread::sleep(Duration::from_millis(200));
            if is_enough() {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let answered = answered.into_inner().unwrap();
    for (place, answered) in answered.iter().enumerate() {
        assert!(answered.len() > ANSWERED_MIN, "{}", answered.len());
        let (mut after, mut log) = (json!(0), Vec::new());
        while !after.is_null() {
            let path = main_of(&format!("m{place}"), &format!("entries?limit=1000&after={after}"));
            let page = Call::get(&path, &hosts[place]).to(&service).is(200).json();
            log.extend(page["items"].as_array().unwrap().clone());
            after = page["next"].clone();
        }
        let mut keys: Vec<_> = log.iter().map(|record| record["key"].as_str().unwrap()).collect();
        let head = log.len() as u64;
        for (key, (seq, records)) in answered {
            let record = &log[usize::try_from(*seq).unwrap() - 1];
            assert_eq!((record["key"].as_str(), record["seq"].as_u64()), (Some(key.as_str()), Some(*seq)));
            assert_eq!(record["state_hash"], records[0]["state_hash"]);
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len() as u64, head, "a key was recorded twice");
    }
    drop(service);
    sandbox.ok("verify");
}

/// Sends the first bytes of a request, and closes the connection.
fn drop_after(origin: &str, bytes: &[u8], pause_us: u64) {
    let mut stream = TcpStream::connect(origin.trim_start_matches("http://")).unwrap();
    stream.write_all(bytes).unwrap();
    thread::sleep(Duration::from_micros(pause_us));
}

/// Requires a branch to record the next command of a client that has read the head. Requests that clients sent before
/// they left may still be recorded meanwhile. So a 412 may occur, but not forever.
fn require_accepting(service: &Running, match_name: &str, host: &str) -> u64 {
    let entries = main_of(match_name, "entries");
    let call = Call::post(&entries, host, &json!({"commands": ["tick 1"]}));
    let accepted = (0..5).find_map(|_| {
        let view = Call::get(&main_of(match_name, "view"), host).to(service).is(200);
        let answer = call.clone().with("if-match", view.header("etag").unwrap()).to(service);
        assert!([201, 412].contains(&answer.status), "{answer:?}");
        Some(answer).filter(|answer| answer.status == 201)
    });
    let next = accepted.expect("the branch accepts nothing any more").json();
    let head = next["head"].as_u64().unwrap();
    let page = Call::get(&format!("{entries}?limit=1&after={}", head - 1), host).to(service).is(200).json();
    assert_eq!(page["items"][0]["state_hash"], next["entries"][0]["state_hash"]);
    head
}

/// SV-37: requests break off at any byte. The long form sends 10,000 requests.
#[test]
fn sv_37_after_requests_that_broke_off_every_branch_still_accepts() {
    let service = Running::alone();
    let setup = fixture("hexcapture", "small-world");
    let hosts = ["a", "b"].map(|name| (name, create(&service, name, "hexcapture", &setup)));
    let mut random = Random(0xd20b);
    for count in 0..times(500, 10_000) {
        let (name, host) = &hosts[count % 2];
        let path = main_of(name, "entries");
        let call = match count % 3 {
            0 => Call::get(&main_of(name, "view"), host),
            _ => Call::post(&path, host, &json!({"commands": ["tick 1", "tick 1"]})),
        };
        let bytes = call.bytes();
        let length = random.below(bytes.len() + 1);
        drop_after(service.origin(), &bytes[..length], random.below(2) as u64 * 500);
    }
    for (name, host) in &hosts {
        require_accepting(&service, name, host);
    }
}

/// SV-15: a client leaves while its command is being recorded. If the handler were dropped then, the state in memory
/// would stay one entry behind the store, and every later command would conflict.
#[test]
fn sv_15_a_client_that_goes_away_during_an_append_changes_nothing() {
    let service = Running::alone();
    let host = create(&service, "a", "hexcapture", &fixture("hexcapture", "small-world"));
    let call = Call::post(&main_of("a", "entries"), &host, &json!({"commands": ["tick 1"]}));
    let mut head = 0;
    for count in 0..40 {
        drop_after(service.origin(), &call.bytes(), count * 150);
        let next = require_accepting(&service, "a", &host);
        assert!(next > head);
        head = next;
    }
    assert!(head > 40, "no command that was sent whole was recorded: {head}");
}
