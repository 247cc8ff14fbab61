//! An entry as the rules compute it, with everything there is to show of it.

use serde::Serialize;
use turnfold_core::{AnyState, Digest, Json, Outcome, Rejected, Seat, Step, Verdict};
use turnfold_store::NewEntry;

use crate::eyes::Eyes;

/// What to keep of each entry beside its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// For whose eyes.
    pub eyes: Eyes,
    /// The view of these eyes after it.
    pub state: bool,
    /// The views of these players after it, as far as the eyes may see them.
    pub views: &'static [Seat],
}

impl Detail {
    /// Keeps nothing beside the outcome.
    #[must_use]
    pub const fn new(eyes: Eyes) -> Self {
        Self { eyes, state: false, views: &[] }
    }
}

/// A command and what became of it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its number; a rejected command has none.
    pub seq: Option<u64>,
    /// Who gave it, where that is known.
    pub seat: Option<Seat>,
    /// The command in canonical text, or what stands for one.
    pub command: String,
    /// The command as the store takes it; empty for a rejected one.
    pub command_bytes: Vec<u8>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it was ignored or rejected, in words.
    pub message: Option<String>,
    /// Whether the eyes may not know of it.
    pub is_concealed: bool,
    /// The hash of the state after it, where the eyes may know it.
    pub state_hash: Option<Digest>,
    effects: Json,
    view: Option<Json>,
    views: Vec<(Seat, Json)>,
}

impl Record {
    /// Returns the record of an entry just folded.
    #[must_use]
    pub fn of(step: &mut dyn Step, detail: Detail) -> Self {
        let Detail { eyes, state, views } = detail;
        let message = match step.verdict() {
            Verdict::Applied(()) => None,
            Verdict::Ignored(ruling) => ruling.text.map(Into::into),
        };
        Self {
            seq: Some(step.seq()),
            seat: Some(step.seat()),
            command: step.command(),
            command_bytes: step.command_bytes(),
            outcome: step.outcome(),
            message,
            is_concealed: step.concealed(),
            effects: step.effects_json(),
            state_hash: eyes.step_hash(step),
            view: state.then(|| eyes.step_view(step)),
            views: eyes.may_look_as(views).map(|seat| (seat, step.view(seat))).collect(),
        }
    }

    /// Returns the record of a command that was not accepted in a state.
    #[must_use]
    pub fn rejected(
        seat: Option<Seat>,
        command: &str,
        rejected: Rejected,
        state: &dyn AnyState,
        detail: Detail,
    ) -> Self {
        let eyes = detail.eyes;
        Self {
            seq: None,
            seat,
            command: command.into(),
            command_bytes: Vec::new(),
            outcome: Outcome::from(&rejected),
            message: Some(rejected.message),
            is_concealed: false,
            effects: Json::of(&[(); 0]),
            state_hash: eyes.state_hash(state),
            view: detail.state.then(|| eyes.view_json(state)),
            views: eyes.may_look_as(detail.views).map(|seat| (seat, state.view(seat))).collect(),
        }
    }

    /// Returns the entry as the store takes it; a rejected command is none.
    #[must_use]
    pub fn to_store(&self, recorded_at_ms: i64) -> Option<NewEntry> {
        let seat = self.seat.filter(|_| self.seq.is_some())?;
        Some(NewEntry { seat, command: self.command_bytes.clone(), recorded_at_ms })
    }

    /// Returns seat, command and outcome as they are printed, without colors.
    #[must_use]
    pub fn text(&self) -> String {
        let seat = self.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
        format!("{seat}{} => {}", self.command, self.outcome)
    }

    /// Returns the record as a JSON document.
    #[must_use]
    pub fn to_json(&self) -> RecordJson<'_> {
        RecordJson {
            seq: self.seq,
            seat: self.seat,
            command: &self.command,
            outcome: self.outcome.kind(),
            reason: self.outcome.code(),
            message: self.message.as_deref(),
            effects: &self.effects,
            state_hash: self.state_hash.map(|hash| hash.to_string()),
            view: self.view.as_ref(),
            views: (!self.views.is_empty()).then_some(Views(&self.views)),
        }
    }
}

/// A record as a JSON document; a contract.
#[derive(Debug, Serialize)]
pub struct RecordJson<'a> {
    seq: Option<u64>,
    seat: Option<Seat>,
    command: &'a str,
    outcome: &'static str,
    reason: Option<&'a str>,
    message: Option<&'a str>,
    effects: &'a Json,
    state_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    views: Option<Views<'a>>,
}

#[derive(Debug)]
struct Views<'a>(&'a [(Seat, Json)]);

impl Serialize for Views<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(seat, view)| (seat, view)))
    }
}
