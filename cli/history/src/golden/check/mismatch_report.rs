//! Writes a mismatch as lines for people and JSON for programs.

use std::borrow::Cow;
use std::path::Path;

use serde::{Serialize, Serializer};
use turnfold_core::Seat;

use super::mismatch::{DiceFinding, Mismatch, StateDifference};
use crate::compare::difference::Difference;
use crate::compare::divergence::{Claim, DivergenceKind, Hashes, Subject};
use crate::compare::outcomes::changed_claims;
use crate::history::revision::{input_name, is_page, shell_path};
use crate::program;
use crate::text::{Line, added, dim, printable, removed, strong};

/// A mismatch as a JSON document.
#[derive(Serialize)]
struct MismatchJson<'a> {
    file: &'a str,
    line: usize,
    /// The entry; null for an attempt and the closing line.
    seq: Option<u64>,
    /// The last of consecutive entries of which only the state hash differs.
    until: Option<u64>,
    seat: Option<Seat>,
    command: Option<&'a str>,
    kind: DivergenceKind,
    /// The ids of the rules behind the reasons and rejections of both sides.
    rules: &'a [String],
    dice: Option<DiceFinding>,
    expected: Cow<'a, str>,
    actual: &'a Claim,
    state_hash: Option<&'a Hashes>,
    /// What the two values of each field are.
    state_sides: Option<&'static str>,
    /// The fields that differ; null if no states can be compared.
    state: Option<&'a [Difference]>,
    /// The command that reproduces it, or that fills in what is missing.
    next: String,
}

impl Serialize for Mismatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { file, line, divergence, until, rules, dice, state } = self;
        let (seat, command) = divergence.subject.command().unzip();
        let json = MismatchJson {
            file,
            line: *line,
            seq: divergence.subject.seq(),
            until: *until,
            seat,
            command,
            kind: divergence.kind,
            rules,
            dice: *dice,
            expected: divergence.expected(),
            actual: &divergence.computed,
            state_hash: divergence.hashes.as_ref(),
            state_sides: state.as_ref().map(|state| match state {
                StateDifference::Equal => "equal",
                StateDifference::OfEntry(_) => "before_and_after",
                StateDifference::FromExpected(_) => "expected_and_actual",
            }),
            state: state.as_ref().map(StateDifference::fields),
            next: self.next_command(),
        };
        json.serialize(serializer)
    }
}

impl Mismatch {
    /// Returns the mismatch in one line: file, line, entry, difference, and the ids of the rules behind it.
    #[must_use]
    pub(crate) fn headline(&self) -> String {
        format!("{}:{}: {}", printable(&self.file), self.line, self.title())
    }

    /// Returns the headline without file and line.
    #[must_use]
    pub fn title(&self) -> String {
        let what = match self.kind() {
            DivergenceKind::Missing => &format!("{} is missing", self.divergence.expected()),
            DivergenceKind::CutShort => "it is missing although every entry is blessed: cut short?",
            DivergenceKind::NotCanonical => "command differs from its canonical form",
            DivergenceKind::Outcome => "outcome differs",
            DivergenceKind::StateHash | DivergenceKind::ClosingState => "state hash differs",
            DivergenceKind::View => "view differs",
            DivergenceKind::Rejected => "the rules reject it",
            DivergenceKind::WrongRoll => "roll differs from the seeded dice",
            DivergenceKind::Attempt => "verdict differs",
            DivergenceKind::Header => &self.header_text(),
            DivergenceKind::ClosingCount => "number of entries differs",
            DivergenceKind::ClosingLog => "log digest differs",
            DivergenceKind::NotDeterministic => "the fold is not deterministic, a second one differs",
            DivergenceKind::NotStorable => {
                "the state does not survive storage, a fold resumed from it differs"
            }
        };
        if let (Some(seq), Some(until)) = (self.divergence.subject.seq(), self.until) {
            return format!("entries {seq} to {until}: only the state hashes differ");
        }
        let rules =
            if self.rules.is_empty() { String::new() } else { format!(" [{}]", self.rules.join(", ")) };
        format!("{}: {what}{rules}", self.divergence.subject)
    }

    /// Returns the mismatch in full, line by line.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = self.brief_lines();
        if let Some(finding) = self.dice {
            lines.insert(1, Line::from(format_args!("dice: {}", finding.text())));
        }
        if let (Some(state), Some(seq)) = (&self.state, self.divergence.subject.seq()) {
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
            lines.push(Line::from(heading));
            for field in state.fields() {
                lines.push(Line::from(format_args!("  {field}")));
            }
        }
        let what = match self.kind() {
            _ if self.is_in_page_to_be_made_again() => {
                "a page cannot be blessed, make it again from its match"
            }
            DivergenceKind::Header => "if that is meant",
            DivergenceKind::CutShort => "get the whole file back, then",
            _ if self.is_to_be_blessed() => "to fill it in",
            _ => "to reproduce",
        };
        lines.push(dim(format_args!("{what}: {}", self.next_command())).into());
        lines
    }

    /// Returns the mismatch as lines, without states and the next command, for a list of several in a file.
    #[must_use]
    pub fn brief_lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::from(strong(self.headline()))];
        // A mark tells a reader nothing.
        if self.until.is_some() || self.kind() == DivergenceKind::Header {
            return lines;
        }
        let divergence = &self.divergence;
        if let Some(recorded) = &divergence.recorded {
            lines.extend(changed_claims(recorded, &divergence.computed));
        } else if !matches!(self.kind(), DivergenceKind::Missing | DivergenceKind::CutShort) {
            lines.push(removed(format_args!("- {}", divergence.expected())).into());
            lines.push(added(format_args!("+ {}", divergence.computed)).into());
        }
        if let Some(Hashes { expected, actual }) = &divergence.hashes {
            lines.push(removed(format_args!("- #{expected}")).into());
            lines.push(added(format_args!("+ #{actual}")).into());
        }
        lines
    }

    /// Returns how the header differs. The mark shows which value differs if only one does.
    fn header_text(&self) -> String {
        let what = match &self.divergence.subject {
            Subject::Header { path: Some(path) } => format!("`{}` differs", printable(path)),
            _ => "more than one value differs, or one is missing".into(),
        };
        format!("it is not the one that was blessed, {what}")
    }

    fn is_to_be_blessed(&self) -> bool {
        matches!(self.kind(), DivergenceKind::Missing | DivergenceKind::NotCanonical)
    }

    /// Returns `true` if blessing would help, but the replay is in a page.
    fn is_in_page_to_be_made_again(&self) -> bool {
        is_page(Path::new(&self.file)) && (self.is_to_be_blessed() || self.kind() == DivergenceKind::Header)
    }

    fn next_command(&self) -> String {
        let program = program::name();
        // Piped input has no file name.
        let is_piped = self.file == input_name(Path::new("-"));
        let file = if is_piped { "FILE".into() } else { shell_path(&self.file) };
        match (self.kind(), &self.divergence.subject) {
            _ if self.is_in_page_to_be_made_again() => {
                format!("{program} export MATCH --html -o {file} --force")
            }
            (_, Subject::Header { .. }) => format!("{program} bless {file}"),
            _ if self.is_to_be_blessed() => format!("{program} bless {file}"),
            (DivergenceKind::NotDeterministic | DivergenceKind::NotStorable, _) => {
                format!("{program} verify {file} --reload")
            }
            (_, Subject::Entry { seq, .. }) => format!("{program} replay {file} --to {seq}"),
            (_, Subject::Attempt { .. } | Subject::End { .. }) => format!("{program} check {file}"),
        }
    }
}

impl DiceFinding {
    fn text(self) -> &'static str {
        match self {
            Self::OtherValues => {
                "the seed gives other values; for the file's values the rules give what the file says"
            }
            Self::OtherRules => "the values match the seed, so the rules differ",
            Self::OtherValuesAndRules => {
                "the seed gives other values; for the file's values the rules give another outcome, too"
            }
            Self::RecordedValues => "recorded, so the values are the file's and the rules differ",
        }
    }
}
