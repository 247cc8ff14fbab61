//! Divergences: what a source records of a part of a history, and what the rules compute instead.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use turnfold_core::{Digest, FoldError, Outcome, Rejected, Seat};

use crate::history::entry::{Attempt, LogEntry, ShortHash};
use crate::tfl::{Closing, HeaderMark};

/// A difference between what is recorded and what the rules compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The part of the history.
    pub subject: Subject,
    /// What differs.
    pub kind: DivergenceKind,
    /// What is recorded; `None` if it is missing.
    pub recorded: Option<Claim>,
    /// What the rules compute.
    pub computed: Claim,
    /// The state hashes after the entry, if they differ as well as the outcome.
    pub(crate) hashes: Option<Hashes>,
}

/// A part of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A recorded command.
    Entry {
        /// The entry's number.
        seq: u64,
        /// The seat that gave it.
        seat: Seat,
        /// The command, as it is recorded.
        command: String,
    },
    /// A command that must be rejected at its place.
    Attempt {
        /// The entry before it, or 0.
        after: u64,
        /// The seat that gives it.
        seat: Seat,
        /// The command, as it is recorded.
        command: String,
    },
    /// The header of a file.
    Header {
        /// The path of the value that differs, such as `setup.units[2].at`, if only one does.
        path: Option<String>,
    },
    /// The end of the log, or the closing line of a file.
    End {
        /// The last entry, or 0.
        after: u64,
    },
}

/// What differs in a divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DivergenceKind {
    /// The file lacks an outcome, a hash or the closing line.
    Missing,
    /// The closing line is missing although every entry is blessed, so the end of the file may be lost.
    CutShort,
    /// The command is not written in its canonical form.
    NotCanonical,
    /// The outcome differs.
    Outcome,
    /// The state hash differs after an entry whose outcome agrees.
    StateHash,
    /// A view differs after an entry whose outcome agrees (RF-20).
    View,
    /// The rules reject an entry.
    Rejected,
    /// The roll is not the one of the seed.
    WrongRoll,
    /// An attempt is accepted, or rejected with another code.
    Attempt,
    /// The header differs from the one that the closing line names.
    Header,
    /// The number of entries in the closing line differs.
    ClosingCount,
    /// The state hash in the closing line differs.
    ClosingState,
    /// The log digest in the closing line differs.
    ClosingLog,
    /// A second fold of the same entries gives something else. The rules are at fault, whatever the file records.
    NotDeterministic,
    /// Folding on from a state that was read back from its bytes gives something else.
    NotStorable,
}

/// A recorded or computed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The text of a command.
    Command(String),
    /// The outcome of a command.
    Outcome(Outcome),
    /// That a command is rejected, and why.
    Rejection {
        /// The rejection.
        outcome: Outcome,
        /// The rejection in words.
        message: String,
    },
    /// The values of a roll.
    Roll(Vec<i32>),
    /// The beginning of a state hash.
    Hash(ShortHash),
    /// The number of entries.
    Count(u64),
    /// A whole hash.
    Digest(Digest),
    /// The closing line.
    Closing(Closing),
    /// The header.
    Header(HeaderMark),
    /// In words: the result of a second fold, a value in a view, or why an entry cannot be folded.
    Run(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Hashes {
    pub(crate) expected: ShortHash,
    pub(crate) actual: ShortHash,
}

impl Divergence {
    pub(crate) fn new(
        subject: impl Into<Subject>,
        kind: DivergenceKind,
        recorded: Option<Claim>,
        computed: Claim,
    ) -> Self {
        Self { subject: subject.into(), kind, recorded, computed, hashes: None }
    }

    /// Compares an entry with what the rules compute. It must have an outcome, a hash and canonical text.
    pub(crate) fn of_entry(recorded: &LogEntry, computed: &LogEntry) -> Option<Self> {
        if recorded.command != computed.command {
            let old = Claim::Command(recorded.command.to_string());
            let new = Claim::Command(computed.command.to_string());
            return Some(Self::new(recorded, DivergenceKind::NotCanonical, Some(old), new));
        }
        if let (None, Some(outcome)) = (&recorded.outcome, &computed.outcome) {
            let outcome = Claim::Outcome(outcome.clone());
            return Some(Self::new(recorded, DivergenceKind::Missing, None, outcome));
        }
        if let Some(found) = Self::contradiction(recorded, computed) {
            return Some(found);
        }
        if recorded.hash.is_some() {
            return None;
        }
        let hash = Claim::Hash(computed.hash?);
        Some(Self::new(recorded, DivergenceKind::Missing, None, hash))
    }

    /// Compares what is recorded of an entry with what the rules compute. What is not recorded is not compared.
    #[must_use]
    pub(crate) fn contradiction(recorded: &LogEntry, computed: &LogEntry) -> Option<Self> {
        let mut hashes = None;
        if let (Some(expected), Some(actual)) = (recorded.hash, computed.hash)
            && expected != actual
        {
            hashes = Some(Hashes { expected, actual });
        }
        if let (Some(old), Some(new)) = (&recorded.outcome, &computed.outcome)
            && old != new
        {
            let old = Claim::Outcome(old.clone());
            let new = Claim::Outcome(new.clone());
            return Some(Self { hashes, ..Self::new(recorded, DivergenceKind::Outcome, Some(old), new) });
        }
        let Hashes { expected, actual } = hashes?;
        let old = Claim::Hash(expected);
        Some(Self::new(recorded, DivergenceKind::StateHash, Some(old), Claim::Hash(actual)))
    }

    /// Returns the divergence of an entry that the rules rejected or whose roll is wrong. Returns `None` for an entry
    /// that cannot be folded for another reason, such as an unreadable command.
    pub(crate) fn of_refusal(recorded: &LogEntry, error: &FoldError) -> Option<Self> {
        match error {
            FoldError::Rejected { rejected, .. } => {
                let claim = recorded.outcome.clone().map(Claim::Outcome);
                let computed = Rejected::clone(rejected).into();
                Some(Self::new(recorded, DivergenceKind::Rejected, claim, computed))
            }
            FoldError::WrongRoll { expected, found, .. } => {
                let claim = Some(Claim::Roll(found.clone()));
                let computed = Claim::Roll(expected.clone());
                Some(Self::new(recorded, DivergenceKind::WrongRoll, claim, computed))
            }
            _ => None,
        }
    }

    pub(crate) fn of_attempt(after: u64, recorded: &Attempt, computed: Outcome) -> Option<Self> {
        if recorded.outcome.as_ref() == Some(&computed) {
            return None;
        }
        let subject = Subject::of_attempt(after, recorded);
        let kind = if recorded.outcome.is_some() { DivergenceKind::Attempt } else { DivergenceKind::Missing };
        let recorded = recorded.outcome.clone().map(Claim::Outcome);
        Some(Self::new(subject, kind, recorded, Claim::Outcome(computed)))
    }

    /// Returns what is recorded, or the name of what is missing.
    #[must_use]
    pub fn expected(&self) -> Cow<'_, str> {
        match (&self.recorded, &self.computed, &self.subject) {
            (Some(recorded), ..) => Cow::Owned(recorded.to_string()),
            (None, Claim::Outcome(_), Subject::Attempt { .. }) => Cow::Borrowed("the rejection"),
            (None, Claim::Outcome(_), _) => Cow::Borrowed("the outcome"),
            (None, Claim::Hash(_), _) => Cow::Borrowed("the state hash"),
            (None, Claim::Closing(_), _) => Cow::Borrowed("the closing line"),
            (None, ..) => Cow::Borrowed("accepted"),
        }
    }

    /// Returns the code of the reason or rejection: the computed one if there is one, else the recorded one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.computed.code().or_else(|| self.recorded.as_ref()?.code())
    }

    /// Returns the first pair of effects in which two applied outcomes differ, the recorded one first.
    #[must_use]
    pub fn changed_effects(&self) -> Option<(String, String)> {
        let (Some(Claim::Outcome(Outcome::Applied(_))), Claim::Outcome(Outcome::Applied(_))) =
            (&self.recorded, &self.computed)
        else {
            return None;
        };
        match self.changed_parts() {
            [None, None] => None,
            [old, new] => {
                Some((old.unwrap_or("(none)".into()).into(), new.unwrap_or("(none)".into()).into()))
            }
        }
    }

    /// Returns the first parts in which the recorded and the computed claim differ; `None` where a claim has no more.
    pub(crate) fn changed_parts(&self) -> [Option<Cow<'_, str>>; 2] {
        let old = self.recorded.as_ref().map(Claim::parts).unwrap_or_default();
        let new = self.computed.parts();
        let mut index = 0;
        while index < old.len() && old.get(index) == new.get(index) {
            index += 1;
        }
        [old.get(index).cloned(), new.get(index).cloned()]
    }

    pub(crate) fn codes(&self) -> Vec<&str> {
        let mut codes = Vec::new();
        if let Some(recorded) = &self.recorded {
            codes.extend(recorded.code());
        }
        codes.extend(self.computed.code());
        codes
    }
}

impl Subject {
    pub(crate) fn of_attempt(after: u64, attempt: &Attempt) -> Self {
        Self::Attempt { after, seat: attempt.seat, command: attempt.command.clone() }
    }

    /// Returns the entry's number, if the subject is an entry.
    #[must_use]
    pub fn seq(&self) -> Option<u64> {
        if let Self::Entry { seq, .. } = self { Some(*seq) } else { None }
    }

    /// Returns the command and its seat, if the subject is an entry or an attempt.
    #[must_use]
    pub fn command(&self) -> Option<(Seat, &str)> {
        match self {
            Self::Entry { seat, command, .. } | Self::Attempt { seat, command, .. } => Some((*seat, command)),
            Self::Header { .. } | Self::End { .. } => None,
        }
    }
}

impl From<&LogEntry> for Subject {
    fn from(entry: &LogEntry) -> Self {
        Self::Entry { seq: entry.seq, seat: entry.seat, command: entry.command.to_string() }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { seq, seat, command } => write!(out, "entry {seq} ({seat} {command})"),
            Self::Attempt { seat, command, .. } => write!(out, "attempt ({seat} {command})"),
            Self::Header { .. } => out.write_str("header"),
            Self::End { .. } => out.write_str("closing line"),
        }
    }
}

impl Claim {
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Outcome(outcome) | Self::Rejection { outcome, .. } => outcome.code(),
            _ => None,
        }
    }

    /// Returns the claim as text without the words of a rejection.
    #[must_use]
    pub fn short(&self) -> String {
        if let Self::Rejection { outcome, .. } = self { outcome.to_string() } else { self.to_string() }
    }

    /// Returns the parts that are compared one by one: the effects of an outcome, or else the whole claim.
    pub(crate) fn parts(&self) -> Vec<Cow<'_, str>> {
        if let Self::Outcome(outcome) = self {
            let effects: Vec<_> = outcome.effects().map(Cow::Borrowed).collect();
            if !effects.is_empty() {
                return effects;
            }
        }
        vec![Cow::Owned(self.to_string())]
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(text) | Self::Run(text) => out.write_str(text),
            Self::Outcome(outcome) => outcome.fmt(out),
            Self::Rejection { outcome, message } => write!(out, "{outcome}: {message}"),
            Self::Roll(values) => {
                out.write_str("rolled")?;
                for value in values {
                    write!(out, " {value}")?;
                }
                Ok(())
            }
            Self::Hash(hash) => hash.fmt(out),
            Self::Count(count) => count.fmt(out),
            Self::Digest(digest) => digest.fmt(out),
            Self::Closing(closing) => closing.fmt(out),
            Self::Header(mark) => mark.fmt(out),
        }
    }
}

impl From<Rejected> for Claim {
    fn from(rejected: Rejected) -> Self {
        Self::Rejection { outcome: Outcome::from(&rejected), message: rejected.message }
    }
}

impl Serialize for Claim {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
