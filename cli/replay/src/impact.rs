//! What the rules of this build make of a recorded log, whatever version it was recorded under.

mod cause;

use std::error::Error;

use turnfold_core::{
    AnyRules, AnyState, CommandSource, DicePolicy, Digest, FoldError, Logged, Registry, Seat,
};
use turnfold_store::{Entry, Log};

use crate::difference::{Difference, differences, view_of};
use crate::error::ReplayError;
use crate::line::find_rules;
use crate::revision::Revision;
use crate::tfl::{AttemptLine, EntryLine, Line, Replay};

pub use cause::Cause;

/// A log to be folded under the rules of this build.
pub struct RecordedLog {
    /// The file or branch, as messages name it.
    pub name: String,
    pub rules: &'static dyn AnyRules,
    /// The version of the ruleset under which it was recorded.
    pub version: u32,
    /// The setup, or what is wrong with it.
    setup: Result<Vec<u8>, ReplayError>,
    dice: DicePolicy,
    lines: Vec<RecordedLine>,
    /// The state hash at the end, where it is told.
    closing: Option<Digest>,
}

enum RecordedLine {
    Told(EntryLine),
    Stored(Entry),
    Attempt(AttemptLine),
}

/// Where the rules of this build first depart from a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The entry, or the one before an attempt.
    pub seq: u64,
    /// The command, where it is one that departs.
    pub command: Option<(Seat, String)>,
    pub is_attempt: bool,
    pub cause: Cause,
    /// The first field that the entry changes here.
    pub field: Option<Difference>,
}

impl RecordedLog {
    /// Takes a replay file of any version.
    pub fn of_replay(replay: &Replay) -> Self {
        let line = |line: &Line| match line {
            Line::Entry(entry) => Some(RecordedLine::Told(entry.clone())),
            Line::Attempt(attempt) => Some(RecordedLine::Attempt(attempt.clone())),
            Line::Blank | Line::Comment(_) => None,
        };
        Self {
            name: replay.file.clone(),
            rules: replay.header.rules,
            version: replay.header.version,
            setup: replay.setup().map_err(ReplayError::from),
            dice: replay.header.dice,
            lines: replay.lines.iter().filter_map(line).collect(),
            closing: replay.closing.map(|closing| closing.state),
        }
    }

    /// Takes a log of the store, of any version.
    pub fn of_store(name: &Revision, log: Log, registry: &Registry) -> Result<Self, ReplayError> {
        let unknown = |failure: ReplayError| ReplayError::usage(format!("{name}: {failure}"));
        Ok(Self {
            name: name.to_string(),
            rules: find_rules(&log.genesis.ruleset, registry).map_err(unknown)?,
            version: log.genesis.ruleset_version,
            setup: Ok(log.genesis.setup),
            dice: log.genesis.dice,
            lines: log.entries.into_iter().map(RecordedLine::Stored).collect(),
            closing: None,
        })
    }

    /// Gives the number of entries.
    pub fn entries(&self) -> u64 {
        self.lines.iter().filter(|line| line.logged().is_some()).count() as u64
    }

    /// Folds the log and tells where the rules first depart from what it tells.
    ///
    /// The first outcome that differs comes before any state that does: a new layout of the state changes every hash,
    /// and would hide what becomes otherwise. Hashes are compared as the recorded version makes them.
    ///
    /// # Errors
    /// A failure that names the log when its setup or a command cannot be read.
    pub fn departure(&self) -> Result<Option<Departure>, ReplayError> {
        let mut state = self.start()?;
        let mut other_state = None;
        let mut seq = 0;
        for (place, line) in self.lines.iter().enumerate() {
            let cause = if let RecordedLine::Attempt(attempt) = line {
                Cause::of_attempt(attempt, state.as_ref())
            } else {
                seq += 1;
                self.cause_of_entry(line, state.as_mut())?
            };
            if cause.is_some() {
                return self.depart(place, seq, cause).map(Some);
            }
            let hash = line.hash();
            if other_state.is_none() && hash.is_some_and(|hash| *hash != self.hash(state.as_ref())) {
                other_state = Some((place, seq));
            }
        }
        if let Some((place, seq)) = other_state {
            return self.depart(place, seq, None).map(Some);
        }
        let is_other_end = self.closing.is_some_and(|told| told != state.state_hash_as(self.version));
        Ok(is_other_end.then(|| Departure {
            seq,
            command: None,
            is_attempt: false,
            cause: Cause::end(),
            field: None,
        }))
    }

    fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        let setup = self.setup.as_ref().map_err(Clone::clone)?;
        self.rules.start(setup).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &dyn Error) -> ReplayError {
        ReplayError::usage(format!("{}: {error}", self.name))
    }

    /// Gives the first 16 digits of the hash that the recorded version gives to a state.
    fn hash(&self, state: &dyn AnyState) -> String {
        format!("{:.16}", state.state_hash_as(self.version))
    }

    /// Folds an entry and says how its outcome departs.
    fn cause_of_entry(
        &self,
        line: &RecordedLine,
        state: &mut dyn AnyState,
    ) -> Result<Option<Cause>, ReplayError> {
        let told = line.outcome();
        match self.fold(line, state) {
            Ok(actual) => Ok(told.filter(|told| **told != actual).map(|told| Cause::outcome(told, &actual))),
            Err(FoldError::Rejected { code, .. }) => Ok(Some(Cause::rejected(told, code))),
            Err(FoldError::WrongRoll { expected, found, .. }) => Ok(Some(Cause::roll(&found, &expected))),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// Folds an entry and gives its outcome; an attempt has none.
    fn fold(&self, line: &RecordedLine, state: &mut dyn AnyState) -> Result<String, FoldError> {
        let mut outcome = String::new();
        let entry = line.logged();
        state.fold(entry.as_slice(), &self.dice, &mut |step| outcome = step.outcome().to_string())?;
        Ok(outcome)
    }

    /// Folds up to a line once more, for the first field that it changes. Without a cause, it is the state that differs.
    fn depart(&self, place: usize, seq: u64, cause: Option<Cause>) -> Result<Departure, ReplayError> {
        let (before, rest) = self.lines.split_at(place);
        let mut state = self.start()?;
        for line in before {
            self.fold(line, state.as_mut()).map_err(|error| self.unreadable(&error))?;
        }
        let view = view_of(state.as_ref(), Seat::Host);
        let line = rest.first();
        if let Some(line) = line {
            // Where it is rejected, nothing is changed.
            let _ = self.fold(line, state.as_mut());
        }
        let field = differences(&view, &view_of(state.as_ref(), Seat::Host)).into_iter().next();
        Ok(Departure {
            seq,
            command: line.and_then(|line| line.command(self.rules)),
            is_attempt: matches!(line, Some(RecordedLine::Attempt(_))),
            cause: cause.unwrap_or_else(|| Cause::state(field.as_ref())),
            field,
        })
    }
}

impl RecordedLine {
    /// Gives an entry as the fold takes it.
    fn logged(&self) -> Option<Logged<'_>> {
        match self {
            Self::Told(entry) => Some(entry.logged()),
            Self::Stored(Entry { seq, seat, command, .. }) => {
                Some(Logged { seq: *seq, seat: *seat, command: CommandSource::Bytes(command) })
            }
            Self::Attempt(_) => None,
        }
    }

    fn outcome(&self) -> Option<&String> {
        match self {
            Self::Told(entry) => entry.outcome.as_ref(),
            Self::Stored(_) | Self::Attempt(_) => None,
        }
    }

    fn hash(&self) -> Option<&String> {
        match self {
            Self::Told(entry) => entry.hash.as_ref(),
            Self::Stored(_) | Self::Attempt(_) => None,
        }
    }

    /// Gives the command and who gave it; none that cannot be read.
    fn command(&self, rules: &dyn AnyRules) -> Option<(Seat, String)> {
        match self {
            Self::Told(EntryLine { seat, command, .. })
            | Self::Attempt(AttemptLine { seat, command, .. }) => Some((*seat, command.clone())),
            Self::Stored(entry) => Some((entry.seat, rules.command_text(&entry.command).ok()?)),
        }
    }
}
