//! Histories as a viewer may know them. A concealed entry does not appear and is not counted.

pub mod follow;
pub mod long;
mod separate;
mod standing;

pub use standing::MatchStanding;

use std::sync::Arc;

use serde_json::Value;
use turnfold_core::picture::Picture;
use turnfold_core::{AnyRules, AnyState, Digest, Step};
use turnfold_store::PackedEntries;

use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
use crate::history::Sources;
use crate::history::entry::{LogEntry, logged};
use crate::history::position::Position;
use crate::history::record::Record;
use crate::history::revision::SourceName;
use crate::history::{History, broken_setup};
use crate::viewer::Viewer;
use crate::viewer::viewed_entry::{ViewedEntry, may_know_recorded};

/// A history as one viewer knows it.
///
/// A player counts the entries that are not concealed at the end of the whole history, so that no number reveals how
/// many others there are. As more entries come to light, the numbers grow towards those of the log. Where nothing is
/// concealed, they are equal. What a player may know of one entry is decided at the requested position.
pub struct SeatHistory {
    viewer: Viewer,
    name: SourceName,
    /// The entries up to the position, with the concealed ones.
    history: History,
    /// For each entry that the viewer may know of, its number in the log.
    known: Vec<usize>,
}

impl SeatHistory {
    /// Reads a revision or a replay file. The number in `name` counts entries as the viewer does. A file for one seat
    /// is viewed as that seat.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be read or folded, [`ReplayError::NotOfSeat`] and
    /// [`ReplayError::NoEntry`].
    pub fn load(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        if viewer.sees_all() && matches!(name, SourceName::Revision(_)) {
            return Self::of(viewer, History::load(name, sources)?);
        }
        let seat_history = Self::of(viewer, History::load_also_seen(&name.up_to(None), sources)?)?;
        match name.seq() {
            Some(seq) => seat_history.up_to(seq),
            None => Ok(seat_history),
        }
    }

    /// Returns a whole history as a viewer may know it.
    ///
    /// # Errors
    /// [`ReplayError::NotOfSeat`]; for a player, also the errors of [`fold`](Self::fold).
    pub fn of(viewer: Viewer, history: History) -> Result<Self, ReplayError> {
        let viewer = viewer.narrowed(history.view)?;
        let name = history.name.clone();
        let mut seat_history = Self { viewer, name, history, known: Vec::new() };
        seat_history.known = if viewer.sees_all() {
            (1..=seat_history.history.entries.len()).collect()
        } else {
            seat_history.known()?
        };
        Ok(seat_history)
    }

    fn known(&self) -> Result<Vec<usize>, ReplayError> {
        let mut known = Vec::new();
        let mut count = 0;
        let mut state = self.history.start()?;
        let observe = &mut |_: &LogEntry, step: &mut dyn Step| {
            count += 1;
            if !step.concealed() {
                known.push(count);
            }
        };
        let History { entries, dice, .. } = &self.history;
        let folded = self.viewer.fold_entries(state.as_mut(), entries, dice, observe);
        folded.map_err(|cause| self.viewer.broken_entry(&self.name, cause))?;
        Ok(known)
    }

    /// Removes the entries after entry `seq`, in the viewer's numbering.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`].
    pub fn up_to(mut self, seq: u64) -> Result<Self, ReplayError> {
        let name = &self.name;
        let head = self.head();
        if seq > head {
            return Err(ReplayError::NoEntry { history: name.clone(), seq, head });
        }
        self.name = name.up_to(Some(seq));
        let count = self.entries_until(usize::try_from(seq).unwrap_or(usize::MAX));
        Ok(self.cut(count))
    }

    /// Keeps only the first `count` entries of the log.
    #[must_use]
    pub fn cut(mut self, count: usize) -> Self {
        self.history.entries.truncate(count);
        self.known.retain(|known| *known <= count);
        self
    }

    /// Returns the number in the log of known entry number `count`; 0 for 0.
    pub(crate) fn entries_until(&self, count: usize) -> usize {
        count.checked_sub(1).and_then(|place| self.known.get(place).copied()).unwrap_or(0)
    }

    /// Returns how many entries this viewer knows of among the first `count` entries of the log.
    pub(crate) fn known_within(&self, count: usize) -> usize {
        self.known.partition_point(|known| *known <= count)
    }

    /// Returns the name of the history in messages.
    #[must_use]
    pub fn name(&self) -> &SourceName {
        &self.name
    }

    /// Returns the number of entries that the viewer may know of.
    #[must_use]
    pub fn known_count(&self) -> usize {
        self.known.len()
    }

    /// Returns the number of entries that the viewer may know of, which is the number of the last.
    #[must_use]
    pub fn head(&self) -> u64 {
        u64::try_from(self.known.len()).unwrap_or(u64::MAX)
    }

    /// Returns the state before the first entry.
    ///
    /// # Errors
    /// [`ReplayError::Setup`].
    pub fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.history.start()
    }

    /// Returns the state at the position.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn state(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.fold(&mut |_| {})
    }

    /// Returns the view of a state.
    #[must_use]
    pub fn view(&self, state: &dyn AnyState) -> Value {
        self.viewer.view(state)
    }

    /// Returns the picture of a state.
    #[must_use]
    pub fn picture(&self, state: &dyn AnyState) -> Picture {
        self.viewer.picture(state)
    }

    /// Returns the value at a path, a JSON pointer, in the view of a state.
    #[must_use]
    pub fn field(&self, state: &dyn AnyState, path: &str) -> Option<Value> {
        self.viewer.field(state, path)
    }

    /// Returns the hash of a state, if the viewer may know it.
    #[must_use]
    pub fn state_hash(&self, state: &dyn AnyState) -> Option<Digest> {
        self.viewer.state_hash(state)
    }

    /// Folds the entries after known entry `from` up to known entry `to`, in the viewer's numbering.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn advance(&self, state: &mut dyn AnyState, from: usize, to: usize) -> Result<(), ReplayError> {
        self.pass(state, from, to, &mut |_, _| {})
    }

    /// Folds as [`advance`](Self::advance) does and passes each known entry with its number to `observe`. Concealed
    /// parts of the entry are not removed.
    pub(crate) fn pass(
        &self,
        state: &mut dyn AnyState,
        from: usize,
        to: usize,
        observe: &mut dyn FnMut(u64, &mut dyn Step),
    ) -> Result<(), ReplayError> {
        let between = self.entries_until(from)..self.entries_until(to);
        let entries = self.history.entries.get(between.clone()).unwrap_or_default();
        let mut at = between.start;
        let mut known = (1..).zip(&self.known).skip(from).peekable();
        let observe = &mut |step: &mut dyn Step| {
            at += 1;
            if let Some((seq, _)) = known.next_if(|(_, known)| **known == at) {
                observe(seq, step);
            }
        };
        state
            .fold(&logged(entries), &self.history.dice, observe)
            .map_err(|cause| self.viewer.broken_entry(&self.name, cause))
    }

    /// Folds all entries and passes those that the viewer may know of to `observe`. Returns the state at the position.
    ///
    /// # Errors
    /// [`ReplayError::Entry`], or [`ReplayError::ConcealedEntry`] for a player.
    pub fn fold(
        &self,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<Box<dyn AnyState>, ReplayError> {
        self.fold_after(0, observe)
    }

    /// Folds all entries and passes the known ones after the first `count` entries of the log to `observe`.
    fn fold_after(
        &self,
        count: usize,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<Box<dyn AnyState>, ReplayError> {
        let Self { viewer, history, known, .. } = self;
        let is_own = self.is_of_seat();
        let mut at = 0;
        let mut known = (1..).zip(known).peekable();
        let mut state = history.start()?;
        let observe = &mut |entry: &LogEntry, step: &mut dyn Step| {
            at += 1;
            let Some((seq, _)) = known.next_if(|(_, known)| **known == at) else { return };
            if at > count && !step.concealed() {
                observe(&mut ViewedEntry { viewer: *viewer, seq, step, entry, is_own });
            }
        };
        let folded = viewer.fold_entries(state.as_mut(), &history.entries, &history.dice, observe);
        folded.map_err(|cause| self.viewer.broken_entry(&self.name, cause))?;
        Ok(state)
    }

    /// Returns the first entry that the source records otherwise than the rules compute it, if the viewer may know it.
    /// Only the last entry's state hash is compared, because hashing states takes longer than all else.
    #[must_use]
    pub fn contradiction(&self) -> Option<Divergence> {
        let is_recorded = |entry: &LogEntry| entry.outcome.is_some() || entry.hash.is_some();
        if !may_know_recorded(self.viewer, self.is_of_seat()) || !self.history.entries.iter().any(is_recorded)
        {
            return None;
        }
        let mut found = None;
        let head = self.head();
        let folded = self.fold(&mut |seen| {
            if found.is_none() {
                found = seen.contradiction_of(seen.seq == head && seen.viewer.sees_all());
            }
        });
        // The verb that needs the history reports why it cannot be folded.
        drop(folded);
        found
    }

    /// Compares what the source records of a known entry, which was just folded, with what the rules compute.
    pub(crate) fn contradiction_at(&self, seq: u64, step: &mut dyn Step) -> Option<Divergence> {
        let count = self.entries_until(usize::try_from(seq).unwrap_or(usize::MAX));
        let entry = self.history.entries.get(count.checked_sub(1)?)?;
        let is_own = self.is_of_seat();
        ViewedEntry { viewer: self.viewer, seq, step, entry, is_own }.contradiction()
    }

    /// Returns the records of the known entries after the first `count` entries of the log.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn records_after(&self, count: usize) -> Result<Vec<Record>, ReplayError> {
        let mut records = Vec::new();
        self.fold_after(count, &mut |seen| records.push(seen.record()))?;
        Ok(records)
    }

    /// Appends entries to the history and returns their records, as far as the viewer may know them after the last.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn play_on(mut self, entries: &PackedEntries) -> Result<Vec<Record>, ReplayError> {
        let count = self.history.entries.len();
        let next_seq = self.history.head() + 1;
        let added = entries.iter().collect::<Vec<_>>();
        self.history.entries.extend((next_seq..).zip(&added).map(LogEntry::from));
        Self::of(self.viewer, self.history)?.records_after(count)
    }

    /// Returns the viewer. For a file for one seat, it is that seat.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        self.viewer
    }

    /// Returns the title of the match.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.history.title
    }

    /// Removes the times and keys of the entries, which no replay file has.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        for entry in &mut self.history.entries {
            (entry.recorded_at_ms, entry.key) = (None, None);
        }
        self
    }

    /// Returns `true` if the source is a file for one seat, in which nothing is concealed from that seat.
    #[must_use]
    pub fn is_of_seat(&self) -> bool {
        self.history.view.is_some()
    }

    /// Returns the ruleset.
    #[must_use]
    pub fn rules(&self) -> &Arc<dyn AnyRules> {
        &self.history.rules
    }

    /// Returns where rolls come from, without the seed for a player.
    #[must_use]
    pub fn dice(&self) -> String {
        if self.history.view.is_some_and(|view| view.is_seeded) {
            return "seeded".into();
        }
        self.viewer.dice(&self.history.dice)
    }

    /// Returns the setup as TOML for the host; for a player, the view of the first state as JSON.
    ///
    /// # Errors
    /// [`ReplayError::Setup`].
    pub fn setup(&self) -> Result<String, ReplayError> {
        if !self.viewer.sees_all() {
            return Ok(format!("{:#}\n", self.view(self.start()?.as_ref())));
        }
        let written = self.history.rules.write_setup(&self.history.setup);
        written.map_err(|cause| broken_setup(&self.name, cause))
    }

    /// Returns the underlying history. The caller has made sure that the viewer may know all of it.
    #[must_use]
    pub fn into_history(self) -> History {
        History { name: self.name, ..self.history }
    }

    /// Returns the underlying history if this is the host. `what` names the purpose in the error.
    ///
    /// # Errors
    /// [`ReplayError::Concealed`].
    pub fn whole(&self, what: &'static str) -> Result<&History, ReplayError> {
        self.viewer.require_all(what)?;
        Ok(&self.history)
    }
}

/// Returns the state of a revision or replay file, and the viewer. For a file for one seat, the viewer is that seat.
///
/// # Errors
/// [`ReplayError`] if the history cannot be read or folded. A player learns no more from it than that player may know.
pub fn seek(
    viewer: Viewer,
    name: &SourceName,
    sources: &dyn Sources,
) -> Result<(Viewer, Box<dyn AnyState>), ReplayError> {
    // Snapshots lead to the head, and to entries in the numbering of the log. Anything else a player asks for, and the
    // error for a broken log, needs the whole history.
    if let SourceName::Revision(revision) = name
        && (viewer.sees_all() || revision.seq.is_none())
    {
        match Position::seek(revision, sources) {
            Ok(state) => return Ok((viewer, state)),
            Err(failure) if viewer.sees_all() => return Err(failure),
            Err(_) => {}
        }
    }
    let seat_history = SeatHistory::load(viewer, name, sources)?;
    Ok((seat_history.viewer, seat_history.state()?))
}
