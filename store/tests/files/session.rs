//! A session to record: several threads that create, append and branch, and when each learns of a result.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use turnfold_core::{DicePolicy, Digest, Seat};
use turnfold_store::{BranchName, Genesis, MatchName, NewEntries, NewEntry, Store, StoreError};

use crate::disk::Chance;
use crate::tape;

/// What the caller of the store has just learned or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The store was opened, so it exists.
    Made,
    /// This number of batches of a branch was requested; the first is its creation.
    Asked { line: usize, batches: usize },
    /// This number of batches of a branch was acknowledged.
    Acknowledged { line: usize, batches: usize },
    /// The store was closed without an error.
    Closed,
}

/// A branch with everything that is done to it, in batches. The first batch is its creation.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    match_name: String,
    branch: String,
    /// The index of its parent, and the number of batches of the parent that it begins after.
    parent: Option<(usize, usize)>,
    batches: Vec<Batch>,
}

/// One change of a branch. A change of `main` changes its match.
#[derive(Clone, Debug)]
enum Batch {
    /// Entries are appended; if the branch does not exist, it is created with them.
    Entries(Vec<Vec<u8>>),
    /// The branch gets its other name.
    Rename,
    Delete,
}

/// A branch at some time: the names of its match and itself, and its commands; `None` if it does not exist.
pub(crate) type Held<'a> = Option<(Names, Vec<&'a [u8]>)>;

pub(crate) type Names = (MatchName, BranchName);

impl Line {
    /// Returns both pairs of names that it can have, first those of its creation.
    pub(crate) fn names(&self) -> [Names; 2] {
        let name = |suffix: &str| match self.parent {
            None => (format!("{}{suffix}", self.match_name), self.branch.clone()),
            Some(_) => (self.match_name.clone(), format!("{}{suffix}", self.branch)),
        };
        ["", "-renamed"].map(name).map(|(name, branch)| (name.parse().unwrap(), branch.parse().unwrap()))
    }
}

/// The module that judges appends to each `main`. No module judges its creation or the other branches (MD-9).
pub(crate) const MODULE: Digest = Digest::new([9; 32]);

/// The number of branches of each thread.
const LINES: usize = 4;

/// The plan of a session, and its progress.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) lines: Vec<Line>,
    /// For each opening of the store and each thread, the branches that get their next batch, in order.
    openings: Vec<Vec<Vec<usize>>>,
    /// Whether the disk is full at the end of each opening, so that the journal does not record the closing.
    ends_full: bool,
    pub(crate) progress: Vec<Progress>,
}

/// How large the commands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    Small,
    /// Up to the maximum length of a command.
    Large,
}

/// A function that opens the store of a session.
pub(crate) type Open = fn(&Path) -> Store;

impl Session {
    /// Plans a session that opens the store `openings` times; each time, each thread appends `batches` batches.
    pub(crate) fn plan(
        seed: u64,
        commands: Commands,
        threads: usize,
        openings: usize,
        batches: usize,
    ) -> Self {
        let mut chance = Chance::new(seed);
        let mut lines = Vec::new();
        for number in 0..threads {
            let main = lines.len();
            let line = |branch: &str, parent| Line {
                match_name: format!("m{number}"),
                branch: branch.to_owned(),
                parent,
                batches: Vec::new(),
            };
            lines.push(line("main", None));
            lines.push(line("line", Some((main, 2 + chance.below(batches)))));
            // These are created, renamed and deleted repeatedly.
            lines.push(line("passing", Some((main, 1))));
            lines.push(Line { match_name: format!("passing{number}"), ..line("main", None) });
        }
        let openings = (0..openings).map(|_| {
            (0..threads)
                .map(|number| steps(&mut lines, number * LINES, (commands, batches), &mut chance))
                .collect()
        });
        let openings = openings.collect();
        Self { lines, openings, ends_full: false, progress: Vec::new() }
    }

    /// Returns the same plan with a full disk at the end of each opening, so that the journal does not record the
    /// closing.
    pub(crate) fn ending_full(self) -> Self {
        Self { ends_full: true, ..self }
    }

    /// Runs the session on the store that `open` opens, and records its progress on the tape.
    pub(crate) fn run(&mut self, dir: &Path, open: Open) {
        let progress = Mutex::new(std::mem::take(&mut self.progress));
        let mut done = vec![0; self.lines.len()];
        let done: Vec<_> = done.iter_mut().map(|done| Mutex::new(*done)).collect();
        let note = |what| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.push(what);
            tape::note_progress(progress.len() - 1);
        };
        for threads in &self.openings {
            let store = open(dir);
            note(Progress::Made);
            thread::scope(|scope| {
                for steps in threads {
                    let (store, done, note, lines) = (&store, &done, &note, &self.lines);
                    scope.spawn(move || {
                        for &line in steps {
                            let mut done = done[line].lock().unwrap();
                            *done += 1;
                            note(Progress::Asked { line, batches: *done });
                            perform(store, lines, line, *done - 1);
                            note(Progress::Acknowledged { line, batches: *done });
                        }
                    });
                }
            });
            if self.ends_full {
                let name = "lost".parse().unwrap();
                let refused = tape::with_full_heads(|| store.create_match(&name, &genesis(), Vec::new()));
                assert!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
                let heads =
                    || ["head.a", "head.b"].map(|head| fs::read(dir.join("journal").join(head)).unwrap());
                let before = heads();
                assert!(store.close().is_err());
                assert!(heads() == before, "a journal that failed records nothing more");
            } else {
                store.close().unwrap();
                note(Progress::Closed);
            }
        }
        self.progress = progress.into_inner().unwrap();
    }

    /// Returns a branch as it is after this number of batches.
    pub(crate) fn held(&self, line: usize, batches: usize) -> Held<'_> {
        held(&self.lines, line, batches)
    }

    /// Returns the module that is recorded for the match of a `main` after a number of its batches.
    pub(crate) fn module(&self, line: usize, batches: usize) -> Option<Digest> {
        let all = &self.lines[line].batches[..batches];
        let since = all.rsplit(|batch| matches!(batch, Batch::Delete)).next().unwrap_or_default();
        let appends = since.iter().filter(|batch| matches!(batch, Batch::Entries(_))).count();
        (appends > 1).then_some(MODULE)
    }
}

fn held(lines: &[Line], line: usize, batches: usize) -> Held<'_> {
    let Line { parent, batches: all, .. } = &lines[line];
    let [first, second] = lines[line].names();
    let mut held: Held<'_> = None;
    for batch in &all[..batches] {
        held = match (batch, held) {
            (Batch::Entries(entries), held) => {
                let inherited =
                    || parent.and_then(|(parent, batches)| crate::session::held(lines, parent, batches));
                let created =
                    || (first.clone(), inherited().map(|(_, commands)| commands).unwrap_or_default());
                let (names, mut commands) = held.unwrap_or_else(created);
                commands.extend(entries.iter().map(Vec::as_slice));
                Some((names, commands))
            }
            (Batch::Rename, Some((names, commands))) => {
                Some((if names == first { second.clone() } else { first.clone() }, commands))
            }
            (Batch::Rename, None) | (Batch::Delete, _) => None,
        };
    }
    held
}

/// Plans what a thread does during one opening of the store, and adds it to the thread's branches.
fn steps(
    lines: &mut [Line],
    main: usize,
    (commands, batches): (Commands, usize),
    chance: &mut Chance,
) -> Vec<usize> {
    let mut steps = Vec::new();
    for _ in 0..batches {
        let (_, forked_after) = lines[main + 1].parent.unwrap();
        let may_branch = lines[main].batches.len() >= forked_after;
        let line = match (lines[main].batches.len(), chance.below(8)) {
            (0, _) => main,
            (_, 0) => main + 2,
            (_, 1) => main + 3,
            _ => main + usize::from(may_branch && chance.below(2) == 0),
        };
        let is_passing = line >= main + 2;
        let is_there = held(lines, line, lines[line].batches.len()).is_some();
        let batch = match chance.below(4) {
            0 if is_passing && is_there => Batch::Delete,
            1 if is_passing && is_there => Batch::Rename,
            _ => {
                // A branch is created without entries.
                let count = match (lines[line].parent, is_there, chance.below(12)) {
                    (Some(_), false, _) => 0,
                    (_, _, 0) if commands == Commands::Small => 64 + chance.below(80),
                    _ => 1 + chance.below(3),
                };
                let command = |_| command(commands, steps.len(), chance);
                Batch::Entries((0..count).map(command).collect())
            }
        };
        lines[line].batches.push(batch);
        steps.push(line);
    }
    steps
}

fn command(commands: Commands, step: usize, chance: &mut Chance) -> Vec<u8> {
    let length = match commands {
        Commands::Small => 16 + chance.below(30),
        Commands::Large => 2000 + chance.below(60_000),
    };
    // No two commands are equal.
    let mark = [chance.below(1 << 20).to_le_bytes(), step.to_le_bytes()].concat();
    mark.into_iter().cycle().take(length).collect()
}

fn perform(store: &Store, lines: &[Line], line: usize, batch: usize) {
    let Line { parent, batches, .. } = &lines[line];
    let before = held(lines, line, batch);
    let [first, second] = lines[line].names();
    let ((match_name, branch), head) = match &before {
        Some((names, commands)) => (names.clone(), commands.len() as u64),
        None => (first.clone(), 0),
    };
    let (new_name, new_branch) = if (&match_name, &branch) == (&first.0, &first.1) { second } else { first };
    let entries = |commands: &[Vec<u8>]| commands.iter().map(|command| entry(command)).collect();
    match (&batches[batch], parent, before.is_some()) {
        (Batch::Entries(commands), None, false) => {
            store.create_match(&match_name, &genesis(), entries(commands)).unwrap();
        }
        (Batch::Entries(_), Some((from, after)), false) => {
            let ((_, from), commands) = held(lines, *from, *after).unwrap();
            store.create_branch(&match_name, &branch, &from, commands.len() as u64, Vec::new()).unwrap();
        }
        (Batch::Entries(commands), ..) => {
            let key = format!("key-{line}-{batch}").parse().unwrap();
            let append = || {
                let entries = NewEntries {
                    entries: entries(commands).into(),
                    module: parent.is_none().then_some(MODULE),
                };
                store.append(&match_name, &branch, head, entries, Some(&key)).unwrap()
            };
            let appended = append();
            assert!(!appended.repeated);
            let repeated = append();
            assert_eq!((repeated.last, repeated.repeated), (appended.last, true));
        }
        (Batch::Rename, None, _) => store.rename_match(&match_name, &new_name).unwrap(),
        (Batch::Rename, Some(_), _) => store.rename_branch(&match_name, &branch, &new_branch).unwrap(),
        (Batch::Delete, None, _) => store.delete_match(&match_name).unwrap(),
        (Batch::Delete, Some(_), _) => store.delete_branch(&match_name, &branch).unwrap(),
    }
}

/// Returns an entry to append.
pub(crate) fn entry(command: &[u8]) -> NewEntry {
    NewEntry { seat: Seat::P1, command: command.to_vec(), recorded_at_ms: 0 }
}

/// Returns the Genesis of a match whose rules no build has, so that only the store reads its entries.
pub(crate) fn genesis() -> Genesis {
    Genesis {
        format: Genesis::FORMAT,
        ruleset: "none".to_owned(),
        ruleset_version: 1,
        setup: Vec::new(),
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: String::new(),
        created_at_ms: 0,
        module: None,
        played_by: None,
        origins: Vec::new(),
    }
}
