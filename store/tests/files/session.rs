//! A session to be recorded: several threads that create, append and branch, and what each was told when.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use turnfold_core::{DicePolicy, Seat};
use turnfold_store::{Genesis, NewEntry, Store};

use crate::disk::Chance;
use crate::tape;

/// What whoever uses the store knows at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The store was opened, and so was made.
    Made,
    /// So many batches of a line have been asked for; the first is its creation.
    Asked { line: usize, batches: usize },
    /// So many batches of a line were acknowledged.
    Acknowledged { line: usize, batches: usize },
}

/// A branch with all that is ever appended to it, by batches. The first is there from the line's creation.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) match_name: String,
    pub(crate) branch: String,
    /// The line it begins on, and after how many of its batches.
    parent: Option<(usize, usize)>,
    batches: Vec<Vec<Vec<u8>>>,
}

/// What a session does.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) lines: Vec<Line>,
    /// For each opening of the store, and in it for each thread, the lines that get their next batch.
    openings: Vec<Vec<Vec<usize>>>,
    pub(crate) told: Vec<Told>,
}

/// How large the commands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    Small,
    /// Up to the most that a command may have.
    Large,
}

/// Opens the store of a session.
pub(crate) type Open = fn(&Path) -> Store;

impl Session {
    /// Plans a session with so many threads, each appending so many batches every time the store is open.
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
        }
        let openings = (0..openings).map(|_| {
            (0..threads)
                .map(|number| steps(&mut lines, number * 2, (commands, batches), &mut chance))
                .collect()
        });
        let openings = openings.collect();
        Self { lines, openings, told: Vec::new() }
    }

    /// Runs the session on the store that `open` opens, noting on the tape what it is told.
    pub(crate) fn run(&mut self, dir: &Path, open: Open) {
        let told = Mutex::new(std::mem::take(&mut self.told));
        let mut done = vec![0; self.lines.len()];
        let done: Vec<_> = done.iter_mut().map(|done| Mutex::new(*done)).collect();
        let tell = |what| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.push(what);
            tape::tell(told.len() - 1);
        };
        for threads in &self.openings {
            let store = open(dir);
            tell(Told::Made);
            thread::scope(|scope| {
                for steps in threads {
                    let (store, done, tell, lines) = (&store, &done, &tell, &self.lines);
                    scope.spawn(move || {
                        for &line in steps {
                            let mut done = done[line].lock().unwrap();
                            *done += 1;
                            tell(Told::Asked { line, batches: *done });
                            perform(store, lines, line, *done - 1);
                            tell(Told::Acknowledged { line, batches: *done });
                        }
                    });
                }
            });
            store.close().unwrap();
        }
        self.told = told.into_inner().unwrap();
    }

    /// Returns the commands of a line once it has so many batches; `None` before its creation.
    pub(crate) fn commands(&self, line: usize, batches: usize) -> Option<Vec<&[u8]>> {
        (batches > 0).then(|| commands(&self.lines, line, batches))
    }
}

fn commands(lines: &[Line], line: usize, batches: usize) -> Vec<&[u8]> {
    let inherited = lines[line].parent.map(|(parent, batches)| commands(lines, parent, batches));
    let own = lines[line].batches.iter().take(batches).flatten().map(Vec::as_slice);
    inherited.unwrap_or_default().into_iter().chain(own).collect()
}

/// Plans what a thread does while the store is open once, and adds it to its two lines.
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
        let line = if may_branch { main + chance.below(2) } else { main };
        // A branch is created without entries.
        let count = match (line == main, lines[line].batches.len(), chance.below(12)) {
            (false, 0, _) => 0,
            (_, _, 0) if commands == Commands::Small => 64 + chance.below(80),
            _ => 1 + chance.below(3),
        };
        let batch = (0..count).map(|_| {
            let length = match commands {
                Commands::Small => 16 + chance.below(30),
                Commands::Large => 2000 + chance.below(60_000),
            };
            // No two commands are alike.
            let mark = [chance.below(1 << 20).to_le_bytes(), steps.len().to_le_bytes()].concat();
            mark.into_iter().cycle().take(length).collect()
        });
        let batch = batch.collect();
        lines[line].batches.push(batch);
        steps.push(line);
    }
    steps
}

fn perform(store: &Store, lines: &[Line], line: usize, batch: usize) {
    let Line { match_name, branch, parent, batches } = &lines[line];
    let (match_name, branch) = (match_name.parse().unwrap(), branch.parse().unwrap());
    let entries: Vec<_> = batches[batch].iter().map(|command| entry(command)).collect();
    match (batch, parent) {
        (0, None) => store.create_match(&match_name, &genesis(), entries).unwrap(),
        (0, Some((from, after))) => {
            let at = commands(lines, *from, *after).len() as u64;
            let from = lines[*from].branch.parse().unwrap();
            store.create_branch(&match_name, &branch, &from, at).unwrap();
        }
        _ => {
            let head = commands(lines, line, batch).len() as u64;
            let key = format!("key-{line}-{batch}").parse().unwrap();
            let appended = store.append(&match_name, &branch, head, entries, Some(&key)).unwrap();
            assert!(!appended.repeated);
        }
    }
}

/// Returns an entry to be appended.
pub(crate) fn entry(command: &[u8]) -> NewEntry {
    NewEntry { seat: Seat::P1, command: command.to_vec(), recorded_at_ms: 0 }
}

/// A match of rules that no build has, so that only the store looks at its entries.
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
    }
}
