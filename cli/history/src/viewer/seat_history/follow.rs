//! Followers: what a viewer knows of a growing history at one head and at a later one.

use turnfold_core::{AnyState, DicePolicy, Digest, Step};

use crate::error::ReplayError;
use crate::history::entry::{LogEntry, logged};
use crate::history::record::LoggedRecord;
use crate::history::revision::{Revision, SourceName};
use crate::viewer::Viewer;
use crate::viewer::viewed_entry::ViewedEntry;

/// A viewer who follows a history, and the state after which what they know may still change.
///
/// Whatever a ruleset shows at one head, it shows at every later one; this is a law of every ruleset. So an entry is
/// settled if it and all entries before it are wholly shown, and no follower needs to fold it again.
pub struct Follower {
    viewer: Viewer,
    name: SourceName,
    dice: DicePolicy,
    settled: u64,
    times: Times,
    state: Box<dyn AnyState>,
}

/// A digest of the times at which the entries that a viewer knows of were recorded, in order. It changes when the
/// history is replaced by another one. It does not change when more of a known entry comes to light.
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

/// The entries after the settled ones that a viewer knows of at a head.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The number of the last known entry, in the viewer's numbering.
    pub head: u64,
    /// The records of the known entries, each with the entry's number in the log.
    pub records: Vec<(u64, LoggedRecord)>,
    /// How many entries directly after the settled ones are wholly shown.
    pub whole: usize,
    /// The times of all entries that the viewer knows of.
    pub times: Times,
}

/// Which entries a viewer knows of at a head: all settled ones, and some after them.
#[derive(Clone, Debug)]
pub struct ShownEntries {
    settled: u64,
    /// The numbers in the log of the known entries after the settled ones.
    seqs: Vec<u64>,
    /// How many entries directly after the settled ones are wholly shown.
    pub whole: usize,
    /// The times of all known entries, except for those skipped with [`Follower::after`].
    pub times: Times,
}

impl ShownEntries {
    /// Returns the number of the last settled entry.
    #[must_use]
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns the number of entries that the viewer knows of, which is the number of the last.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.settled + self.seqs.len() as u64
    }

    /// Returns the number in the log of entry `seq` in the viewer's numbering.
    #[must_use]
    pub fn in_log(&self, seq: u64) -> Option<u64> {
        let Some(place) = seq.checked_sub(self.settled + 1) else { return Some(seq) };
        self.seqs.get(usize::try_from(place).ok()?).copied()
    }

    /// Returns how many of the first `count` entries of the log the viewer knows of.
    #[must_use]
    pub fn within(&self, count: u64) -> u64 {
        count.min(self.settled) + self.seqs.partition_point(|seq| *seq <= count) as u64
    }
}

impl Follower {
    /// Creates a follower before the first entry of a history that starts with `state`.
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

    /// Moves the follower to entry `settled` and its state. That entry and all before it must be wholly shown.
    #[must_use]
    pub fn after(self, settled: u64, state: Box<dyn AnyState>) -> Self {
        Self { settled, state, ..self }
    }

    /// Returns a copy of the follower.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { state: self.state.fork(), name: self.name.clone(), ..*self }
    }

    /// Returns the number of the last settled entry. It is the same in the log and in the viewer's numbering.
    #[must_use]
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns what the viewer knows after the last of `entries`, which begin after the settled ones.
    ///
    /// # Errors
    /// [`ReplayError::Entry`], or [`ReplayError::ConcealedEntry`] for a player.
    pub fn known(&self, entries: &[LogEntry]) -> Result<Known, ReplayError> {
        let mut records = Vec::new();
        let shown = self.fold(entries, &mut |seen| records.push((seen.entry.seq, seen.logged_record())))?;
        Ok(Known { head: shown.head(), records, whole: shown.whole, times: shown.times })
    }

    /// Folds `entries`, which begin after the settled ones, and passes those that the viewer may know of to `observe`.
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
        let folded = self.viewer.fold_entries(state.as_mut(), entries, &self.dice, None, observe);
        folded.map_err(|cause| self.viewer.broken_entry(&self.name, cause))?;
        Ok(shown)
    }

    /// Settles `entries`, which begin after the settled ones. All of them must be wholly shown.
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
    /// Returns the records that are new or changed since an earlier head, each with the entry's number in the log.
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

#[cfg(test)]
mod tests {
    use turnfold_core::Seat;

    use super::*;
    use crate::example::random_play;
    use crate::text::json_line;
    use crate::viewer::seat_history::SeatHistory;

    #[test]
    fn a_follower_knows_at_each_head_what_the_whole_history_shows() {
        let revision: Revision = "duel".parse().unwrap();
        let mut concealed = 0;
        for history in random_play(3, 14) {
            let start = history.start().unwrap();
            for seat in start.players().iter().copied().chain([Seat::P8, Seat::Host]) {
                let viewer = Viewer::of(seat);
                let mut follower = Follower::new(viewer, &revision, history.dice, start.fork());
                let mut lines = Vec::new();
                for count in 0..=history.entries.len() {
                    let until = history.until(count);
                    let after = &until.entries[usize::try_from(follower.settled()).unwrap()..];
                    let known = follower.known(after).unwrap();
                    lines.truncate(usize::try_from(follower.settled()).unwrap());
                    lines.extend(known.records.iter().map(|(_, logged)| json_line(&logged.record).unwrap()));
                    let seat_history = SeatHistory::of(viewer, until.until(count)).unwrap();
                    let records = seat_history.records_after(0).unwrap();
                    let expected: Vec<_> = records.iter().map(|record| json_line(record).unwrap()).collect();
                    assert_eq!(lines, expected, "{seat} after {count}");
                    concealed += count - lines.len();
                    follower.settle(&after[..known.whole]).unwrap();
                }
            }
        }
        assert!(concealed > 0, "nothing was concealed, so that nothing was proven");
    }
}
