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
    pub hashes: Option<Hashes>,
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

/// Two state hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hashes {
    /// The recorded hash.
    pub expected: ShortHash,
    /// The computed hash.
    pub actual: ShortHash,
}

impl Divergence {
    /// Returns a divergence without state hashes.
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
            let [old, new] = [recorded, computed].map(|entry| Claim::Command(entry.command.to_string()));
            return Some(Self::new(recorded, DivergenceKind::NotCanonical, Some(old), new));
        }
        let missing = |computed| Self::new(recorded, DivergenceKind::Missing, None, computed);
        if let (None, Some(outcome)) = (&recorded.outcome, &computed.outcome) {
            return Some(missing(Claim::Outcome(outcome.clone())));
        }
        Self::contradiction(recorded, computed).or_else(|| {
            let hash = computed.hash.filter(|_| recorded.hash.is_none())?;
            Some(missing(Claim::Hash(hash)))
        })
    }

    /// Compares what is recorded of an entry with what the rules compute. What is not recorded is not compared.
    #[must_use]
    pub fn contradiction(recorded: &LogEntry, computed: &LogEntry) -> Option<Self> {
        let hashes = recorded.hash.zip(computed.hash).filter(|(recorded, computed)| recorded != computed);
        match (&recorded.outcome, &computed.outcome) {
            (Some(old), Some(new)) if old != new => {
                let old = Claim::Outcome(old.clone());
                let new = Claim::Outcome(new.clone());
                let hashes = hashes.map(|(expected, actual)| Hashes { expected, actual });
                Some(Self { hashes, ..Self::new(recorded, DivergenceKind::Outcome, Some(old), new) })
            }
            _ => {
                let (old, new) = hashes?;
                Some(Self::new(recorded, DivergenceKind::StateHash, Some(Claim::Hash(old)), Claim::Hash(new)))
            }
        }
    }

    /// Returns the divergence of an entry that the rules rejected or whose roll is wrong. Returns `None` for an entry
    /// that cannot be folded for another reason, such as an unreadable command.
    pub(crate) fn of_refusal(recorded: &LogEntry, error: &FoldError) -> Option<Self> {
        let (kind, claim, computed) = match error {
            FoldError::Rejected { rejected, .. } => {
                let outcome = recorded.outcome.clone().map(Claim::Outcome);
                (DivergenceKind::Rejected, outcome, Rejected::clone(rejected).into())
            }
            FoldError::WrongRoll { expected, found, .. } => {
                (DivergenceKind::WrongRoll, Some(Claim::Roll(found.clone())), Claim::Roll(expected.clone()))
            }
            _ => return None,
        };
        Some(Self::new(recorded, kind, claim, computed))
    }

    /// Compares an attempt with the outcome that the rules compute.
    pub(crate) fn of_attempt(after: u64, recorded: &Attempt, computed: Outcome) -> Option<Self> {
        let subject = Subject::of_attempt(after, recorded);
        let kind = if recorded.outcome.is_some() { DivergenceKind::Attempt } else { DivergenceKind::Missing };
        let is_other = recorded.outcome.as_ref() != Some(&computed);
        let recorded = recorded.outcome.clone().map(Claim::Outcome);
        is_other.then(|| Self::new(subject, kind, recorded, Claim::Outcome(computed)))
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
        let is_applied = |claim: &Claim| matches!(claim, Claim::Outcome(Outcome::Applied(_)));
        let recorded = self.recorded.as_ref().filter(|recorded| is_applied(recorded))?;
        if !is_applied(&self.computed) {
            return None;
        }
        let old = recorded.parts();
        let new = self.computed.parts();
        let index = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let part = |parts: &[Cow<'_, str>]| parts.get(index).map_or("(none)", AsRef::as_ref).to_owned();
        (index < old.len().max(new.len())).then(|| (part(&old), part(&new)))
    }

    /// Returns the codes of the recorded and the computed reason or rejection.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &str> {
        self.recorded.iter().chain([&self.computed]).filter_map(Claim::code)
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
    /// Returns the code of the reason or rejection, if the claim has one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
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
        let outcome = if let Self::Outcome(outcome) = self { Some(outcome) } else { None };
        let effects: Vec<_> = outcome.into_iter().flat_map(Outcome::effects).map(Cow::Borrowed).collect();
        if effects.is_empty() { vec![Cow::Owned(self.to_string())] } else { effects }
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
                values.iter().try_for_each(|value| write!(out, " {value}"))
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
