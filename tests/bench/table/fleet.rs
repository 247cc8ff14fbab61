//! The store on PostgreSQL compared with a plain `INSERT` by `pgbench` on the same server, taking turns (FL-29).
//!
//! The bench starts its own server like the tests do. If the programs are missing, the section names them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use turnfold_core::Seat;
use turnfold_store::{BranchName, NewEntry, Store};

use crate::input::{Play, fixture};
use crate::measure::{Clock, take_turns, time};
use crate::pooler::Pooler;
use crate::postgres::Server;
use crate::report::{Rate, Table, Time, ratio};
use crate::service::{CONNECTIONS, Run, SETUP, Service, append_script, wrk, wrk_with_failures};
use crate::stores::match_name;
use crate::{Scale, row};

/// A way to append: the number of concurrent clients, the number of stores, and the target relative to the plain insert
/// with as many clients.
struct Workload {
    name: &'static str,
    clients: usize,
    stores: usize,
    raw_clients: usize,
    target: f64,
}

const WORKLOADS: [Workload; 3] = [
    Workload {
        name: "1 client, keyed appends of an entry",
        clients: 1,
        stores: 1,
        raw_clients: 1,
        target: 0.5,
    },
    Workload { name: "32 clients, a process each", clients: 32, stores: 32, raw_clients: 32, target: 0.6 },
    Workload {
        name: "256 clients of one process, 4 connections",
        clients: 256,
        stores: 1,
        raw_clients: 32,
        target: 2.0,
    },
];

/// The maximum size of a run of one entry with its indexes, in bytes.
const RUN_BYTES: u32 = 320;

/// The maximum size of the write-ahead log for each append, in bytes.
const WAL_BYTES: f64 = 400.0;

/// The number of runs of the match that is read, and the maximum time of that.
const READ_RUNS: u64 = 200;
const READ_TARGET: Duration = Duration::from_millis(2);

/// The minimum number of commands per second of the service.
const SERVICE_RATE: f64 = 8_000.0;

/// The numbers of services that append to one branch.
const SERVICES: [u32; 3] = [1, 2, 4];

/// The clients of a workload, each with a separate match.
struct Clients {
    stores: Vec<Store>,
    heads: Vec<AtomicU64>,
    first: u64,
}

impl Clients {
    fn new(server: &Server, workload: &Workload, first: u64, play: &Play) -> Self {
        let open = || Store::open_or_create_fleet(&server.schema("bench")).expect("the store opens");
        let stores: Vec<Store> = (0..workload.stores).map(|_| open()).collect();
        let store = stores.first().expect("there is one");
        for number in first..first + workload.clients as u64 {
            store.create_match(&match_name(number), &play.genesis(number), Vec::new()).expect("a new match");
        }
        Self { stores, heads: (0..workload.clients).map(|_| AtomicU64::new(0)).collect(), first }
    }

    /// Makes each client append for this time.
    fn append(&self, seconds: u64) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for ((number, head), store) in (self.first..).zip(&self.heads).zip(self.stores.iter().cycle()) {
                let is_over = &is_over;
                scope.spawn(move || {
                    let (name, main) = (match_name(number), BranchName::main());
                    while !is_over.load(Ordering::Relaxed) {
                        let expected = head.load(Ordering::Relaxed);
                        let key = format!("k{expected}").parse().expect("a key");
                        let appended = store.append(&name, &main, expected, vec![entry()], Some(&key));
                        head.store(appended.expect("it is appended").last, Ordering::Relaxed);
                    }
                });
            }
            thread::sleep(Duration::from_secs(seconds));
            is_over.store(true, Ordering::Relaxed);
        });
    }

    /// Returns how many entries were acknowledged.
    fn count(&self) -> u32 {
        let count: u64 = self.heads.iter().map(|head| head.load(Ordering::Relaxed)).sum();
        u32::try_from(count).expect("few appends")
    }

    fn require_all(&self) {
        let store = self.stores.first().expect("there is one");
        for (number, head) in (self.first..).zip(&self.heads) {
            let found = store.head(&match_name(number), &BranchName::main()).expect("the head reads");
            assert_eq!(found, head.load(Ordering::Relaxed), "everything acknowledged is there");
        }
    }
}

/// Returns an entry of about 40 bytes.
fn entry() -> NewEntry {
    NewEntry { seat: Seat::P1, command: vec![7; 24], recorded_at_ms: 1_700_000_000_000 }
}

/// The plain insert: a row with a primary key and the same number of bytes.
struct Raw<'a> {
    server: &'a Server,
    pgbench: String,
    script: std::path::PathBuf,
}

impl<'a> Raw<'a> {
    fn new(server: &'a Server, dir: &Path) -> Option<Self> {
        let programs = server.sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'");
        let pgbench = format!("{}/pgbench", programs.trim_end());
        fs::metadata(&pgbench).ok()?;
        server.sql("CREATE SCHEMA raw");
        server.sql(
            "CREATE TABLE raw.entry (client int, seq bigint GENERATED ALWAYS AS IDENTITY, body bytea NOT NULL, \
             PRIMARY KEY (client, seq))",
        );
        let script = dir.join("raw.sql");
        let insert = format!(
            "INSERT INTO raw.entry (client, body) VALUES (:client_id, '\\x{}'::bytea);\n",
            "07".repeat(40)
        );
        fs::write(&script, insert).expect("the script can be written");
        Some(Self { server, pgbench, script })
    }

    /// Inserts rows with this number of clients.
    fn run(&self, clients: usize, seconds: u64) -> RawRun {
        let output = Command::new(&self.pgbench)
            .args(["-n", "-M", "prepared", "-U", "tests", "postgres"])
            .args(["-c", &clients.to_string(), "-T", &seconds.to_string()])
            .arg("-f")
            .arg(&self.script)
            .arg("-h")
            .arg(&self.server.dir)
            .output()
            .expect("pgbench starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let found = |label: &str| -> f64 {
            let number =
                printed.lines().find_map(|line| line.strip_prefix(label)?.split(' ').next()?.parse().ok());
            number.unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&output.stderr)))
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
        let rows = found("number of transactions actually processed: ") as u32;
        RawRun { rate: Rate(found("tps = ")), rows }
    }
}

/// The result of a run of `pgbench`.
struct RawRun {
    rate: Rate,
    rows: u32,
}

/// Returns the median rate.
fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(|left, right| left.0.total_cmp(&right.0));
    rates.get(rates.len() / 2).copied().expect("there is a round at least")
}

/// Returns the measurements as a table. Without PostgreSQL, a line of the table names what is missing.
pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let mut rows = Vec::new();
    let server = Server::start("");
    match server.as_ref().and_then(|server| Raw::new(server, dir)) {
        None => rows.push(row!["not measured: there is no PostgreSQL with `pgbench`", "", "", "", ""]),
        Some(raw) => {
            let play = Play::simulate("hexcapture", &fixture("hexcapture", SETUP), 1, 100);
            appends(&raw, &play, scale, &mut rows);
            sizes(raw.server, &mut rows);
            read(raw.server, &play, scale, &mut rows);
            serve(raw.server, dir, scale, &mut rows);
        }
    }
    Table {
        title: "A store on PostgreSQL",
        about: "Appends of one entry of about 40 bytes with a key, each acknowledged once the server committed it, in turns with \
                `pgbench`, which inserts a row of as many bytes with a primary key, on the same server, over its socket, with \
                its usual settings but 32 MB of shared buffers. All of it shares the processors with the server."
            .to_owned(),
        columns: &["what", "turnfold", "plain `INSERT`", "relative to it", "target"],
        rows,
    }
}

fn appends(raw: &Raw<'_>, play: &Play, scale: Scale, rows: &mut Vec<Vec<String>>) {
    let mut first = 0;
    for workload in &WORKLOADS {
        let clients = Clients::new(raw.server, workload, first, play);
        first += workload.clients as u64;
        let seconds = scale.choose(1, 4);
        let mut ours = Vec::new();
        let mut theirs = Vec::new();
        let mut our_log = LogBytes::default();
        let mut their_log = LogBytes::default();
        for _ in 0..scale.disk_rounds() {
            let before = clients.count();
            let logged = log_position(raw.server);
            let took = time(|| clients.append(seconds));
            let appended = clients.count() - before;
            our_log.add(log_position(raw.server) - logged, appended);
            ours.push(Rate::of(appended, took));
            let logged = log_position(raw.server);
            let inserted = raw.run(workload.raw_clients, seconds);
            their_log.add(log_position(raw.server) - logged, inserted.rows);
            theirs.push(inserted.rate);
        }
        clients.require_all();
        let ours = median(ours);
        let theirs = median(theirs);
        rows.push(row![
            workload.name,
            ours,
            format!("{theirs}, {} clients", workload.raw_clients),
            ours.times(theirs),
            ours.at_least(workload.target * theirs.0),
        ]);
        // A group is one transaction, so only these clients show what an append alone takes.
        if workload.stores > 1 {
            let verdict = if our_log.each() <= WAL_BYTES { "met" } else { "**missed**" };
            rows.push(row![
                "bytes of the write-ahead log for each of those",
                format!("{:.0}", our_log.each()),
                format!("{:.0}", their_log.each()),
                ratio(our_log.each(), their_log.each()),
                format!("≤ {WAL_BYTES}: {verdict}"),
            ]);
        }
    }
}

/// Returns the number of bytes that the server has written to its log.
fn log_position(server: &Server) -> f64 {
    server.sql("SELECT pg_current_wal_insert_lsn() - '0/0'").trim_end().parse().expect("a number")
}

/// The size of rows in the log, over several rounds.
#[derive(Default)]
struct LogBytes {
    bytes: f64,
    rows: u32,
}

impl LogBytes {
    fn add(&mut self, bytes: f64, rows: u32) {
        self.bytes += bytes;
        self.rows += rows;
    }

    fn each(&self) -> f64 {
        self.bytes / f64::from(self.rows)
    }
}

/// Measures the size of a run of one entry with its indexes.
fn sizes(server: &Server, rows: &mut Vec<Vec<String>>) {
    let bytes = |table: &str| -> u32 {
        let size = format!("SELECT pg_total_relation_size('{table}') / greatest(count(*), 1) FROM {table}");
        server.sql(&size).trim_end().parse().expect("a number")
    };
    let (run, row) = (bytes("bench.run"), bytes("raw.entry"));
    let verdict = if run <= RUN_BYTES { "met" } else { "**missed**" };
    rows.push(row![
        "bytes of a run of one entry",
        run,
        row,
        ratio(f64::from(run), f64::from(row)),
        format!("≤ {RUN_BYTES}: {verdict}")
    ]);
}

fn read(server: &Server, play: &Play, scale: Scale, rows: &mut Vec<Vec<String>>) {
    let store = Store::open_fleet(&server.schema("bench")).expect("the store opens");
    let (name, main) = (match_name(90_000), BranchName::main());
    store.create_match(&name, &play.genesis(0), Vec::new()).expect("a new match");
    for head in 0..READ_RUNS {
        store.append(&name, &main, head, vec![entry()], None).expect("it is appended");
    }
    let mut read = || {
        let log = store.read(&name, &main, None).expect("the match reads");
        assert_eq!(log.entries.len() as u64, READ_RUNS);
    };
    let [times] = take_turns(Clock::Wall, 20 * scale.rounds(), [&mut read]);
    let took = Time(times.median());
    rows.push(row![format!("a match of {READ_RUNS} runs read"), took, "", "", took.at_most(READ_TARGET)]);
}

fn serve(server: &Server, dir: &Path, scale: Scale, rows: &mut Vec<Vec<String>>) {
    if Command::new("wrk").arg("-v").output().is_err() {
        rows.push(row!["`serve`: not measured, there is no `wrk`", "", "", "", ""]);
        return;
    }
    let service = Service::start_on(&dir.join("fleet-service"), &server.url("served"));
    let tokens: Vec<String> = (0..u64::from(CONNECTIONS)).map(|number| service.create(number)).collect();
    let script = append_script(dir, 0, &tokens);
    let seconds = scale.choose(1, 5);
    let rates = (0..scale.disk_rounds()).map(|_| wrk(&service, &script, CONNECTIONS, seconds).rate());
    let rate = median(rates.collect());
    rows.push(row![
        format!("`serve`: commands, {CONNECTIONS} connections"),
        rate,
        "",
        "",
        rate.at_least(SERVICE_RATE)
    ]);
    drop(service);
    two_services(server, dir, scale, rows);
    for services in SERVICES {
        one_branch(server, dir, scale, services, rows);
    }
}

/// Measures two services with a pooler, each with half of the connections and matches, as behind a proxy.
fn two_services(server: &Server, dir: &Path, scale: Scale, rows: &mut Vec<Vec<String>>) {
    let Some(pooler) = Pooler::start(server) else {
        rows.push(row!["two `serve`: not measured, there is no pgbouncer", "", "", "", ""]);
        return;
    };
    let half = CONNECTIONS / 2;
    let services = [0, 1].map(|number| {
        let service = Service::start_on(&dir.join(format!("pooled-{number}")), &pooler.url("pooled"));
        let first = number * half;
        let tokens: Vec<String> =
            (first..first + half).map(|number| service.create(u64::from(number))).collect();
        (append_script(dir, count_of(first), &tokens), service)
    });
    let run = || {
        thread::scope(|scope| {
            let runs = services.each_ref().map(|(script, service)| {
                scope.spawn(|| wrk(service, script, half, scale.choose(1, 5)).rate())
            });
            Rate(runs.into_iter().map(|run| run.join().expect("it is measured").0).sum())
        })
    };
    let rate = median((0..scale.disk_rounds()).map(|_| run()).collect());
    rows.push(row![
        format!("two `serve` through pgbouncer in session mode: commands, {CONNECTIONS} connections"),
        rate,
        "",
        "",
        ""
    ]);
}

/// Measures several services that append to the same branch, each with an equal part of the connections. The least share
/// of the commands shows whether one of them waits for the others.
fn one_branch(server: &Server, dir: &Path, scale: Scale, count: u32, rows: &mut Vec<Vec<String>>) {
    let schema = server.url(&format!("shared_{count}"));
    let start = |number: u32| Service::start_on(&dir.join(format!("shared-{count}-{number}")), &schema);
    let first = start(0);
    let token = first.create(0);
    let script = append_script(dir, 0, &[token]);
    let services: Vec<Service> = std::iter::once(first).chain((1..count).map(start)).collect();
    let connections = CONNECTIONS / count;
    let mut rates = Vec::new();
    let mut shares = Vec::new();
    let mut failed = 0.0;
    for _ in 0..scale.disk_rounds() {
        // The commands that the round before left waiting are done by then; a full queue would refuse the next ones.
        thread::sleep(Duration::from_secs(1));
        let runs: Vec<Run> = thread::scope(|scope| {
            let runs: Vec<_> = services
                .iter()
                .map(|service| {
                    scope.spawn(|| wrk_with_failures(service, &script, connections, scale.choose(1, 5)))
                })
                .collect();
            runs.into_iter().map(|run| run.join().expect("it is measured")).collect()
        });
        let all: f64 = runs.iter().map(|run| run.rate().0).sum();
        let least = runs.iter().map(|run| run.rate().0).fold(all, f64::min);
        failed += runs.iter().map(|run| run.failed).sum::<f64>();
        rates.push(Rate(all));
        shares.push(Rate(least / all * f64::from(count)));
    }
    let fair = median(shares).0;
    let named = if count == 1 { "one `serve`".to_owned() } else { format!("{count} `serve`") };
    rows.push(row![
        format!("{named}, one branch: commands, {CONNECTIONS} connections together"),
        median(rates),
        "",
        format!("least share {fair:.2} of an equal one"),
        if failed == 0.0 { "none failed".to_owned() } else { format!("**{failed} failed**") },
    ]);
}

fn count_of(number: u32) -> usize {
    usize::try_from(number).expect("few matches")
}
