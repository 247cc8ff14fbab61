//! A mismatch told: as lines for people and as a document for programs.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use turnfold_core::Seat;

use super::check::{Hashes, Mismatch, MismatchKind, Place};
use crate::difference::{Difference, differences, read_view};
use crate::output::Tone;

/// A mismatch as a JSON document.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MismatchReport<'a> {
    file: &'a str,
    line: usize,
    /// The entry; null for an attempt and the closing line.
    seq: Option<u64>,
    seat: Option<Seat>,
    command: Option<&'a str>,
    kind: MismatchKind,
    expected: &'a str,
    actual: &'a str,
    state_hash: Option<&'a Hashes>,
    /// The fields that the entry changed; null when it could not be folded.
    state: Option<Vec<Difference>>,
    next: String,
}

impl Mismatch {
    /// Gives the mismatch as a document for programs.
    pub(crate) fn report(&self) -> MismatchReport<'_> {
        let (seq, seat, command) = match &self.place {
            Place::Entry { seq, seat, command } => (Some(*seq), Some(*seat), Some(command.as_str())),
            Place::Attempt { seat, command, .. } => (None, Some(*seat), Some(command.as_str())),
            Place::ClosingLine => (None, None, None),
        };
        MismatchReport {
            file: &self.file,
            line: self.line,
            seq,
            seat,
            command,
            kind: self.kind,
            expected: &self.expected,
            actual: &self.actual,
            state_hash: self.hashes.as_ref(),
            state: self.changes(),
            next: self.next(),
        }
    }

    /// Tells the mismatch in one line: file, line, entry and in what it differs.
    pub(crate) fn headline(&self) -> String {
        let place = match &self.place {
            Place::Entry { seq, seat, command } => format!("entry {seq} ({seat} {command})"),
            Place::Attempt { seat, command, .. } => format!("attempt ({seat} {command})"),
            Place::ClosingLine => "closing line".into(),
        };
        let what = match self.kind {
            MismatchKind::Missing => &format!("{} is missing", self.expected),
            MismatchKind::NotCanonical => "command differs from its canonical form",
            MismatchKind::Outcome => "outcome differs",
            MismatchKind::StateHash | MismatchKind::ClosingState => "state hash differs",
            MismatchKind::Rejected => "the rules reject it",
            MismatchKind::WrongRoll => "roll differs from the seeded dice",
            MismatchKind::Attempt => "verdict differs",
            MismatchKind::ClosingCount => "number of entries differs",
            MismatchKind::ClosingLog => "log digest differs",
        };
        format!("{}:{}: {place}: {what}", self.file, self.line)
    }

    /// Tells the mismatch in full, line by line.
    pub(crate) fn lines(&self) -> Vec<(Tone, String)> {
        let mut lines = vec![(Tone::Strong, self.headline())];
        if self.kind != MismatchKind::Missing {
            lines.extend(changed_lines(&self.expected, &self.actual));
        }
        if let Some(Hashes { expected, actual }) = &self.hashes {
            lines.push((Tone::Old, format!("- #{expected}")));
            lines.push((Tone::New, format!("+ #{actual}")));
        }
        if let (Some(changes), Place::Entry { seq, .. }) = (self.changes(), &self.place) {
            if changes.is_empty() {
                lines.push((Tone::Plain, format!("state: entry {seq} changes nothing that the view shows")));
            } else {
                lines.push((Tone::Plain, format!("state, before → after entry {seq}:")));
            }
            lines.extend(changes.iter().map(|change| (Tone::Plain, format!("  {change}"))));
        }
        lines.push((Tone::Faint, self.next()));
        lines
    }

    /// Gives the fields that differ between the views around the entry.
    fn changes(&self) -> Option<Vec<Difference>> {
        let views = self.views.as_ref()?;
        views.after.as_ref().map(|after| differences(&read_view(&views.before), &read_view(after)))
    }

    /// Says what to run next.
    fn next(&self) -> String {
        let file = &self.file;
        match (self.kind, &self.place) {
            (MismatchKind::Missing | MismatchKind::NotCanonical, _) => {
                format!("to fill it in: turnfold bless {file}")
            }
            (_, Place::Entry { seq, .. } | Place::Attempt { after: seq, .. }) => {
                format!("to see it: turnfold replay {file} --to {seq}")
            }
            (_, Place::ClosingLine) => format!("to see it: turnfold replay {file}"),
        }
    }
}

/// Compares two outcomes, one effect a line.
fn changed_lines(expected: &str, actual: &str) -> Vec<(Tone, String)> {
    let (expected, actual) = (effects(expected), effects(actual));
    let diff = TextDiff::from_slices(&expected, &actual);
    diff.iter_all_changes()
        .map(|change| match change.tag() {
            ChangeTag::Delete => (Tone::Old, format!("- {}", change.value())),
            ChangeTag::Insert => (Tone::New, format!("+ {}", change.value())),
            ChangeTag::Equal => (Tone::Plain, format!("  {}", change.value())),
        })
        .collect()
}

/// Splits an outcome at each `; ` that is not within double quotes.
pub(crate) fn effects(outcome: &str) -> Vec<&str> {
    let (mut effects, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (place, byte) in outcome.bytes().enumerate() {
        quoted ^= byte == b'"' && !escaped;
        escaped = quoted && byte == b'\\' && !escaped;
        if !quoted && outcome.get(place..).is_some_and(|rest| rest.starts_with("; ")) {
            effects.extend(outcome.get(start..place));
            start = place + 2;
        }
    }
    effects.extend(outcome.get(start..));
    effects
}
