//! Records: entries as the rules compute them, with everything that is shown of them.

use serde::{Serialize, Serializer};
use turnfold_core::{AnyState, CommandSource, Digest, Json, Logged, Outcome, Rejected, Seat, Step, Verdict};
use turnfold_store::NewEntry;

use crate::Viewer;

/// Which views a record has besides the outcome.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// The viewer for whom the record is made.
    pub viewer: Viewer,
    /// Whether the record has this viewer's view of the state after the entry.
    pub state: bool,
    /// Whether the record has the players' views after the entry, as far as the viewer may see them.
    pub views: bool,
}

impl Detail {
    /// Returns the detail of a record without views.
    #[must_use]
    pub const fn new(viewer: Viewer) -> Self {
        Self { viewer, state: false, views: false }
    }
}

/// A command and its outcome. Its JSON form is stable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The entry's number; `None` for a rejected command.
    pub seq: Option<u64>,
    /// The seat that gave the command, if known.
    pub seat: Option<Seat>,
    /// The command as people are shown it; a rejected one as it was given.
    pub command: String,
    /// The command in the form that the store appends; empty for a rejected command.
    #[serde(skip)]
    pub command_bytes: Vec<u8>,
    /// The outcome.
    #[serde(flatten, serialize_with = "kind_and_reason")]
    pub outcome: Outcome,
    /// The reason or rejection in words, if the command was not applied.
    pub message: Option<String>,
    /// Whether the entry is concealed from the viewer.
    #[serde(skip)]
    pub is_concealed: bool,
    effects: Json,
    /// The hash of the state after the entry, if the viewer may know it.
    pub state_hash: Option<Digest>,
    /// The outcome, or the beginning of the state hash, that the source records instead. Present only if it differs and
    /// the viewer may know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_seat")]
    views: Vec<(Seat, Json)>,
}

fn kind_and_reason<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("outcome", Some(outcome.kind())), ("reason", outcome.code())])
}

fn by_seat<S: Serializer>(views: &[(Seat, Json)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(views.iter().map(|(seat, view)| (seat, view)))
}

impl Record {
    pub(crate) fn of(step: &mut dyn Step, detail: Detail) -> Self {
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

    /// Returns the entry in the form that the fold takes, or `None` for a rejected command.
    #[must_use]
    pub fn logged(&self) -> Option<Logged<'_>> {
        let command = CommandSource::Bytes(&self.command_bytes);
        Some(Logged { seq: self.seq?, seat: self.seat?, command })
    }

    /// Returns the entry in the form that the store appends, or `None` for a rejected command.
    #[must_use]
    pub fn to_store(&self, recorded_at_ms: i64) -> Option<NewEntry> {
        self.seq?;
        Some(NewEntry { seat: self.seat?, command: self.command_bytes.clone(), recorded_at_ms })
    }

    /// Returns seat, command and outcome as printed, without colors.
    #[must_use]
    pub fn text(&self) -> String {
        match self.seat {
            Some(seat) => format!("{seat} {} => {}", self.command, self.outcome),
            None => format!("{} => {}", self.command, self.outcome),
        }
    }
}

/// A record with what only its source knows. It serializes as `log --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedRecord {
    /// What the rules compute.
    #[serde(flatten)]
    pub record: Record,
    /// When the entry was recorded, in Unix milliseconds; `None` in a replay file.
    pub recorded_at_ms: Option<i64>,
    /// The idempotency key, if there is one and the viewer may know it.
    pub key: Option<String>,
    /// The link of the chain after the entry, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Digest>,
}

impl LoggedRecord {
    /// Returns the records that are new or changed since an earlier head. Both lists are in order.
    #[must_use]
    pub fn news_since<'r>(earlier: &[Self], now: &'r [Self]) -> Vec<&'r Self> {
        let mut before = earlier.iter().peekable();
        let mut news = Vec::new();
        for logged in now {
            while before.next_if(|old| old.record.seq < logged.record.seq).is_some() {}
            if before.peek().is_none_or(|old| *old != logged) {
                news.push(logged);
            }
        }
        news
    }
}
