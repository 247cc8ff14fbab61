//! Histories whose entries are read in runs, so that long ones take little memory.

use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest};
use turnfold_store::StoreReader;

use super::entry::LogEntry;
use super::position::{build_with, resume};
use super::revision::{FileName, Revision, SourceName};
use super::{Sources, broken_setup, rules_of};
use crate::error::ReplayError;
use crate::tfl::{LongReplay, Replay, SeenBy};

/// How many entries a run has at most.
pub(crate) const RUN: usize = 1024;

/// A setup, and the source of the entries that follow it. Each pass reads the entries again, unless they came from a
/// pipe.
pub(crate) struct HistorySource {
    /// The name in messages: the name that was asked for, with its last entry if it had one.
    pub(crate) name: SourceName,
    pub(crate) rules: Arc<dyn AnyRules>,
    pub(crate) setup: Vec<u8>,
    pub(crate) dice: DicePolicy,
    /// The number of the last entry.
    pub(crate) head: u64,
    /// The seat or spectator for whom the source was written; `None` if the source conceals nothing.
    pub(crate) view: Option<SeenBy>,
    entries: StoredEntries,
}

enum StoredEntries {
    /// A branch, and the build whose snapshots may be used.
    Branch {
        store: StoreReader,
        revision: Revision,
        build: Option<Digest>,
    },
    File(Box<LongReplay>),
    /// Piped input is kept because it can be read only once. So is a file with an error, because reading it whole names
    /// the error.
    Memory(Vec<LogEntry>),
}

/// Receives a run of entries.
pub(crate) type TakeRun<'a> = dyn FnMut(&[LogEntry]) -> Result<(), ReplayError> + 'a;

impl HistorySource {
    /// Opens a revision or a replay file, also one for one seat.
    ///
    /// # Errors
    /// [`ReplayError`] if the source cannot be read. Errors in its entries may show only when they are folded.
    pub(crate) fn open(name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        match name {
            SourceName::Revision(revision) => Self::of_revision(revision, sources),
            SourceName::File(file) => Self::of_file(file, sources),
        }
    }

    /// Opens a revision of the store.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    fn of_revision(revision: &Revision, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let store = sources.read_store()?;
        let beginning = store.read(&revision.match_name, &revision.branch, Some(0))?;
        let rules = rules_of(&beginning.genesis, revision, sources.registry())?;
        let build = sources.build().and_then(|build| build_with(&build, &*rules));
        Ok(Self {
            name: SourceName::Revision(revision.clone()),
            rules,
            setup: beginning.genesis.setup,
            dice: beginning.genesis.dice,
            head: beginning.head,
            view: None,
            entries: StoredEntries::Branch { store, revision: revision.clone(), build },
        })
    }

    fn of_file(file: &FileName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let name = SourceName::File(file.clone());
        if let Some(long) = LongReplay::open(&file.path, sources.registry()) {
            let mut source = Self::of_header(name, &long.replay)?;
            source.head = long.head;
            source.entries = StoredEntries::File(Box::new(long));
            return Ok(source);
        }
        let replay = sources.read_replay(&file.path)?;
        let mut source = Self::of_header(name, &replay)?;
        let entries: Vec<LogEntry> = replay.entries().cloned().collect();
        source.head = entries.last().map_or(0, |entry| entry.seq);
        source.entries = StoredEntries::Memory(entries);
        Ok(source)
    }

    /// Returns a source with the header of a replay and no entries.
    fn of_header(name: SourceName, replay: &Replay) -> Result<Self, ReplayError> {
        let header = &replay.header;
        Ok(Self {
            name,
            rules: header.rules.clone(),
            setup: replay.setup()?,
            dice: header.dice,
            head: 0,
            view: header.view,
            entries: StoredEntries::Memory(Vec::new()),
        })
    }

    /// Returns the store, if the history is a branch.
    pub(crate) fn store(&self) -> Option<&StoreReader> {
        match &self.entries {
            StoredEntries::Branch { store, .. } => Some(store),
            _ => None,
        }
    }

    /// Returns the state before the first entry.
    pub(crate) fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.rules.start(&self.setup).map_err(|cause| broken_setup(&self.name, cause))
    }

    /// Returns the number and state of the last usable snapshot at or before entry `seq`, or 0 and the start.
    pub(crate) fn nearest_state(&self, seq: u64) -> Result<(u64, Box<dyn AnyState>), ReplayError> {
        if let StoredEntries::Branch { store, revision, build } = &self.entries
            && let Some(resumed) = resume(&*self.rules, revision, store, seq, build.as_ref())?
        {
            return Ok(resumed);
        }
        Ok((0, self.start()?))
    }

    /// Reads the entries after `after` up to `to` and passes them to `take` in runs.
    pub(crate) fn each_run(&self, after: u64, to: u64, take: &mut TakeRun<'_>) -> Result<(), ReplayError> {
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
            StoredEntries::Branch { store, revision, .. } => {
                for entry in store.entries(&revision.match_name, &revision.branch, after + 1..=to)? {
                    add(entry?.into())?;
                }
            }
            StoredEntries::File(long) => long.pass(add)?,
            StoredEntries::Memory(entries) => {
                for entry in entries {
                    if !add(entry.clone())? {
                        break;
                    }
                }
            }
        }
        if run.is_empty() {
            return Ok(());
        }
        take(&run)
    }
}
