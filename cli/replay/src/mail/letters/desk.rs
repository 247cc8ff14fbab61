//! The log of a desk, read and folded under its own rules.

use turnfold_core::decode::decode_strictly;
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, Setup, State};
use turnfold_core::{FoldError, Registry, Rules, Seat, SetupError, Verdict};
use turnfold_store::{BranchName, MatchName, StoreReader};

use crate::error::ReplayError;
use crate::line::{broken_entry, rules_of};
use crate::revision::{Revision, SourceName};

/// The log of a desk.
#[derive(Clone, Debug)]
pub(super) struct DeskEntries {
    /// How messages name it.
    name: SourceName,
    /// How it begins.
    pub(super) setup: Setup,
    /// The entries, numbered from 1.
    pub(super) entries: Vec<DeskEntry>,
}

/// An entry of a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeskEntry {
    /// Its number.
    pub(super) seq: u64,
    /// Who gave it.
    pub(super) seat: Seat,
    /// What was given.
    pub(super) command: Command,
}

/// An entry of a desk that is being folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeskStep<'a> {
    /// The entry.
    pub(super) entry: &'a DeskEntry,
    /// What it did.
    pub(super) effects: &'a [Effect],
    /// Why it did nothing.
    pub(super) ignored: Option<Reason>,
    /// The desk after it.
    pub(super) state: &'a State,
}

impl DeskStep<'_> {
    /// Returns the number of records of the desk up to this one (TR-1).
    #[must_use]
    pub(super) const fn size(&self) -> u64 {
        self.entry.seq.saturating_add(1)
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
        let setup = decode_strictly(&log.genesis.setup);
        let setup = setup.map_err(|cause| SetupError::Bytes(cause.to_string()))?;
        let entries = log.entries.into_iter().map(|entry| {
            let command = decode_strictly(&entry.command);
            let undecodable = |cause| FoldError::Undecodable { seq: entry.seq, cause };
            let command = command.map_err(undecodable);
            Ok(DeskEntry { seq: entry.seq, seat: entry.seat, command: command? })
        });
        Ok(Self { name, setup, entries: entries.collect::<Result<_, FoldError>>()? })
    }

    /// Returns the number of records (TR-1).
    #[must_use]
    pub(super) fn size(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq).saturating_add(1)
    }

    /// Returns the desk before its first entry.
    ///
    /// # Errors
    /// [`ReplayError::BadSetup`].
    pub(super) fn start(&self) -> Result<State, ReplayError> {
        Ok(Desk::start(&self.setup)?)
    }

    /// Folds the first `size` records, showing each entry.
    ///
    /// # Errors
    /// [`ReplayError::Entry`] at an entry that the rules reject.
    pub(super) fn fold(
        &self,
        size: u64,
        observe: &mut dyn FnMut(DeskStep<'_>),
    ) -> Result<State, ReplayError> {
        let mut state = self.start()?;
        for entry in self.entries.iter().take_while(|entry| entry.seq < size) {
            let mut effects = Vec::new();
            let ignored = match Desk::apply(&mut state, entry.seat, &entry.command, &mut effects) {
                Ok(Verdict::Applied(())) => None,
                Ok(Verdict::Ignored(reason)) => Some(reason),
                Err(denied) => {
                    let (seq, code, message) = (entry.seq, denied.code(), denied.to_string());
                    return Err(broken_entry(&self.name, FoldError::Rejected { seq, code, message }));
                }
            };
            observe(DeskStep { entry, effects: &effects, ignored, state: &state });
        }
        Ok(state)
    }
}
