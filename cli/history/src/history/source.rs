//! Histories whose entries are read a run at a time, so that long ones take little memory.

use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest};
use turnfold_store::StoreReader;

use super::entry::LogEntry;
use super::position::{build_with, resume};
use super::revision::{FileName, Revision, SourceName};
use super::{Sources, broken_setup, rules_of};
use crate::error::ReplayError;
use crate::tfl::{LongReplay, Replay, SeenBy};

/// How many entries are held at a time.
pub(crate) const RUN: usize = 1024;

/// A setup, and where the entries that follow it are read from: in every pass again, but for what is piped in.
pub(crate) struct HistorySource {
    /// How messages name it: as it was asked for, with the entry at which it is to end, if one was named.
    pub(crate) name: SourceName,
    pub(crate) rules: Arc<dyn AnyRules>,
    pub(crate) setup: Vec<u8>,
    pub(crate) dice: DicePolicy,
    /// The number of the last entry.
    pub(crate) head: u64,
    /// Who may know all of it, where that is not everything there is.
    pub(crate) view: Option<SeenBy>,
    entries: StoredEntries,
}

enum StoredEntries {
    /// A branch, and the build whose snapshots of it may be used.
    Branch {
        store: StoreReader,
        revision: Revision,
        build: Option<Digest>,
    },
    File(Box<LongReplay>),
    /// What is piped in can be read only once. So is a file with an error, since reading it whole names the error.
    Memory(Vec<LogEntry>),
}

/// Takes in a run of entries.
pub(crate) type TakeRun<'a> = dyn FnMut(&[LogEntry]) -> Result<(), ReplayError> + 'a;

impl HistorySource {
    /// Opens a revision or a replay file, also one that contains only what a seat may know.
    ///
    /// # Errors
    /// What is wrong with the source. What is wrong with its entries may show only once they are folded.
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

    /// Begins with what stands before the entries of a replay.
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

    /// Returns the store that it is read from.
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

    /// Returns the state that is nearest to entry `seq` and not behind it, and the number of its entry: that of a
    /// snapshot, else the start.
    pub(crate) fn nearest_state(&self, seq: u64) -> Result<(u64, Box<dyn AnyState>), ReplayError> {
        if let StoredEntries::Branch { store, revision, build } = &self.entries
            && let Some(resumed) = resume(&*self.rules, revision, store, seq, build.as_ref())?
        {
            return Ok(resumed);
        }
        Ok((0, self.start()?))
    }

    /// Reads the entries after one up to another, and passes them on in runs.
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
