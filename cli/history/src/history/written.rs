//! Writes histories as replay files, a run of entries at a time.

use std::fmt::Write as _;

use turnfold_core::{Digest, Step};
use turnfold_store::Genesis;

use super::entry::{LogEntry, logged};
use super::revision::{Revision, SourceName};
use super::source::RUN;
use super::{Sources, broken_entry, broken_setup, rules_of};
use crate::error::ReplayError;
use crate::error::limits::REPLAY_ENTRIES_MAX;
use crate::tfl::{Closing, LogHasher, Replay, ReplayOrigin};

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
        let Revision { match_name, branch, seq } = revision;
        let name = SourceName::Revision(revision.clone());
        let store = sources.read_store()?;
        let beginning = store.read(match_name, branch, Some(0)).map_err(ReplayError::from)?;
        let count = seq.unwrap_or(beginning.head);
        if count.min(beginning.head) > REPLAY_ENTRIES_MAX as u64 {
            return Err(ReplayError::TooLong { history: name }.into());
        }
        let mut entries = store.entries(match_name, branch, 1..=count).map_err(ReplayError::from)?;
        let rules = rules_of(&beginning.genesis, revision, sources.registry())?;
        let Genesis { setup, dice, module, title, .. } = beginning.genesis;
        let refused = |cause| broken_setup(&name, cause);
        let origin = ReplayOrigin { rules: &rules, module, dice, title: &title };
        let head = Replay::compose(&name.to_string(), origin, &setup, None).map_err(refused)?;
        let mut state = rules.start(&setup).map_err(refused)?;
        let mut log = LogHasher::new(&head.header);
        write(&head.to_string())?;
        let mut text = String::new();
        loop {
            let run = entries.by_ref().take(RUN).map(|entry| entry.map(LogEntry::from));
            let run = run.collect::<Result<Vec<_>, _>>().map_err(ReplayError::from)?;
            if run.is_empty() {
                break;
            }
            text.clear();
            let observe = &mut |step: &mut dyn Step| {
                let entry = LogEntry::of(step);
                log.add(&entry);
                writeln!(text, "{entry}").expect("writing to a string cannot fail");
            };
            let folded = state.fold(&logged(&run), &dice, observe);
            folded.map_err(|cause| broken_entry(&name, cause))?;
            write(&text)?;
        }
        let state_hash = state.state_hash();
        let header = head.header.mark();
        write(&format!("{}\n", Closing { count, state: state_hash, log: log.finish(), header }))?;
        Ok(Self { entries: count, state_hash })
    }
}
