//! Entries of a history, as a replay file or the store records them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use turnfold_core::{CommandSource, Digest, Logged, Outcome, Seat, Step};
use turnfold_store::{Entry, IdempotencyKey, NewEntry};

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

impl From<&str> for CommandForm {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
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
