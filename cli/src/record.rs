//! An entry as the command line prints it: a line like those of replay files, or a JSON line.

use serde::Serialize;
use serde_json::value::RawValue;
use turnfold_core::{Digest, Rejected, Seat, Step, StepOutcome};

use crate::eyes::Eyes;
use crate::failure::Failure;
use crate::output::{Output, Tone, paint};

/// What to keep of each entry beside its outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// For whose eyes.
    pub(crate) eyes: Eyes,
    /// The view of these eyes after it.
    pub(crate) state: bool,
    /// The views of these players after it, as far as the eyes may see them.
    pub(crate) views: &'static [Seat],
}

impl Detail {
    /// Keeps nothing beside the outcome.
    pub(crate) const fn new(eyes: Eyes) -> Self {
        Self { eyes, state: false, views: &[] }
    }
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    Applied,
    Ignored { reason: &'static str, text: Option<&'static str> },
    Rejected(Rejected),
}

/// A command and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its number; a rejected command has none.
    pub(crate) seq: Option<u64>,
    /// Who gave it, where that is known.
    pub(crate) seat: Option<Seat>,
    pub(crate) command: String,
    pub(crate) became: Became,
    /// The outcome as replay files write it.
    pub(crate) outcome: String,
    effects_json: String,
    state_hash: Option<Digest>,
    view: Option<String>,
    views: Vec<(Seat, String)>,
    /// Where in a script a rejected command stands, when the script goes on and nothing else says so.
    pub(crate) place: Option<String>,
}

impl Record {
    /// Takes down an entry just folded.
    pub(crate) fn of(step: &mut dyn Step, detail: Detail) -> Self {
        let Detail { eyes, state, views } = detail;
        Self {
            seq: Some(step.seq()),
            seat: Some(step.seat()),
            command: step.command(),
            became: match step.outcome() {
                StepOutcome::Applied => Became::Applied,
                StepOutcome::Ignored { reason, text } => Became::Ignored { reason, text },
            },
            outcome: step.outcome_text(),
            effects_json: step.effects_json(),
            state_hash: eyes.step_hash(step),
            view: state.then(|| eyes.step_view(step)),
            views: eyes.may_look_as(views).map(|seat| (seat, step.view(seat))).collect(),
            place: None,
        }
    }

    /// Takes down a command that was not accepted in a state with this hash and these views.
    pub(crate) fn rejected(
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

    /// Prints the record in the output's format.
    pub(crate) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if output.is_json() {
            output.json(&self.to_json()?)?;
        } else {
            output.line(self.to_text())?;
        }
        Ok(())
    }

    fn to_text(&self) -> String {
        let seat = self.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
        let arrow = paint(Tone::Faint, "=>");
        if let Became::Rejected(rejected) = &self.became {
            let (command, outcome) = (self.command.escape_debug(), paint(Tone::Old, &self.outcome));
            let place = self.place.as_ref().map(|place| paint(Tone::Faint, format_args!(" at {place}")));
            let message = &rejected.message;
            return format!("! {seat}{command} {arrow} {outcome} ({message}){}", place.unwrap_or_default());
        }
        let seq = self.seq.unwrap_or_default();
        let command = paint(Tone::Strong, &self.command);
        let tone = if self.became == Became::Applied { Tone::Plain } else { Tone::Odd };
        let outcome = paint(tone, &self.outcome);
        let hash = self.state_hash.map(|hash| paint(Tone::Faint, format_args!(" #{hash:.16}")));
        format!("{seq} {seat}{command} {arrow} {outcome}{}", hash.unwrap_or_default())
    }

    /// Returns seat, command and outcome as they are printed, without colors.
    pub(crate) fn told(&self) -> String {
        let seat = self.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
        format!("{seat}{} => {}", self.command, self.outcome)
    }

    /// Makes the JSON line of the record.
    pub(crate) fn to_json(&self) -> Result<RecordJson<'_>, Failure> {
        let (outcome, reason, message) = match &self.became {
            Became::Applied => ("applied", None, None),
            Became::Ignored { reason, text } => ("ignored", Some(*reason), *text),
            Became::Rejected(rejected) => ("rejected", Some(rejected.code), Some(rejected.message.as_str())),
        };
        let views: Vec<_> =
            self.views.iter().map(|(seat, view)| Ok((*seat, raw(view)?))).collect::<Result<_, Failure>>()?;
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
pub(crate) fn raw(json: &str) -> Result<&RawValue, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::trouble(format!("the core wrote bad JSON: {error}")))
}

/// The JSON line of an entry; a contract.
#[derive(Serialize)]
pub(crate) struct RecordJson<'a> {
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
