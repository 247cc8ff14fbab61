//! Divergences: what a source records of a part of a history, and what the rules compute instead.

use std::borrow::Cow;
use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use similar::{ChangeTag, TextDiff};
use turnfold_core::{FoldError, Outcome, Rejected, Seat};

use crate::text::{Line, added, counted, dim, plain, removed};
use crate::{Attempt, LogEntry, ShortHash};

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
    End,
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
    /// The outcome of a command.
    Outcome(Outcome),
    /// That a command is rejected, and why.
    Rejection(Rejected),
    /// The beginning of a state hash.
    Hash(ShortHash),
    /// Anything else as text: a command, a roll, a number, a digest, the closing line, a value in a view, the result of a
    /// second fold, or why an entry cannot be folded.
    Text(String),
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
            let old = Claim::text(&recorded.command);
            let new = Claim::text(&computed.command);
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
                let computed = Claim::Rejection(Rejected::clone(rejected));
                Some(Self::new(recorded, DivergenceKind::Rejected, claim, computed))
            }
            FoldError::WrongRoll { expected, found, .. } => {
                let [found, expected] = [found, expected].map(|values| Claim::of_roll(values));
                Some(Self::new(recorded, DivergenceKind::WrongRoll, Some(found), expected))
            }
            _ => None,
        }
    }

    pub(crate) fn of_attempt(recorded: &Attempt, computed: Outcome) -> Option<Self> {
        if recorded.outcome.as_ref() == Some(&computed) {
            return None;
        }
        let kind = if recorded.outcome.is_some() { DivergenceKind::Attempt } else { DivergenceKind::Missing };
        let outcome = recorded.outcome.clone().map(Claim::Outcome);
        Some(Self::new(recorded, kind, outcome, Claim::Outcome(computed)))
    }

    /// Returns what is recorded, or the name of what is missing.
    #[must_use]
    pub fn expected(&self) -> Cow<'_, str> {
        match (&self.recorded, &self.computed, &self.subject) {
            (Some(recorded), ..) => Cow::Owned(recorded.to_string()),
            (None, Claim::Outcome(_), Subject::Attempt { .. }) => Cow::Borrowed("the rejection"),
            (None, Claim::Outcome(_), _) => Cow::Borrowed("the outcome"),
            (None, Claim::Hash(_), _) => Cow::Borrowed("the state hash"),
            (None, _, Subject::End) => Cow::Borrowed("the closing line"),
            (None, ..) => Cow::Borrowed("accepted"),
        }
    }

    /// Returns the code of the reason or rejection: the computed one if there is one, else the recorded one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.codes().last()
    }

    /// Returns the codes of the recorded and the computed claim, as far as there are any.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &str> {
        self.recorded.iter().chain([&self.computed]).filter_map(Claim::code)
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
}

impl Subject {
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
            Self::Header { .. } | Self::End => None,
        }
    }
}

impl From<&LogEntry> for Subject {
    fn from(entry: &LogEntry) -> Self {
        Self::Entry { seq: entry.seq, seat: entry.seat, command: entry.command.to_string() }
    }
}

impl From<&Attempt> for Subject {
    fn from(attempt: &Attempt) -> Self {
        Self::Attempt { seat: attempt.seat, command: attempt.command.clone() }
    }
}

/// Writes number, seat and command. An attempt has no number, and header and end have none of the three.
impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (seat, command) = self.command().unzip();
        let mut json = serializer.serialize_struct("Subject", 3)?;
        json.serialize_field("seq", &self.seq())?;
        json.serialize_field("seat", &seat)?;
        json.serialize_field("command", &command)?;
        json.end()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { seq, seat, command } => write!(out, "entry {seq} ({seat} {command})"),
            Self::Attempt { seat, command, .. } => write!(out, "attempt ({seat} {command})"),
            Self::Header { .. } => out.write_str("header"),
            Self::End => out.write_str("closing line"),
        }
    }
}

impl Claim {
    pub(crate) fn text(text: impl fmt::Display) -> Self {
        Self::Text(text.to_string())
    }

    fn of_roll(values: &[i32]) -> Self {
        let mut text = String::from("rolled");
        for value in values {
            text = format!("{text} {value}");
        }
        Self::Text(text)
    }

    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Outcome(outcome) => outcome.code(),
            Self::Rejection(rejected) => Some(rejected.code.as_str()),
            _ => None,
        }
    }

    /// Returns the claim as text without the words of a rejection.
    #[must_use]
    pub fn short(&self) -> String {
        if let Self::Rejection(rejected) = self {
            Outcome::from(rejected).to_string()
        } else {
            self.to_string()
        }
    }

    /// Returns the comparison with another claim, one effect a line. Equal effects far from a difference are only
    /// counted.
    #[must_use]
    pub fn changes(&self, actual: &Self) -> Vec<Line> {
        let expected = self.parts();
        let actual = actual.parts();
        let old: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        let new: Vec<&str> = actual.iter().map(AsRef::as_ref).collect();
        let diff = TextDiff::from_slices(&old, &new);
        let mut lines = Vec::new();
        let mut shown = 0;
        for group in diff.grouped_ops(CONTEXT) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            lines.extend(unchanged(first.old_range().start - shown));
            shown = last.old_range().end;
            for op in &group {
                for change in diff.iter_changes(op) {
                    let line = match change.tag() {
                        ChangeTag::Delete => removed(format_args!("- {}", change.value())),
                        ChangeTag::Insert => added(format_args!("+ {}", change.value())),
                        ChangeTag::Equal => plain(format_args!("  {}", change.value())),
                    };
                    lines.push(line.into());
                }
            }
        }
        lines.extend(unchanged(old.len() - shown));
        lines
    }

    /// Returns the claim as lines that were added.
    pub(crate) fn added(&self) -> impl Iterator<Item = Line> {
        self.parts().into_iter().map(|part| added(format_args!("+ {part}")).into())
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
            Self::Outcome(outcome) => outcome.fmt(out),
            Self::Rejection(rejected) => write!(out, "{}: {rejected}", Outcome::from(rejected)),
            Self::Hash(hash) => hash.fmt(out),
            Self::Text(text) => out.write_str(text),
        }
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How many equal effects are shown on either side of a difference.
const CONTEXT: usize = 3;

fn unchanged(count: usize) -> Option<Line> {
    if count == 0 {
        return None;
    }
    let counted = counted(count as u64, "equal effect", "equal effects");
    Some(dim(format_args!("  … {counted}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, actual: &str, lines: &[&str]) {
        let claim = |text: &str| Claim::Outcome(text.parse().unwrap());
        let shown: Vec<_> = claim(expected).changes(&claim(actual)).iter().map(ToString::to_string).collect();
        assert_eq!(shown, lines);
    }

    #[test]
    fn quoted_text_is_not_split() {
        check(r#"flash text="a; \"b; c"; d"#, "d", &[r#"- flash text="a; \"b; c""#, "  d"]);
    }

    #[test]
    fn effects_far_from_a_difference_are_counted() {
        check(
            "1; 2; 3; 4; 5; x; 6; 7; 8; 9",
            "1; 2; 3; 4; 5; y; 6; 7; 8; 9",
            &[
                "  … 2 equal effects",
                "  3",
                "  4",
                "  5",
                "- x",
                "+ y",
                "  6",
                "  7",
                "  8",
                "  … 1 equal effect",
            ],
        );
    }
}
