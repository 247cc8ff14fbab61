//! The store: reading with every check, durable appends compared with other stores, and the cost of many matches.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchName, NewEntry, Store, StoreError, StoreReader};

use crate::input::{Play, fixture};
use crate::measure::{Clock, fastest_of, take_turns, time};
use crate::peers::{Fjall, Redb};
use crate::report::{Rate, Table, Time, count, growth};
use crate::rivals::{CLIENTS, Log, PlainFile, Sled, Sqlite, Turnfold, bytes_in};
use crate::stores::{match_name, write_many_matches, write_one_match};
use crate::{Scale, row};

/// A way to append: the number of concurrent clients, the appends of each, and the entries of an append.
struct Workload {
    name: &'static str,
    clients: usize,
    appends: usize,
    batch: usize,
}

impl Workload {
    fn entries(&self) -> u32 {
        count(self.clients * self.appends * self.batch)
    }

    fn run(&self, log: &dyn Log, entries: &[NewEntry]) {
        let batch = entries.get(..self.batch).expect("a batch is shorter than the play");
        thread::scope(|scope| {
            for client in 0..self.clients {
                scope.spawn(move || (0..self.appends).for_each(|_| log.append(client, batch)));
            }
        });
    }
}

/// Measures appends in different ways to different logs, which take turns.
pub(crate) fn appends(dir: &Path, scale: Scale) -> Table {
    let play = Play::simulate("cycletap", &fixture("cycletap", "ford"), 1, 1_000);
    let entries = play.new_entries();
    let [few, many, shared] = scale.choose([50, 20, 20], [300, 100, 100]);
    let workloads = [
        Workload { name: "one at a time", clients: 1, appends: few, batch: 1 },
        Workload { name: "batches of 100", clients: 1, appends: many, batch: 100 },
        Workload { name: "8 threads, one at a time", clients: CLIENTS, appends: shared, batch: 1 },
    ];
    let logs: [Box<dyn Log>; 6] = [
        Box::new(Turnfold::new(&dir.join("append-turnfold"), &play)),
        Box::new(Sled::new(&dir.join("append-sled"))),
        Box::new(Redb::new(&dir.join("append-redb"))),
        Box::new(Fjall::new(&dir.join("append-fjall"))),
        Box::new(Sqlite::new(&dir.join("append-sqlite"))),
        Box::new(PlainFile::new(&dir.join("append-file"))),
    ];
    let mut rows = Vec::new();
    let mut expected = 0;
    for workload in &workloads {
        let mut runs = logs.each_ref().map(|log| || workload.run(log.as_ref(), &entries));
        let rounds = scale.disk_rounds();
        let times = take_turns(Clock::Wall, rounds, runs.each_mut().map(|run| -> &mut dyn FnMut() { run }));
        expected += workload.entries() * count(rounds);
        for log in &logs {
            assert_eq!(log.entries(), expected, "everything acknowledged is there");
        }
        let [turnfold, others @ ..] = times.map(|times| Rate::of(workload.entries(), times.median()));
        let others = others.map(|other| format!("{other} ({})", turnfold.times(other)));
        rows.push([row![workload.name, turnfold], others.to_vec()].concat());
    }
    let bytes = logs.map(|log| format!("{} bytes an entry", log.close() / u64::from(expected)));
    rows.push([row!["on disk afterwards"], bytes.to_vec()].concat());
    Table {
        title: "Durable appends",
        about: "Entries a second, each acknowledged after it was synced; in brackets how many times as fast the store is. \
                sled runs in the store's process, so its flushes reach `fdatasync` too; redb commits a \
                transaction, fjall a batch with `SyncData`, and SQLite keeps a write-ahead log with `synchronous=FULL`; the bare file is appended to under a lock and synced, with neither order nor \
                index; but its length changes with every append, which a sync has to record too. What was appended is counted again in every log."
            .to_owned(),
        columns: &["workload", "turnfold", "raw sled", "redb", "fjall", "SQLite", "bare file"],
        rows,
    }
}

/// Measures how other stores read as many entries as a long match has, after appends in batches.
fn scans_of_others(dir: &Path, play: &Play, turnfold: Rate, scale: Scale) -> Vec<Vec<String>> {
    type Open = fn(&Path) -> Box<dyn Log>;
    let others: [(&str, Open); 4] = [
        ("raw sled", |dir| Box::new(Sled::new(dir))),
        ("redb", |dir| Box::new(Redb::new(dir))),
        ("fjall", |dir| Box::new(Fjall::new(dir))),
        ("SQLite", |dir| Box::new(Sqlite::new(dir))),
    ];
    let (new_entries, entries) = (play.new_entries(), count(play.entries.len()));
    let row = |(name, open): (&str, Open)| {
        let log = open(&dir.join(format!("scan-{name}")));
        new_entries.chunks(10_000).for_each(|batch| log.append(0, batch));
        let took = fastest_of(Clock::Thread, scale.rounds(), || assert_eq!(log.entries(), entries));
        let rate = Rate::of(entries, took);
        let compared = format!("turnfold {}", turnfold.times(rate));
        row![format!("{name}, as many"), Time(took), rate, compared, log.close() / u64::from(entries), ""]
    };
    others.map(row).to_vec()
}

/// Measures reading a long match with every check.
pub(crate) fn scans(dir: &Path, scale: Scale) -> Table {
    let play = Play::simulate("initiative", &fixture("initiative", "small-board"), 1, scale.long_match());
    let mut results = Vec::new();
    let mut bytes = 0;
    for part in [100, 10, 1] {
        let mut play = play.clone();
        play.entries.truncate(play.entries.len() / part);
        let dir = dir.join(format!("scan-{part}"));
        write_one_match(&dir, &play, 10_000);
        bytes = bytes_in(&dir);
        let store = Store::open(&dir).expect("the store opens");
        let entries = count(play.entries.len());
        let took = fastest_of(Clock::Thread, scale.rounds(), || {
            let read = store.entries(&match_name(0), &BranchName::main(), 1..=u64::from(entries));
            let read = read.expect("the log reads").map(|entry| entry.expect("the entry reads").seq);
            assert_eq!(read.max(), Some(u64::from(entries)));
        });
        results.push((entries, took));
    }
    let [small, medium, large] = <[_; 3]>::try_from(results).expect("three sizes");
    let rate = Rate::of(large.0, large.1);
    let mut rows = vec![row![
        format!("one match, {} entries", large.0),
        Time(large.1),
        rate,
        rate.at_least(1e6),
        bytes / u64::from(large.0),
        format!("{} {}", growth(small, medium), growth(small, large)),
    ]];
    rows.extend(scans_of_others(dir, &play, rate, scale));
    Table {
        title: "Reading the log",
        about: "All entries of one match from disk: pages checked, entries decoded strictly, every link of the chain \
                computed. Others hand out their records in order, right after writing them, from whatever they cache; \
                nothing is decoded or checked."
            .to_owned(),
        columns: &["input", "time", "rate", "target", "bytes an entry on disk", "growth at 10× and 100×"],
        rows,
    }
}

/// Measures the time and memory to open stores of many matches.
pub(crate) fn sizes(dir: &Path, scale: Scale) -> Table {
    let play = Play::simulate("cycletap", &fixture("cycletap", "ford"), 1, 500);
    let mut rows = Vec::new();
    for (matches, per_match) in scale.choose([(500, 100), (500, 500)], [(10_000, 100), (10_000, 500)]) {
        let name = format!("size-{matches}-{per_match}");
        let dir = dir.join(name);
        let wrote = time(|| write_many_matches(&dir, &play, matches, per_match));
        let entries = matches * per_match as u64;
        let least = |how| {
            let opened: Vec<Opened> = (0..scale.rounds()).map(|_| open_elsewhere(how, &dir)).collect();
            let took = opened.iter().map(|opened| opened.took).min().expect("there is a round at least");
            let memory_kib = opened.iter().map(|opened| opened.memory_kib).min();
            Opened { took, memory_kib: memory_kib.expect("there is a round at least") }
        };
        let (read, Opened { took, memory_kib: memory }) = (least(READ), least(OPEN));
        rows.push(row![
            format!("{entries} entries, {matches} matches"),
            Time(wrote),
            bytes_in(&dir) / entries,
            Time(read.took),
            Time(read.took).at_most(READ_TARGET),
            Time(took),
            format!("{} MiB", memory / 1024),
            format!("{} bytes", memory * 1024 / entries),
        ]);
    }
    Table {
        title: "Stores of many matches",
        about: "Written by 8 threads, two commits for each match. Opened in a process of its own, for \
                reading and for writing, which lets sled in too; memory is what is resident once it is open for \
                writing and the head of one match has been read."
            .to_owned(),
        columns: &[
            "store",
            "written in",
            "bytes an entry on disk",
            "open for reading",
            "target",
            "for writing",
            "memory",
            "memory an entry",
        ],
        rows,
    }
}

struct Opened {
    took: Duration,
    memory_kib: u64,
}

/// The first argument of a process that opens the store named by the second, for writing or for reading, and prints the
/// time and memory.
const OPEN: &str = "--open";
const READ: &str = "--open-for-reading";

/// The maximum time to open a store for reading.
const READ_TARGET: Duration = Duration::from_millis(25);

fn open_elsewhere(how: &str, dir: &Path) -> Opened {
    let program = std::env::current_exe().expect("the program has a path");
    let output = Command::new(program).arg(how).arg(dir).output().expect("the program starts again");
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut numbers = printed.split_whitespace().map(|word| word.parse().expect("a number"));
    let mut next = || numbers.next().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    Opened { took: Duration::from_micros(next()), memory_kib: next() }
}

/// Opens a store if the arguments of this process ask for that.
pub(crate) fn opened_here(args: &[String]) -> Option<String> {
    let [how, dir] = args else { return None };
    let dir = Path::new(dir);
    match how.as_str() {
        OPEN => Some(open_here(|| Store::open(dir))),
        READ => Some(open_here(|| StoreReader::open(dir).map(Box::new))),
        _ => None,
    }
}

/// Opens a store, and returns the time in microseconds and the memory in KiB.
fn open_here<Opened: Deref<Target = StoreReader>>(
    open: impl FnOnce() -> Result<Opened, StoreError>,
) -> String {
    let mut store = None;
    let took = time(|| store = Some(open().expect("the store opens")));
    let head = store.as_ref().map(|store| store.head(&match_name(0), &BranchName::main()));
    assert!(head.is_some_and(|head| head.is_ok_and(|head| head > 0)), "the match is there");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = resident.and_then(|text| text.split_whitespace().next()).unwrap_or("0");
    format!("{} {kib}", took.as_micros())
}
