//! A recorded session, and what a power cut at any moment of it leaves behind.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use turnfold_store::{BranchInfo, Store, StoreError, StoreReader};

use crate::disk::{Chance, Disk, Image, Loss, Trust, lay_out};
use crate::session::{Open, Progress, Session, entry};
use crate::tape::{self, Event};

/// A recorded session and its folder.
pub(crate) struct Recorded {
    pub(crate) session: Session,
    pub(crate) events: Vec<Event>,
    pub(crate) folder: TempDir,
}

pub(crate) fn record(session: Session, open: Open) -> Recorded {
    record_with(session, open, |_| ())
}

/// Records a session and then `after`.
pub(crate) fn record_with(mut session: Session, open: Open, after: impl FnOnce(&Path)) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    let events = tape::record(folder.path(), || {
        session.run(&dir, open);
        after(&dir);
    });
    let recorded = Recorded { session, events, folder };
    recorded.check_is_complete();
    recorded
}

/// What the caller knew at the moment of the power cut.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    made: bool,
    asked: Vec<usize>,
    acknowledged: Vec<usize>,
    /// Whether the store was closed and nothing was asked for since.
    pub(crate) is_closed: bool,
}

impl Known {
    pub(crate) fn nothing(lines: usize) -> Self {
        Self { made: false, asked: vec![0; lines], acknowledged: vec![0; lines], is_closed: false }
    }

    pub(crate) fn hear(&mut self, event: &Event, progress: &[Progress]) {
        let Event::Progress(what) = event else { return };
        match progress[*what] {
            Progress::Made => self.made = true,
            Progress::Asked { line, batches } => (self.asked[line], self.is_closed) = (batches, false),
            Progress::Acknowledged { line, batches } => self.acknowledged[line] = batches,
            Progress::Closed => self.is_closed = true,
        }
    }
}

impl Recorded {
    /// Requires the tape to produce exactly the existing files, so that no operation is missing from it.
    fn check_is_complete(&self) {
        let root = self.folder.path();
        let mut disk = Disk::new(root, Trust::AllSyncs);
        self.events.iter().for_each(|event| disk.carry_out(event));
        for (path, content) in disk.image(Loss::Nothing, &mut Chance::new(0)) {
            // The tape keeps the contents of a removed folder, as a power cut may do.
            let is_removed = !path.parent().unwrap().exists();
            if let Some(content) = content.filter(|_| !is_removed) {
                assert!(fs::read(&path).unwrap() == content, "{} is not what was recorded", path.display());
            }
        }
    }

    /// Cuts the power at seeded moments, and describes what is wrong afterwards.
    pub(crate) fn failures(&self, trust: Trust, count: usize, seed: u64) -> Vec<String> {
        self.failures_in(0..self.events.len(), trust, (count, seed))
    }

    /// The same, but only at moments after the session.
    pub(crate) fn failures_after(&self, count: usize, seed: u64) -> Vec<String> {
        let end = self.events.iter().rposition(|event| matches!(event, Event::Progress(_))).unwrap();
        self.failures_in(end..self.events.len(), Trust::AllSyncs, (count, seed))
    }

    fn failures_in(&self, tape: Range<usize>, trust: Trust, (count, seed): (usize, u64)) -> Vec<String> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let tape = &tape;
        thread::scope(|scope| {
            let share = |worker| move || self.failures_of(tape, trust, (seed, worker..count, workers));
            let running: Vec<_> = (0..workers).map(|worker| scope.spawn(share(worker))).collect();
            running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        })
    }

    /// Does one worker's share: every `workers`-th of the cuts, in the order of their moments.
    fn failures_of(
        &self,
        tape: &Range<usize>,
        trust: Trust,
        (seed, cuts, workers): (u64, Range<usize>, usize),
    ) -> Vec<String> {
        let mut disk = Disk::new(self.folder.path(), trust);
        let mut known = Known::nothing(self.session.lines.len());
        let mut failures = Vec::new();
        let (count, mut done) = (cuts.end, 0);
        for number in cuts.step_by(workers) {
            let mut chance = Chance::new(seed * 1_000_000 + number as u64);
            // Choose a moment in the part of the tape that belongs to this cut.
            let share = tape.len() * number / count..tape.len() * (number + 1) / count;
            let moment = tape.start + share.start + chance.below(share.len() + 1);
            for event in &self.events[done..moment] {
                disk.carry_out(event);
                known.hear(event, &self.session.progress);
            }
            done = moment;
            let loss = Loss::ALL[chance.below(Loss::ALL.len())];
            let image = disk.image(loss, &mut chance);
            if let Err(reason) = self.check(&image, &known) {
                failures.push(format!("cut {number} after operation {moment}, {loss:?}: {reason}"));
            }
        }
        failures
    }

    /// Opens the store that a power cut left, and returns what is wrong with it.
    pub(crate) fn check(&self, image: &Image, known: &Known) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        lay_out(image, self.folder.path(), folder.path());
        let dir = folder.path().join("store");
        if !known.made {
            // The store was still being created, and another creation continues from there.
            return Store::open_or_create(&dir).and_then(Store::close).map_err(|error| error.to_string());
        }
        // ST-17: a reader sees the same as a writer, and changes nothing.
        let reader = StoreReader::open(&dir).map_err(|error| format!("to be read: {error}"))?;
        let before = heads(&reader)?;
        drop(reader);
        let store = Store::open(&dir);
        let store = store.map_err(|error| format!("to be opened: {error}"))?;
        if heads(&store)? != before {
            return Err("who reads sees another store than who writes".to_owned());
        }
        for line in 0..self.session.lines.len() {
            self.check_line(&store, line, known).map_err(|reason| format!("line {line}: {reason}"))?;
        }
        for found in store.matches().map_err(|error| error.to_string())? {
            let audit = store.audit(&found.name).map_err(|error| error.to_string())?;
            audit.damage.first().map_or(Ok(()), |damage| Err(format!("{damage:?}")))?;
            let more =
                store.append(&found.name, &"main".parse().unwrap(), found.head, vec![entry(b"more")], None);
            more.map_err(|error| format!("to be appended to: {error}"))?;
        }
        store.close().map_err(|error| format!("to be closed: {error}"))
    }

    /// Requires a branch to have at least the acknowledged batches, at most the requested ones, and only complete ones.
    fn check_line(&self, store: &Store, line: usize, known: &Known) -> Result<(), String> {
        let (least, most) = (known.acknowledged[line], known.asked[line]);
        let mut reasons = String::new();
        for batches in least..=most {
            match self.require_held(store, line, batches) {
                Ok(()) => return Ok(()),
                Err(reason) => reasons = format!("{reasons}; not as after batch {batches}: {reason}"),
            }
        }
        Err(reasons)
    }

    /// Requires a branch to have exactly its entries after this number of batches.
    fn require_held(&self, store: &Store, line: usize, batches: usize) -> Result<(), String> {
        let held = self.session.held(line, batches);
        for (match_name, branch) in self.session.lines[line].names() {
            let found = match store.read(&match_name, &branch, None) {
                Ok(log) => Some(log.entries),
                Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. }) => None,
                Err(error) => return Err(error.to_string()),
            };
            let found = found
                .as_ref()
                .map(|entries| entries.iter().map(|entry| entry.command.as_slice()).collect::<Vec<_>>());
            if found.is_some() && branch.is_main() {
                let module = store.genesis(&match_name).map_err(|error| error.to_string())?.played_by;
                if module != self.session.module(line, batches) {
                    return Err(format!("`{match_name}` is played by {module:?}"));
                }
            }
            let expected = held.as_ref().filter(|(names, _)| *names == (match_name.clone(), branch.clone()));
            if found.as_ref() != expected.map(|(_, commands)| commands) {
                let count = |commands: Option<&Vec<_>>| commands.map(Vec::len);
                let counts = [found.as_ref(), expected.map(|(_, commands)| commands)].map(count);
                return Err(format!(
                    "`{match_name}@{branch}` has {:?} instead of {:?} entries",
                    counts[0], counts[1]
                ));
            }
        }
        Ok(())
    }
}

/// Returns all branches of a store with their heads.
fn heads(store: &StoreReader) -> Result<Vec<(String, Vec<BranchInfo>)>, String> {
    let matches = store.matches().map_err(|error| error.to_string())?;
    let branches =
        matches.into_iter().map(|found| Ok((found.name.to_string(), store.branches(&found.name)?)));
    branches.collect::<Result<_, StoreError>>().map_err(|error| error.to_string())
}
