//! The ids of events (SV-18): the head, and a mark of the history up to it. If another history has taken its place, a
//! client that reconnects is not sent the rest of that one.

use std::fmt;
use std::str::FromStr;

use turnfold_core::Digest;
use turnfold_history::Viewer;

const DIGITS: usize = 16;

pub(crate) const PATTERN: &str = "^(0|[1-9][0-9]{0,17})(-[0-9a-f]{16})?$";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    /// The head, in the viewer's numbering.
    pub(crate) head: u64,
    /// The mark of the history up to the head; `None` stands for any history.
    pub(crate) mark: Option<String>,
}

/// The digest of the times at which no entries were recorded.
pub(crate) const NO_TIMES: Digest = Digest::new([0; 32]);

/// Adds the next entry that a viewer knows of to a digest of the times at which entries were recorded. The digest
/// changes when the history is replaced by another one. It does not change when more of a known entry comes to light.
pub(crate) fn with_time(times: Digest, recorded_at_ms: Option<i64>) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 recorded times");
    hasher.update(times.as_bytes());
    hasher.update(&recorded_at_ms.unwrap_or_default().to_be_bytes());
    Digest::new(*hasher.finalize().as_bytes())
}

/// Returns the mark of a history. `known_by` is its last link, or a digest of the entries' times for a viewer who may
/// not know the link.
pub(crate) fn mark_of(viewer: Viewer, match_id: &[u8; 16], known_by: &Digest) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 event id");
    hasher.update(viewer.to_string().as_bytes());
    hasher.update(&[0]);
    hasher.update(match_id);
    hasher.update(known_by.as_bytes());
    let hash = hasher.finalize().to_hex();
    hash.get(..DIGITS).unwrap_or_default().into()
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.head)?;
        self.mark.iter().try_for_each(|mark| write!(out, "-{mark}"))
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (head, mark) = text.split_once('-').map_or((text, None), |(head, mark)| (head, Some(mark)));
        let is_mark = |mark: &str| {
            mark.len() == DIGITS && mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if mark.is_some_and(|mark| !is_mark(mark)) {
            return Err(());
        }
        let head = turnfold_core::text::number(head).map_err(|_| ())?;
        i64::try_from(head).map_err(|_| ())?;
        Ok(Self { head, mark: mark.map(Into::into) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_as_they_are_read() {
        for text in ["0", "7", "7-0123456789abcdef"] {
            assert_eq!(text.parse::<EventId>().unwrap().to_string(), text);
        }
        for other in [
            "",
            "-",
            "7-",
            "07",
            "7-0123456789abcdeF",
            "7-0123456789abcde",
            "7-0-1",
            "+7",
            "9223372036854775808",
        ] {
            assert!(other.parse::<EventId>().is_err(), "{other}");
        }
    }
}
