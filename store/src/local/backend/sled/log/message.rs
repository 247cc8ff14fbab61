//! Messages: the changes to pages that a segment holds, one after another.

use super::decode::{array, byte, number};
use super::segment::{SEGMENT_BYTES, number_of};
use super::{Lsn, damaged};
use crate::local::backend::BackendError;

/// The longest header of a message; where less is left of a segment, none begins any more.
pub(super) const HEADER_BYTES_MAX: u64 = 32;

/// The kinds of messages that hold a tree's node, and a change to one.
pub(in crate::local::backend) const NODE: u8 = 8;
pub(in crate::local::backend) const LINK: u8 = 10;

/// The kind of a message that frees a page, the least of those that change one.
const FREE: u8 = 4;

/// What a message changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A page is free to be used for something else.
    Free,
    /// A page is this.
    Replace,
    /// A page has this besides.
    Link,
}

/// What stands at a place of the log.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// A change to a page.
    RecordChange { kind: Kind, page: u64, body: &'a [u8], length: u64 },
    /// What follows counts only if the log reaches up to there.
    Batch { last: Lsn, length: u64 },
    /// Nothing, but sound.
    Canceled { length: u64 },
    /// The rest of the segment is not used.
    Cap,
    /// The contents of a change lie in a file of their own.
    Blob,
    /// Nothing that was written here as part of this log.
    Bad,
}

/// A sound message, whichever use of its segment it was written in.
pub(super) struct Sound<'a> {
    pub(super) kind: u8,
    /// The number of the segment it was written for.
    pub(super) segment: u64,
    pub(super) page: u64,
    pub(super) body: &'a [u8],
    length: u64,
}

impl Sound<'_> {
    /// Returns `true` if it changes a page.
    pub(super) const fn is_change(&self) -> bool {
        self.kind >= FREE
    }
}

/// How many bytes a search for messages may check in all; more than any log that sled wrote needs.
const SEARCH_BYTES_MAX: u64 = 1 << 32;

/// So many zeros are passed over at once: the kind of a message, its fifth byte, is never zero.
const ZEROS: [u8; 256] = [0; 256];

/// A search for sound messages at every byte, which comes to an end whatever the bytes say of their lengths.
pub(super) struct Search {
    from: u64,
    bytes_left: u64,
}

impl Search {
    /// Searches for messages of segment `from` and later ones.
    pub(super) const fn from(from: u64) -> Self {
        Self { from, bytes_left: SEARCH_BYTES_MAX }
    }

    /// Visits the sound messages in some bytes.
    ///
    /// # Errors
    /// [`BackendError::Damaged`] when so much looks like messages that the search would take too long.
    pub(super) fn each<'a>(
        &mut self,
        mut rest: &'a [u8],
        visit: &mut dyn FnMut(Sound<'a>),
    ) -> Result<(), BackendError> {
        while !rest.is_empty() {
            if rest.starts_with(&ZEROS) {
                rest = rest.get(ZEROS.len() - 4..).unwrap_or_default();
                continue;
            }
            if let Some(claimed) = claimed_bytes(rest, self.from) {
                let left = self.bytes_left.checked_sub(claimed);
                self.bytes_left =
                    left.ok_or_else(|| damaged("what its log does not use is no rest of a log"))?;
                if let Some(message) = read_sound(rest, self.from) {
                    visit(message);
                }
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        Ok(())
    }
}

/// Returns how long a body is that bytes say to be one of a message of segment `from` or a later one.
fn claimed_bytes(message: &[u8], from: u64) -> Option<u64> {
    let mut rest = message.get(4..)?;
    byte(&mut rest).filter(|kind| (1..=11).contains(kind))?;
    let body_bytes = number(&mut rest)?;
    number(&mut rest).filter(|segment| *segment >= from)?;
    Some(body_bytes).filter(|bytes| *bytes <= rest.len() as u64)
}

/// Reads the message with which bytes begin, if it is sound and was written for segment `from` or a later one.
fn read_sound(message: &[u8], from: u64) -> Option<Sound<'_>> {
    let mut rest = message;
    let check = u32::from_le_bytes(array(&mut rest)?);
    let kind = byte(&mut rest).filter(|kind| (1..=11).contains(kind))?;
    let body_bytes = number(&mut rest)?;
    let segment = number(&mut rest).filter(|segment| *segment >= from)?;
    let page = number(&mut rest)?;
    let header_bytes = message.len() - rest.len();
    let body = rest.get(..usize::try_from(body_bytes).ok()?)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(body);
    hasher.update(message.get(4..header_bytes)?);
    let length = header_bytes as u64 + body_bytes;
    (hasher.finalize() ^ u32::MAX == check).then_some(Sound { kind, segment, page, body, length })
}

/// Reads the message with which bytes begin, which lie at a position of the log.
pub(super) fn read(bytes: &[u8], at: Lsn) -> Message<'_> {
    let Some(Sound { kind, page, body, length, .. }) =
        read_sound(bytes, number_of(at)).filter(|sound| sound.segment == number_of(at))
    else {
        return Message::Bad;
    };
    match kind {
        1 => Message::Canceled { length },
        2 => Message::Cap,
        3 => match <[u8; 8]>::try_from(body).map(u64::from_le_bytes) {
            Ok(last) => Message::Batch { last, length },
            Err(_) => Message::Bad,
        },
        FREE => Message::RecordChange { kind: Kind::Free, page, body, length },
        // The counter, the list of trees, and a tree's node.
        5 | 6 | NODE => Message::RecordChange { kind: Kind::Replace, page, body, length },
        LINK => Message::RecordChange { kind: Kind::Link, page, body, length },
        _ => Message::Blob,
    }
}

/// Returns `true` if a message may begin there.
pub(super) const fn has_room(at: Lsn) -> bool {
    let place = at % SEGMENT_BYTES;
    place >= super::segment::HEADER_BYTES && place <= SEGMENT_BYTES - HEADER_BYTES_MAX
}
