//! Following a history as it grows: what a viewer knows at one head and at a later one.

use turnfold_core::{AnyState, DicePolicy, Digest, Step};

use crate::error::ReplayError;
use crate::history::entry::{LogEntry, logged};
use crate::history::record::LoggedRecord;
use crate::history::revision::{Revision, SourceName};
use crate::viewer::Viewer;
use crate::viewer::viewed_entry::ViewedEntry;

/// Someone who follows a history, and the state after which its view may still change.
///
/// What is shown at a head is shown at every later one (a law of every ruleset). So an entry that is wholly shown, with
/// all before it, is settled, and no follower needs to fold it again.
pub struct Follower {
    viewer: Viewer,
    name: SourceName,
    dice: DicePolicy,
    settled: u64,
    times: Times,
    state: Box<dyn AnyState>,
}

/// A digest of when the entries that a viewer knows of were recorded, one after another. Of a history that was replaced by
/// another one it is not the same, and it stays the same when more of a known entry comes to light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times(pub Digest);

impl Default for Times {
    fn default() -> Self {
        Self(Digest::new([0; 32]))
    }
}

impl Times {
    fn and(self, entry: &LogEntry) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 recorded times");
        hasher.update(self.0.as_bytes());
        hasher.update(&entry.recorded_at_ms.unwrap_or_default().to_be_bytes());
        Self(Digest::new(*hasher.finalize().as_bytes()))
    }
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
    /// When all entries that it knows of were recorded.
    pub times: Times,
}

/// Which entries a viewer knows of at a head: all up to the settled one, and some that follow it.
#[derive(Clone, Debug)]
pub struct ShownEntries {
    settled: u64,
    /// The numbers in the log of those that follow.
    seqs: Vec<u64>,
    /// How many of the entries that follow are wholly shown, from the first on.
    pub whole: usize,
    /// When all of them were recorded; for a viewer who sees everything, those that follow a settled one.
    pub times: Times,
}

impl ShownEntries {
    /// Returns the number of the last settled entry.
    #[must_use]
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns how many entries the viewer knows of, which is the number of the last.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.settled + self.seqs.len() as u64
    }

    /// Returns the number in the log of the entry that the viewer counts as number `seq`.
    #[must_use]
    pub fn in_log(&self, seq: u64) -> Option<u64> {
        let Some(place) = seq.checked_sub(self.settled + 1) else { return Some(seq) };
        self.seqs.get(usize::try_from(place).ok()?).copied()
    }

    /// Returns how many entries the viewer knows of among the first `count` entries of the log.
    #[must_use]
    pub fn within(&self, count: u64) -> u64 {
        count.min(self.settled) + self.seqs.partition_point(|seq| *seq <= count) as u64
    }
}

impl Follower {
    /// Begins before the first entry of a history that starts with `state`.
    #[must_use]
    pub fn new(viewer: Viewer, revision: &Revision, dice: DicePolicy, state: Box<dyn AnyState>) -> Self {
        Self {
            viewer,
            name: SourceName::Revision(revision.clone()),
            dice,
            settled: 0,
            times: Times::default(),
            state,
        }
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

    /// Returns the number of the last settled entry, which is the same in the log and as the viewer counts.
    #[must_use]
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns what the viewer knows at the end of `entries`, which begin after the settled ones.
    ///
    /// # Errors
    /// [`ReplayError::Entry`], or [`ReplayError::ConcealedEntry`] for a player.
    pub fn known(&self, entries: &[LogEntry]) -> Result<Known, ReplayError> {
        let mut records = Vec::new();
        let shown = self.fold(entries, &mut |seen| records.push((seen.entry.seq, seen.logged_record())))?;
        Ok(Known { head: shown.head(), records, whole: shown.whole, times: shown.times })
    }

    /// Folds `entries`, which follow the settled ones, and shows each that the viewer may know of at their
    /// end.
    ///
    /// # Errors
    /// As for [`known`](Self::known).
    pub fn fold(
        &self,
        entries: &[LogEntry],
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<ShownEntries, ReplayError> {
        let mut shown = ShownEntries { settled: self.settled, seqs: Vec::new(), whole: 0, times: self.times };
        let mut is_whole = true;
        let observe = &mut |entry: &LogEntry, step: &mut dyn Step| {
            is_whole = is_whole && step.wholly_shown();
            shown.whole += usize::from(is_whole);
            if step.concealed() {
                return;
            }
            shown.seqs.push(entry.seq);
            shown.times = shown.times.and(entry);
            observe(&mut ViewedEntry { viewer: self.viewer, seq: shown.head(), step, entry, is_own: false });
        };
        let mut state = self.state.fork();
        let folded = self.viewer.fold_entries(state.as_mut(), entries, &self.dice, observe);
        folded.map_err(|cause| self.viewer.broken_entry(&self.name, cause))?;
        Ok(shown)
    }

    /// Moves past `entries`, which begin after the settled ones; all of them must be wholly shown.
    ///
    /// # Errors
    /// As for [`known`](Self::known).
    pub fn settle(&mut self, entries: &[LogEntry]) -> Result<(), ReplayError> {
        let folded = self.state.fold(&logged(entries), &self.dice, &mut |_| {});
        folded.map_err(|cause| self.viewer.broken_entry(&self.name, cause))?;
        self.settled = entries.last().map_or(self.settled, |entry| entry.seq);
        self.times = entries.iter().fold(self.times, Times::and);
        Ok(())
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
