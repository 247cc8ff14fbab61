//! The store on PostgreSQL compared with a plain `INSERT` by `pgbench` on the same server, taking turns (FL-29).
//!
//! The bench starts its own server like the tests do. If the programs are missing, the section names them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use turnfold_core::Seat;
use turnfold_store::{BranchName, NewEntry, Store};

use crate::input::{Play, fixture};
use crate::measure::{Clock, take_turns, time};
use crate::pooler::Pooler;
use crate::postgres::Server;
use crate::report::{Rate, Table, Time, count, ratio};
use crate::service::{CONNECTIONS, SETUP, Service, append_script, wrk};
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
    Workload { name: "32 clients, a process each", clients: 32, stores: 32, raw_clients: 32, target: 0.5 },
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

/// The number of runs of the match that is read, and the maximum time of that.
const READ_RUNS: u64 = 200;
const READ_TARGET: std::time::Duration = std::time::Duration::from_millis(2);

/// The minimum number of commands per second of the service.
const SERVICE_RATE: f64 = 6_000.0;

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

    /// Makes each client append this number of times.
    fn append(&self, times: u64) {
        thread::scope(|scope| {
            for ((number, head), store) in (self.first..).zip(&self.heads).zip(self.stores.iter().cycle()) {
                scope.spawn(move || {
                    let (name, main) = (match_name(number), BranchName::main());
                    for _ in 0..times {
                        let expected = head.load(Ordering::Relaxed);
                        let key = format!("k{expected}").parse().expect("a key");
                        let appended = store.append(&name, &main, expected, vec![entry()], Some(&key));
                        head.store(appended.expect("it is appended").last, Ordering::Relaxed);
                    }
                });
            }
        });
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

    /// Returns how many rows per second this number of clients inserts.
    fn rate(&self, clients: usize, seconds: u64) -> Rate {
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
        let rate =
            printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        Rate(rate.unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&output.stderr))))
    }
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
        let each = u64::from(scale.service_appends()).div_ceil(workload.clients.min(8) as u64);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..scale.disk_rounds() {
            let took = time(|| clients.append(each));
            ours.push(Rate::of(count(workload.clients) * u32::try_from(each).expect("few appends"), took));
            theirs.push(raw.rate(workload.raw_clients, scale.service_seconds()));
        }
        clients.require_all();
        let (ours, theirs) = (median(ours), median(theirs));
        rows.push(row![
            workload.name,
            ours,
            format!("{theirs}, {} clients", workload.raw_clients),
            ours.times(theirs),
            ours.at_least(workload.target * theirs.0),
        ]);
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
    let rates =
        (0..scale.disk_rounds()).map(|_| wrk(&service, &script, CONNECTIONS, scale.service_seconds()).rate());
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
                scope.spawn(|| wrk(service, script, half, scale.service_seconds()).rate())
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

fn count_of(number: u32) -> usize {
    usize::try_from(number).expect("few matches")
}
