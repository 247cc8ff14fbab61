//! Following a history as it grows: what a viewer knows at one head and at a later one.

use turnfold_core::{AnyState, DicePolicy, Step};

use crate::entry::{LogEntry, logged};
use crate::error::ReplayError;
use crate::history::broken_entry;
use crate::record::LoggedRecord;
use crate::revision::{Revision, SourceName};
use crate::viewed_entry::ViewedEntry;
use crate::viewer::Viewer;

/// Someone who follows a history, and the state from which on what it is told may still change.
///
/// What is shown at a head is shown at every later one (a law of every ruleset). So an entry that is wholly shown, with
/// all before it, is told once and for all, and nobody who follows needs to fold it again.
pub struct Follower {
    viewer: Viewer,
    name: SourceName,
    dice: DicePolicy,
    settled: u64,
    state: Box<dyn AnyState>,
}

/// What a viewer knows of the entries after the settled ones, at a head.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The number of the last entry it knows of, as it counts them.
    pub head: u64,
    /// The entries that it knows of, each with its number in the log.
    pub records: Vec<(u64, LoggedRecord)>,
    /// How many of the entries, from the first on, are wholly shown.
    pub whole: usize,
}

impl Follower {
    /// Begins before the first entry of a history, of which `state` is the start.
    #[must_use]
    pub fn new(viewer: Viewer, line: &Revision, dice: DicePolicy, state: Box<dyn AnyState>) -> Self {
        Self { viewer, name: SourceName::Revision(line.clone()), dice, settled: 0, state }
    }

    /// Begins after entry `settled`, which is wholly shown as all before it are.
    #[must_use]
    pub fn after(self, settled: u64, state: Box<dyn AnyState>) -> Self {
        Self { settled, state, ..self }
    }

    /// Returns another one who knows the same.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { state: self.state.fork(), name: self.name.clone(), ..*self }
    }

    /// Returns the number of the last entry that is told once and for all, which is the same in the log and as the
    /// viewer counts.
    #[must_use]
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns what the viewer knows at the end of `entries`, the first of which follows the settled ones.
    ///
    /// # Errors
    /// [`ReplayError::Entry`], or [`ReplayError::ConcealedEntry`] for a player.
    pub fn known(&self, entries: &[LogEntry]) -> Result<Known, ReplayError> {
        let mut known = Known { head: self.settled, ..Known::default() };
        let mut is_whole = true;
        let mut rest = entries.iter();
        let observe = &mut |step: &mut dyn Step| {
            let Some(entry) = rest.next() else { return };
            is_whole &= step.wholly_shown();
            known.whole += usize::from(is_whole);
            if step.concealed() {
                return;
            }
            known.head += 1;
            let mut seen = ViewedEntry { viewer: self.viewer, seq: known.head, step, entry };
            known.records.push((entry.seq, seen.logged_record()));
        };
        let mut state = self.state.fork();
        let folded = self.viewer.fold(state.as_mut(), &logged(entries), &self.dice, observe);
        folded.map_err(|cause| self.broken(cause))?;
        Ok(known)
    }

    /// Returns how many of `entries`, the first of which follows the settled ones, are wholly shown at their end, from the
    /// first on.
    ///
    /// # Errors
    /// As for [`known`](Self::known).
    pub fn whole(&self, entries: &[LogEntry]) -> Result<usize, ReplayError> {
        let (mut whole, mut is_whole) = (0, true);
        let mut state = self.state.fork();
        let observe = &mut |step: &mut dyn Step| {
            is_whole = is_whole && step.wholly_shown();
            whole += usize::from(is_whole);
        };
        let folded = self.viewer.fold(state.as_mut(), &logged(entries), &self.dice, observe);
        folded.map_err(|cause| self.broken(cause))?;
        Ok(whole)
    }

    /// Returns the number of the last entry that the viewer knows of at the end of `entries`.
    ///
    /// # Errors
    /// As for [`known`](Self::known).
    pub fn count(&self, entries: &[LogEntry]) -> Result<u64, ReplayError> {
        let mut head = self.settled;
        let mut state = self.state.fork();
        let observe = &mut |step: &mut dyn Step| head += u64::from(!step.concealed());
        let folded = self.viewer.fold(state.as_mut(), &logged(entries), &self.dice, observe);
        folded.map_err(|cause| self.broken(cause))?;
        Ok(head)
    }

    /// Moves past `entries`, the first of which follows the settled ones; all of them must be wholly shown.
    ///
    /// # Errors
    /// As for [`known`](Self::known).
    pub fn settle(&mut self, entries: &[LogEntry]) -> Result<(), ReplayError> {
        let folded = self.state.fold(&logged(entries), &self.dice, &mut |_| {});
        folded.map_err(|cause| self.broken(cause))?;
        self.settled = entries.last().map_or(self.settled, |entry| entry.seq);
        Ok(())
    }

    /// An entry that its own rules refuse. A player is not told which, nor why.
    fn broken(&self, cause: turnfold_core::FoldError) -> ReplayError {
        if self.viewer.see_all() {
            return broken_entry(&self.name, cause);
        }
        ReplayError::ConcealedEntry { line: self.name.clone() }
    }
}

impl Known {
    /// Returns the records that were not known at an earlier head, or otherwise, each with its number in the log.
    #[must_use]
    pub fn news_since(&self, earlier: &Self) -> Vec<&(u64, LoggedRecord)> {
        let mut before = earlier.records.iter().map(|(_, record)| record).peekable();
        let is_news = |(_, record): &&(u64, LoggedRecord)| {
            let seq = record.record.seq;
            while before.next_if(|old| old.record.seq < seq).is_some() {}
            before.peek().is_none_or(|old| *old != record)
        };
        self.records.iter().filter(is_news).collect()
    }
}
