//! Writes histories as replay files, a run of entries at a time.

use std::fmt::Write as _;

use super::Sources;
use super::entry::LogEntry;
use super::revision::{Revision, SourceName};
use super::source::{HistorySource, RUN};
use crate::error::ReplayError;
use crate::input::Limits;
use crate::tfl::{Closing, LogHasher};
use crate::viewer::Viewer;

impl HistorySource {
    /// Writes a revision as a replay file as the host sees it, with every outcome and hash, and returns its closing
    /// line. The text is that of [`History::to_replay`](super::History::to_replay), but only a run of entries is in
    /// memory. A history that is too long is refused before any entry is read.
    ///
    /// # Errors
    /// [`ReplayError::TooLong`]; [`ReplayError`] if the store, the revision or an entry cannot be read or folded; the
    /// error of `write`.
    pub fn write_replay<E: From<ReplayError>>(
        revision: &Revision,
        sources: &dyn Sources,
        write: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<Closing, E> {
        let source = Self::open(&SourceName::Revision(revision.clone()), sources)?;
        let count = source.head;
        if count > Limits::REPLAY_ENTRIES_MAX as u64 {
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
        let header = head.header.mark();
        let closing = Closing { count, state: state.state_hash(), log: log.finish(), header };
        write(&format!("{closing}\n"))?;
        Ok(closing)
    }
}
