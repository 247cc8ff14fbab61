//! Writes and removes notes (SV-61).

use super::store::Store;
use crate::error::StoreError;
use crate::names::MatchName;
use crate::note::{Note, NoteId};

impl Store {
    /// Writes a note on a match. When it returns, the note is durable. The note may name any branch whose history has
    /// the entry. A note on entry 0 is about the match.
    ///
    /// # Errors
    /// Returns [`StoreError::TooManyNotes`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::NoSuchSeq`], or any error of reading and writing.
    pub fn write_note(&self, match_name: &MatchName, note: Note) -> Result<(), StoreError> {
        self.engine.write_note(match_name, note, false)
    }

    /// Removes a note. After a compaction, no byte of it is left.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchNote`], [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
        self.engine.remove_note(match_name, id)
    }
}
