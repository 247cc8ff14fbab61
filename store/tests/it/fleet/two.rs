//! FL-27: two processes append, rename, delete and recreate, on a database that is sometimes rolled back, and are
//! compared with a simple model. What a process knows is often out of date.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_store::{Appended, BranchName, IdempotencyKey, MatchName, NamedBranch, Store, StoreError};

use super::{connect, in_schema};
use crate::chance::Chance;
use crate::game::{branch, genesis, labels, name, opaque};
use crate::postgres::shared;
use crate::rescue::unobserved;

/// The tables that are rolled back, each after the tables that it refers to.
const TABLES: [&str; 3] = ["match", "branch", "run"];

/// A branch in the model, which keeps its number after renames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    /// The labels of its entries, including those of its parent up to the fork.
    entries: Vec<u64>,
    /// The number of the parent, and the entry of the parent that it begins after.
    parent: Option<(u64, usize)>,
    keys: BTreeMap<u64, Appended>,
}

/// The contents of the database.
#[derive(Clone, Debug, Default)]
struct Database {
    /// The number of each branch by the names of its match and itself.
    names: BTreeMap<(&'static str, &'static str), u64>,
    lines: BTreeMap<u64, Line>,
}

/// What a process knows: the longest history that it read or acknowledged of each branch, and the branches that it
/// found rolled back.
#[derive(Default)]
struct Knowledge {
    held: BTreeMap<u64, Vec<u64>>,
    lost: BTreeSet<u64>,
}

struct Process {
    store: Store,
    knowledge: Knowledge,
}

/// What a process finds under the names of a match and branch.
enum Found {
    Line(u64),
    NoMatch,
    NoBranch,
    Receded,
}

impl Database {
    fn has_match(&self, m: &str) -> bool {
        self.names.keys().any(|(of, _)| *of == m)
    }

    fn find(&self, names: (&'static str, &'static str), knowledge: &mut Knowledge) -> Found {
        let Some(number) = self.names.get(&names).copied() else {
            return if self.has_match(names.0) { Found::NoBranch } else { Found::NoMatch };
        };
        let entries = &self.lines[&number].entries;
        if let Some(held) = knowledge.held.get(&number)
            && (held.len() > entries.len() || held.len() == entries.len() && held != entries)
        {
            knowledge.lost.insert(number);
            return Found::Receded;
        }
        knowledge.held.insert(number, entries.clone());
        Found::Line(number)
    }

    fn is_parent(&self, number: u64) -> bool {
        self.lines.values().any(|line| line.parent.is_some_and(|(parent, _)| parent == number))
    }

    /// Removes branches that have no name.
    fn forget(&mut self) {
        let named: BTreeSet<u64> = self.names.values().copied().collect();
        self.lines.retain(|number, _| named.contains(number));
    }
}

/// Converts an answer to text, so that it can be compared with the model's.
fn word<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
    match answer {
        Ok(done) => format!("{done:?}"),
        Err(StoreError::NoSuchMatch { .. }) => "no match".to_owned(),
        Err(StoreError::NoSuchBranch { .. }) => "no branch".to_owned(),
        Err(StoreError::Receded { .. }) => "receded".to_owned(),
        Err(StoreError::Conflict { head, .. }) => format!("conflict {head}"),
        Err(StoreError::AlreadyExists { .. } | StoreError::BranchExists { .. }) => "exists".to_owned(),
        Err(StoreError::BranchInUse { .. }) => "in use".to_owned(),
        Err(StoreError::NoSuchSeq { .. }) => "out of range".to_owned(),
        Err(error) => panic!("{error:?}"),
    }
}

fn unfound(found: &Found) -> String {
    match found {
        Found::Line(_) => "()",
        Found::NoMatch => "no match",
        Found::NoBranch => "no branch",
        Found::Receded => "receded",
    }
    .to_owned()
}

/// A round of the test: the names it uses, a new label, and a source of chance.
struct Round<'a> {
    m: &'static str,
    b: &'static str,
    other: &'static str,
    label: u64,
    chance: &'a mut Chance,
}

impl Round<'_> {
    fn names(&self) -> (MatchName, BranchName) {
        (name(self.m), branch(self.b))
    }

    fn append(&mut self, process: &mut Process, database: &mut Database) -> (String, String) {
        let (m, b) = self.names();
        let number = database.names.get(&(self.m, self.b)).copied();
        let now = number.map_or(0, |number| database.lines[&number].entries.len());
        let known = number.and_then(|number| process.knowledge.held.get(&number)).map_or(now, Vec::len);
        // Mostly at the head, sometimes at the head that the process knows, or beyond the head.
        let expected = *self.chance.pick(&[now, now, now, known, known, now + 1]);
        let count = 1 + self.chance.below(3);
        let keyed = number.and_then(|number| database.lines[&number].keys.keys().next_back().copied());
        let label = if let (Some(keyed), 0) = (keyed, self.chance.below(4)) { keyed } else { self.label };
        let key: Option<IdempotencyKey> =
            (label % 2 == 0 || label != self.label).then(|| format!("k{label}").parse().unwrap());
        let count = match number.filter(|_| label != self.label) {
            Some(number) => {
                let Appended { first, last, .. } = database.lines[&number].keys[&label];
                usize::try_from(last - first).unwrap() + 1
            }
            None => count,
        };
        // FL-33
        let mut reserved = None;
        if self.chance.below(6) == 0 {
            database.find((self.m, self.b), &mut process.knowledge);
            if let Ok(head) = process.store.branch_head(&m, &b) {
                let named = NamedBranch { match_name: m.clone(), branch: b.clone(), id: head.id };
                reserved = process.store.reserve(&named);
            }
        }
        let entries = vec![opaque(label); count];
        let answer = word(process.store.append(&m, &b, expected as u64, entries, key.as_ref()));
        drop(reserved);
        let wanted = match number {
            Some(number) if process.knowledge.lost.contains(&number) => {
                // The process reads the current end of the branch.
                database.find((self.m, self.b), &mut process.knowledge);
                "receded".to_owned()
            }
            _ => match database.find((self.m, self.b), &mut process.knowledge) {
                Found::Line(number) => {
                    let line = database.lines.get_mut(&number).unwrap();
                    let head = line.entries.len();
                    if let Some(before) = line.keys.get(&label) {
                        format!("{:?}", Appended { repeated: true, ..*before })
                    } else if head != expected {
                        format!("conflict {head}")
                    } else {
                        line.entries.extend(vec![label; count]);
                        process.knowledge.held.insert(number, line.entries.clone());
                        let last = line.entries.len() as u64;
                        let done = Appended { first: head as u64 + 1, last, repeated: false };
                        if key.is_some() {
                            line.keys.insert(label, done);
                        }
                        format!("{done:?}")
                    }
                }
                found => unfound(&found),
            },
        };
        (answer, wanted)
    }

    fn delete_branch(&self, process: &mut Process, database: &mut Database) -> (String, String) {
        let (m, b) = self.names();
        let answer = word(process.store.delete_branch(&m, &b));
        let wanted = match database.find((self.m, self.b), &mut process.knowledge) {
            Found::Line(number) if database.is_parent(number) => "in use".to_owned(),
            found => {
                if let Found::Line(_) = found {
                    database.names.remove(&(self.m, self.b));
                    database.forget();
                }
                unfound(&found)
            }
        };
        (answer, wanted)
    }

    fn rename_branch(&self, process: &mut Process, database: &mut Database) -> (String, String) {
        let (m, b) = self.names();
        let answer = word(process.store.rename_branch(&m, &b, &branch(self.other)));
        let wanted = match database.find((self.m, self.b), &mut process.knowledge) {
            Found::Line(_) if database.names.contains_key(&(self.m, self.other)) => "exists".to_owned(),
            found => {
                if let Found::Line(number) = found {
                    database.names.remove(&(self.m, self.b));
                    database.names.insert((self.m, self.other), number);
                }
                unfound(&found)
            }
        };
        (answer, wanted)
    }

    fn create_branch(&mut self, process: &mut Process, database: &mut Database) -> (String, String) {
        let (m, b) = self.names();
        let at = self.chance.below(4);
        let answer = word(process.store.create_branch(&m, &b, &BranchName::main(), at as u64, Vec::new()));
        let wanted = match database.find((self.m, "main"), &mut process.knowledge) {
            Found::Line(parent) => match database.find((self.m, self.b), &mut process.knowledge) {
                Found::Line(_) => "exists".to_owned(),
                Found::NoBranch => {
                    let entries = &database.lines[&parent].entries;
                    if let Some(entries) = entries.get(..at).map(<[u64]>::to_vec) {
                        let line = Line {
                            entries: entries.clone(),
                            parent: Some((parent, at)),
                            keys: BTreeMap::new(),
                        };
                        database.names.insert((self.m, self.b), self.label);
                        database.lines.insert(self.label, line);
                        process.knowledge.held.insert(self.label, entries);
                        "()".to_owned()
                    } else {
                        "out of range".to_owned()
                    }
                }
                found => unfound(&found),
            },
            found => unfound(&found),
        };
        (answer, wanted)
    }

    fn create_match(&self, process: &mut Process, database: &mut Database) -> (String, String) {
        let answer = word(process.store.create_match(&name(self.m), &genesis(), Vec::new()));
        if database.has_match(self.m) {
            return (answer, "exists".to_owned());
        }
        database.names.insert((self.m, "main"), self.label);
        database.lines.insert(self.label, Line::default());
        process.knowledge.held.insert(self.label, Vec::new());
        (answer, "()".to_owned())
    }

    fn rename_match(&self, process: &Process, database: &mut Database) -> (String, String) {
        let other = if self.m == "a" { "b" } else { "a" };
        let answer = word(process.store.rename_match(&name(self.m), &name(other)));
        if !database.has_match(self.m) {
            return (answer, "no match".to_owned());
        }
        if database.has_match(other) {
            return (answer, "exists".to_owned());
        }
        let names = std::mem::take(&mut database.names);
        let rename = |((m, b), number)| ((if m == self.m { other } else { m }, b), number);
        database.names = names.into_iter().map(rename).collect();
        (answer, "()".to_owned())
    }

    fn delete_match(&self, process: &Process, database: &mut Database) -> (String, String) {
        let answer = word(process.store.delete_match(&name(self.m)));
        if !database.has_match(self.m) {
            return (answer, "no match".to_owned());
        }
        database.names.retain(|(m, _), _| *m != self.m);
        database.forget();
        (answer, "()".to_owned())
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures of the long form")]
fn fl_27_two_processes_find_out_whatever_the_other_did_and_that_the_database_went_back() {
    let Some(server) = shared() else { return };
    let rounds = if std::env::var_os("TURNFOLD_FLEET_FULL").is_some() { 10_000 } else { 400 };
    let address = server.address();
    let open = || {
        let store = Store::open_or_create_fleet(&address).unwrap();
        Process { store, knowledge: Knowledge::default() }
    };
    let mut processes = [open(), open()];
    // The schema as the statements of these processes name it, because other tests use the same server.
    let schema = in_schema(&address, "\"@\"").replace(".\"", "\".");
    let mut admin = connect(server);
    let mut sql = |statements: &str| admin.batch_execute(&in_schema(&address, statements)).unwrap();
    for table in TABLES {
        sql(&format!("CREATE TABLE @saved_{table} AS TABLE @{table}"));
    }
    let mut chance = Chance::new(27);
    let (mut database, mut saved) = (Database::default(), Database::default());
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for label in 1..=rounds {
        let process = &mut processes[chance.below(2)];
        let m = *chance.pick(&["a", "a", "a", "b"]);
        let b = *chance.pick(&["main", "main", "x", "x", "y"]);
        let other = if b == "x" { "y" } else { "x" };
        // Mostly create what is missing.
        let act = match database.names.contains_key(&(m, b)) {
            false if !database.has_match(m) && chance.below(2) == 0 => 3,
            false if b != "main" && chance.below(2) == 0 => 6,
            _ => chance.below(40),
        };
        let mut round = Round { m, b, other, label, chance: &mut chance };
        let (answer, wanted) = match act {
            0 => {
                for table in TABLES {
                    sql(&format!("TRUNCATE @saved_{table}; INSERT INTO @saved_{table} TABLE @{table}"));
                }
                saved = database.clone();
                continue;
            }
            1 if round.chance.below(3) == 0 => {
                sql("BEGIN; DELETE FROM @run; DELETE FROM @branch; DELETE FROM @match");
                for table in TABLES {
                    sql(&format!("INSERT INTO @{table} TABLE @saved_{table}"));
                }
                sql("COMMIT");
                // With lost connections, as after a failover, or while the connections stay open.
                if round.chance.below(2) == 0 {
                    sql(&format!(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \
                        application_name = 'turnfold' AND query LIKE '%{schema}%'"
                    ));
                }
                database = saved.clone();
                continue;
            }
            2 if round.chance.below(2) == 0 => {
                *process = open();
                continue;
            }
            3 => round.create_match(process, &mut database),
            4 if round.chance.below(4) == 0 => round.delete_match(process, &mut database),
            5 => round.rename_match(process, &mut database),
            6..=9 if b != "main" => round.create_branch(process, &mut database),
            10 | 11 if b != "main" => round.rename_branch(process, &mut database),
            12 if b != "main" => round.delete_branch(process, &mut database),
            _ => round.append(process, &mut database),
        };
        assert_eq!(answer, wanted, "round {label}: {act} by a process on {m}@{b}");
        let kind = answer.split(['{', ' ']).next().unwrap_or_default().to_owned();
        let kind = if answer.contains("repeated: true") { "repeated".to_owned() } else { kind };
        *counts.entry(kind).or_default() += 1;
    }
    let again = Store::open_fleet(&address).unwrap();
    for ((m, b), number) in &database.names {
        assert_eq!(labels(&again, m, b), database.lines[number].entries, "{m}@{b}");
    }
    let matches: Vec<_> = again.matches_after(None).unwrap().map(|found| found.unwrap().name).collect();
    assert!(matches.iter().all(|m| database.has_match(m.as_str())), "{matches:?}");
    assert_eq!(again.check(&mut unobserved()).unwrap().damage, []);
    eprintln!("{counts:?}");
    for kind in ["Appended", "conflict", "receded", "no", "repeated"] {
        assert!(counts.contains_key(kind), "{kind}: {counts:?}");
    }
}
