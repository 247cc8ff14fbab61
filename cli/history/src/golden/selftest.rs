//! The sync test, which finds state that does not survive storage.

use std::collections::VecDeque;
use std::slice;

use turnfold_core::AnyState;

use crate::error::ReplayError;
use crate::history::History;
use crate::history::entry::LogEntry;

impl History {
    /// Stores, reloads and folds again at every entry. Returns the first entry after which the state hashes differ.
    ///
    /// At each entry, the state of `window` entries ago is read back from its bytes and folded forward.
    ///
    /// # Errors
    /// [`ReplayError::NotReloadable`]; [`ReplayError::Setup`] and [`ReplayError::Entry`] if the history cannot be
    /// folded.
    pub fn first_unsynced(&self, window: usize) -> Result<Option<u64>, ReplayError> {
        let mut state = self.start()?;
        // The bytes and rolls of the last states, oldest first: after entries i−window to i.
        let mut stored = VecDeque::from([(state.state_bytes(), state.rolls())]);
        for (index, entry) in self.entries.iter().enumerate() {
            fold(self, state.as_mut(), slice::from_ref(entry))?;
            let first = (index + 1).saturating_sub(stored.len());
            let Some((bytes, rolls)) = stored.front() else { return Ok(None) };
            let reloaded = self.rules.resume(bytes, *rolls);
            let mut reloaded = reloaded.map_err(|cause| ReplayError::NotReloadable(first, cause))?;
            fold(self, reloaded.as_mut(), self.entries.get(first..=index).unwrap_or_default())?;
            if reloaded.state_hash() != state.state_hash() {
                return Ok(Some(entry.seq));
            }
            stored.push_back((state.state_bytes(), state.rolls()));
            if stored.len() > window {
                stored.pop_front();
            }
        }
        Ok(None)
    }
}

fn fold(history: &History, state: &mut dyn AnyState, entries: &[LogEntry]) -> Result<(), ReplayError> {
    state
        .fold(&LogEntry::all_logged(entries), &history.dice, &mut |_| {})
        .map_err(|cause| ReplayError::Entry(history.name.clone(), cause))
}
