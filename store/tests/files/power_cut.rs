//! Power cuts: every acknowledged entry is there, and the rest is a whole batch or nothing.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use turnfold_store::{Store, StoreError};

use crate::disk::{Chance, Disk, Image, Loss, Trust, lay_out};
use crate::session::{Commands, Open, Session, Told, entry};
use crate::tape::{self, Event, SyncedBy};

/// Returns how many power cuts a test tries: a few, or as many as `TURNFOLD_POWER_CUTS` says.
fn cuts(few: usize) -> usize {
    std::env::var("TURNFOLD_POWER_CUTS").map_or(few, |cuts| cuts.parse().unwrap())
}

/// A session that was recorded, and the folder it happened in.
struct Recorded {
    session: Session,
    events: Vec<Event>,
    folder: TempDir,
}

fn record(mut session: Session, open: Open) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    let events = tape::record(folder.path(), || session.run(&dir, open));
    let recorded = Recorded { session, events, folder };
    recorded.check_is_complete();
    recorded
}

/// What was known when the power went.
#[derive(Clone, Debug)]
struct Known {
    made: bool,
    asked: Vec<usize>,
    acknowledged: Vec<usize>,
}

impl Known {
    fn nothing(lines: usize) -> Self {
        Self { made: false, asked: vec![0; lines], acknowledged: vec![0; lines] }
    }

    fn hear(&mut self, event: &Event, told: &[Told]) {
        let Event::Told(what) = event else { return };
        match told[*what] {
            Told::Made => self.made = true,
            Told::Asked { line, batches } => self.asked[line] = batches,
            Told::Acknowledged { line, batches } => self.acknowledged[line] = batches,
        }
    }
}

impl Recorded {
    /// Requires the tape to lead to the very files that are there: no operation escaped it.
    fn check_is_complete(&self) {
        let root = self.folder.path();
        let mut disk = Disk::new(root, Trust::AllSyncs);
        // What is longer than a fraction of a segment would lie in a file that sled never syncs.
        let is_blob = |event: &Event| matches!(event, Event::MakeFile { path, .. } if path.to_string_lossy().contains("/blobs/"));
        assert!(!self.events.iter().any(is_blob), "sled wrote a file of its own for a value");
        self.events.iter().for_each(|event| disk.carry_out(event));
        for (path, content) in disk.image(Loss::Nothing, &mut Chance::new(0)) {
            if let Some(content) = content {
                assert!(fs::read(&path).unwrap() == content, "{} is not what was recorded", path.display());
            }
        }
    }

    /// Cuts the power at seeded moments and returns what is wrong with what is left.
    fn failures(&self, trust: Trust, count: usize, seed: u64) -> Vec<String> {
        self.failures_within(0..self.events.len(), trust, count, seed)
    }

    /// Cuts the power at seeded moments of a part of the tape.
    fn failures_within(&self, tape: Range<usize>, trust: Trust, count: usize, seed: u64) -> Vec<String> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let tape = &tape;
            let share = |worker| move || self.failures_of(tape, trust, (seed, worker..count, workers));
            let running: Vec<_> = (0..workers).map(|worker| scope.spawn(share(worker))).collect();
            running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        })
    }

    /// Does a worker's share, every so manieth of the cuts in the order of their moments.
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
            // Somewhere in its share of that part.
            let share = tape.len() * number / count..tape.len() * (number + 1) / count;
            let moment = tape.start + share.start + chance.below(share.len() + 1);
            for event in &self.events[done..moment] {
                disk.carry_out(event);
                known.hear(event, &self.session.told);
            }
            done = moment;
            let loss = Loss::ALL[chance.below(Loss::ALL.len())];
            if let Err(reason) = self.check(&disk.image(loss, &mut chance), &known, trust) {
                failures.push(format!("cut {number} after operation {moment}, {loss:?}: {reason}"));
            }
        }
        failures
    }

    /// Opens what a power cut left, or what salvage makes of it without the binding, and says what is wrong with it.
    fn check(&self, image: &Image, known: &Known, trust: Trust) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        lay_out(image, self.folder.path(), folder.path());
        let dir = folder.path().join("store");
        if !known.made {
            // It was still being made: making it again goes on from there.
            return Store::open_or_create(&dir).and_then(Store::close).map_err(|error| error.to_string());
        }
        let store = match Store::open(&dir) {
            // One append may then be more than is ever unsynced otherwise.
            Err(StoreError::Corrupt { .. }) if trust == Trust::NotTheBinding => {
                let new_dir = folder.path().join("salvaged");
                Store::salvage(&dir, &new_dir, &mut |_| ()).map_err(|error| error.to_string())?;
                Store::open(&new_dir)
            }
            opened => opened,
        };
        let store = store.map_err(|error| error.to_string())?;
        for line in 0..self.session.lines.len() {
            self.check_line(&store, line, known).map_err(|reason| format!("line {line}: {reason}"))?;
        }
        for found in store.matches().map_err(|error| error.to_string())? {
            let audit = store.audit(&found.name).map_err(|error| error.to_string())?;
            audit.damage.first().map_or(Ok(()), |damage| Err(format!("{damage:?}")))?;
            let more =
                store.append(&found.name, &"main".parse().unwrap(), found.head, vec![entry(b"more")], None);
            more.map_err(|error| error.to_string())?;
        }
        store.close().map_err(|error| error.to_string())
    }

    /// Requires a line to have at least the batches acknowledged, at most those asked for, and only whole ones.
    fn check_line(&self, store: &Store, line: usize, known: &Known) -> Result<(), String> {
        let names = &self.session.lines[line];
        let found = store.read(&names.match_name.parse().unwrap(), &names.branch.parse().unwrap(), None);
        let found = match found {
            Ok(log) => Some(log.entries),
            Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. }) => None,
            Err(error) => return Err(error.to_string()),
        };
        let found: Option<Vec<_>> =
            found.as_ref().map(|entries| entries.iter().map(|entry| entry.command.as_slice()).collect());
        let (least, most) = (known.acknowledged[line], known.asked[line]);
        if (least..=most).any(|batches| self.session.commands(line, batches) == found) {
            return Ok(());
        }
        let count = found.map_or("nothing".to_owned(), |found| format!("{} entries", found.len()));
        let wanted = self.session.commands(line, least).map_or(0, |commands| commands.len());
        Err(format!("{count} instead of {wanted} or some more"))
    }
}

const SEGMENT_BYTES: u64 = 512 * 1024;

/// What reaches the disk of the first write to a segment that is used again: not its header.
const TORN: Range<usize> = 512..1024;

fn open(dir: &Path) -> Store {
    Store::open_or_create(dir).unwrap()
}

fn check_loses_nothing(session: Session, trust: Trust, open: Open, few: usize) {
    let recorded = record(session, open);
    let failures = recorded.failures(trust, cuts(few), 1);
    assert!(failures.is_empty(), "{} of {} cuts:\n{}", failures.len(), cuts(few), failures.join("\n"));
}

#[test]
fn a_store_whose_making_was_cut_short_anywhere_can_be_made_again() {
    let recorded = record(Session::plan(0, Commands::Small, 1, 1, 1), open);
    let made = recorded.events.iter().position(|event| matches!(event, Event::Told(_))).unwrap();
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let known = Known::nothing(recorded.session.lines.len());
    for (moment, event) in (1..=made).zip(&recorded.events) {
        disk.carry_out(event);
        for (number, loss) in (0..4).flat_map(|number| Loss::ALL.map(|loss| (number, loss))) {
            let image = disk.image(loss, &mut Chance::new(number));
            let checked = recorded.check(&image, &known, Trust::AllSyncs);
            assert!(checked.is_ok(), "after operation {moment}, {event:?}, {loss:?}: {checked:?}");
        }
    }
}

#[test]
fn small_commands_survive_any_power_cut() {
    check_loses_nothing(Session::plan(1, Commands::Small, 4, 3, 40), Trust::AllSyncs, open, 100);
}

#[test]
fn large_commands_survive_any_power_cut() {
    check_loses_nothing(Session::plan(2, Commands::Large, 2, 2, 8), Trust::AllSyncs, open, 30);
}

/// sled writes several segments at a time. So a power cut may leave a torn segment that was to be used again in the
/// midst of the log, which has not come to where it is used again.
#[test]
fn a_segment_that_is_torn_when_it_is_used_again_is_no_damage() {
    let recorded = record(Session::plan(8, Commands::Large, 1, 1, 16), open);
    let mut disk = Disk::new(recorded.folder.path(), Trust::AllSyncs);
    let mut known = Known::nothing(recorded.session.lines.len());
    let mut torn = 0;
    for event in &recorded.events {
        if let Event::Write { at, bytes, .. } = event
            && at.is_multiple_of(SEGMENT_BYTES)
            && bytes.len() > TORN.end
        {
            // What is not synced was not written yet, or it was.
            for loss in [Loss::Everything, Loss::Nothing] {
                let mut image = disk.image(loss, &mut Chance::new(0));
                let db = image.iter_mut().find(|(path, _)| path.ends_with("sled/db"));
                let db = db.and_then(|(_, content)| content.as_mut()).unwrap();
                let at = usize::try_from(*at).unwrap();
                if db.get(at..at + 4).is_some_and(|check| check != [0; 4]) {
                    db[at..][TORN].copy_from_slice(&bytes[TORN]);
                    let checked = recorded.check(&image, &known, Trust::AllSyncs);
                    assert!(checked.is_ok(), "torn at {at}, {loss:?}: {checked:?}");
                    torn += 1;
                }
            }
        }
        disk.carry_out(event);
        known.hear(event, &recorded.session.told);
    }
    assert!(torn > 10, "{torn} segments were torn");
}

#[test]
fn the_snapshot_that_closing_leaves_survives_any_power_cut() {
    for (trust, open) in [
        (Trust::AllSyncs, open as Open),
        (Trust::NotTheBinding, |dir| Store::open_or_create_unbound(dir).unwrap()),
    ] {
        let recorded = record(Session::plan(7, Commands::Large, 2, 2, 25), open);
        let events = &recorded.events;
        let closing = events.iter().rposition(|event| matches!(event, Event::Told(_))).unwrap();
        let is_snapshot = |event: &Event| matches!(event, Event::Rename { to, .. } if to.to_string_lossy().contains("/snap."));
        assert!(events[closing..].iter().any(is_snapshot), "closing left no snapshot");
        let failures = recorded.failures_within(closing..events.len(), trust, cuts(15), 1);
        assert!(failures.is_empty(), "{} cuts:\n{}", failures.len(), failures.join("\n"));
    }
}

/// Requires every acknowledgement to follow one sync that is made for it; returns how many others there are.
fn check_syncs(open: Open, commands: Commands) -> usize {
    let recorded = record(Session::plan(6, commands, 1, 1, 30), open);
    let is_db = |event: &&Event| matches!(event, Event::MakeFile { path, .. } if path.ends_with("sled/db"));
    let Some(Event::MakeFile { file: db, .. }) = recorded.events.iter().find(is_db) else {
        panic!("no database")
    };
    let (mut syncs, mut others, mut acknowledged) = (0, 0, 0);
    for event in &recorded.events {
        match event {
            Event::Sync { file, by: SyncedBy::SecondHandle } if file == db => syncs += 1,
            Event::Sync { file, by: SyncedBy::SledsHandle } if file == db => others += 1,
            Event::Told(what) if matches!(recorded.session.told[*what], Told::Acknowledged { .. }) => {
                // The first follows a creation too.
                assert!(syncs == 1 || acknowledged == 0, "{syncs} syncs for acknowledgement {acknowledged}");
                (syncs, acknowledged) = (0, acknowledged + 1);
            }
            _ => {}
        }
    }
    assert_eq!(acknowledged, 30);
    others
}

#[test]
fn every_acknowledgement_follows_one_fdatasync_and_large_commands_are_synced_amid_them() {
    assert!(check_syncs(open, Commands::Small) <= 3, "sled's own syncs are deferred");
    assert!(check_syncs(open, Commands::Large) > 30, "but not by much");
    check_syncs(|dir| Store::open_or_create_unbound(dir).unwrap(), Commands::Small);
}

fn check_second_handle(session: Session, few: usize) {
    let open: Open = |dir| Store::open_or_create_unbound(dir).unwrap();
    check_loses_nothing(session, Trust::NotTheBinding, open, few);
}

#[test]
fn without_the_binding_the_second_handle_survives_any_power_cut() {
    check_second_handle(Session::plan(4, Commands::Small, 2, 2, 40), 60);
}

/// Where a single append is more than may otherwise be unsynced, what is left may have to be salvaged.
#[test]
fn without_the_binding_a_power_cut_amid_large_commands_loses_nothing() {
    check_second_handle(Session::plan(5, Commands::Large, 2, 2, 8), 20);
}

#[test]
fn without_the_syncs_of_flushes_a_power_cut_loses_data() {
    let recorded = record(Session::plan(3, Commands::Small, 4, 3, 40), open);
    assert!(!recorded.failures(Trust::NotTheFlushes, 40, 1).is_empty());
}
