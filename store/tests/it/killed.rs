//! Processes killed at any moment while eight threads append.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use turnfold_store::Store;

use crate::chance::Chance;
use crate::child::{self, SHARED, WRITERS};
use crate::game::{genesis, labels, name};

/// The number of killed processes, unless `TURNFOLD_KILLS` sets another.
const ROUNDS: usize = 40;

/// The rounds with one store. Each round makes the store larger and slower to read, so a new one is created after
/// these.
const ROUNDS_PER_STORE: usize = 20;

/// Creates a store with a match for each writer and one shared match.
pub(crate) fn make(dir: &Path) {
    let store = Store::open_or_create(dir).unwrap();
    for match_name in matches() {
        store.create_match(&name(&match_name), &genesis(), Vec::new()).unwrap();
    }
    store.close().unwrap();
}

fn matches() -> impl Iterator<Item = String> {
    (0..WRITERS).map(|writer| format!("w{writer}")).chain([SHARED.to_owned()])
}

/// Returns the last acknowledged entry of each match from the output of the child.
pub(crate) fn acknowledged<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<String, u64> {
    let acknowledged_lines = lines.filter_map(|line| {
        let (match_name, seq) = line.split_once("acknowledged ")?.1.split_once(' ')?;
        Some((match_name.to_owned(), seq.parse::<u64>().ok()?))
    });
    let mut last = BTreeMap::<String, u64>::new();
    for (match_name, seq) in acknowledged_lines {
        let known = last.entry(match_name).or_insert(seq);
        *known = seq.max(*known);
    }
    last
}

/// Requires everything acknowledged to be there, and only complete appends.
pub(crate) fn check(dir: &Path, acknowledged: &BTreeMap<String, u64>) {
    let store = Store::open(dir).unwrap();
    for match_name in matches() {
        let found = labels(&store, &match_name, "main");
        let head = found.len() as u64;
        assert_eq!(found, (1..=head).collect::<Vec<_>>(), "{match_name}");
        assert!(
            acknowledged.get(&match_name).is_none_or(|last| *last <= head),
            "{match_name} ends at {head}"
        );
        let mut whole = 0;
        while match_name != SHARED && whole < head {
            whole += if whole % 10 == 0 { 70 } else { 1 + whole % 3 };
        }
        assert!(match_name == SHARED || whole == head, "{match_name} ends within an append, at {head}");
    }
    store.close().unwrap();
}

#[test]
fn kill_9_under_eight_writers_loses_nothing_acknowledged() {
    let rounds = std::env::var("TURNFOLD_KILLS").map_or(ROUNDS, |count| count.parse().unwrap());
    let mut chance = Chance::new(9);
    let mut count = 0;
    for first in (0..rounds).step_by(ROUNDS_PER_STORE) {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("store");
        make(&dir);
        for _ in first..rounds.min(first + ROUNDS_PER_STORE) {
            let mut child = child::spawn("append", &dir);
            let mut output = BufReader::new(child.stdout.take().unwrap());
            let mut text = String::new();
            // Read a random number of whole lines, then kill the process; the rest is read afterwards.
            for _ in 0..chance.below(60) {
                output.read_line(&mut text).unwrap();
            }
            child.kill().unwrap();
            let mut rest = Vec::new();
            output.read_to_end(&mut rest).unwrap();
            text.push_str(&String::from_utf8_lossy(&rest));
            child.wait().unwrap();
            // A number without a line feed after it may be cut off.
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let acknowledged = acknowledged(whole.lines());
            count += acknowledged.len();
            check(&dir, &acknowledged);
        }
    }
    assert!(count > rounds, "the processes were killed before they did anything");
}
