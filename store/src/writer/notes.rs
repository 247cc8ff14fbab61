//! Writing and removing notes (SV-61).

use super::store::Store;
use crate::error::StoreError;
use crate::names::MatchName;
use crate::note::{Note, NoteId};

impl Store {
    /// Writes a note to a match; when it returns, the note is durable. Its branch may be any that has the entry. A note about
    /// entry 0 is about the match.
    ///
    /// # Errors
    /// [`StoreError::TooManyNotes`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], [`StoreError::NoSuchSeq`],
    /// and every error of reading and writing.
    pub fn write_note(&self, match_name: &MatchName, note: Note) -> Result<(), StoreError> {
        self.engine.write_note(match_name, note, false)
    }

    /// Removes a note for good; compaction leaves no byte of it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchNote`], [`StoreError::NoSuchMatch`], and every error of reading and writing.
    pub fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
        self.engine.remove_note(match_name, id)
    }
}
