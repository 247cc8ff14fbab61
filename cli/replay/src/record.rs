//! An entry as the command line prints it: a line like those of replay files, or a JSON line.

use serde::Serialize;
use serde_json::value::RawValue;
use turnfold_core::{Digest, Rejected, Seat, Step, Verdict};

use crate::error::ReplayError;
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
    pub const fn new(eyes: Eyes) -> Self {
        Self { eyes, state: false, views: &[] }
    }
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    Applied,
    Ignored { reason: &'static str, text: Option<&'static str> },
    Rejected(Rejected),
}

/// A command and what became of it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its number; a rejected command has none.
    pub seq: Option<u64>,
    /// Who gave it, where that is known.
    pub seat: Option<Seat>,
    pub command: String,
    pub became: Became,
    /// The outcome as replay files write it.
    pub outcome: String,
    effects_json: String,
    pub state_hash: Option<Digest>,
    view: Option<String>,
    views: Vec<(Seat, String)>,
    /// Where in a script a rejected command stands, when the script goes on and nothing else says so.
    pub place: Option<String>,
}

impl Record {
    /// Takes down an entry just folded.
    pub fn of(step: &mut dyn Step, detail: Detail) -> Self {
        let Detail { eyes, state, views } = detail;
        Self {
            seq: Some(step.seq()),
            seat: Some(step.seat()),
            command: step.command(),
            became: match step.verdict() {
                Verdict::Applied(()) => Became::Applied,
                Verdict::Ignored(ruling) => Became::Ignored { reason: ruling.code, text: ruling.text },
            },
            outcome: step.outcome().to_string(),
            effects_json: step.effects_json(),
            state_hash: eyes.step_hash(step),
            view: state.then(|| eyes.step_view(step)),
            views: eyes.may_look_as(views).map(|seat| (seat, step.view(seat))).collect(),
            place: None,
        }
    }

    /// Takes down a command that was not accepted in a state with this hash and these views.
    pub fn rejected(
        seat: Option<Seat>,
        command: &str,
        rejected: Rejected,
        state: &dyn turnfold_core::AnyState,
        detail: Detail,
    ) -> Self {
        let eyes = detail.eyes;
        Self {
            seq: None,
            seat,
            command: command.into(),
            outcome: format!("rejected {}", rejected.code),
            became: Became::Rejected(rejected),
            effects_json: "[]".into(),
            state_hash: eyes.state_hash(state),
            view: detail.state.then(|| eyes.view_json(state)),
            views: eyes.may_look_as(detail.views).map(|seat| (seat, state.view(seat))).collect(),
            place: None,
        }
    }

    /// Returns seat, command and outcome as they are printed, without colors.
    pub fn told(&self) -> String {
        let seat = self.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
        format!("{seat}{} => {}", self.command, self.outcome)
    }

    /// Makes the JSON line of the record.
    pub fn to_json(&self) -> Result<RecordJson<'_>, ReplayError> {
        let (outcome, reason, message) = match &self.became {
            Became::Applied => ("applied", None, None),
            Became::Ignored { reason, text } => ("ignored", Some(*reason), *text),
            Became::Rejected(rejected) => ("rejected", Some(rejected.code), Some(rejected.message.as_str())),
        };
        let views: Vec<_> = self
            .views
            .iter()
            .map(|(seat, view)| Ok((*seat, raw(view)?)))
            .collect::<Result<_, ReplayError>>()?;
        Ok(RecordJson {
            seq: self.seq,
            seat: self.seat,
            command: &self.command,
            outcome,
            reason,
            message,
            effects: raw(&self.effects_json)?,
            state_hash: self.state_hash.map(|hash| hash.to_string()),
            view: self.view.as_deref().map(raw).transpose()?,
            views: (!views.is_empty()).then_some(Views(views)),
        })
    }
}

/// Takes a JSON document made by the core into a larger one.
pub fn raw(json: &str) -> Result<&RawValue, ReplayError> {
    serde_json::from_str(json)
        .map_err(|error| ReplayError::trouble(format!("the core wrote bad JSON: {error}")))
}

/// The JSON line of an entry; a contract.
#[derive(Serialize)]
pub struct RecordJson<'a> {
    seq: Option<u64>,
    seat: Option<Seat>,
    command: &'a str,
    outcome: &'static str,
    reason: Option<&'a str>,
    message: Option<&'a str>,
    effects: &'a RawValue,
    state_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    views: Option<Views<'a>>,
}

struct Views<'a>(Vec<(Seat, &'a RawValue)>);

impl Serialize for Views<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
