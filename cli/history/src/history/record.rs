//! An entry as the rules compute it, with everything there is to show of it.

use serde::{Serialize, Serializer};
use turnfold_core::{AnyState, CommandSource, Digest, Json, Logged, Outcome, Rejected, Seat, Step, Verdict};
use turnfold_store::NewEntry;

use crate::viewer::Viewer;

/// What to keep of each entry besides its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// For which viewer.
    pub viewer: Viewer,
    /// The view of this viewer after it.
    pub state: bool,
    /// The views of the players after it, as far as the viewer may see them.
    pub views: bool,
}

impl Detail {
    /// Keeps nothing besides the outcome.
    #[must_use]
    pub const fn new(viewer: Viewer) -> Self {
        Self { viewer, state: false, views: false }
    }
}

/// A command and what became of it. What it serializes as is a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Its number; a rejected command has none.
    pub seq: Option<u64>,
    /// Who gave it, where that is known.
    pub seat: Option<Seat>,
    /// The command in canonical text, or what stands for one.
    pub command: String,
    /// The command as the store takes it; empty for a rejected one.
    #[serde(skip)]
    pub command_bytes: Vec<u8>,
    /// What became of it.
    #[serde(flatten, serialize_with = "kind_and_reason")]
    pub outcome: Outcome,
    /// Why it was ignored or rejected, in words.
    pub message: Option<String>,
    /// Whether the viewer may not know of it.
    #[serde(skip)]
    pub is_concealed: bool,
    effects: Json,
    /// The hash of the state after it, where the viewer may know it.
    pub state_hash: Option<Digest>,
    /// What its source records instead, where that differs and the viewer may know it: an outcome or the beginning of a state
    /// hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_seat")]
    views: Vec<(Seat, Json)>,
}

/// Writes the kind of an outcome and the name of its reason; its effects follow as JSON.
fn kind_and_reason<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("outcome", Some(outcome.kind())), ("reason", outcome.code())])
}

fn by_seat<S: Serializer>(views: &[(Seat, Json)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(views.iter().map(|(seat, view)| (seat, view)))
}

impl Record {
    /// Returns the record of an entry just folded.
    #[must_use]
    pub fn of(step: &mut dyn Step, detail: Detail) -> Self {
        let Detail { viewer, state, views } = detail;
        let players = if views { step.players() } else { &[] };
        let views = viewer.may_look_as(players).map(|seat| (seat, step.view(seat.into()))).collect();
        let message = match step.verdict() {
            Verdict::Applied(()) => None,
            Verdict::Ignored(why) => why.text.map(Into::into),
        };
        Self {
            seq: Some(step.seq()),
            seat: Some(step.seat()),
            command: step.shown(),
            command_bytes: step.command_bytes(),
            outcome: step.outcome(),
            message,
            is_concealed: step.concealed(),
            effects: step.effects_json(),
            state_hash: viewer.step_hash(step),
            recorded: None,
            view: state.then(|| viewer.step_view(step)),
            views,
        }
    }

    /// Returns the record of a command that was not accepted in a state.
    pub(crate) fn rejected(
        seat: Option<Seat>,
        command: &str,
        rejected: Rejected,
        state: &dyn AnyState,
        detail: Detail,
    ) -> Self {
        let viewer = detail.viewer;
        let players = if detail.views { state.players() } else { &[] };
        Self {
            seq: None,
            seat,
            command: command.into(),
            command_bytes: Vec::new(),
            outcome: Outcome::from(&rejected),
            message: Some(rejected.message),
            is_concealed: false,
            effects: Json::of(&[(); 0]),
            state_hash: viewer.state_hash(state),
            recorded: None,
            view: detail.state.then(|| viewer.view_json(state)),
            views: viewer.may_look_as(players).map(|seat| (seat, state.view(seat.into()))).collect(),
        }
    }

    /// Returns the entry as the fold takes it; a rejected command is none.
    #[must_use]
    pub fn logged(&self) -> Option<Logged<'_>> {
        let command = CommandSource::Bytes(&self.command_bytes);
        self.seq.zip(self.seat).map(|(seq, seat)| Logged { seq, seat, command })
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
}

/// A record with the further knowledge of its source. It serializes as `log --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedRecord {
    /// What the rules compute.
    #[serde(flatten)]
    pub record: Record,
    /// When it was recorded, in Unix milliseconds; a replay file does not record it.
    pub recorded_at_ms: Option<i64>,
    /// The key that it was recorded with, where the viewer may know it.
    pub key: Option<String>,
    /// The link of the chain after it, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Digest>,
}
