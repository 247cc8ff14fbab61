//! Rescue: a backup, restore, compaction or salvage keeps everything, and names whatever it could not keep.

mod backup;
mod check;
mod compact;
mod indexes;
mod rig;
pub(crate) mod salvage;
mod while_written;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use turnfold_core::Seat;
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchName, GrantKind, MatchName, Store, Totals};

use crate::game::{branch, commands, genesis, name, opaque};
use crate::grants::{new, token};

/// Returns an observer that ignores progress.
pub(crate) fn unobserved() -> impl FnMut(Totals) {
    |_| {}
}

/// Fills a store with two matches, branches on branches, idempotency keys, pages and tails, renamed matches and
/// branches, grants, and things that are deleted again.
pub(crate) fn fill(store: &Store) {
    let (m, main, line, twig) = (name("m"), BranchName::main(), branch("line"), branch("twig"));
    store.create_match(&name("draft"), &genesis(), commands(66)).unwrap();
    store.rename_match(&name("draft"), &m).unwrap();
    store.grant(&token(1), new(GrantKind::Invitation(Seat::P1)), 0).unwrap();
    store.join(&token(1), &token(2), None, 0).unwrap();
    let side = branch("side");
    store.create_branch(&m, &side, &main, 65, Vec::new()).unwrap();
    store.append(&m, &side, 65, commands(67).split_off(65), Some(&"k".parse().unwrap())).unwrap();
    // Begins on `side`, but at an entry that `side` shares with `main`.
    store.create_branch(&m, &twig, &side, 10, Vec::new()).unwrap();
    store.rename_branch(&m, &side, &line).unwrap();
    store.append(&m, &twig, 10, commands(12).split_off(10), None).unwrap();
    store.append(&m, &twig, 12, commands(13).split_off(12), Some(&"l".parse().unwrap())).unwrap();
    store.create_branch(&m, &branch("gone"), &main, 5, Vec::new()).unwrap();
    store.append(&m, &branch("gone"), 5, commands(8).split_off(5), None).unwrap();
    store.delete_branch(&m, &branch("gone")).unwrap();
    store.create_match(&name("doomed"), &genesis(), commands(2)).unwrap();
    store.delete_match(&name("doomed")).unwrap();
    store.create_match(&name("empty"), &genesis(), Vec::new()).unwrap();
    store.create_branch(&name("empty"), &line, &main, 0, Vec::new()).unwrap();
}

pub(crate) fn sample() -> MemoryBackend {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    fill(&store);
    store.close().unwrap();
    backend
}

/// Returns everything that a store reports about its matches.
pub(crate) fn contents(store: &Store) -> String {
    let mut text = String::new();
    for info in store.matches().unwrap() {
        writeln!(text, "{info:?}").unwrap();
        for branch in store.branches(&info.name).unwrap() {
            let log = store.read(&info.name, &branch.name, None).unwrap();
            writeln!(text, "{branch:?} {:?}", log.entries).unwrap();
            for key in log.entries.iter().filter_map(|entry| entry.idempotency_key.as_ref()) {
                let found = store.find_idempotency_key(&info.name, &branch.name, key).unwrap();
                writeln!(text, "{key} {found:?}").unwrap();
            }
        }
        assert_eq!(store.audit(&info.name).unwrap().damage, []);
    }
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    text
}

/// Returns the sorted names in a directory.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn matches_are_read_from_any_name_on_and_missing_ones_are_noticed_at_the_end() {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    // More matches than are read at a time.
    for number in 0..600 {
        store.create_match(&name(&format!("m{number:03}")), &genesis(), vec![opaque(1)]).unwrap();
    }
    let names = |after: Option<&MatchName>, limit| -> Vec<String> {
        let matches = store.matches_after(after).unwrap().take(limit);
        matches.map(|info| info.map(|info| info.name.to_string()).unwrap()).collect()
    };
    assert_eq!(names(None, 1000), (0..600).map(|number| format!("m{number:03}")).collect::<Vec<_>>());
    assert_eq!(names(Some(&name("m255")), 2), ["m256", "m257"]);
    assert_eq!(names(Some(&name("m2555")), 1), ["m256"]);
    assert_eq!(names(Some(&name("m599")), 1), [""; 0]);
    backend.tamper(b"mm300", None);
    let last = store.matches_after(None).unwrap().last().unwrap().unwrap_err().to_string();
    assert!(last.contains("it should hold 600 matches"), "{last}");
    assert_eq!(store.matches_after(None).unwrap().flatten().count(), 599);
}
