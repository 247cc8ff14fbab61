//! Histories that can be folded again, read from the store or from a replay file into one form.

pub(crate) mod entry;
pub(crate) mod links;
pub(crate) mod new_match;
pub(crate) mod revision;
pub(crate) mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use turnfold_core::registry::NoRules;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Perspective, Registry, Seat, Step};
use turnfold_store::{BranchName, Genesis, Log, StoreReader};

use crate::input::Limits;
use crate::tfl::{Replay, ReplayOrigin, SeenBy};
use crate::{FileName, LogEntry, ReplayError, Revision, SourceName, Viewer};

/// Where histories are read from: rulesets, a store and replay files.
pub trait Sources {
    /// Returns the known rulesets.
    fn registry(&self) -> &Registry;

    /// Opens the store for reading. It must exist.
    ///
    /// # Errors
    /// [`ReplayError::Store`].
    fn read_store(&self) -> Result<StoreReader, ReplayError>;

    /// Fetches a revision from the service that has it, as a replay file, which may be for one seat. Returns `None` if
    /// the store is read itself.
    ///
    /// # Errors
    /// [`ReplayError::Fetch`].
    fn fetch(&self, revision: &Revision) -> Result<Option<Replay>, ReplayError> {
        let _ = revision;
        Ok(None)
    }

    /// Reads a replay file, or standard input for `-`. The file may be for one seat.
    ///
    /// # Errors
    /// [`ReplayError::Input`] and [`ReplayError::File`].
    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError>;

    /// Returns the identity of this build, which selects the snapshots that may be used; without one, none are used.
    fn build(&self) -> Option<Digest>;
}

/// A setup and its entries, ready to fold.
pub struct History {
    /// The name used in messages.
    pub name: SourceName,
    /// The rules that fold it.
    pub rules: Arc<dyn AnyRules>,
    /// The setup, as the log stores it.
    pub setup: Vec<u8>,
    /// Where rolls come from.
    pub dice: DicePolicy,
    /// The module that the match pins (MD-8).
    pub module: Option<Digest>,
    /// The title of the match.
    pub title: String,
    /// The entries, numbered from 1.
    pub entries: Vec<LogEntry>,
    /// The seat or spectator for whom the source was written; `None` if the source conceals nothing.
    pub view: Option<SeenBy>,
}

impl History {
    /// Reads a revision or a replay file that conceals nothing.
    ///
    /// # Errors
    /// [`ReplayError`] if the store, the file or the revision cannot be read, and for a file for one seat.
    pub fn load(name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        match name {
            SourceName::Revision(_) => {
                let history = Self::load_also_seen(name, sources)?;
                let reader = Viewer::HOST.narrowed(history.view)?;
                if !reader.sees_all() {
                    return Err(ReplayError::NotOfSeat { reader, viewer: Viewer::HOST });
                }
                Ok(history)
            }
            SourceName::File(file) => Self::of_read(file, &sources.read_replay(&file.path)?.whole()?),
        }
    }

    /// Reads a revision or a replay file, also one for one seat. The caller must view such a file as that seat.
    pub(crate) fn load_also_seen(name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        match name {
            SourceName::Revision(revision) => match sources.fetch(revision)? {
                Some(replay) => Self::of_fetched(revision, &replay),
                None => Self::of_branch(revision, &sources.read_store()?, sources.registry()),
            },
            SourceName::File(file) => Self::of_read(file, &sources.read_replay(&file.path)?),
        }
    }

    /// Reads a revision of a store that is open already.
    ///
    /// # Errors
    /// [`ReplayError::Store`], and as for [`rules_of`].
    pub fn of_branch(
        revision: &Revision,
        store: &StoreReader,
        registry: &Registry,
    ) -> Result<Self, ReplayError> {
        let log = store.read(&revision.match_name, &revision.branch, revision.seq)?;
        Self::of_log(revision, log, registry)
    }

    fn of_log(revision: &Revision, log: Log, registry: &Registry) -> Result<Self, ReplayError> {
        let rules = rules_of(&log.genesis, revision, registry)?;
        Ok(Self {
            name: SourceName::Revision(revision.clone()),
            rules,
            setup: log.genesis.setup,
            dice: log.genesis.dice,
            module: log.genesis.module,
            title: log.genesis.title,
            entries: log.entries.into_iter().map(LogEntry::from).collect(),
            view: None,
        })
    }

    /// Returns the history in a replay that was fetched from a service.
    ///
    /// # Errors
    /// [`ReplayError::File`] if the rules refuse its setup.
    pub fn of_fetched(revision: &Revision, replay: &Replay) -> Result<Self, ReplayError> {
        let history = Self::of_replay(Path::new(&replay.file), replay)?;
        Ok(Self { name: SourceName::Revision(revision.clone()), ..history })
    }

    fn of_read(file: &FileName, replay: &Replay) -> Result<Self, ReplayError> {
        let mut history = Self::of_replay(&file.path, replay)?;
        if let Some(seq) = file.seq {
            history.cut_after(seq)?;
        }
        Ok(history)
    }

    /// Removes the entries after entry `seq`, which must exist unless it is 0.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`].
    pub fn cut_after(&mut self, seq: u64) -> Result<(), ReplayError> {
        let head = self.head();
        if seq > head {
            return Err(ReplayError::NoEntry { history: self.name.clone(), seq, head });
        }
        self.entries.retain(|entry| entry.seq <= seq);
        self.name = self.name.up_to(Some(seq));
        Ok(())
    }

    /// Returns the history in a replay that was read from a file.
    ///
    /// # Errors
    /// [`ReplayError::File`] if the rules refuse its setup.
    pub fn of_replay(path: &Path, replay: &Replay) -> Result<Self, ReplayError> {
        let rules = replay.header.rules.clone();
        let setup = replay.setup()?;
        Ok(Self {
            name: SourceName::of_file(path),
            rules,
            setup,
            dice: replay.header.dice,
            module: replay.header.module,
            title: replay.header.title.clone(),
            entries: replay.entries().cloned().collect(),
            view: replay.header.view,
        })
    }

    /// Returns the number of the last entry.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    /// Returns the state before the first entry.
    ///
    /// # Errors
    /// [`ReplayError::Setup`].
    pub fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.rules.start(&self.setup).map_err(|cause| ReplayError::Setup(self.name.clone(), cause))
    }

    pub(crate) fn fold(
        &self,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<Box<dyn AnyState>, ReplayError> {
        let mut state = self.start()?;
        state
            .fold(&LogEntry::all_logged(&self.entries), &self.dice, observe)
            .map_err(|cause| ReplayError::Entry(self.name.clone(), cause))?;
        Ok(state)
    }

    /// Folds all entries and returns the state at the end.
    ///
    /// # Errors
    /// [`ReplayError::Setup`] and [`ReplayError::Entry`].
    pub fn state(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.fold(&mut |_| {})
    }

    /// Returns a copy with only the first `count` entries, or with all if there are fewer.
    #[must_use]
    pub fn until(&self, count: usize) -> Self {
        let entries = self.entries.get(..count).unwrap_or(&self.entries).to_vec();
        Self {
            name: self.name.clone(),
            setup: self.setup.clone(),
            title: self.title.clone(),
            entries,
            rules: self.rules.clone(),
            ..*self
        }
    }

    /// Returns a history from the same setup with these commands, numbered from 1. Seeded dice become recorded dice
    /// unless the seed gives exactly the rolls among the commands.
    pub(crate) fn with_commands<'c>(&self, commands: impl IntoIterator<Item = (Seat, &'c str)>) -> Self {
        let mut history = self.until(0);
        for (seq, (seat, command)) in (1..).zip(commands) {
            history.entries.push(LogEntry::new(seq, seat, command.to_owned()));
        }
        if matches!(history.dice, DicePolicy::Seeded(_)) && history.fold(&mut |_| {}).is_err() {
            history.dice = DicePolicy::Recorded;
        }
        history
    }

    /// Returns a replay of this match without entries, with a setup that may be written for one viewer.
    pub(crate) fn compose(&self, setup: &[u8], view: Option<Perspective>) -> Result<Replay, ReplayError> {
        let Self { rules, module, dice, title, .. } = self;
        let origin = ReplayOrigin { rules, module: *module, dice: *dice, title };
        let replay = Replay::compose(&self.name.to_string(), origin, setup, view);
        replay.map_err(|cause| ReplayError::Setup(self.name.clone(), cause))
    }

    /// Returns the history as a replay, with every outcome and hash.
    ///
    /// # Errors
    /// As for [`state`](Self::state), and [`ReplayError::TooLong`].
    pub fn to_replay(&self) -> Result<Replay, ReplayError> {
        if self.entries.len() > Limits::REPLAY_ENTRIES_MAX {
            return Err(ReplayError::TooLong(self.name.clone()));
        }
        let mut replay = self.compose(&self.setup, None)?;
        let mut recorded = self.entries.iter();
        let state = self.fold(&mut |step| {
            replay.record(step, recorded.next().and_then(|entry| entry.recorded_at_ms));
        })?;
        replay.close(state.state_hash());
        Ok(replay)
    }
}

/// Returns the newest version of a ruleset, for playing.
///
/// # Errors
/// [`ReplayError::NoRules`] if no ruleset has the name or two modules could be meant, [`ReplayError::Refused`] for a
/// recording.
pub fn find_rules(name: &str, registry: &Registry) -> Result<Arc<dyn AnyRules>, ReplayError> {
    let rules = registry.newest(name)?;
    require_rules(&*rules)?;
    Ok(rules)
}

/// Requires rules that can judge new commands. A recording cannot (RF-18).
///
/// # Errors
/// [`ReplayError::Refused`].
pub fn require_rules(rules: &dyn AnyRules) -> Result<(), ReplayError> {
    if rules.has_rules() {
        return Ok(());
    }
    Err(ReplayError::Refused(
        "a recording has no rules: it can be shown, compared and searched, not played".into(),
    ))
}

/// Returns the rules under which a match was recorded (MD-1).
///
/// # Errors
/// [`ReplayError::NoRules`].
pub fn rules_of(
    genesis: &Genesis,
    revision: &Revision,
    registry: &Registry,
) -> Result<Arc<dyn AnyRules>, ReplayError> {
    recorded_rules(genesis, registry)
        .map_err(|cause| ReplayError::NoRules(Some(revision.match_name.clone()), Box::new(cause)))
}

/// Returns the rules under which a match was recorded (MD-1), with an error that does not name the match. A module that
/// the store recorded for the match counts like a pin, even if this build has the version built in (MD-9).
///
/// # Errors
/// [`NoRules`] if the registry has no such rules, or two modules could be meant.
pub fn recorded_rules(genesis: &Genesis, registry: &Registry) -> Result<Arc<dyn AnyRules>, NoRules> {
    registry.resolve(&genesis.ruleset, genesis.ruleset_version, genesis.only_module())
}

/// Returns the rules to check with. A module or referee then folds everything twice, which exposes memory that it keeps
/// between calls (MD-7, RF-15).
#[must_use]
pub fn distrusted(rules: &Arc<dyn AnyRules>) -> Arc<dyn AnyRules> {
    rules.distrusting().unwrap_or_else(|| Arc::clone(rules))
}

/// Sorts branches so that parents come first; among the branches that could come next, the first by name does. Returns
/// `None` if a parent is missing or branches form a cycle.
#[must_use]
pub fn in_order(parents: &BTreeMap<BranchName, Option<BranchName>>) -> Option<Vec<BranchName>> {
    let mut waiting: BTreeMap<Option<&BranchName>, Vec<&BranchName>> = BTreeMap::new();
    for (name, parent) in parents {
        waiting.entry(parent.as_ref()).or_default().push(name);
    }
    let mut ready: BTreeSet<&BranchName> = waiting.remove(&None)?.into_iter().collect();
    let mut ordered = Vec::new();
    while let Some(next) = ready.pop_first() {
        ready.extend(waiting.remove(&Some(next)).unwrap_or_default());
        ordered.push(next.clone());
    }
    if ordered.len() == parents.len() { Some(ordered) } else { None }
}
