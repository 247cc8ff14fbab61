//! Lines of play to fold again: from the store or from a replay file, in one form.

use std::path::Path;

use turnfold_core::{
    AnyRules, AnyState, CommandSource, DicePolicy, FoldError, Logged, Registry, Seat, SetupError, Step,
};
use turnfold_store::{Entry, Genesis, Log, NewEntry};

use crate::error::ReplayError;
use crate::limits;
use crate::revision::{FileName, Revision, SourceName, input_name, is_standard};
use crate::sources::Sources;
use crate::tfl::{self, Replay};

/// A setup and its entries, ready to be folded.
pub struct LineOfPlay {
    /// How messages name it.
    pub name: SourceName,
    pub rules: &'static dyn AnyRules,
    pub setup: Vec<u8>,
    pub dice: DicePolicy,
    pub title: String,
    pub entries: Vec<SourceEntry>,
}

/// An entry of a line of play.
#[derive(Clone, Debug)]
pub struct SourceEntry {
    pub seq: u64,
    pub seat: Seat,
    pub command: SourceCommand,
    /// What the source says became of it.
    pub outcome: Option<String>,
    /// The first 16 digits of the state hash that the source tells.
    pub hash: Option<String>,
    pub recorded_at_ms: Option<i64>,
    pub key: Option<String>,
}

/// A command as its source holds it.
#[derive(Clone, Debug)]
pub enum SourceCommand {
    Text(String),
    Bytes(Vec<u8>),
}

impl LineOfPlay {
    /// Reads a revision or a replay file.
    pub fn load(name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        match name {
            SourceName::Revision(revision) => Self::of_revision(revision, sources),
            SourceName::File(file) => Self::of_file(file, sources),
        }
    }

    /// Reads a revision of the store.
    pub fn of_revision(revision: &Revision, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let store = sources.read_store()?;
        let log = store.read(&revision.match_name, &revision.branch, revision.seq)?;
        Self::of_log(revision, log, sources.registry())
    }

    /// Takes over a log read from the store.
    pub fn of_log(revision: &Revision, log: Log, registry: &Registry) -> Result<Self, ReplayError> {
        let rules = rules_of(&log.genesis, revision, registry)?;
        Ok(Self {
            name: SourceName::Revision(revision.clone()),
            rules,
            setup: log.genesis.setup,
            dice: log.genesis.dice,
            title: log.genesis.title,
            entries: log.entries.into_iter().map(SourceEntry::from).collect(),
        })
    }

    /// Reads a replay file.
    pub fn of_file(file: &FileName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let mut line = Self::of_replay(&file.path, &sources.read_replay(&file.path)?)?;
        if let Some(seq) = file.seq {
            line.cut_after(seq)?;
        }
        Ok(line)
    }

    /// Leaves out the entries after a certain one, which must be there unless it is 0.
    pub fn cut_after(&mut self, seq: u64) -> Result<(), ReplayError> {
        let head = self.head();
        if seq > head {
            return Err(ReplayError::usage(format!(
                "`{}` has no entry {seq}; its last is {head}",
                self.name
            )));
        }
        self.entries.retain(|entry| entry.seq <= seq);
        self.name = self.name.up_to(Some(seq));
        Ok(())
    }

    /// Takes over a replay read from a file.
    pub fn of_replay(path: &Path, replay: &Replay) -> Result<Self, ReplayError> {
        let rules = replay.header.rules;
        let setup = replay.setup()?;
        let entry = |entry: &tfl::EntryLine| SourceEntry {
            seq: entry.seq,
            seat: entry.seat,
            command: SourceCommand::Text(entry.command.clone()),
            outcome: entry.outcome.clone(),
            hash: entry.hash.clone(),
            recorded_at_ms: None,
            key: None,
        };
        Ok(Self {
            name: SourceName::of_file(path),
            rules,
            setup,
            dice: replay.header.dice,
            title: replay.header.title.clone(),
            entries: replay.entries().map(entry).collect(),
        })
    }

    /// Gives the number of the last entry.
    pub fn head(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    /// Gives the entries as the fold takes them.
    pub fn logged(&self) -> Vec<Logged<'_>> {
        self.entries.iter().map(SourceEntry::logged).collect()
    }

    /// Makes the state before the first entry.
    pub fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.rules.start(&self.setup).map_err(|error| broken_setup(&self.name, &error))
    }

    /// Folds everything, showing each entry.
    pub fn fold(&self, observe: &mut dyn FnMut(&mut dyn Step)) -> Result<Box<dyn AnyState>, ReplayError> {
        let mut state = self.start()?;
        state.fold(&self.logged(), &self.dice, observe).map_err(|error| self.broken_entry(&error))?;
        Ok(state)
    }

    /// Folds everything in silence.
    pub fn state(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.fold(&mut |_| {})
    }

    /// Gives the same line of play up to its first `count` entries.
    pub fn until(&self, count: usize) -> Self {
        let entries = self.entries.get(..count).unwrap_or(&self.entries).to_vec();
        Self {
            name: self.name.clone(),
            setup: self.setup.clone(),
            title: self.title.clone(),
            entries,
            ..*self
        }
    }

    /// Gives a line of play from the same setup with other entries, their rolls recorded as they are.
    pub fn with_commands<'c>(&self, commands: impl IntoIterator<Item = (Seat, &'c str)>) -> Self {
        let entry = |(seq, (seat, command)): (u64, (Seat, &str))| SourceEntry {
            seq,
            seat,
            command: SourceCommand::Text(command.into()),
            outcome: None,
            hash: None,
            recorded_at_ms: None,
            key: None,
        };
        Self {
            name: self.name.clone(),
            setup: self.setup.clone(),
            title: self.title.clone(),
            dice: DicePolicy::Recorded,
            entries: (1..).zip(commands).map(entry).collect(),
            ..*self
        }
    }

    /// Writes the line of play as a replay, with every outcome and hash.
    pub fn to_replay(&self) -> Result<Replay, ReplayError> {
        let name = self.name.to_string();
        if self.entries.len() > limits::REPLAY_LINES_MAX / 2 {
            let most = limits::REPLAY_LINES_MAX / 2;
            return Err(ReplayError::usage(format!(
                "`{name}` has more than {most} entries, too many for a replay file"
            ))
            .hint("name an earlier entry, as in `MATCH:SEQ`"));
        }
        let mut replay = Replay::compose(&name, self.rules, self.dice, &self.title, &self.setup)
            .map_err(|error| broken_setup(&self.name, &error))?;
        let state = self.fold(&mut |step| replay.record(step))?;
        replay.close(state.state_hash());
        Ok(replay)
    }

    pub fn broken_entry(&self, error: &FoldError) -> ReplayError {
        broken_entry(&self.name, error)
    }
}

/// A setup that its own rules refuse.
pub fn broken_setup(name: &SourceName, error: &SetupError) -> ReplayError {
    ReplayError::trouble(format!("`{name}`: {error}"))
}

/// An entry that its own rules refuse: the log disagrees with them.
pub fn broken_entry(name: &SourceName, error: &FoldError) -> ReplayError {
    let message = format!("`{name}`: {error}");
    match name {
        SourceName::File(_) => {
            ReplayError::negative(message).hint("correct the entry or cut the log before it")
        }
        SourceName::Revision(revision) => ReplayError::negative(message)
            .hint(format!("the log disagrees with its rules, see `turnfold verify {}`", revision.match_name)),
    }
}

impl From<Entry> for SourceEntry {
    fn from(entry: Entry) -> Self {
        Self {
            seq: entry.seq,
            seat: entry.seat,
            command: SourceCommand::Bytes(entry.command),
            outcome: None,
            hash: None,
            recorded_at_ms: Some(entry.recorded_at_ms),
            key: entry.idempotency_key.map(|key| key.to_string()),
        }
    }
}

/// An entry with its number, as it is about to be stored.
impl From<(u64, &NewEntry)> for SourceEntry {
    fn from((seq, entry): (u64, &NewEntry)) -> Self {
        Self {
            seq,
            seat: entry.seat,
            command: SourceCommand::Bytes(entry.command.clone()),
            outcome: None,
            hash: None,
            recorded_at_ms: Some(entry.recorded_at_ms),
            key: None,
        }
    }
}

impl SourceEntry {
    /// Gives the entry as the fold takes it.
    pub fn logged(&self) -> Logged<'_> {
        let command = match &self.command {
            SourceCommand::Text(text) => CommandSource::Text(text),
            SourceCommand::Bytes(bytes) => CommandSource::Bytes(bytes),
        };
        Logged { seq: self.seq, seat: self.seat, command }
    }
}

/// Fills in what a replay leaves out; whatever it tells must be true. `undone` says what else does not happen.
pub fn bless_if_true(path: &Path, replay: &Replay, undone: &str) -> Result<Replay, ReplayError> {
    let file = input_name(path);
    let untrue = |what: String| {
        let failure = ReplayError::negative(format!("{what}, {undone}"));
        if is_standard(path) { failure } else { failure.hint(format!("`turnfold check {file}` explains it")) }
    };
    let blessed = tfl::bless(replay)?;
    for ((line, told), found) in replay.numbered_entries().zip(blessed.entries()) {
        let differs = |told: &Option<String>, found: &Option<String>| told.is_some() && told != found;
        if differs(&told.outcome, &found.outcome) || differs(&told.hash, &found.hash) {
            return Err(untrue(format!("{file}:{line}: entry {} does not do what the file says", told.seq)));
        }
    }
    if replay.closing.is_some() && replay.closing != blessed.closing {
        return Err(untrue(format!("{file}: the closing line is not that of its entries")));
    }
    Ok(blessed)
}

/// Finds the ruleset by name, or says which there are.
pub fn find_rules(name: &str, registry: &Registry) -> Result<&'static dyn AnyRules, ReplayError> {
    registry.find(name).ok_or_else(|| {
        let name = name.escape_debug();
        ReplayError::usage(format!("unknown ruleset `{name}`")).hint(format!("known: {}", known(registry)))
    })
}

/// Lists the names of the rulesets there are.
pub fn known(registry: &Registry) -> String {
    let names: Vec<_> = registry.iter().map(|rules| format!("`{}`", rules.name())).collect();
    names.join(", ")
}

/// Finds the rules under which a match was recorded, or says why they cannot be had.
pub fn rules_of(
    genesis: &Genesis,
    revision: &Revision,
    registry: &Registry,
) -> Result<&'static dyn AnyRules, ReplayError> {
    let rules = find_rules(&genesis.ruleset, registry)?;
    if rules.version() == genesis.ruleset_version {
        return Ok(rules);
    }
    let message = format!(
        "match `{}` was recorded under `{}` version {}, this build has version {}",
        revision.match_name,
        rules.name(),
        genesis.ruleset_version,
        rules.version()
    );
    Err(ReplayError::usage(message).hint("use the build that recorded it"))
}
