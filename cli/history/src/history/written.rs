//! Writes histories as replay files, a run of entries at a time.

use std::fmt::Write as _;

use turnfold_core::Digest;

use super::Sources;
use super::entry::LogEntry;
use super::revision::{Revision, SourceName};
use super::source::{HistorySource, RUN};
use crate::error::ReplayError;
use crate::error::limits::REPLAY_ENTRIES_MAX;
use crate::tfl::{Closing, LogHasher};
use crate::viewer::Viewer;

/// The result of writing a history as a replay file.
pub struct WrittenReplay {
    /// The number of entries written.
    pub entries: u64,
    /// The hash of the state after the last entry.
    pub state_hash: Digest,
}

impl WrittenReplay {
    /// Writes a revision as the host sees it, with every outcome and hash. The text is that of
    /// [`History::to_replay`](super::History::to_replay), but only a run of entries is in memory. A history that is too
    /// long is refused before any entry is read.
    ///
    /// # Errors
    /// [`ReplayError::TooLong`]; [`ReplayError`] if the store, the revision or an entry cannot be read or folded; the
    /// error of `write`.
    pub fn of<E: From<ReplayError>>(
        revision: &Revision,
        sources: &dyn Sources,
        write: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<Self, E> {
        let source = HistorySource::open(&SourceName::Revision(revision.clone()), sources)?;
        let count = source.head;
        if count > REPLAY_ENTRIES_MAX as u64 {
            return Err(ReplayError::TooLong { history: source.history.name }.into());
        }
        let head = source.history.without_entries()?;
        let mut log = LogHasher::new(&head.header);
        write(&head.to_string())?;
        let mut state = source.history.start()?;
        let mut text = String::new();
        for after in (0..count).step_by(RUN) {
            text.clear();
            let to = count.min(after + RUN as u64);
            source.fold(Viewer::HOST, state.as_mut(), after, to, None, &mut |_, step| {
                let entry = LogEntry::of(step);
                log.add(&entry);
                writeln!(text, "{entry}").expect("writing to a string cannot fail");
            })?;
            write(&text)?;
        }
        let state_hash = state.state_hash();
        let header = head.header.mark();
        write(&format!("{}\n", Closing { count, state: state_hash, log: log.finish(), header }))?;
        Ok(Self { entries: count, state_hash })
    }
}
