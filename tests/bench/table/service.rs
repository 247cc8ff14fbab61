//! The service (SV-39): commands and views per second over HTTP, compared with only the store, and the cost of many
//! matches and streams.
//!
//! The client is `wrk`, a Debian package. If it is missing, the section names it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use turnfold_store::{BranchName, NewEntry, Store};

use crate::input::{Play, fixture};
use crate::measure::time;
use crate::process::Turnfold;
use crate::report::{Rate, Table, ratio};
use crate::stores::match_name;
use crate::{Scale, row};

/// The number of clients, each of which always has a request pending, and of their matches.
pub(crate) const CONNECTIONS: u32 = 64;

/// A setup in which time can pass forever.
pub(crate) const SETUP: &str = "small-world";

/// How many streams a spectator token may have.
const STREAMS_OF_TOKEN: usize = 1_000;

/// The service in a separate process.
pub(crate) struct Service {
    process: Child,
    address: String,
    admin: String,
}

impl Service {
    fn start(dir: &Path) -> Self {
        Self::start_on(dir, ".turnfold")
    }

    /// Serves a store.
    pub(crate) fn start_on(dir: &Path, store: &str) -> Self {
        fs::create_dir_all(dir).expect("the folder can be made");
        let serve = ["--store", store, "serve", "--listen", "127.0.0.1:0", "--admin-token", "admin.token"];
        let mut command = Turnfold { dir }.command(&serve);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the service starts");
        let mut address = String::new();
        let stdout = process.stdout.take().expect("its output is read");
        BufReader::new(stdout).read_line(&mut address).expect("it prints its address");
        let address = address.trim_end().trim_start_matches("http://").to_owned();
        let admin =
            fs::read_to_string(dir.join("admin.token")).expect("the token was made").trim_end().into();
        Self { process, address, admin }
    }

    /// Sends a request, and returns the body of the response.
    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: bench\r\nconnection: close\r\nauthorization: bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        assert!(head.starts_with("HTTP/1.1 20"), "{method} {path}: {answer}");
        body.to_owned()
    }

    /// Creates a match, and returns the token of its host.
    pub(crate) fn create(&self, number: u64) -> String {
        let setup = fixture("hexcapture", SETUP);
        let body = serde_json::json!({
            "name": match_name(number).to_string(), "ruleset": "hexcapture", "setup": setup, "dice": "recorded",
        });
        token_in(&self.ask("POST", "/v1/matches", &self.admin, &body.to_string()))
    }

    /// Returns the current or peak resident memory, in KiB.
    fn memory_kib(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn token_in(answer: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(answer).expect("the answer is JSON");
    let token = answer.get("token").and_then(serde_json::Value::as_str);
    token.expect("it answers with a token").to_owned()
}

/// The results of a run of `wrk`.
pub(crate) struct Run {
    /// The requests that were answered with success.
    requests: u32,
    seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// The others.
    pub(crate) failed: f64,
}

impl Run {
    pub(crate) fn rate(&self) -> Rate {
        Rate::of(self.requests, Duration::from_secs_f64(self.seconds))
    }
}

/// Writes a script that sends one request after another, each to the next match, beginning with the match of the first
/// token.
fn write_script(path: &Path, first: usize, tokens: &[String], request: &str) {
    let mut script = String::from("local tokens = {\n");
    for token in tokens {
        writeln!(script, "  '{token}',").expect("writing to a string cannot fail");
    }
    script.push_str("}\nlocal at, count = 0, 0\nfunction request()\n  at = at % #tokens + 1\n");
    let line = "  local line = '/v1/matches/match-' .. string.format('%05d', at - 1";
    writeln!(script, "{line} + {first}) .. '/branches/main'").expect("writing to a string cannot fail");
    script.push_str("  local headers = { Authorization = 'Bearer ' .. tokens[at], ['Content-Type'] = 'application/json' }\n");
    writeln!(script, "  {request}\nend").expect("writing to a string cannot fail");
    script.push_str(
        "function done(summary, latency)\n  local bad = summary.errors\n  io.write(string.format('found %d %d %d %d %d\\n', \
         summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), \
         bad.connect + bad.read + bad.write + bad.status + bad.timeout))\nend\n",
    );
    fs::write(path, script).expect("the script can be written");
}

/// Writes the script that appends.
pub(crate) fn append_script(dir: &Path, first: usize, tokens: &[String]) -> PathBuf {
    let script = dir.join(format!("append-{first}.lua"));
    let append = r#"return wrk.format('POST', line .. '/entries', headers, '{"commands":["host: tick 1"]}')"#;
    write_script(&script, first, tokens, append);
    script
}

/// Runs `wrk`, and requires every request to succeed.
pub(crate) fn wrk(service: &Service, script: &Path, connections: u32, seconds: u64) -> Run {
    let run = wrk_with_failures(service, script, connections, seconds);
    assert!(run.failed == 0.0, "{} requests failed", run.failed);
    run
}

pub(crate) fn wrk_with_failures(service: &Service, script: &Path, connections: u32, seconds: u64) -> Run {
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s"), "-s"])
        .arg(script)
        .arg(format!("http://{}", service.address))
        .output()
        .expect("wrk starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line =
        printed.lines().find_map(|line| line.strip_prefix("found ")).unwrap_or_else(|| panic!("{printed}"));
    let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
    let [requests, micros, p50, p99, failed] = numbers[..] else { panic!("{printed}") };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of requests")]
    let requests = (requests - failed).max(0.0) as u32;
    Run { requests, seconds: micros / 1e6, p50_ms: p50 / 1e3, p99_ms: p99 / 1e3, failed }
}

/// Appends one entry at a time to a store, with as many matches and threads as the service has.
fn store_alone(dir: &Path, play: &Play, appends: u32) -> Rate {
    let store = Store::open_or_create(dir).expect("the store opens");
    for number in 0..u64::from(CONNECTIONS) {
        store
            .create_match(&match_name(number), &play.genesis(number), Vec::new())
            .expect("the match is made");
    }
    let entries: Vec<NewEntry> = play.new_entries();
    let entry = entries.first().expect("the play has an entry");
    let took = time(|| {
        thread::scope(|scope| {
            for client in 0..u64::from(CONNECTIONS) {
                let (store, entry) = (&store, entry.clone());
                scope.spawn(move || {
                    for head in 0..u64::from(appends) {
                        let appended = store.append(
                            &match_name(client),
                            &BranchName::main(),
                            head,
                            vec![entry.clone()],
                            None,
                        );
                        appended.expect("it is appended");
                    }
                });
            }
        });
    });
    Rate::of(CONNECTIONS * appends, took)
}

/// Returns the measurements as a table. Without `wrk`, a line of the table names it.
pub(crate) fn service(dir: &Path, scale: Scale) -> Table {
    let mut rows = Vec::new();
    if Command::new("wrk").arg("-v").output().is_err() {
        rows.push(row!["not measured: there is no `wrk`", "", "", "", ""]);
        return table(rows);
    }
    rates(dir, scale, &mut rows);
    many_matches(dir, scale, &mut rows);
    memory(dir, scale, &mut rows);
    table(rows)
}

fn table(rows: Vec<Vec<String>>) -> Table {
    Table {
        title: "Service",
        about: "`turnfold serve` under `wrk` with one thread, which takes a part of the same processors. 64 connections play \
                64 matches, one `tick 1` a request with the tokens of their hosts, each answered once it was synced; in turns \
                with `Store::append` from 64 threads on a store alone, without rules, states or HTTP. Commands with a key \
                of their own ask the store before they are judged; of the rounds the one with the median p50 is shown."
            .to_owned(),
        columns: &["what", "rate", "p50, p99", "target", "relative to the store alone"],
        rows,
    }
}

fn rates(dir: &Path, scale: Scale, rows: &mut Vec<Vec<String>>) {
    let service = Service::start(&dir.join("service"));
    let tokens: Vec<String> = (0..u64::from(CONNECTIONS)).map(|number| service.create(number)).collect();
    let (appends, views) = (append_script(dir, 0, &tokens), dir.join("view.lua"));
    write_script(&views, 0, &tokens, "return wrk.format('GET', line .. '/view', headers)");
    let play = Play::simulate("hexcapture", &fixture("hexcapture", SETUP), 1, 100);
    let seconds = scale.service_seconds();
    for round in 0..scale.disk_rounds() {
        let run = wrk(&service, &appends, CONNECTIONS, seconds);
        let alone = store_alone(&dir.join(format!("alone-{round}")), &play, scale.service_appends());
        rows.push(row![
            format!("commands, 64 connections, round {}", round + 1),
            run.rate(),
            format!("{:.1} ms, {:.1} ms", run.p50_ms, run.p99_ms),
            run.rate().at_least(10_000.0),
            format!("{} of {alone}", run.rate().times(alone)),
        ]);
    }
    let run = wrk(&service, &appends, 8, seconds);
    rows.push(row![
        "commands, 8 connections",
        run.rate(),
        format!("{:.1} ms, {:.1} ms", run.p50_ms, run.p99_ms),
        "",
        ""
    ]);
    let run = wrk(&service, &views, CONNECTIONS, seconds);
    rows.push(row![
        "`GET view`, 64 connections",
        run.rate(),
        format!("{:.1} ms, {:.1} ms", run.p50_ms, run.p99_ms),
        run.rate().at_least(30_000.0),
        format!("{} MiB at most", service.memory_kib("VmHWM:") / 1024),
    ]);
}

/// Measures appends with idempotency keys, each of which reads the store, in services with few and with many matches.
fn many_matches(dir: &Path, scale: Scale, rows: &mut Vec<Vec<String>>) {
    let many = scale.choose(500, 10_000);
    let mut held = [u64::from(CONNECTIONS), many].map(|matches| {
        let dir = dir.join(format!("holds-{matches}"));
        let service = Service::start(&dir);
        let tokens: Vec<String> = (0..matches).map(|number| service.create(number)).collect();
        let script = dir.join("keyed.lua");
        let keyed = "headers['Idempotency-Key'] = 'k' .. count; count = count + 1\n  \
                     return wrk.format('POST', line .. '/entries', headers, '{\"commands\":[\"host: tick 1\"]}')";
        write_script(&script, 0, &tokens, keyed);
        (matches, service, script, Vec::new())
    });
    for _ in 0..scale.rounds() {
        for (_, service, script, runs) in &mut held {
            runs.push(wrk(service, script, CONNECTIONS, scale.service_seconds()));
        }
    }
    let mut base_ms = None;
    for (matches, _, _, mut runs) in held {
        runs.sort_by(|one, other| one.p50_ms.total_cmp(&other.p50_ms));
        let run = runs.swap_remove(runs.len() / 2);
        let base_ms = *base_ms.get_or_insert(run.p50_ms);
        let target = if run.p50_ms <= 1.3 * base_ms { "met" } else { "**missed**" };
        rows.push(row![
            format!("commands with keys, 64 connections, {matches} matches in turn"),
            run.rate(),
            format!("{:.1} ms, {:.1} ms", run.p50_ms, run.p99_ms),
            if matches == many { format!("p50 ≤ 1.3×: {target}") } else { String::new() },
            if matches == many {
                format!("p50 {} of that with {CONNECTIONS} matches", ratio(run.p50_ms, base_ms))
            } else {
                String::new()
            },
        ]);
    }
}

fn memory(dir: &Path, scale: Scale, rows: &mut Vec<Vec<String>>) {
    let service = Service::start(&dir.join("memory"));
    let host = service.create(0);
    let empty = service.memory_kib("VmRSS:");
    let streams = open_streams(&service, &host, scale.choose(500, 10_000));
    let open = service.memory_kib("VmRSS:");
    rows.push(row![
        format!("{} streams of one branch", streams.len()),
        format!("{} MiB", open / 1024),
        format!("{} bytes each", (open.saturating_sub(empty)) * 1024 / streams.len().max(1) as u64),
        "",
        ""
    ]);
    drop(streams);
    let before = service.memory_kib("VmRSS:");
    let matches = scale.choose(500, 10_000);
    for number in 1..=matches {
        let token = service.create(number);
        service.ask("GET", &format!("/v1/matches/{}/branches/main/view", match_name(number)), &token, "");
    }
    let after = service.memory_kib("VmRSS:");
    rows.push(row![
        format!("{matches} matches in memory"),
        format!("{} MiB", after / 1024),
        format!("{} bytes each", after.saturating_sub(before) * 1024 / matches),
        "",
        ""
    ]);
}

/// Opens streams, and reads the beginning of each.
fn open_streams(service: &Service, host: &str, wanted: usize) -> Vec<TcpStream> {
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
    let grants = format!("/v1/matches/{}/grants", match_name(0));
    let mut streams = Vec::new();
    while streams.len() < wanted {
        let token = token_in(&service.ask("POST", &grants, host, r#"{"kind":"spectator"}"#));
        for _ in 0..STREAMS_OF_TOKEN.min(wanted - streams.len()) {
            let mut stream = TcpStream::connect(&service.address).expect("it listens");
            let path = format!("/v1/matches/{}/branches/main/events", match_name(0));
            write!(stream, "GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: bearer {token}\r\n\r\n")
                .expect("it reads");
            let mut beginning = [0; 64];
            assert!(stream.read(&mut beginning).expect("it answers") > 0);
            assert!(beginning.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&beginning));
            streams.push(stream);
        }
    }
    streams
}
