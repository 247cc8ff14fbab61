//! Writes and removes notes.

use super::committer::{CommitSharing, Committer};
use crate::engine::EngineReader as _;
use crate::error::StoreError;
use crate::local::journal::op::Op;
use crate::local::layout::key;
use crate::names::MatchName;
use crate::note::{Note, NoteId, PlacedNote, require_room};

/// Writes a note. The limits do not apply to a note that `is_moved` from another store.
pub(super) fn write(
    committer: &Committer,
    match_name: &MatchName,
    note: Note,
    is_moved: bool,
) -> Result<(), StoreError> {
    let match_name = match_name.clone();
    committer.perform(CommitSharing::Alone, move |ledger, staged| {
        let records = ledger.records.as_ref();
        let note = PlacedNote::of(records, &match_name, note)?;
        if !is_moved {
            let found_match = records.found_match(&match_name)?;
            require_room(&match_name, &note.note, &records.placed_notes(&found_match)?)?;
        }
        staged.add(&Op::SetNote { match_name, note });
        Ok(())
    })
}

pub(super) fn remove(committer: &Committer, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
    let match_name = match_name.clone();
    committer.perform(CommitSharing::Alone, move |ledger, staged| {
        let found_match = ledger.records.found_match(&match_name)?;
        if ledger.records.backend.get(&key::of_note(found_match.number(), id))?.is_none() {
            return Err(StoreError::NoSuchNote { id });
        }
        staged.add(&Op::RemoveNote { match_name, id });
        Ok(())
    })
}
