//! Several services on one store in a database (FL-18, FL-19): all of them know what one has acknowledged.

#![expect(clippy::disallowed_methods, reason = "decides when to stop waiting, or bounds what would hang")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{Answer, Call, Events, create, grant, main_of};
use super::streams::terminate;
use crate::fleet::postgres::{Server, shared};
use crate::fleet::url;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

/// The admin token of all services in this file.
const ADMIN: &str = "tf_a_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Services on one schema.
struct Services {
    sandbox: Sandbox,
    url: String,
}

impl Services {
    fn new(server: &Server, schema: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("admin.token", ADMIN);
        Self { sandbox, url: url(server, schema) }
    }

    fn start(&self) -> Running {
        let line = ["--store", &self.url, "serve", "--listen", "127.0.0.1:0", "--admin-token", "admin.token"];
        Running::start_with(self.sandbox.command(line), ADMIN)
    }

    /// Starts two services and creates a match `a` through the first. Returns both and the token of the host.
    fn two(&self) -> ([Running; 2], String) {
        let both = [self.start(), self.start()];
        let host = create(&both[0], "a", "hexcapture", &fixture("hexcapture", "small-world"));
        (both, host)
    }

    fn verify(&self) {
        self.sandbox.ok(&format!("--store {} verify", self.url));
        self.sandbox.ok(&format!("--store {} store check", self.url));
    }
}

fn of_branch(branch: &str, rest: &str) -> String {
    format!("/v1/matches/a/branches/{branch}/{rest}")
}

fn ticks(branch: &str, host: &str, count: usize) -> Call {
    Call::post(&of_branch(branch, "entries"), host, &json!({"commands": vec!["tick 1"; count]}))
}

fn head(answer: &Answer) -> u64 {
    answer.json()["head"].as_u64().unwrap()
}

fn log(service: &Running, branch: &str, host: &str) -> Value {
    Call::get(&of_branch(branch, "entries?limit=1000"), host).to(service).is(200).json()
}

/// A service is never behind what another acknowledged. No precondition fails wrongly, no legal command is rejected,
/// and no head is beyond the last.
#[test]
fn fl_18_a_match_is_played_through_two_services_in_turns() {
    let Some(server) = shared() else { return };
    let services = Services::new(server, "turns");
    let ([a, b], host) = services.two();
    for round in 0..10_u64 {
        let (here, there) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let seen = Call::get(&main_of("a", "view"), &host).to(there).is(200);
        let tag = seen.header("etag").unwrap().to_owned();
        let played = ticks("main", &host, 1).with("if-match", &tag).to(here).is(201);
        assert_eq!(head(&played), 2 * round + 1);
        // The other service has the match in memory, and is now behind.
        let path = main_of("a", &format!("entries?expect={}", 2 * round + 1));
        Call::post(&path, &host, &json!({"commands": ["tick 1"]})).to(there).is(201);
        ticks("main", &host, 1).with("if-match", &tag).to(here).problem(412, "moved");
        let known = Call::get(&main_of("a", "view"), &host).with("if-none-match", &tag);
        let now = known.to(here).is(200);
        assert_eq!(now.header("etag"), known.to(there).is(200).header("etag"));
        Call::get(&main_of("a", &format!("view?at={}", 2 * round + 2)), &host).to(here).is(200);
        assert_eq!(log(&a, "main", &host), log(&b, "main", &host));
    }
    // A command that the rules accept only after entries of the other service.
    let duel = json!({"name": "duel", "ruleset": "initiative", "dice": "recorded",
        "setup": fixture("initiative", "small-board")});
    Call::post("/v1/matches", ADMIN, &duel).to(&a).is(201);
    let play =
        |command: &str| Call::post(&main_of("duel", "entries"), ADMIN, &json!({"commands": [command]}));
    for service in [&a, &b] {
        play("cycle").to(service).problem(409, "rejected");
    }
    play("roll 6 6 1 1").to(&a).is(201);
    play("cycle").to(&b).is(201);
    play("cycle").to(&a).is(201);
    assert_eq!(head(&play("cycle").to(&b).is(201)), 4);
    // Each service lists the matches and branches of the other.
    let made = json!({"name": "line", "from": "main:3"});
    Call::post("/v1/matches/a/branches", &host, &made).to(&b).is(201);
    let branches = |service| Call::get("/v1/matches/a/branches", &host).to(service).is(200).body;
    assert!(branches(&a).contains("\"line\"") && branches(&a) == branches(&b));
    drop((a, b));
    services.verify();
}

/// FL-19: streams report what other services append, delete and revoke.
#[test]
fn fl_19_a_stream_hears_what_another_service_does() {
    let Some(server) = shared() else { return };
    let services = Services::new(server, "streams");
    let ([a, b], host) = services.two();
    let follow = |service: &Running, token: &str, branch: &str| {
        Events::open(service, &Call::get(&of_branch(branch, "events"), token))
    };
    let mut streams = [follow(&a, &host, "main"), follow(&b, &host, "main")];
    for (round, service) in [&a, &b, &a, &a, &b].into_iter().enumerate() {
        let played = ticks("main", &host, 1).to(service).is(201);
        for stream in &mut streams {
            let event = stream.next().unwrap();
            assert_eq!((event.kind.as_str(), event.id), ("entries", Some(round as u64 + 1)));
            assert_eq!(event.data["entries"][0], log(service, "main", &host)["items"][round]);
            assert_eq!(event.data["tag"].as_str(), played.header("etag"));
        }
    }
    // A branch that another service deletes is gone, even if a new branch gets its name at once.
    let made = json!({"name": "line", "from": "main:2"});
    Call::post("/v1/matches/a/branches", &host, &made).to(&a).is(201);
    let mut line = follow(&b, &host, "line");
    Call::new("DELETE", "/v1/matches/a/branches/line", &host).to(&a).is(204);
    Call::post("/v1/matches/a/branches", &host, &made).to(&a).is(201);
    assert_eq!(line.next().unwrap().kind, "gone");
    // A stream ends when another service revokes its grant.
    let spectator = a.grant("a", r#"{"kind":"spectator"}"#);
    let mut late = follow(&b, spectator["token"].as_str().unwrap(), "main");
    let path = format!("/v1/matches/a/grants/{}", spectator["id"].as_str().unwrap());
    Call::new("DELETE", &path, &host).to(&a).is(204);
    assert_eq!(late.next(), None);
    // The other streams continue.
    ticks("main", &host, 1).to(&b).is(201);
    assert_eq!(streams.map(|mut stream| stream.next().unwrap().id), [Some(6), Some(6)]);
}

/// FL-8, FL-18: the cached state of a branch does not apply to a later branch of the same name.
#[test]
fn fl_18_a_branch_that_is_made_again_under_its_name_is_another() {
    let Some(server) = shared() else { return };
    let services = Services::new(server, "anew");
    let ([a, b], host) = services.two();
    ticks("main", &host, 2).to(&a).is(201);
    for round in 0..4 {
        let made = json!({"name": "line", "from": "main:1"});
        Call::post("/v1/matches/a/branches", &host, &made).to(&a).is(201);
        assert_eq!(head(&ticks("line", &host, 2).to(&b).is(201)), 3);
        Call::new("DELETE", "/v1/matches/a/branches/line", &host).to(&a).is(204);
        if round == 0 {
            // The branch is gone, whatever a service has in memory.
            ticks("line", &host, 1).to(&b).problem(404, "not_found");
            Call::get(&of_branch("line", "view"), &host).to(&b).problem(404, "not_found");
        }
        // The new branch is as long as the old one, but has other entries.
        Call::post("/v1/matches/a/branches", &host, &made).to(&a).is(201);
        let other = json!({"commands": ["tick 3", "tick 4"]});
        Call::post(&of_branch("line", "entries"), &host, &other).to(&a).is(201);
        match round {
            1 => drop(Call::get(&of_branch("line", "view"), &host).to(&b).is(200)),
            2 => drop(
                Call::post(&of_branch("line", "entries"), &host, &json!({"commands": ["jump"]}))
                    .to(&b)
                    .is(422),
            ),
            _ => {}
        }
        assert_eq!(head(&ticks("line", &host, 1).to(&b).is(201)), 4);
        let commands: Vec<_> = log(&b, "line", &host)["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| record["command"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(commands, ["tick", "tick 3", "tick 4", "tick"]);
        let views =
            [&a, &b].map(|service| Call::get(&of_branch("line", "view"), &host).to(service).is(200).body);
        assert_eq!(views[0], views[1]);
        Call::new("DELETE", "/v1/matches/a/branches/line", &host).to(&b).is(204);
    }
    drop((a, b));
    services.verify();
}

/// SV-25 with two services: an invitation becomes one seat, and a lost response locks no one out.
#[test]
fn fl_18_an_invitation_that_is_taken_at_two_services_at_once_becomes_one_seat() {
    let Some(server) = shared() else { return };
    let services = Services::new(server, "invited");
    let (both, _) = services.two();
    let join = |invitation: &str, letters: [char; 2]| {
        let mut statuses: Vec<_> = thread::scope(|scope| {
            let join = |(service, letter): (_, char)| {
                scope.spawn(move || {
                    let token = format!("tf_s_{}A", letter.to_string().repeat(42));
                    Call::post("/v1/join", invitation, &json!({"token": token})).to(service).status
                })
            };
            let threads: Vec<_> = both.iter().zip(letters).map(join).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        statuses.sort_unstable();
        statuses
    };
    let grants = |service: &Running| Call::get("/v1/matches/a/grants", ADMIN).to(service).is(200);
    // A seat has one player until the host revokes the access.
    let call_back = |service: &Running| {
        let all = grants(service).json();
        for seat in all["items"].as_array().unwrap().iter().filter(|one| one["kind"] == "seat") {
            let path = format!("/v1/matches/a/grants/{}", seat["id"].as_str().unwrap());
            Call::new("DELETE", &path, ADMIN).to(service).is(204);
        }
    };
    let invited = json!({"kind": "invitation", "seat": "p1"});
    for (round, letters) in [['a', 'b'], ['c', 'd'], ['e', 'f']].into_iter().enumerate() {
        let service = &both[round % 2];
        call_back(service);
        let other = grant(service, "a", &invited);
        assert_eq!(join(&grant(service, "a", &invited), letters), [201, 410]);
        assert_eq!(join(&other, ['x', 'y']), [409, 409], "someone has the seat");
        call_back(service);
        let letter = letters[0].to_ascii_uppercase();
        assert_eq!(join(&grant(service, "a", &invited), [letter, letter]), [200, 201]);
    }
    assert_eq!(grants(&both[0]).body, grants(&both[1]).body);
    // A player who took a seat through one service plays through the other.
    let seat = format!("tf_s_{}A", "E".repeat(42));
    for service in &both {
        Call::get(&main_of("a", "view"), &seat).to(service).is(200);
    }
}

/// Services that append to one branch at the same time conflict, but no client notices. No append is refused, and each
/// service gets its share while all of them append (FL-33).
#[test]
#[expect(clippy::print_stderr, reason = "the figures of each service")]
fn fl_18_two_services_append_to_one_branch_at_once_and_refuse_nothing() {
    let Some(server) = shared() else { return };
    for count in [2, 4] {
        let services = Services::new(server, &format!("at_once_{count}"));
        let running: Vec<Running> = (0..count).map(|_| services.start()).collect();
        let host = create(&running[0], "a", "hexcapture", &fixture("hexcapture", "small-world"));
        let counts: Vec<AtomicUsize> = running.iter().map(|_| AtomicUsize::new(0)).collect();
        let start = Barrier::new(2 * count);
        let played: Vec<Played> = thread::scope(|scope| {
            let play = |client: usize| {
                let service = client % count;
                let (service, own) = (&running[service], &counts[service]);
                let (host, counts, start) = (&host, &counts, &start);
                scope.spawn(move || {
                    let mut longest = Duration::ZERO;
                    start.wait();
                    let mut statuses = Vec::new();
                    for _ in 0..60 {
                        let began = Instant::now();
                        statuses.push(ticks("main", host, 1).to(service).status);
                        longest = longest.max(began.elapsed());
                        own.fetch_add(1, Ordering::SeqCst);
                    }
                    let counts = counts.iter().map(|count| count.load(Ordering::SeqCst)).collect();
                    Played { statuses, longest, counts }
                })
            };
            let threads: Vec<_> = (0..2 * count).map(play).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let refused: Vec<_> =
            played.iter().flat_map(|played| &played.statuses).filter(|status| **status != 201).collect();
        assert!(refused.is_empty(), "{refused:?}");
        // Counts from the time when the first client was done, up to which all clients appended.
        let shares =
            played.iter().map(|played| &played.counts).min_by_key(|counts| counts.iter().sum::<usize>());
        let shares = shares.unwrap();
        let longest = played.iter().map(|played| played.longest).max().unwrap();
        eprintln!(
            "{count} services: {shares:?} appends until a client was done, the longest took {longest:?}"
        );
        assert!(shares.iter().all(|share| *share >= 20), "{shares:?}");
        assert_eq!(Call::get("/v1/matches/a", &host).to(&running[0]).is(200).json()["head"], 120 * count);
        drop(running);
        services.verify();
    }
}

/// The results of a client that appends without a pause.
struct Played {
    statuses: Vec<u16>,
    longest: Duration,
    /// The number of appends of each service when this client was done.
    counts: Vec<usize>,
}

/// Each service is killed, then the database. Every acknowledged append is stored once, and the others are repeated.
#[test]
fn fl_18_services_and_their_database_are_killed_and_nothing_is_lost() {
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let services = Services::new(&server, "killed");
    let (both, host) = services.two();
    let origins = Mutex::new(both.each_ref().map(|service| service.origin().to_owned()));
    let (is_over, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut both = both.map(Some);
    let mut answered: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4_usize)
            .map(|client| {
                let (origins, is_over, count, host) = (&origins, &is_over, &count, &host);
                scope.spawn(move || {
                    let mut heads = Vec::new();
                    while !is_over.load(Ordering::SeqCst) {
                        let key = format!("k{client}-{}", heads.len());
                        let call = ticks("main", host, 1).with("idempotency-key", &key);
                        let mut tries = client;
                        heads.push(loop {
                            tries += 1;
                            let origin = origins.lock().unwrap()[tries % 2].clone();
                            match call.send(&origin) {
                                Ok(answer) if [200, 201].contains(&answer.status) => break head(&answer),
                                Ok(answer) => assert_eq!(answer.status, 503, "{answer:?}"),
                                Err(_) => thread::sleep(Duration::from_millis(5)),
                            }
                        });
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                    heads
                })
            })
            .collect();
        let more = |wanted| {
            let target = count.load(Ordering::SeqCst) + wanted;
            while count.load(Ordering::SeqCst) < target {
                assert!(!threads.iter().any(thread::ScopedJoinHandle::is_finished), "a client ended");
                thread::sleep(Duration::from_millis(5));
            }
        };
        for place in [0, 1] {
            more(15);
            both[place].take().unwrap().kill();
            more(5);
            let again = services.start();
            origins.lock().unwrap()[place] = again.origin().to_owned();
            both[place] = Some(again);
        }
        more(15);
        server.kill();
        server.begin();
        more(15);
        is_over.store(true, Ordering::SeqCst);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let [Some(a), Some(b)] = both else { panic!("both run") };
    answered.sort_unstable();
    assert_eq!(answered, (1..=answered.len() as u64).collect::<Vec<_>>());
    for mut service in [a, b] {
        let view = Call::get("/v1/matches/a", &host).to(&service).is(200).json();
        assert_eq!(view["head"], answered.len());
        terminate(&service);
        assert_eq!(service.wait().code(), Some(0));
    }
    services.verify();
}

/// SV-28: a service without its database is not ready, even if no one plays, and recovers on its own.
#[test]
fn sv_28_a_service_is_ready_when_its_database_is() {
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let services = Services::new(&server, "ready");
    let service = services.start();
    let ready = || Call::get("/readyz", "").to(&service);
    let until = |status: u16| {
        let began = Instant::now();
        while ready().status != status {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", ready());
            thread::sleep(Duration::from_millis(100));
        }
        began.elapsed()
    };
    assert_eq!(ready().is(200).body, "ready\n");
    server.kill();
    assert!(until(503) < Duration::from_secs(5));
    let began = Instant::now();
    let unready = ready().problem(503, "store");
    assert!(began.elapsed() < Duration::from_secs(3), "a probe does not wait for long");
    assert!(unready.header("retry-after").is_some());
    Call::get("/healthz", "").to(&service).is(200);
    server.begin();
    until(200);
}

/// SV-18: a database that was restored and continued differently has another history. No stream of the former history
/// resumes on it.
#[test]
fn sv_18_a_stream_does_not_resume_on_a_database_that_was_set_back() {
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let services = Services::new(&server, "set_back");
    let ([a, b], host) = services.two();
    let follow = |after: &str, token: &str| Call::get(&main_of("a", &format!("events?after={after}")), token);
    ticks("main", &host, 2).to(&a).is(201);
    let early = Events::open(&b, &follow("0", &host)).next().unwrap();
    services.sandbox.ok(&format!("--store {} store backup early.tfb", services.url));
    ticks("main", &host, 2).to(&a).is(201);
    let late = Events::open(&b, &follow("2", &host)).next().unwrap();
    assert_eq!((early.id, late.id), (Some(2), Some(4)));
    services.sandbox.ok(&format!("store restore early.tfb {}", url(&server, "early")));
    server
        .sql("BEGIN; ALTER SCHEMA set_back RENAME TO former; ALTER SCHEMA early RENAME TO set_back; COMMIT");
    server.kill();
    server.begin();
    let c = services.start();
    let host = grant(&c, "a", &json!({"kind": "host"}));
    let other = json!({"commands": ["tick 3", "tick 4", "tick 5"]});
    assert_eq!(head(&Call::post(&main_of("a", "entries"), &host, &other).to(&c).is(201)), 5);
    for service in [&a, &b, &c] {
        follow(&format!("4-{}", late.mark), &host).to(service).problem(410, "gone");
        let resumed = Events::open(service, &follow(&format!("2-{}", early.mark), &host)).next().unwrap();
        assert_eq!(resumed.id, Some(5));
        assert_eq!(resumed.data["entries"][0]["command"], json!("tick 3"));
    }
    services.verify();
}

/// The database is down for longer than a request waits (FL-20).
#[test]
fn fl_20_a_service_whose_database_is_away_answers_when_to_come_again() {
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let services = Services::new(&server, "away");
    let service = services.start();
    let host = create(&service, "a", "hexcapture", &fixture("hexcapture", "small-world"));
    let play = || ticks("main", &host, 1).with("idempotency-key", "k").to(&service);
    server.kill();
    let answer = play().problem(503, "store");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    server.begin();
    assert_eq!(head(&play().is(201)), 1);
    assert_eq!(play().is(200).header("idempotency-replayed"), Some("true"));
    services.verify();
}
