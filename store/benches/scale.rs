//! A large store: the time to open it, its use of memory and disk, and whether the time to read one match depends on
//! the number of other matches.
//!
//! `cargo bench -p turnfold-store --bench scale -- 5000000 10000` creates a store with these numbers of entries and
//! matches, and another with a hundredth of each.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "it ends where it fails, and prints what it measures"
)]
#![expect(clippy::disallowed_methods, reason = "it measures times")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use turnfold_core::{DicePolicy, Seat};
use turnfold_store::{BranchName, Genesis, MatchName, NewEntry, Store};

const WRITERS: u64 = 8;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if let [task, dir, matches] = arguments.as_slice()
        && task == "read"
    {
        return read(Path::new(dir), matches.parse().unwrap());
    }
    let mut numbers = arguments.iter().map(|argument| argument.parse::<u64>().unwrap());
    let (entries, matches) = (numbers.next().unwrap_or(500_000), numbers.next().unwrap_or(1_000));
    for divisor in [100, 1] {
        measure(entries / divisor, (matches / divisor).max(1));
    }
}

fn measure(entries: u64, matches: u64) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    let ((), made) = timed(|| make(&dir, entries, matches));
    let bytes = size(&dir);
    println!("{entries} entries in {matches} matches: made in {made:.1?}, {} MB", bytes / 1_000_000);
    println!("  {} bytes an entry on disk", bytes / entries.max(1));
    // A separate process has not touched the store before.
    let mut reader = Command::new(std::env::current_exe().unwrap());
    assert!(reader.arg("read").arg(&dir).arg(matches.to_string()).status().unwrap().success());
}

fn make(dir: &Path, entries: u64, matches: u64) {
    let store = Store::open_or_create(dir).unwrap();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                for number in (writer..matches).step_by(usize::try_from(WRITERS).unwrap()) {
                    let own = (0..entries / matches).map(|seq| entry(number, seq)).collect();
                    store.create_match(&name(number), &genesis(number), own).unwrap();
                }
            });
        }
    });
    store.close().unwrap();
}

/// Opens a store and reads a few matches, and prints the time and memory of each step.
fn read(dir: &Path, matches: u64) {
    let (store, opened) = timed(|| Store::open(dir).unwrap());
    println!("  opened in {opened:.1?}, {} MB at most in memory", peak_memory_kb() / 1000);
    let main = BranchName::main();
    let (log, first) = timed(|| store.read(&name(matches / 2), &main, None).unwrap());
    let ((), others) = timed(|| {
        (0..10).for_each(|number| drop(store.read(&name(matches / 11 * number), &main, None).unwrap()));
    });
    println!(
        "  one match of {} entries read in {first:.1?}, each of ten others in {:.1?}",
        log.head,
        others / 10
    );
    let ((), appended) = timed(|| {
        store.append(&name(matches / 3), &main, log.head, vec![entry(0, log.head)], None).unwrap();
    });
    println!("  one entry appended in {appended:.1?}, {} MB at most in memory", peak_memory_kb() / 1000);
    let (found, listed) = timed(|| store.matches().unwrap().len());
    println!("  {found} matches listed in {listed:.1?}, {} MB at most in memory", peak_memory_kb() / 1000);
    let ((), closed) = timed(|| store.close().unwrap());
    println!("  closed in {closed:.1?}");
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Returns the peak memory of this process in kB, or 0 if Linux does not report it.
fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn size(dir: &Path) -> u64 {
    let sizes = fs::read_dir(dir).unwrap().map(|file| {
        let file = file.unwrap();
        if file.file_type().unwrap().is_dir() { size(&file.path()) } else { file.metadata().unwrap().len() }
    });
    sizes.sum()
}

fn name(number: u64) -> MatchName {
    format!("match-{number}").parse().unwrap()
}

fn genesis(number: u64) -> Genesis {
    Genesis {
        format: Genesis::FORMAT,
        ruleset: "none".to_owned(),
        ruleset_version: 1,
        setup: vec![7; 200],
        dice: DicePolicy::Recorded,
        match_id: u128::from(number).to_le_bytes(),
        title: "A match among many".to_owned(),
        created_at_ms: 1_700_000_000_000,
        module: None,
        played_by: None,
        origins: Vec::new(),
    }
}

fn entry(number: u64, seq: u64) -> NewEntry {
    let command = [&[3][..], &(number ^ seq).to_le_bytes()[..5]].concat();
    NewEntry { seat: Seat::P1, command, recorded_at_ms: 1_700_000_000_000 + seq.cast_signed() }
}
