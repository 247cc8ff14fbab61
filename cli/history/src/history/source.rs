//! Histories whose entries are read in runs, so that long ones take little memory.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use turnfold_core::{AnyRules, AnyState, Digest, Registry, Step};
use turnfold_store::{BranchName, MatchName, SNAPSHOT_INTERVAL, Snapshot, Store, StoreReader};

use crate::input::Limits;
use crate::session::PlayPosition;
use crate::tfl::{Closing, LogHasher, LongReplay, ReplayLine};
use crate::{History, LogEntry, ReplayError, Revision, SourceName, Sources, Viewer};

pub(crate) const RUN: usize = 1024;

// So a run that begins after a snapshot ends where the next is due.
const _: () = assert!(SNAPSHOT_INTERVAL.is_multiple_of(RUN as u64));

/// A history whose entries are in memory, or are read again by each pass.
pub struct HistorySource {
    /// The history, without entries unless they are in memory.
    pub history: History,
    /// The number of the last entry.
    pub(crate) head: u64,
    entries: StoredEntries,
}

enum StoredEntries {
    Memory,
    /// A branch, and the build whose snapshots may be used.
    Branch {
        store: StoreReader,
        revision: Revision,
        build: Option<Digest>,
    },
    File(Box<LongReplay>),
}

type TakeRun<'a> = dyn FnMut(&[LogEntry]) -> Result<(), ReplayError> + 'a;

/// Takes the entries from memory.
impl From<History> for HistorySource {
    fn from(history: History) -> Self {
        Self { head: history.head(), history, entries: StoredEntries::Memory }
    }
}

impl HistorySource {
    /// Returns the source of a history of which only the entries after entry `after` are in memory. Earlier ones are
    /// never asked for.
    #[must_use]
    pub fn of_end(history: History, after: u64) -> Self {
        Self { head: history.head().max(after), history, entries: StoredEntries::Memory }
    }

    /// Opens a revision or a replay file, also one for one seat. Piped input is kept in memory because it can be read
    /// only once. So is a file with an error, because reading it whole names the error.
    ///
    /// # Errors
    /// [`ReplayError`] if the source cannot be read. Errors in its entries may show only when they are folded.
    pub fn open(name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        match name {
            SourceName::Revision(revision) => match sources.fetch(revision)? {
                Some(replay) => Ok(History::of_fetched(revision, &replay)?.into()),
                None => {
                    Self::of_branch(revision, &sources.read_store()?, sources.registry(), sources.build())
                }
            },
            SourceName::File(file) => match LongReplay::open(&file.path, sources.registry()) {
                Some(long) => Ok(Self {
                    history: History::of_replay(&file.path, &long.replay)?,
                    head: long.head,
                    entries: StoredEntries::File(Box::new(long)),
                }),
                None => Ok(History::load_also_seen(name, sources)?.into()),
            },
        }
    }

    /// Opens a revision of a store that is open already. Snapshots of `build` may be used.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn of_branch(
        revision: &Revision,
        store: &StoreReader,
        registry: &Registry,
        build: Option<Digest>,
    ) -> Result<Self, ReplayError> {
        let beginning = store.read(&revision.match_name, &revision.branch, Some(0))?;
        let head = revision.seq.unwrap_or(beginning.head);
        if head > beginning.head {
            // The store names the entry that is not there.
            store.entries(&revision.match_name, &revision.branch, head..=head)?;
        }
        let history = History::of_log(revision, beginning, registry)?;
        let build = build.and_then(|build| build_with(&build, &*history.rules));
        let entries = StoredEntries::Branch { store: store.clone(), revision: revision.clone(), build };
        Ok(Self { history, head, entries })
    }

    pub(crate) fn store(&self) -> Option<&StoreReader> {
        if let StoredEntries::Branch { store, .. } = &self.entries { Some(store) } else { None }
    }

    /// Removes the entries after entry `seq`.
    pub fn cut_after(&mut self, seq: u64) {
        self.head = seq;
        self.history.entries.retain(|entry| entry.seq <= seq);
    }

    pub(crate) fn into_history(self) -> Result<History, ReplayError> {
        if matches!(self.entries, StoredEntries::Memory) { Ok(self.history) } else { self.until(self.head) }
    }

    pub(crate) fn until(&self, seq: u64) -> Result<History, ReplayError> {
        let mut history = self.history.until(0);
        self.each_run(0, seq, &mut |run| {
            history.entries.extend_from_slice(run);
            Ok(())
        })?;
        Ok(history)
    }

    pub(crate) fn is_recorded(&self) -> bool {
        match &self.entries {
            StoredEntries::Memory => {
                self.history.entries.iter().any(|entry| entry.outcome.is_some() || entry.hash.is_some())
            }
            StoredEntries::Branch { .. } => false,
            StoredEntries::File(_) => true,
        }
    }

    /// Returns the number and state of the last usable snapshot at or before entry `seq`, or 0 and the start.
    pub(crate) fn nearest_state(&self, seq: u64) -> Result<(u64, Box<dyn AnyState>), ReplayError> {
        if let StoredEntries::Branch { store, revision, build: Some(build) } = &self.entries
            && let Some(snapshot) = store.find_snapshot(&revision.match_name, &revision.branch, seq, build)?
        {
            match self.history.rules.resume(&snapshot.state, snapshot.rolls) {
                Ok(state) => return Ok((snapshot.seq, state)),
                Err(error) => {
                    tracing::debug!(%error, seq = snapshot.seq, "a snapshot that is no state is passed over");
                }
            }
        }
        Ok((0, self.history.start()?))
    }

    /// Returns the state after the last entry, folded from the nearest snapshot. `keeper`, the same store opened for
    /// writing, keeps the snapshots that are due on the way.
    ///
    /// # Errors
    /// [`ReplayError`] if an entry cannot be read or folded, or a snapshot cannot be kept.
    pub fn state(&self, keeper: Option<&Store>) -> Result<Box<dyn AnyState>, ReplayError> {
        self.state_at(Viewer::HOST, self.head, keeper)
    }

    /// Returns the position after the last entry, as [`state`](Self::state) does for its state.
    ///
    /// # Errors
    /// As for [`state`](Self::state).
    pub fn position(self, keeper: Option<&Store>) -> Result<PlayPosition, ReplayError> {
        let state = self.state(keeper)?;
        let Self { history: History { rules, dice, .. }, head, .. } = self;
        Ok(PlayPosition { rules, dice, head, state })
    }

    /// Does what [`state`](Self::state) does for entry `seq` and for a viewer, who sees the error.
    pub(crate) fn state_at(
        &self,
        viewer: Viewer,
        seq: u64,
        keeper: Option<&Store>,
    ) -> Result<Box<dyn AnyState>, ReplayError> {
        let (at, mut state) = self.nearest_state(seq)?;
        self.advance(viewer, state.as_mut(), at..=seq, keeper)?;
        Ok(state)
    }

    pub(crate) fn advance(
        &self,
        viewer: Viewer,
        state: &mut dyn AnyState,
        between: RangeInclusive<u64>,
        keeper: Option<&Store>,
    ) -> Result<(), ReplayError> {
        self.each_run(*between.start(), *between.end(), &mut |run| {
            let folded = state.fold(&LogEntry::all_logged(run), &self.history.dice, &mut |_| {});
            folded.map_err(|cause| viewer.broken_entry(&self.history.name, cause))?;
            if let StoredEntries::Branch { revision, build: Some(build), .. } = &self.entries
                && let (Some(keeper), Some(last)) = (keeper, run.last())
                && let Some(snapshot) = due(last.seq, state)
            {
                keeper.keep_snapshot(&revision.match_name, &revision.branch, &snapshot, build)?;
            }
            Ok(())
        })
    }

    /// Folds as [`advance`](Self::advance) does and passes each entry to `observe`, with a step that shows a player what
    /// is open in the state of the bytes `end`.
    pub(crate) fn fold(
        &self,
        viewer: Viewer,
        state: &mut dyn AnyState,
        after: u64,
        to: u64,
        end: Option<&[u8]>,
        observe: &mut dyn FnMut(&LogEntry, &mut dyn Step),
    ) -> Result<(), ReplayError> {
        self.each_run(after, to, &mut |run| {
            let mut rest = run.iter();
            let observe = &mut |step: &mut dyn Step| {
                if let Some(entry) = rest.next() {
                    observe(entry, step);
                }
            };
            let folded = viewer.fold(state, &LogEntry::all_logged(run), &self.history.dice, end, observe);
            folded.map_err(|cause| viewer.broken_entry(&self.history.name, cause))
        })
    }

    fn each_run(&self, after: u64, to: u64, take: &mut TakeRun<'_>) -> Result<(), ReplayError> {
        let mut run = Vec::new();
        let add = &mut |entry: LogEntry| {
            let goes_on = entry.seq < to;
            if entry.seq > after && entry.seq <= to {
                run.push(entry);
            }
            if run.len() == RUN {
                take(&run)?;
                run.clear();
            }
            Ok(goes_on)
        };
        match &self.entries {
            StoredEntries::Memory => {
                let entries = &self.history.entries;
                let first = entries.partition_point(|entry| entry.seq <= after);
                let end = entries.partition_point(|entry| entry.seq <= to);
                return take(entries.get(first..end).unwrap_or_default());
            }
            StoredEntries::Branch { store, revision, .. } => {
                for entry in store.entries(&revision.match_name, &revision.branch, after + 1..=to)? {
                    add(entry?.into())?;
                }
            }
            StoredEntries::File(long) => {
                long.pass(&mut |line| match line {
                    ReplayLine::Entry(entry) => add(entry),
                    _ => Ok(true),
                })?;
            }
        }
        if run.is_empty() { Ok(()) } else { take(&run) }
    }

    /// Writes a revision as a replay file as the host sees it, with every outcome and hash, and returns its closing
    /// line. The text is that of [`History::to_replay`], but only a run of entries is in memory. A history that is too
    /// long is refused before any entry is read.
    ///
    /// # Errors
    /// [`ReplayError::TooLong`]; [`ReplayError`] if the store, the revision or an entry cannot be read or folded; the
    /// error of `write`.
    pub fn write_replay<E: From<ReplayError>>(
        revision: &Revision,
        sources: &dyn Sources,
        write: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<Closing, E> {
        let source = Self::open(&SourceName::Revision(revision.clone()), sources)?;
        let count = source.head;
        if count > Limits::REPLAY_ENTRIES_MAX as u64 {
            return Err(ReplayError::TooLong(source.history.name).into());
        }
        let head = source.history.compose(&source.history.setup, None)?;
        let mut log = LogHasher::new(&head.header);
        write(&head.to_string())?;
        let mut state = source.history.start()?;
        let mut text = String::new();
        for after in (0..count).step_by(RUN) {
            text.clear();
            let to = count.min(after + RUN as u64);
            source.fold(Viewer::HOST, state.as_mut(), after, to, None, &mut |_, step| {
                let entry = LogEntry::of(step);
                log.add(&entry);
                writeln!(text, "{entry}").expect("writing to a string cannot fail");
            })?;
            write(&text)?;
        }
        let header = head.header.mark();
        let closing = Closing { count, state: state.state_hash(), log: log.finish(), header };
        write(&format!("{closing}\n"))?;
        Ok(closing)
    }

    /// Stores the snapshots that are due after entry `after` up to entry `head`; these entries were just appended.
    ///
    /// Snapshots spare readers folding the whole log. They are a cache, so a failure is only traced.
    pub fn keep_snapshots(revision: &Revision, after: u64, head: u64, sources: &dyn Sources, store: &Store) {
        let last = head - head % SNAPSHOT_INTERVAL;
        if last <= after || !store.has_snapshots() {
            return;
        }
        let revision = revision.at(last);
        let kept = HistorySource::of_branch(&revision, store, sources.registry(), sources.build())
            .and_then(|source| source.state(Some(store)));
        if let Err(error) = kept {
            tracing::debug!(%error, "snapshots could not be kept");
        }
    }
}

/// The snapshots due among entries that are folded before they are stored.
#[derive(Default)]
pub struct Passed(Vec<Snapshot>);

impl Passed {
    /// Notes the state after entry `seq`.
    pub fn note(&mut self, seq: u64, state: &dyn AnyState) {
        self.0.extend(due(seq, state));
    }

    /// Stores the snapshots for the main branch of a match that was just created with these entries and rules.
    pub fn keep(&self, match_name: &MatchName, rules: &dyn AnyRules, sources: &dyn Sources, store: &Store) {
        let Some(build) = sources.build() else { return };
        let Some(build) = build_with(&build, rules) else { return };
        for snapshot in &self.0 {
            if let Err(error) = store.keep_snapshot(match_name, &BranchName::main(), snapshot, &build) {
                tracing::debug!(%error, "a snapshot could not be kept");
            }
        }
    }
}

fn due(seq: u64, state: &dyn AnyState) -> Option<Snapshot> {
    if !seq.is_multiple_of(SNAPSHOT_INTERVAL) {
        return None;
    }
    Some(Snapshot { seq, rolls: state.rolls(), state: state.state_bytes() })
}

/// Returns the build that snapshots of these rules belong to. It includes the module that folds them, because no other
/// module may resume from its states (MD-9). Returns `None` for a referee, because its rules can change unnoticed
/// (RF-14).
fn build_with(build: &Digest, rules: &dyn AnyRules) -> Option<Digest> {
    if rules.referee().is_some() {
        return None;
    }
    let Some(module) = rules.module() else { return Some(*build) };
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 build with module");
    hasher.update(build.as_bytes()).update(module.as_bytes());
    Some(hasher.finalize().into())
}
