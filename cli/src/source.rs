//! Lines of play to fold again: from the store or from a replay file, in one form.

use std::path::Path;

use turnfold_core::{
    AnyRules, AnyState, CommandSource, DicePolicy, FoldError, Logged, Registry, Seat, SetupError, Step,
};
use turnfold_store::{Entry, Genesis, Log, NewEntry};

use crate::context::Context;
use crate::failure::Failure;
use crate::revision::{FileName, Revision, SourceName};
use crate::tfl::{self, Replay};
use crate::{files, limits};

/// A setup and its entries, ready to be folded.
pub(crate) struct LineOfPlay {
    /// How messages name it.
    pub(crate) name: SourceName,
    pub(crate) rules: &'static dyn AnyRules,
    pub(crate) setup: Vec<u8>,
    pub(crate) dice: DicePolicy,
    pub(crate) title: String,
    pub(crate) entries: Vec<SourceEntry>,
}

/// An entry of a line of play.
#[derive(Clone, Debug)]
pub(crate) struct SourceEntry {
    pub(crate) seq: u64,
    pub(crate) seat: Seat,
    pub(crate) command: SourceCommand,
    /// What the source says became of it.
    pub(crate) outcome: Option<String>,
    /// The first 16 digits of the state hash that the source tells.
    pub(crate) hash: Option<String>,
    pub(crate) recorded_at_ms: Option<i64>,
    pub(crate) key: Option<String>,
}

/// A command as its source holds it.
#[derive(Clone, Debug)]
pub(crate) enum SourceCommand {
    Text(String),
    Bytes(Vec<u8>),
}

impl LineOfPlay {
    /// Reads a revision or a replay file.
    pub(crate) fn load(name: &SourceName, context: &Context) -> Result<Self, Failure> {
        match name {
            SourceName::Revision(revision) => Self::of_revision(revision, context),
            SourceName::File(file) => Self::of_file(file, context),
        }
    }

    /// Reads a revision of the store.
    pub(crate) fn of_revision(revision: &Revision, context: &Context) -> Result<Self, Failure> {
        let store = context.read_store()?;
        let log = store.read(&revision.match_name, &revision.branch, revision.seq)?;
        Self::of_log(revision, log, &context.registry)
    }

    /// Takes over a log read from the store.
    pub(crate) fn of_log(revision: &Revision, log: Log, registry: &Registry) -> Result<Self, Failure> {
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
    pub(crate) fn of_file(file: &FileName, context: &Context) -> Result<Self, Failure> {
        let mut line = Self::of_replay(&file.path, &read_replay(&file.path, context)?)?;
        if let Some(seq) = file.seq {
            line.cut_after(seq)?;
        }
        Ok(line)
    }

    /// Leaves out the entries after a certain one, which must be there unless it is 0.
    pub(crate) fn cut_after(&mut self, seq: u64) -> Result<(), Failure> {
        let head = self.head();
        if seq > head {
            return Err(Failure::usage(format!("`{}` has no entry {seq}; its last is {head}", self.name)));
        }
        self.entries.retain(|entry| entry.seq <= seq);
        self.name = self.name.up_to(Some(seq));
        Ok(())
    }

    /// Takes over a replay read from a file.
    pub(crate) fn of_replay(path: &Path, replay: &Replay) -> Result<Self, Failure> {
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
    pub(crate) fn head(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    /// Gives the entries as the fold takes them.
    pub(crate) fn logged(&self) -> Vec<Logged<'_>> {
        self.entries.iter().map(SourceEntry::logged).collect()
    }

    /// Makes the state before the first entry.
    pub(crate) fn start(&self) -> Result<Box<dyn AnyState>, Failure> {
        self.rules.start(&self.setup).map_err(|error| broken_setup(&self.name, &error))
    }

    /// Folds everything, showing each entry.
    pub(crate) fn fold(&self, observe: &mut dyn FnMut(&mut dyn Step)) -> Result<Box<dyn AnyState>, Failure> {
        let mut state = self.start()?;
        state.fold(&self.logged(), &self.dice, observe).map_err(|error| self.broken_entry(&error))?;
        Ok(state)
    }

    /// Folds everything in silence.
    pub(crate) fn state(&self) -> Result<Box<dyn AnyState>, Failure> {
        self.fold(&mut |_| {})
    }

    /// Gives the same line of play up to its first `count` entries.
    pub(crate) fn until(&self, count: usize) -> Self {
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
    pub(crate) fn with_commands<'c>(&self, commands: impl IntoIterator<Item = (Seat, &'c str)>) -> Self {
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
    pub(crate) fn to_replay(&self) -> Result<Replay, Failure> {
        let name = self.name.to_string();
        if self.entries.len() > limits::REPLAY_LINES_MAX / 2 {
            let most = limits::REPLAY_LINES_MAX / 2;
            return Err(Failure::usage(format!(
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

    pub(crate) fn broken_entry(&self, error: &FoldError) -> Failure {
        broken_entry(&self.name, error)
    }
}

/// A setup that its own rules refuse.
pub(crate) fn broken_setup(name: &SourceName, error: &SetupError) -> Failure {
    Failure::trouble(format!("`{name}`: {error}"))
}

/// An entry that its own rules refuse: the log disagrees with them.
pub(crate) fn broken_entry(name: &SourceName, error: &FoldError) -> Failure {
    let message = format!("`{name}`: {error}");
    match name {
        SourceName::File(_) => Failure::negative(message).hint("correct the entry or cut the log before it"),
        SourceName::Revision(revision) => Failure::negative(message)
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
            key: entry.key.map(|key| key.to_string()),
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
    pub(crate) fn logged(&self) -> Logged<'_> {
        let command = match &self.command {
            SourceCommand::Text(text) => CommandSource::Text(text),
            SourceCommand::Bytes(bytes) => CommandSource::Bytes(bytes),
        };
        Logged { seq: self.seq, seat: self.seat, command }
    }
}

/// Reads and parses a replay file, or standard input for `-`.
pub(crate) fn read_replay(path: &Path, context: &Context) -> Result<tfl::Replay, Failure> {
    let bytes = files::read_input_or_stdin(path, &limits::REPLAY)?;
    tfl::read(&files::input_name(path), &bytes, &context.registry).map_err(Failure::from)
}

/// Fills in what a replay leaves out; whatever it tells must be true. `undone` says what else does not happen.
pub(crate) fn bless_if_true(path: &Path, replay: &Replay, undone: &str) -> Result<Replay, Failure> {
    let file = files::input_name(path);
    let untrue = |what: String| {
        let failure = Failure::negative(format!("{what}, {undone}"));
        if files::is_standard(path) {
            failure
        } else {
            failure.hint(format!("`turnfold check {file}` explains it"))
        }
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
pub(crate) fn find_rules(name: &str, registry: &Registry) -> Result<&'static dyn AnyRules, Failure> {
    registry.find(name).ok_or_else(|| {
        let name = name.escape_debug();
        Failure::usage(format!("unknown ruleset `{name}`")).hint(format!("known: {}", known(registry)))
    })
}

/// Lists the names of the rulesets there are.
pub(crate) fn known(registry: &Registry) -> String {
    let names: Vec<_> = registry.iter().map(|rules| format!("`{}`", rules.name())).collect();
    names.join(", ")
}

/// Finds the rules under which a match was recorded, or says why they cannot be had.
pub(crate) fn rules_of(
    genesis: &Genesis,
    revision: &Revision,
    registry: &Registry,
) -> Result<&'static dyn AnyRules, Failure> {
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
    Err(Failure::usage(message).hint("use the build that recorded it"))
}
