//! Random sessions on a failing backend, compared with a simple model in memory. The seed determines the session.

use std::collections::BTreeMap;

use crate::faulty::{Fault, FaultyBackend};
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{ErrorKind, Store, StoreError};

use crate::chance::Chance;
use crate::game::{branch, genesis, labels, name, opaque};

/// The number of sessions, unless `TURNFOLD_SESSIONS` sets another.
const SESSIONS: u64 = 60;
const LIVES: usize = 6;
const STEPS: usize = 25;

/// A match and one of its branches.
type Line = (&'static str, &'static str);

const MATCHES: [&str; 3] = ["a", "b", "c"];
const BRANCHES: [&str; 3] = ["main", "x", "y"];

/// What a store must contain: the labels of the entries of every branch, and where each key was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    lines: BTreeMap<Line, Vec<u64>>,
    parents: BTreeMap<Line, &'static str>,
    keys: BTreeMap<(Line, usize), (u64, u64)>,
}

impl Model {
    fn of_match(&self, match_name: &str) -> Vec<Line> {
        self.lines.keys().filter(|(found, _)| *found == match_name).copied().collect()
    }
}

/// A store that is used until a call fails.
struct Life<'a> {
    store: Store,
    model: &'a mut Model,
    chance: &'a mut Chance,
    next_label: &'a mut u64,
}

/// A failed call.
struct Trouble {
    /// The model as it is if the failed call was a write that still took effect.
    maybe: Option<Box<Model>>,
}

impl Life<'_> {
    /// Performs a random operation, and requires that a refusal is justified. Fails if a call fails.
    fn step(&mut self) -> Result<(), Trouble> {
        let line = (*self.chance.pick(&MATCHES), *self.chance.pick(&BRANCHES));
        match self.chance.below(10) {
            0 => self.create_match(line.0),
            1 => self.create_branch(line),
            2 => self.delete_branch(line),
            3 => self.read(line).map_err(|_| Trouble { maybe: None }),
            _ => self.append(line),
        }
    }

    fn write<T>(
        &mut self,
        after: Model,
        is_allowed: bool,
        write: impl FnOnce(&Store) -> Result<T, StoreError>,
    ) -> Result<Option<T>, Trouble> {
        match write(&self.store) {
            Ok(done) => {
                assert!(is_allowed, "what should have been refused was done");
                *self.model = after;
                Ok(Some(done))
            }
            Err(error) if error.kind() == ErrorKind::Trouble => {
                Err(Trouble { maybe: is_allowed.then(|| Box::new(after)) })
            }
            Err(error) => {
                assert!(!is_allowed, "what should have been done was refused: {error}");
                Ok(None)
            }
        }
    }

    fn new_labels(&mut self, count: usize) -> Vec<u64> {
        let first = *self.next_label;
        *self.next_label += count as u64;
        (first..*self.next_label).collect()
    }

    fn create_match(&mut self, match_name: &'static str) -> Result<(), Trouble> {
        let count = *self.chance.pick(&[0, 1, 70]);
        let labels = self.new_labels(count);
        let is_new = self.model.of_match(match_name).is_empty();
        let mut after = self.model.clone();
        after.lines.insert((match_name, "main"), labels.clone());
        let entries = labels.into_iter().map(opaque).collect();
        self.write(after, is_new, |store| store.create_match(&name(match_name), &genesis(), entries))
            .map(|_| ())
    }

    fn create_branch(&mut self, line: Line) -> Result<(), Trouble> {
        let (match_name, new) = line;
        let from = *self.chance.pick(&BRANCHES);
        let at = self.chance.below(100);
        let source = self.model.lines.get(&(match_name, from)).filter(|labels| at <= labels.len());
        let is_allowed = source.is_some() && !self.model.lines.contains_key(&line);
        let mut after = self.model.clone();
        if is_allowed {
            after.lines.insert(line, self.model.lines[&(match_name, from)][..at].to_vec());
            after.parents.insert(line, from);
        }
        let create = |store: &Store| {
            store.create_branch(&name(match_name), &branch(new), &branch(from), at as u64, Vec::new())
        };
        self.write(after, is_allowed, create).map(|_| ())
    }

    fn delete_branch(&mut self, line: Line) -> Result<(), Trouble> {
        let (match_name, gone) = line;
        let is_parent =
            self.model.parents.iter().any(|((of, _), parent)| *of == match_name && *parent == gone);
        let is_allowed = gone != "main" && self.model.lines.contains_key(&line) && !is_parent;
        let mut after = self.model.clone();
        after.lines.remove(&line);
        after.parents.remove(&line);
        after.keys.retain(|(of, _), _| *of != line);
        self.write(after, is_allowed, |store| store.delete_branch(&name(match_name), &branch(gone)))
            .map(|_| ())
    }

    fn append(&mut self, line: Line) -> Result<(), Trouble> {
        let known = self.model.lines.get(&line).cloned();
        let head = known.as_ref().map_or(0, |labels| labels.len() as u64);
        let expected = if self.chance.below(8) == 0 { head + 1 } else { head };
        let key = Some(self.chance.below(40)).filter(|key| *key < 8);
        let used = key.and_then(|key| self.model.keys.get(&(line, key)).copied());
        // A used key is sent again with the same payload or with another.
        let labels = match (used, &known) {
            (Some((first, last)), Some(known)) if self.chance.below(3) > 0 => {
                known[usize::try_from(first - 1).unwrap()..usize::try_from(last).unwrap()].to_vec()
            }
            _ => {
                let count = *self.chance.pick(&[1, 1, 2, 5, 30, 64, 100]);
                self.new_labels(count)
            }
        };
        let same = used.zip(known.as_ref()).is_some_and(|((first, last), known)| {
            known[usize::try_from(first - 1).unwrap()..usize::try_from(last).unwrap()] == labels
        });
        let mut after = self.model.clone();
        let range = (head + 1, head + labels.len() as u64);
        if used.is_none()
            && let Some(line_after) = after.lines.get_mut(&line)
        {
            line_after.extend(&labels);
            after.keys.extend(key.map(|key| ((line, key), range)));
        }
        let is_allowed = known.is_some() && (same || used.is_none() && expected == head);
        let key = key.map(|key| format!("key-{key}").parse().unwrap());
        let entries = labels.into_iter().map(opaque).collect::<Vec<_>>();
        let append =
            |store: &Store| store.append(&name(line.0), &branch(line.1), expected, entries, key.as_ref());
        if let Some(appended) = self.write(after, is_allowed, append)? {
            assert_eq!((appended.first, appended.last), used.unwrap_or(range));
            assert_eq!(appended.repeated, used.is_some());
        }
        Ok(())
    }

    fn read(&mut self, line: Line) -> Result<(), StoreError> {
        let (match_name, branch_name) = (name(line.0), branch(line.1));
        let known = self.model.lines.get(&line);
        match self.store.read(&match_name, &branch_name, None) {
            Ok(log) => {
                let found = log.entries.iter().map(|entry| entry.command.clone());
                let known = known.expect("what was read is known");
                assert!(found.eq(known.iter().map(|label| opaque(*label).command)), "{line:?}");
            }
            Err(error) if error.kind() == ErrorKind::Trouble => return Err(error),
            Err(error) => assert!(known.is_none(), "{line:?}: {error}"),
        }
        if !self.model.of_match(line.0).is_empty() {
            check_verifies(&self.store, line.0)?;
        }
        assert_eq!(
            self.store.matches()?.len(),
            MATCHES.iter().filter(|found| !self.model.of_match(found).is_empty()).count()
        );
        Ok(())
    }
}

/// Requires an audit to find no damage, or to fail because reading failed.
fn check_verifies(store: &Store, match_name: &str) -> Result<(), StoreError> {
    match store.audit(&name(match_name))?.damage.into_iter().next() {
        None => Ok(()),
        Some(damage) => Err(StoreError::Failed { reason: damage.reason }),
    }
}

/// Requires a store on a sound backend to contain what the model contains, with or without the last write.
fn check_holds(memory: &MemoryBackend, model: &mut Model, maybe: Option<Box<Model>>, what: &str) {
    let store =
        Store::with_backend(Box::new(memory.clone())).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut found = BTreeMap::new();
    for match_name in MATCHES {
        let Ok(branches) = store.branches(&name(match_name)) else { continue };
        for info in branches {
            let branch_name = BRANCHES.into_iter().find(|known| *known == info.name.as_str()).unwrap();
            found.insert((match_name, branch_name), labels(&store, match_name, branch_name));
        }
        check_verifies(&store, match_name).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    let expected = [Some(model.clone()), maybe.map(|maybe| *maybe)]
        .into_iter()
        .flatten()
        .find(|model| model.lines == found);
    *model = expected.unwrap_or_else(|| panic!("{what}: found {found:?}, expected {model:?}"));
    assert_eq!(store.check(&mut |_| ()).unwrap().damage, [], "{what}");
    store.close().unwrap();
}

fn draw_fault(chance: &mut Chance) -> Fault {
    let kinds = [&Fault::FAILING[..], &[Fault::FlippedBit]].concat();
    let kind = *chance.pick(&kinds);
    // Reads are far more frequent than writes.
    let calls = match kind(0) {
        Fault::Read(_) | Fault::FlippedBit(_) => 300,
        _ => 25,
    };
    kind(1 + chance.below(calls) as u64)
}

/// Plays a session and returns how often something failed.
fn play(seed: u64) -> usize {
    let mut chance = Chance::new(seed);
    let (mut model, mut memory, mut next_label, mut failures) =
        (Model::default(), MemoryBackend::new(), 1, 0);
    for life in 0..LIVES {
        let faults: Vec<_> = (0..=chance.below(3)).map(|_| draw_fault(&mut chance)).collect();
        let what = format!("session {seed}, life {life}, {faults:?}");
        let mut maybe = None;
        match Store::with_backend(Box::new(FaultyBackend::new(memory.clone(), faults))) {
            Ok(store) => {
                let mut life =
                    Life { store, model: &mut model, chance: &mut chance, next_label: &mut next_label };
                for _ in 0..STEPS {
                    if let Err(trouble) = life.step() {
                        (maybe, failures) = (trouble.maybe, failures + 1);
                        break;
                    }
                }
                // It does not matter whether closing fails, because everything acknowledged is already durable.
                drop(life);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Trouble, "{what}");
                failures += 1;
            }
        }
        memory = memory.copy();
        check_holds(&memory, &mut model, maybe, &what);
    }
    failures
}

#[test]
fn random_sessions_on_a_failing_backend_agree_with_a_model() {
    let sessions = std::env::var("TURNFOLD_SESSIONS").map_or(SESSIONS, |count| count.parse().unwrap());
    let failures: usize = (0..sessions).map(play).sum();
    assert!(failures as u64 > 2 * sessions, "only {failures} faults struck");
}
