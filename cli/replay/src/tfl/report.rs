//! A mismatch told: as lines for people and as a document for programs.

use serde::Serialize;
use turnfold_core::Seat;

use super::mismatch::{DiceFinding, Hashes, Mismatch, MismatchKind, Place, StateDifference};
use crate::difference::Difference;
use crate::outcomes::changed_lines;
use crate::revision::shell_path;
use crate::text::Tone;
use crate::text::printable;

/// A mismatch as a JSON document.
#[derive(Clone, Debug, Serialize)]
pub struct MismatchReport<'a> {
    file: &'a str,
    line: usize,
    /// The entry; null for an attempt and the closing line.
    seq: Option<u64>,
    /// The last of several entries in a row of which only the state hashes differ.
    until: Option<u64>,
    seat: Option<Seat>,
    command: Option<&'a str>,
    kind: MismatchKind,
    /// The ids of the rules behind the reasons that the outcomes name.
    rules: &'a [&'static str],
    dice: Option<DiceFinding>,
    expected: &'a str,
    actual: &'a str,
    state_hash: Option<&'a Hashes>,
    /// What the fields are before and after.
    state_sides: Option<StateSides>,
    /// The fields that differ; null where no states can be compared.
    state: Option<&'a [Difference]>,
    /// The command that reproduces it, or that fills in what is missing.
    next: String,
}

/// Which states the old and new values of a mismatch belong to.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum StateSides {
    Equal,
    BeforeAndAfter,
    ExpectedAndActual,
}

impl Mismatch {
    /// Gives the mismatch as a document for programs.
    pub fn report(&self) -> MismatchReport<'_> {
        let (seq, seat, command) = match &self.place {
            Place::Entry { seq, seat, command } => (Some(*seq), Some(*seat), Some(command.as_str())),
            Place::Attempt { seat, command, .. } => (None, Some(*seat), Some(command.as_str())),
            Place::ClosingLine => (None, None, None),
        };
        MismatchReport {
            file: &self.file,
            line: self.line,
            seq,
            until: self.until,
            seat,
            command,
            kind: self.kind,
            rules: &self.rules,
            dice: self.dice,
            expected: &self.expected,
            actual: &self.actual,
            state_hash: self.hashes.as_ref(),
            state_sides: self.state.as_ref().map(|state| match state {
                StateDifference::Equal => StateSides::Equal,
                StateDifference::OfEntry(_) => StateSides::BeforeAndAfter,
                StateDifference::FromExpected(_) => StateSides::ExpectedAndActual,
            }),
            state: self.state.as_ref().map(StateDifference::fields),
            next: self.next_command(),
        }
    }

    /// Tells the mismatch in one line: file, line, entry, in what it differs, and the rules that the outcomes name.
    pub fn headline(&self) -> String {
        format!("{}:{}: {}", printable(&self.file), self.line, self.title())
    }

    /// Tells entry and difference, without the file.
    pub fn title(&self) -> String {
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
            MismatchKind::NotDeterministic => "the fold is not deterministic, a second one differs",
            MismatchKind::NotStorable => "the state does not survive storage, a fold resumed from it differs",
        };
        if let (Place::Entry { seq, .. }, Some(until)) = (&self.place, self.until) {
            return format!("entries {seq} to {until}: only the state hashes differ");
        }
        let rules =
            if self.rules.is_empty() { String::new() } else { format!(" [{}]", self.rules.join(", ")) };
        format!("{place}: {what}{rules}")
    }

    /// Tells the mismatch in full, line by line.
    pub fn lines(&self) -> Vec<(Tone, String)> {
        let mut lines = self.brief_lines();
        lines.splice(1..1, self.dice.map(|finding| (Tone::Plain, format!("dice: {}", finding.text()))));
        if let (Some(state), Place::Entry { seq, .. }) = (&self.state, &self.place) {
            let heading = match state {
                StateDifference::Equal => "state: the same, as the hashes agree".into(),
                StateDifference::OfEntry(fields) if fields.is_empty() => {
                    format!("state: entry {seq} changes nothing that the view shows")
                }
                StateDifference::OfEntry(_) => format!("state, before → after entry {seq}:"),
                StateDifference::FromExpected(fields) if fields.is_empty() => {
                    "state: what differs is not in the view".into()
                }
                StateDifference::FromExpected(_) => format!("state after entry {seq}, expected → got:"),
            };
            lines.push((Tone::Plain, heading));
            lines.extend(state.fields().iter().map(|field| (Tone::Plain, format!("  {field}"))));
        }
        let what = if self.is_to_be_blessed() { "to fill it in" } else { "to reproduce" };
        lines.push((Tone::Faint, format!("{what}: {}", self.next_command())));
        lines
    }

    /// Tells the mismatch line by line, without states and what to do next, as one of several in a file.
    pub fn brief_lines(&self) -> Vec<(Tone, String)> {
        let mut lines = vec![(Tone::Strong, self.headline())];
        if self.until.is_some() {
            return lines;
        }
        if self.kind != MismatchKind::Missing {
            lines.extend(changed_lines(&self.expected, &self.actual));
        }
        if let Some(Hashes { expected, actual }) = &self.hashes {
            lines.push((Tone::Old, format!("- #{expected}")));
            lines.push((Tone::New, format!("+ #{actual}")));
        }
        lines
    }

    fn is_to_be_blessed(&self) -> bool {
        matches!(self.kind, MismatchKind::Missing | MismatchKind::NotCanonical)
    }

    /// Gives the command to run next.
    fn next_command(&self) -> String {
        let file = shell_path(&self.file);
        match (self.kind, &self.place) {
            _ if self.is_to_be_blessed() => format!("turnfold bless {file}"),
            (MismatchKind::NotDeterministic | MismatchKind::NotStorable, _) => {
                format!("turnfold selftest {file}")
            }
            (_, Place::Entry { seq, .. }) => format!("turnfold replay {file} --to {seq}"),
            (_, Place::Attempt { .. } | Place::ClosingLine) => format!("turnfold check {file}"),
        }
    }
}

impl DiceFinding {
    fn text(self) -> &'static str {
        match self {
            Self::OtherValues => {
                "the seed gives other values; of the file's values the rules make what the file says"
            }
            Self::OtherRules => "the values are those of the seed, so the rules differ",
            Self::OtherValuesAndRules => {
                "the seed gives other values; of the file's values the rules make something else, too"
            }
            Self::RecordedValues => "recorded, so the values are the file's and the rules differ",
        }
    }
}
