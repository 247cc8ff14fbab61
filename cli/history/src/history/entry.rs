//! Entries of a history: as a replay file or the store records them, and as the rules compute them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use turnfold_core::{AnyState, CommandSource, Digest, Json, Logged, Outcome, Rejected, Seat, Step, Verdict};
use turnfold_store::{Entry, IdempotencyKey, NewEntry};

use crate::Viewer;

/// An entry of a history with everything that its source records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The entry's number, from 1.
    pub seq: u64,
    /// The seat that gave the command.
    pub seat: Seat,
    /// The command.
    pub command: CommandForm,
    /// The outcome, if the source records it.
    pub outcome: Option<Outcome>,
    /// The beginning of the hash of the state after the entry, if the source records it.
    pub hash: Option<ShortHash>,
    /// When the store recorded it, in Unix milliseconds; `None` in a replay file.
    pub recorded_at_ms: Option<i64>,
    /// The idempotency key that it was recorded with.
    pub key: Option<IdempotencyKey>,
}

impl LogEntry {
    /// Returns entries in the form that the fold takes.
    #[must_use]
    pub fn all_logged<'a>(entries: impl IntoIterator<Item = &'a Self>) -> Vec<Logged<'a>> {
        entries.into_iter().map(Self::logged).collect()
    }

    /// Returns entries of the store in the form that the fold takes.
    #[must_use]
    pub fn stored<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Logged<'a>> {
        let mut logged = Vec::new();
        for entry in entries {
            let command = CommandSource::Bytes(&entry.command);
            logged.push(Logged { seq: entry.seq, seat: entry.seat, command });
        }
        logged
    }

    /// Returns an entry without outcome, hash, time and key.
    #[must_use]
    pub fn new(seq: u64, seat: Seat, command: impl Into<CommandForm>) -> Self {
        let command = command.into();
        Self { seq, seat, command, outcome: None, hash: None, recorded_at_ms: None, key: None }
    }

    pub(crate) fn of(step: &mut dyn Step) -> Self {
        let outcome = Some(step.outcome());
        let hash = Some(step.state_hash().into());
        Self { outcome, hash, ..Self::new(step.seq(), step.seat(), step.command()) }
    }

    /// Returns the entry in the form that the store appends, or `None` for a command in text form. An entry without a
    /// time gets `now_ms`.
    #[must_use]
    pub fn to_store(&self, now_ms: i64) -> Option<NewEntry> {
        let CommandForm::Bytes(command) = &self.command else { return None };
        let recorded_at_ms = self.recorded_at_ms.unwrap_or(now_ms);
        Some(NewEntry { seat: self.seat, command: command.clone(), recorded_at_ms })
    }

    pub(crate) fn logged(&self) -> Logged<'_> {
        let command = match &self.command {
            CommandForm::Text(text) => CommandSource::Text(text),
            CommandForm::Bytes(bytes) => CommandSource::Bytes(bytes),
        };
        Logged { seq: self.seq, seat: self.seat, command }
    }
}

/// Keeps the time and the key of an entry read from the store.
impl From<Entry> for LogEntry {
    fn from(Entry { seq, seat, command, recorded_at_ms, idempotency_key: key, .. }: Entry) -> Self {
        Self { recorded_at_ms: Some(recorded_at_ms), key, ..Self::new(seq, seat, command) }
    }
}

/// A command in the form of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandForm {
    /// The text that people write, from a replay file.
    Text(String),
    /// The bytes that the store has.
    Bytes(Vec<u8>),
}

impl From<String> for CommandForm {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for CommandForm {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// Writes the text, or the bytes in hex.
impl fmt::Display for CommandForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Bytes(bytes) => {
                out.write_str("0x")?;
                for byte in bytes {
                    write!(out, "{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

/// A command in a replay file that the rules must reject at that point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub(crate) seat: Seat,
    pub(crate) command: String,
    /// The rejection, if the file has one.
    pub(crate) outcome: Option<Outcome>,
}

/// The first eight bytes of a state hash, which replay files show as 16 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortHash(u64);

impl ShortHash {
    pub(crate) const DIGITS: usize = 16;
}

impl From<Digest> for ShortHash {
    fn from(hash: Digest) -> Self {
        Self(u64::from_be_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default()))
    }
}

impl fmt::Display for ShortHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl Serialize for ShortHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for ShortHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = hex_digits(text, Self::DIGITS)?;
        u64::from_str_radix(digits, 16).map(Self).map_err(|error| error.to_string())
    }
}

pub(crate) fn hex_digits(text: &str, count: usize) -> Result<&str, String> {
    let is_hex = text.len() == count && text.bytes().all(is_hex_digit);
    if is_hex { Ok(text) } else { Err(format!("expected {count} lowercase hex digits")) }
}

pub(crate) fn is_hex_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

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
