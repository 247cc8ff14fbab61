//! Mismatches: where a replay and the rules disagree, as lines for people and JSON for programs.

use std::path::Path;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::FileName;
use crate::compare::{Difference, Divergence, DivergenceKind, Subject};
use crate::input::{input_name, is_page};
use crate::text::{Line, added, dim, printable, removed, strong};

/// A place where a replay and the rules disagree, and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub(crate) file: String,
    /// The line in the file, from 1.
    pub line: usize,
    /// The divergence.
    pub divergence: Divergence,
    /// The last entry of a run in which only the state hashes differ; the run is shown with its first entry.
    pub(crate) until: Option<u64>,
    /// The ids of the rules behind the reasons and rejections of both sides.
    pub(crate) rules: Vec<String>,
    /// For a roll, whether its values or the rules differ.
    pub(crate) dice: Option<DiceFinding>,
    /// How the states differ; `None` if there is no entry or it cannot be folded.
    pub(crate) state: Option<StateDifference>,
    /// The name of the program whose next command is shown.
    pub(crate) program: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiceFinding {
    /// The values are not the seed's. With the file's values the rules compute the file's outcome.
    OtherValues,
    /// The values are the seed's, but the rules compute another outcome.
    OtherRules,
    /// The values are not the seed's, and with the file's values the rules compute another outcome.
    OtherValuesAndRules,
    /// The values are recorded in the file, so the rules differ.
    RecordedValues,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateDifference {
    pub(crate) sides: StateSides,
    pub(crate) fields: Vec<Difference>,
}

/// What the two values of each field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateSides {
    /// The hashes are equal, so the states are.
    Equal,
    /// The values before and after the entry under the rules of this build. Nothing else is known, because a hash does
    /// not reveal its state.
    BeforeAndAfter,
    /// The values in the state of the file's hash, which is known here, and in the state of this build.
    ExpectedAndActual,
}

impl Serialize for Mismatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let divergence = &self.divergence;
        let (seat, command) = divergence.subject.command().unzip();
        let (sides, fields) = self.state.as_ref().map(|state| (state.sides, &state.fields)).unzip();
        let mut json = serializer.serialize_struct("Mismatch", 15)?;
        json.serialize_field("file", &self.file)?;
        json.serialize_field("line", &self.line)?;
        // Null for an attempt and the closing line.
        json.serialize_field("seq", &divergence.subject.seq())?;
        json.serialize_field("until", &self.until)?;
        json.serialize_field("seat", &seat)?;
        json.serialize_field("command", &command)?;
        json.serialize_field("kind", &divergence.kind)?;
        json.serialize_field("rules", &self.rules)?;
        json.serialize_field("dice", &self.dice)?;
        json.serialize_field("expected", &divergence.expected())?;
        json.serialize_field("actual", &divergence.computed)?;
        json.serialize_field("state_hash", &divergence.hashes)?;
        json.serialize_field("state_sides", &sides)?;
        json.serialize_field("state", &fields)?;
        json.serialize_field("next", &self.next_command())?;
        json.end()
    }
}

impl Mismatch {
    pub(crate) fn new(file: &str, line: usize, divergence: Divergence) -> Self {
        let rules = Vec::new();
        let dice = None;
        let state = None;
        let program = "turnfold";
        Self { file: file.into(), line, divergence, until: None, rules, dice, state, program }
    }

    /// Returns the kind of the divergence.
    #[must_use]
    pub fn kind(&self) -> DivergenceKind {
        self.divergence.kind
    }

    pub(crate) fn absorb(&mut self, next: &Self) -> bool {
        let (Some(seq), Some(next_seq)) = (self.divergence.subject.seq(), next.divergence.subject.seq())
        else {
            return false;
        };
        let follows = self.until.unwrap_or(seq).checked_add(1) == Some(next_seq);
        if !follows || self.kind() != DivergenceKind::StateHash || next.kind() != DivergenceKind::StateHash {
            return false;
        }
        self.until = Some(next_seq);
        true
    }

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
            DivergenceKind::Header => &match &self.divergence.subject {
                Subject::Header { path: Some(path) } => {
                    format!("it is not the one that was blessed, `{}` differs", printable(path))
                }
                _ => "it is not the one that was blessed, more than one value differs, or one is missing"
                    .into(),
            },
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
            let what = match finding {
                DiceFinding::OtherValues => {
                    "the seed gives other values; for the file's values the rules give what the file says"
                }
                DiceFinding::OtherRules => "the values match the seed, so the rules differ",
                DiceFinding::OtherValuesAndRules => {
                    "the seed gives other values; for the file's values the rules give another outcome, too"
                }
                DiceFinding::RecordedValues => "recorded, so the values are the file's and the rules differ",
            };
            lines.insert(1, Line::from(format!("dice: {what}")));
        }
        if let (Some(state), Some(seq)) = (&self.state, self.divergence.subject.seq()) {
            let heading = match state.sides {
                StateSides::Equal => "state: the same, as the hashes agree".into(),
                StateSides::BeforeAndAfter if state.fields.is_empty() => {
                    format!("state: entry {seq} changes nothing that the view shows")
                }
                StateSides::BeforeAndAfter => format!("state, before → after entry {seq}:"),
                StateSides::ExpectedAndActual if state.fields.is_empty() => {
                    "state: what differs is not in the view".into()
                }
                StateSides::ExpectedAndActual => format!("state after entry {seq}, expected → got:"),
            };
            lines.push(Line::from(heading));
            for field in &state.fields {
                lines.push(Line::from(format!("  {field}")));
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
            lines.extend(recorded.changes(&divergence.computed));
        } else if !matches!(self.kind(), DivergenceKind::Missing | DivergenceKind::CutShort) {
            lines.push(removed(format_args!("- {}", divergence.expected())).into());
            lines.push(added(format_args!("+ {}", divergence.computed)).into());
        }
        if let Some(hashes) = &divergence.hashes {
            lines.push(removed(format_args!("- #{}", hashes.expected)).into());
            lines.push(added(format_args!("+ #{}", hashes.actual)).into());
        }
        lines
    }

    fn is_to_be_blessed(&self) -> bool {
        matches!(self.kind(), DivergenceKind::Missing | DivergenceKind::NotCanonical)
    }

    fn is_in_page_to_be_made_again(&self) -> bool {
        is_page(Path::new(&self.file)) && (self.is_to_be_blessed() || self.kind() == DivergenceKind::Header)
    }

    fn next_command(&self) -> String {
        let program = self.program;
        // Piped input has no file name.
        let is_piped = self.file == input_name(Path::new("-"));
        let file = if is_piped { "FILE".into() } else { FileName::shell_path(&self.file) };
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
            (_, Subject::Attempt { .. } | Subject::End) => format!("{program} check {file}"),
        }
    }
}
