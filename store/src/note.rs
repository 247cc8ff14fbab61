//! Notes on a match or on one of its entries (SV-61). No chain covers them, and no rules know them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};

use crate::engine::EngineReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, GrantLabel, MatchName, NoteText};

/// A note. The field order is the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its id within the match.
    pub id: NoteId,
    /// The entry that it is about; `None` for the match as a whole.
    pub about: Option<NotedEntry>,
    /// The seat of its author; `None` for a spectator.
    pub by: Option<Seat>,
    /// The name that its author had.
    pub name: Option<GrantLabel>,
    /// The hash of its author's token; `None` after a restore, because backups have no grants.
    pub token: Option<Digest>,
    /// Whether only its author may read it.
    pub is_private: bool,
    /// Its text.
    pub text: NoteText,
    /// When it was written, in Unix milliseconds.
    pub written_at_ms: i64,
}

/// An entry, and the branch that has it as an own entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotedEntry {
    /// The branch, under its current name.
    pub branch: BranchName,
    /// The seq of the entry.
    pub seq: Seq,
}

/// The id of a note: 63 random bits, written as 16 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NoteId(u64);

/// Text that is not 16 lowercase hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 16 lowercase hex digits, found `{}`", found.escape_debug())]
pub struct NotANoteId {
    found: String,
}

impl Note {
    /// The most notes of a match that are not private.
    pub const MAX: usize = 500;

    /// The most notes of a match by one token.
    pub const MAX_PER_TOKEN: usize = 100;

    /// Returns the note for a backup, without its author's token; `None` for a private note of a spectator, whom only
    /// the token identifies.
    pub(crate) fn without_token(&self) -> Option<Self> {
        let is_lost = self.is_private && self.by.is_none();
        (!is_lost).then(|| Self { token: None, ..self.clone() })
    }
}

impl NoteId {
    /// Returns the id made of the upper 63 bits of a random number.
    #[must_use]
    pub const fn of(random: u64) -> Self {
        Self(random >> 1)
    }

    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl FromStr for NoteId {
    type Err = NotANoteId;

    fn from_str(text: &str) -> Result<Self, NotANoteId> {
        let id = u64::from_str_radix(text, 16).ok().map(Self);
        id.filter(|id| id.to_string() == text).ok_or_else(|| NotANoteId { found: text.to_owned() })
    }
}

/// A note with its branch's id, so that it stays on the branch when the branch is renamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlacedNote {
    pub(crate) branch: Option<u64>,
    pub(crate) note: Note,
}

impl PlacedNote {
    /// Finds the branch that has the entry of a note as an own entry.
    pub(crate) fn of(
        reader: &dyn EngineReader,
        match_name: &MatchName,
        mut note: Note,
    ) -> Result<Self, StoreError> {
        // Seq 0 is the setup, so the note is about the match.
        note.about = note.about.filter(|about| about.seq > 0);
        let Some(about) = &mut note.about else { return Ok(Self { branch: None, note }) };
        let branch = reader.found_branch(match_name, &about.branch)?;
        branch.require(about.seq)?;
        let ancestry = reader.ancestry(&branch.found_match, &branch.found)?;
        let holder = ancestry.into_iter().find(|branch| branch.forked_at() < about.seq);
        let holder = holder.ok_or_else(|| branch.within(StoreError::damaged("no branch holds an entry")))?;
        about.branch = holder.name;
        Ok(Self { branch: Some(holder.id), note })
    }

    /// Returns the note with the current name of its branch; `None` if the branch was deleted.
    pub(crate) fn read(self, name_of: impl FnOnce(u64) -> Option<BranchName>) -> Option<Note> {
        let Self { branch, mut note } = self;
        if let (Some(branch), Some(about)) = (branch, &mut note.about) {
            about.branch = name_of(branch)?;
        }
        Some(note)
    }
}

pub(crate) fn require_room(
    match_name: &MatchName,
    note: &Note,
    others: &[PlacedNote],
) -> Result<(), StoreError> {
    let of_token = others.iter().filter(|other| other.note.token == note.token).count();
    // Private notes of others do not count, because a refusal would show how many there are.
    let for_all = others.iter().filter(|other| !other.note.is_private).count();
    let limit = if !note.is_private && for_all >= Note::MAX {
        Note::MAX
    } else if of_token >= Note::MAX_PER_TOKEN {
        Note::MAX_PER_TOKEN
    } else {
        return Ok(());
    };
    Err(StoreError::TooManyNotes { match_name: match_name.clone(), limit })
}

pub(crate) fn sort(notes: &mut [Note]) {
    notes.sort_by_key(|note| (note.written_at_ms, note.id));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sixteen_hex_digits() {
        for random in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let id = NoteId::of(random);
            assert_eq!(id.to_string().len(), 16);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "0", "000000000000000g", "0000000000000000a", "000000000000000A", "+00000000000000a"]
        {
            assert!(text.parse::<NoteId>().is_err(), "{text}");
        }
    }

    #[test]
    fn texts_are_short_and_have_no_controls_but_new_lines() {
        for text in ["a", "two\nlines", &"ä".repeat(500)] {
            assert!(text.parse::<NoteText>().is_ok(), "{text}");
        }
        for text in ["", " ", "\n", "a\tb", "a\u{202e}b", "\u{7}", &"a".repeat(501)] {
            assert!(text.parse::<NoteText>().is_err(), "{text}");
        }
    }
}
