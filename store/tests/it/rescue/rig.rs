//! Random sessions and random damage: everything acknowledged is saved, or the salvage lists it as lost.
//!
//! `TURNFOLD_SALVAGE=N` tries N times as many damages, and prints the results.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use turnfold_store::{BranchName, LostEntries, MatchName, RescueError, Salvage, Store, StoreOptions};

use super::salvage::{Branches, branches, salvage};
use super::unobserved;
use crate::chance::Chance;
use crate::disk::copy_dir;
use crate::game::{commands, genesis, name, opaque};

/// The number of sessions, and the number of damages for each.
const HISTORIES: u64 = 4;
const DAMAGES: u64 = 5;

type EntryRef = (MatchName, BranchName);

/// What was acknowledged, and the names that are no longer in use.
struct History {
    held: Branches,
    gone: Vec<(String, String)>,
}

/// The results of salvages.
#[derive(Debug, Default)]
struct Figures {
    cases: u64,
    /// Everything was saved, and nothing is listed as lost.
    whole: u64,
    /// Everything was saved, but damage is listed: the index had what the journal lacks.
    whole_with_a_warning: u64,
    /// Every incomplete branch is named.
    named: u64,
    /// Some losses are listed without names, because no record of the names is left.
    counted: u64,
    nothing: u64,
}

/// The match created last in a store that is not closed. Damage to the last commit looks like a torn write, so this
/// match does not count.
const LAST: &str = "last";

/// Fills a store at random, closing and reopening it in between. `older/` becomes a copy of an earlier `sled/`. In the
/// end the store is closed or, if `is_left`, left as by a killed process.
fn play(dir: &Path, older: &Path, is_left: bool, chance: &mut Chance) -> History {
    let mut gone = Vec::new();
    let mut open: BTreeMap<EntryRef, u64> = BTreeMap::new();
    let open_store = |dir: &Path| StoreOptions::new().create().head_bytes(16 * 1024).open(dir).unwrap();
    let mut store = open_store(dir);
    let steps = 40;
    for step in 0..steps {
        if step + 1 == steps && !is_left || chance.below(7) == 0 {
            store.close().unwrap();
            let _ = fs::remove_dir_all(older);
            copy_dir(&dir.join("sled"), older);
            store = open_store(dir);
        }
        let places: Vec<_> = open.iter().map(|(place, head)| (place.clone(), *head)).collect();
        let ((on, from), head) = match places.get(chance.below(places.len().max(1))) {
            Some(place) if places.len() < 3 || chance.below(8) > 0 => place.clone(),
            _ => {
                let new = name(&format!("m{step}"));
                let count = chance.below(80);
                store.create_match(&new, &genesis(), commands(count)).unwrap();
                open.insert((new, BranchName::main()), count as u64);
                continue;
            }
        };
        match chance.below(8) {
            0 => {
                let line: BranchName = format!("line{}", chance.below(4)).parse().unwrap();
                let at = chance.below(usize::try_from(head).unwrap() + 1) as u64;
                if store.create_branch(&on, &line, &from, at, Vec::new()).is_ok() {
                    open.insert((on, line), at);
                }
            }
            1 => {
                if store.delete_branch(&on, &from).is_ok() {
                    open.remove(&(on.clone(), from.clone()));
                    gone.push((on, from));
                }
            }
            2 => {
                let new = name(&format!("n{}", chance.below(6)));
                if store.rename_match(&on, &new).is_ok() {
                    move_places(&mut open, &mut gone, |(match_name, branch)| {
                        (match_name == on).then(|| (new.clone(), branch))
                    });
                }
            }
            3 => {
                let new: BranchName = format!("line{}", chance.below(4)).parse().unwrap();
                if store.rename_branch(&on, &from, &new).is_ok() {
                    move_places(&mut open, &mut gone, |place| {
                        (place == (on.clone(), from.clone())).then(|| (on.clone(), new.clone()))
                    });
                }
            }
            4 if chance.below(2) == 0 => {
                store.delete_match(&on).unwrap();
                gone.extend(open.keys().filter(|(match_name, _)| *match_name == on).cloned());
                open.retain(|(match_name, _), _| *match_name != on);
            }
            _ => {
                let count = 1 + chance.below(70) as u64;
                let entries = (head + 1..=head + count).map(opaque).collect::<Vec<_>>();
                open.insert(
                    (on.clone(), from.clone()),
                    store.append(&on, &from, head, entries, None).unwrap().last,
                );
            }
        }
    }
    let held = branches(&store);
    if is_left {
        store.create_match(&name(LAST), &genesis(), Vec::new()).unwrap();
        let left = dir.with_extension("left");
        copy_dir(dir, &left);
        store.close().unwrap();
        fs::remove_dir_all(dir).unwrap();
        fs::rename(left, dir).unwrap();
    } else {
        store.close().unwrap();
    }
    let gone = gone.into_iter().map(|(match_name, branch)| (match_name.to_string(), branch.to_string()));
    let gone = gone.filter(|place| !held.contains_key(place)).collect();
    History { held, gone }
}

/// Gives branches the new names that `moved` returns, and adds the old names to `gone`.
fn move_places(
    open: &mut BTreeMap<EntryRef, u64>,
    gone: &mut Vec<EntryRef>,
    moved: impl Fn(EntryRef) -> Option<EntryRef>,
) {
    for (place, head) in std::mem::take(open) {
        let new = moved(place.clone());
        gone.extend(new.is_some().then(|| place.clone()));
        open.insert(new.unwrap_or(place), head);
    }
}

/// Returns the branches of a store except those of [`LAST`].
fn counting(store: &Store) -> Branches {
    branches(store).into_iter().filter(|((match_name, _), _)| match_name != LAST).collect()
}

/// Does one or more kinds of damage and describes them: an older `sled/`, or a flipped bit in a head, a segment or the
/// index.
fn harm(dir: &Path, older: &Path, chance: &mut Chance) -> String {
    let mut harms = String::new();
    let which = 1 + chance.below(15);
    if which & 8 != 0 && older.exists() {
        fs::remove_dir_all(dir.join("sled")).unwrap();
        copy_dir(older, &dir.join("sled"));
        harms += "older sled, ";
    }
    let mut flip = |file: &Path| {
        let mut bytes = fs::read(file).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        let at = chance.below(used);
        bytes[at] ^= 1 << chance.below(8);
        fs::write(file, bytes).unwrap();
        write!(harms, "{} at {at}, ", file.strip_prefix(dir).unwrap().display()).unwrap();
    };
    let journal = dir.join("journal");
    if which & 1 != 0 {
        flip(&journal.join("head.a"));
    }
    if which & 2 != 0 {
        flip(&journal.join("head.b"));
    }
    let mut segments = super::names(&journal).into_iter().filter(|name| name.ends_with("seg"));
    if let Some(segment) = segments.next_back().filter(|_| which & 4 != 0) {
        flip(&journal.join(segment));
    }
    for index in super::names(&dir.join("sled")) {
        let db = dir.join("sled").join(index).join("db");
        if which & 0b1100 == 0b1100 && db.exists() {
            flip(&db);
        }
    }
    harms
}

/// Returns `true` if a lost range names a branch of which `kept` entries were saved.
fn names(lost: &LostEntries, (match_name, branch): &(String, String), kept: Option<u64>) -> bool {
    let of_match = lost.match_name.as_ref().is_some_and(|lost| lost.as_str() == match_name);
    let of_branch = lost.branch.as_ref().is_some_and(|lost| lost.as_str() == branch);
    let reaches = lost.from.is_none_or(|from| kept.is_none_or(|kept| from <= kept + 1));
    of_match && (of_branch && reaches || lost.branch.is_none() && kept.is_none())
}

/// Returns `true` if a lost range reports further losses without naming them.
fn counts(lost: &LostEntries) -> bool {
    let counted =
        ["missing or unreadable", "is missing", "unreadable", "gone with its name", "its heads know of"];
    counted.iter().any(|text| lost.reason.contains(text))
}

fn judge(history: &History, store: &Store, salvage: &Salvage, what: &str, figures: &mut Figures) {
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, [], "{what}");
    let saved = counting(store);
    let (mut is_whole, mut is_named) = (true, true);
    for (place, entries) in &history.held {
        // If the commit that freed this name is lost, another branch still has the name, and this branch is not saved.
        let found = saved.get(place).filter(|found| entries.starts_with(found));
        let kept = found.map(|found| found.len() as u64);
        if kept == Some(entries.len() as u64) {
            continue;
        }
        is_whole = false;
        let by_name = salvage.lost.iter().any(|lost| names(lost, place, kept));
        let is_listed = by_name || salvage.lost.iter().any(counts);
        assert!(is_listed, "{what}: {place:?} has {kept:?} of {}: {:?}", entries.len(), salvage.lost);
        is_named &= by_name;
    }
    for back in saved.keys().filter(|place| !history.held.contains_key(*place)) {
        // A lost commit may have been a deletion or a rename.
        assert!(history.gone.contains(back), "{what}: no branch was ever {back:?}");
        assert!(!salvage.lost.is_empty(), "{what}: {back:?} is back without a word");
    }
    let counter = match (is_whole, is_named) {
        (true, _) if salvage.lost.is_empty() => &mut figures.whole,
        (true, _) => &mut figures.whole_with_a_warning,
        (false, true) => &mut figures.named,
        (false, false) => &mut figures.counted,
    };
    *counter += 1;
}

#[expect(clippy::print_stdout, reason = "how often it ended how is worth knowing")]
#[test]
fn whatever_is_damaged_all_that_was_acknowledged_is_saved_or_listed_as_lost() {
    let times = std::env::var("TURNFOLD_SALVAGE").ok().map(|times| times.parse::<u64>().unwrap());
    let mut figures = Figures::default();
    for number in 0..HISTORIES * times.unwrap_or(1).min(20) {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let mut chance = Chance::new(number);
        let is_left = number % 2 == 1;
        let history = play(&at("store"), &at("older"), is_left, &mut chance);
        let sound = salvage(&at("store"), &at("sound")).unwrap();
        assert_eq!(sound.lost, [], "history {number}");
        assert_eq!(counting(&Store::open(&at("sound")).unwrap()), history.held, "history {number}");
        for round in 0..DAMAGES * times.map_or(1, |times| times.div_ceil(20)) {
            let (dir, new) = (at("damaged"), at("new"));
            copy_dir(&at("store"), &dir);
            let what = format!("history {number}, round {round}: {}", harm(&dir, &at("older"), &mut chance));
            figures.cases += 1;
            match salvage(&dir, &new) {
                Ok(saved) => {
                    judge(&history, &Store::open(&new).unwrap(), &saved, &what, &mut figures);
                    fs::remove_dir_all(&new).unwrap();
                }
                Err(RescueError::NothingReadable { .. }) => figures.nothing += 1,
                Err(error) => panic!("{what}: {error}"),
            }
            fs::remove_dir_all(&dir).unwrap();
        }
    }
    if times.is_some() {
        println!("{figures:?}");
    }
    assert!(figures.whole > 0 && figures.whole_with_a_warning > 0, "{figures:?}");
}
