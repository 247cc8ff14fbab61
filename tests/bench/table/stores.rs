//! Stores to measure: many short matches, or one long match.

use std::path::Path;
use std::thread;

use turnfold_store::{BranchName, MatchName, Store};

use crate::input::Play;

/// Writes a store of `matches` matches with `per_match` entries each.
pub(crate) fn write_many_matches(dir: &Path, play: &Play, matches: u64, per_match: usize) {
    let store = Store::open_or_create(dir).expect("a new store");
    let entries: Vec<_> = play.new_entries().into_iter().cycle().take(per_match).collect();
    assert!(per_match <= play.entries.len(), "the match is played to its end at most");
    let threads = 8;
    thread::scope(|scope| {
        for thread in 0..threads {
            let (store, entries) = (&store, &entries);
            scope.spawn(move || {
                for number in (thread..matches).step_by(8) {
                    let name = match_name(number);
                    store.create_match(&name, &play.genesis(number), Vec::new()).expect("a new match");
                    store.append(&name, &BranchName::main(), 0, entries.clone(), None).expect("appended");
                }
            });
        }
    });
    store.close().expect("the store closes");
}

/// Writes a store of one match with all entries of `play`.
pub(crate) fn write_one_match(dir: &Path, play: &Play, batch: usize) {
    let store = Store::open_or_create(dir).expect("a new store");
    let name = match_name(0);
    store.create_match(&name, &play.genesis(0), Vec::new()).expect("a new match");
    let mut head = 0;
    for entries in play.new_entries().chunks(batch) {
        let appended = store.append(&name, &BranchName::main(), head, entries.to_vec(), None);
        head = appended.expect("appended").last;
    }
    store.close().expect("the store closes");
}

pub(crate) fn match_name(number: u64) -> MatchName {
    format!("match-{number:05}").parse().expect("a proper name")
}
