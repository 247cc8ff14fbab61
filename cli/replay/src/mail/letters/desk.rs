//! The log of a desk, read and folded once: what each entry did, and how the desk stood where a letter is due.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::decode::decode_strictly;
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, Setup, State};
use turnfold_core::{FoldError, Registry, Rules, Seat, SetupError, Verdict};
use turnfold_store::{BranchName, MatchName, StoreReader};

use crate::error::ReplayError;
use crate::line::{broken_entry, rules_of};
use crate::revision::{Revision, SourceName};

/// The log of a desk.
pub(super) struct DeskEntries {
    /// How messages name it.
    name: SourceName,
    /// How it begins.
    pub(super) setup: Setup,
    /// The entries, numbered from 1.
    pub(super) entries: Vec<DeskEntry>,
    /// How many records there are up to the end of the match, if it has ended.
    over_at: Option<u64>,
}

/// An entry of a desk.
pub(super) struct DeskEntry {
    /// Its number.
    pub(super) seq: u64,
    seat: Seat,
    /// What was given.
    pub(super) command: Command,
    /// What it did.
    pub(super) effects: Vec<Effect>,
    /// Why it did nothing.
    pub(super) ignored: Option<Reason>,
    /// The seats that have to seal and have not, after it (PM-16).
    pub(super) owing_seals: Vec<Seat>,
}

impl DeskEntry {
    /// Returns the number of records of the desk up to this one (TR-1).
    pub(super) const fn size(&self) -> u64 {
        self.seq.saturating_add(1)
    }
}

impl DeskEntries {
    /// Reads the line `main` of a desk, the only one that counts (PM-1).
    ///
    /// # Errors
    /// What is wrong with the store or the log; [`ReplayError::BadSetup`] for a match that is no desk.
    pub(super) fn read(
        store: &StoreReader,
        desk: &MatchName,
        registry: &Registry,
    ) -> Result<Self, ReplayError> {
        let branch = BranchName::main();
        let log = store.read(desk, &branch, None)?;
        let revision = Revision { match_name: desk.clone(), branch, seq: None };
        if rules_of(&log.genesis, &revision, registry)?.name() != Desk::NAME {
            return Err(SetupError::Bytes(format!("`{desk}` is no desk")).into());
        }
        let name = SourceName::Revision(revision);
        let setup: Result<Setup, _> = decode_strictly(&log.genesis.setup);
        let setup = setup.map_err(|cause| SetupError::Bytes(cause.to_string()))?;
        let mut found = Self { name, setup, entries: Vec::new(), over_at: None };
        let mut state = Desk::start(&found.setup)?;
        for entry in log.entries {
            let command = decode_strictly(&entry.command);
            let command = command.map_err(|cause| FoldError::Undecodable { seq: entry.seq, cause })?;
            let mut entry = DeskEntry {
                seq: entry.seq,
                seat: entry.seat,
                command,
                effects: Vec::new(),
                ignored: None,
                owing_seals: Vec::new(),
            };
            (entry.effects, entry.ignored) = found.give(&mut state, &entry)?;
            entry.owing_seals = state.awaited_seals();
            if Desk::over(&state) {
                found.over_at.get_or_insert(entry.size());
            }
            found.entries.push(entry);
        }
        Ok(found)
    }

    /// Gives an entry to the desk.
    fn give(
        &self,
        state: &mut State,
        entry: &DeskEntry,
    ) -> Result<(Vec<Effect>, Option<Reason>), ReplayError> {
        let mut effects = Vec::new();
        match Desk::apply(state, entry.seat, &entry.command, &mut effects) {
            Ok(Verdict::Applied(())) => Ok((effects, None)),
            Ok(Verdict::Ignored(reason)) => Ok((effects, Some(reason))),
            Err(denied) => {
                let (seq, code, message) = (entry.seq, denied.code(), denied.to_string());
                Err(broken_entry(&self.name, FoldError::Rejected { seq, code, message }))
            }
        }
    }

    /// Returns the number of records (TR-1).
    pub(super) fn size(&self) -> u64 {
        self.entries.last().map_or(1, DeskEntry::size)
    }

    /// Returns `true` if the match is over after so many records.
    pub(super) fn is_over(&self, size: u64) -> bool {
        self.over_at.is_some_and(|over| over <= size)
    }

    /// Returns the desk after each of these numbers of records.
    ///
    /// # Errors
    /// [`ReplayError::Entry`] at an entry that the rules reject.
    pub(super) fn states(&self, sizes: &BTreeSet<u64>) -> Result<BTreeMap<u64, State>, ReplayError> {
        let mut state = Desk::start(&self.setup)?;
        let mut found = BTreeMap::new();
        if sizes.contains(&1) {
            found.insert(1, state.clone());
        }
        let last = sizes.last().copied().unwrap_or_default();
        for entry in self.entries.iter().take_while(|entry| entry.size() <= last) {
            self.give(&mut state, entry)?;
            if sizes.contains(&entry.size()) {
                found.insert(entry.size(), state.clone());
            }
        }
        Ok(found)
    }
}
