//! The log of a desk, read and folded once: what each entry did, and how the desk stood where a letter is due.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::decode::decode_strictly;
use turnfold_core::rules::desk::{Desk, Effect, Setup, State};
use turnfold_core::{Registry, Rules, SetupError};
use turnfold_store::{BranchName, MatchName, StoreReader};

use crate::error::ReplayError;
use crate::history::{broken_entry, rules_of};
use crate::mail::desk_history::{AppliedEntry, DeskHistory};
use crate::revision::{Revision, SourceName};

/// The log of a desk.
pub(super) struct DeskEntries {
    /// How it begins.
    pub(super) setup: Setup,
    /// The desk before its first entry.
    start: State,
    /// The entries, numbered from 1.
    pub(super) entries: Vec<AppliedEntry>,
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
        let setup: Result<Setup, _> = decode_strictly(&log.genesis.setup);
        let setup = setup.map_err(|cause| SetupError::Bytes(cause.to_string()))?;
        let mut desk = DeskHistory::start(&setup, &log.genesis.encode())?;
        let start = desk.state().clone();
        let heard = log.entries.iter().map(|entry| desk.take(entry)).collect::<Result<_, _>>();
        let entries = heard.map_err(|cause| broken_entry(&SourceName::Revision(revision), cause))?;
        Ok(Self { setup, start, entries })
    }

    /// Returns the number of records (TR-1).
    pub(super) fn size(&self) -> u64 {
        self.entries.last().map_or(1, AppliedEntry::size)
    }

    /// Returns `true` if the match is over after this number of records.
    pub(super) fn is_over(&self, size: u64) -> bool {
        let is_end = |effect: &Effect| matches!(effect, Effect::Over { .. });
        self.entries.iter().any(|entry| entry.size() <= size && entry.effects.iter().any(is_end))
    }

    /// Returns the desk after each of these numbers of records.
    ///
    /// # Panics
    /// Never: the entries were folded before.
    pub(super) fn states(&self, sizes: &BTreeSet<u64>) -> BTreeMap<u64, State> {
        let (mut state, mut found) = (self.start.clone(), BTreeMap::new());
        if sizes.contains(&1) {
            found.insert(1, state.clone());
        }
        let last = sizes.last().copied().unwrap_or_default();
        for entry in self.entries.iter().take_while(|entry| entry.size() <= last) {
            let applied = Desk::apply(&mut state, entry.seat, &entry.command, &mut ());
            applied.expect("an entry that was folded is folded again");
            if sizes.contains(&entry.size()) {
                found.insert(entry.size(), state.clone());
            }
        }
        found
    }
}
