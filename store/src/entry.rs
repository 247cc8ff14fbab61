//! The entries of the log, as values and as bytes.

use serde::{Deserialize, Serialize, Serializer};
use turnfold_core::decode::{DecodeError, encode_into};
use turnfold_core::{Digest, Seat};

use crate::decode::decode_data;
use crate::error::StoreError;
use crate::names::IdempotencyKey;

/// The number of an entry on its branch, from 1; 0 is the setup.
pub type Seq = u64;

/// The most bytes of a command.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// A command in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number on the branch, from 1.
    pub seq: Seq,
    /// The seat that gave the command.
    pub seat: Seat,
    /// The command, as the ruleset encodes it.
    pub command: Vec<u8>,
    /// When it was recorded, in Unix milliseconds. The rules never see it.
    pub recorded_at_ms: i64,
    /// The idempotency key of the append that brought the entry.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// A command to append. The store numbers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The seat that gives the command.
    pub seat: Seat,
    /// The command, as the ruleset encodes it.
    pub command: Vec<u8>,
    /// When it is recorded, in Unix milliseconds.
    pub recorded_at_ms: i64,
}

/// Commands to append, encoded one after another to save memory, because a match may begin with millions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedEntries {
    bytes: Vec<u8>,
    count: u64,
    /// Replaces the time of every command, if given. So a change of the time does not encode them again.
    recorded_at_ms: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct PackedEntry<'a> {
    seat: Seat,
    #[serde(serialize_with = "at_once")]
    command: &'a [u8],
    recorded_at_ms: i64,
}

impl PackedEntries {
    /// Returns the number of commands.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns `true` if there are no commands.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a command.
    pub fn push(&mut self, NewEntry { seat, command, recorded_at_ms }: &NewEntry) {
        let seat = *seat;
        let recorded_at_ms = *recorded_at_ms;
        self.bytes.extend(encode(&PackedEntry { seat, command, recorded_at_ms }));
        self.count += 1;
    }

    /// Returns the commands in order.
    pub fn iter(&self) -> impl Iterator<Item = NewEntry> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (entry, after) = postcard::take_from_bytes::<PackedEntry<'_>>(rest).ok()?;
            rest = after;
            let PackedEntry { seat, command, recorded_at_ms } = entry;
            let recorded_at_ms = self.recorded_at_ms.unwrap_or(recorded_at_ms);
            Some(NewEntry { seat, command: command.to_vec(), recorded_at_ms })
        })
    }

    /// Returns the same commands with another recording time.
    #[must_use]
    pub fn recorded_at(self, recorded_at_ms: i64) -> Self {
        Self { recorded_at_ms: Some(recorded_at_ms), ..self }
    }

    pub(crate) fn check_sizes(&self) -> Result<(), StoreError> {
        self.iter().try_for_each(|entry| entry.check_size())
    }
}

impl FromIterator<NewEntry> for PackedEntries {
    fn from_iter<I: IntoIterator<Item = NewEntry>>(entries: I) -> Self {
        let mut packed = Self::default();
        entries.into_iter().for_each(|entry| packed.push(&entry));
        packed
    }
}

impl From<Vec<NewEntry>> for PackedEntries {
    fn from(entries: Vec<NewEntry>) -> Self {
        entries.into_iter().collect()
    }
}

/// Commands to append, and the module that judged them (MD-9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntries {
    /// The commands.
    pub entries: PackedEntries,
    /// The module; `None` if no module judged them. The match must be played by it, or have no module yet.
    pub module: Option<Digest>,
}

impl From<Vec<NewEntry>> for NewEntries {
    fn from(entries: Vec<NewEntry>) -> Self {
        Self { entries: entries.into(), module: None }
    }
}

/// An entry's encoding. It borrows, so that scanning a log copies each command only once. The field order is the
/// format.
#[derive(Serialize, Deserialize)]
pub(crate) struct EntryBytes<'a> {
    pub(crate) seq: u64,
    seat: Seat,
    #[serde(serialize_with = "at_once")]
    command: &'a [u8],
    recorded_at_ms: i64,
    pub(crate) idempotency_key: Option<&'a str>,
}

impl<'a> EntryBytes<'a> {
    /// Reads an entry's bytes without requiring their one encoding; `None` if they are none of an entry.
    pub(crate) fn read(entry: &'a [u8]) -> Option<Self> {
        postcard::from_bytes(entry).ok()
    }
}

impl Entry {
    /// Returns the entry's bytes, as the log has them.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let entry = EntryBytes {
            seq: self.seq,
            seat: self.seat,
            command: &self.command,
            recorded_at_ms: self.recorded_at_ms,
            idempotency_key: self.idempotency_key.as_ref().map(IdempotencyKey::as_str),
        };
        // With room for numbers and seat, the buffer of an entry without a key never grows.
        let mut bytes = Vec::with_capacity(self.command.len() + 32);
        encode_into(&entry, &mut bytes);
        bytes
    }

    /// Reads an entry's bytes.
    ///
    /// # Errors
    /// Returns [`DecodeError`] if they are not exactly what [`encode`](Self::encode) writes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let EntryBytes { seq, seat, command, recorded_at_ms, idempotency_key } = decode_data(bytes)?;
        let idempotency_key = idempotency_key.map(str::parse::<IdempotencyKey>).transpose();
        let idempotency_key = idempotency_key.map_err(|error| DecodeError::Unreadable(error.to_string()))?;
        Ok(Self { seq, seat, command: command.to_vec(), recorded_at_ms, idempotency_key })
    }
}

impl NewEntry {
    pub(crate) fn number(self, seq: Seq, idempotency_key: Option<&IdempotencyKey>) -> Entry {
        let Self { seat, command, recorded_at_ms } = self;
        Entry { seq, seat, command, recorded_at_ms, idempotency_key: idempotency_key.cloned() }
    }

    pub(crate) fn check_size(&self) -> Result<(), StoreError> {
        check_size("a command", self.command.len(), COMMAND_BYTES_MAX)
    }
}

pub(crate) fn check_size(what: &'static str, bytes: usize, limit: usize) -> Result<(), StoreError> {
    if bytes <= limit { Ok(()) } else { Err(StoreError::TooLarge { what, bytes, limit }) }
}

fn at_once<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    // Serde writes a slice byte by byte, to the same encoding.
    serializer.serialize_bytes(bytes)
}

pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("plain data encodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back_and_only_in_their_one_encoding() {
        let new = NewEntry { seat: Seat::P2, command: vec![1, 2, 3], recorded_at_ms: -5 };
        let entry = new.number(300, Some(&"k1".parse().unwrap()));
        let bytes = entry.encode();
        assert_eq!(Entry::decode(&bytes).unwrap(), entry);
        assert_eq!(bytes, [0xac, 2, 1, 3, 1, 2, 3, 9, 1, 2, b'k', b'1']);

        let surplus = [&bytes[..], &[0]].concat();
        assert_eq!(Entry::decode(&surplus), Err(DecodeError::Surplus(1)));
        let overlong = [&[0xac, 0x82, 0][..], &bytes[2..]].concat();
        assert_eq!(Entry::decode(&overlong), Err(DecodeError::NotCanonical));
        let spaced_key = [&bytes[..bytes.len() - 1], b" "].concat();
        assert!(matches!(Entry::decode(&spaced_key), Err(DecodeError::Unreadable(_))));
    }
}
