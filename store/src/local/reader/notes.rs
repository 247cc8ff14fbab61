//! Reads the notes of a match.

use super::records::Records;
use crate::engine::EngineReader as _;
use crate::error::StoreError;
use crate::local::layout::{key, record};
use crate::names::MatchName;
use crate::note::{self, Note, PlacedNote};
use crate::reader::found::FoundMatch;

impl Records {
    /// Returns the notes of a match, with the ids of their branches.
    pub(crate) fn placed_notes(&self, found_match: &FoundMatch) -> Result<Vec<PlacedNote>, StoreError> {
        self.readable_notes(found_match).collect()
    }

    /// Returns each note of a match, or the error of one that cannot be read.
    pub(crate) fn readable_notes(
        &self,
        found_match: &FoundMatch,
    ) -> impl Iterator<Item = Result<PlacedNote, StoreError>> {
        self.scan(key::notes_of(found_match.number())).map(|found| {
            let note = found.and_then(|(key, value)| record::read("a note", &key, &value));
            note.map_err(|error| error.within(&found_match.name, None))
        })
    }

    /// Returns the notes of a match in the order of writing. It omits notes on branches that were deleted.
    pub(crate) fn notes(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError> {
        let placed = self.placed_notes(&self.found_match(match_name)?)?;
        if placed.is_empty() {
            return Ok(Vec::new());
        }
        let (_, branches) = self.branches_of(match_name)?;
        let name_of = |id| branches.iter().find(|branch| branch.id == id).map(|branch| branch.name.clone());
        let mut notes: Vec<Note> = placed.into_iter().filter_map(|note| note.read(name_of)).collect();
        note::sort(&mut notes);
        Ok(notes)
    }
}
