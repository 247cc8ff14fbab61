//! Histories as a viewer may know them. A concealed entry does not appear and is not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState};
use turnfold_store::{PackedEntries, StoreReader};

use crate::compare::Divergence;
use crate::viewer::may_know_recorded;
use crate::{
    History, HistorySource, LogEntry, Record, ReplayError, Revision, SourceName, Sources, ViewedEntry, Viewer,
};

/// A history as one viewer knows it.
///
/// A player counts the entries that are not concealed at the end of the whole history, so that no number reveals how
/// many others there are. As more entries come to light, the numbers grow towards those of the log. Where nothing is
/// concealed, they are equal. What a player may know of one entry is decided at the requested position.
pub struct SeatHistory {
    viewer: Viewer,
    /// The entries up to the position, with the concealed ones.
    pub(super) source: HistorySource,
    /// What is known of them; `None` if nothing is concealed from the viewer.
    known: Option<KnownEntries>,
}

struct KnownEntries {
    /// The last entry of those at the beginning that are wholly shown. Their numbers are those of the log.
    settled: u64,
    /// The numbers in the log of the later entries that the player may know of.
    seqs: Vec<u64>,
    /// The bytes of the state at the position.
    end: Vec<u8>,
}

impl SeatHistory {
    /// Reads a revision or a replay file into memory. The number in `name` counts entries as the viewer does. A file for
    /// one seat is viewed as that seat.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be read or folded, [`ReplayError::NotOfSeat`] and
    /// [`ReplayError::NoEntry`].
    pub fn load(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        Self::at(viewer, History::load_also_seen(&read_name(viewer, name), sources)?.into(), name)
    }

    /// Opens a revision or a replay file as [`load`](Self::load) does, but reads its entries in every pass, so that a
    /// long history takes little memory.
    ///
    /// # Errors
    /// As for [`load`](Self::load). For the host, errors in its entries show only when they are folded.
    pub fn open(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        Self::at(viewer, HistorySource::open(&read_name(viewer, name), sources)?, name)
    }

    fn at(viewer: Viewer, source: HistorySource, name: &SourceName) -> Result<Self, ReplayError> {
        let seat_history = Self::of(viewer, source)?;
        match name.seq() {
            Some(seq) => seat_history.up_to(seq),
            None => Ok(seat_history),
        }
    }

    /// Returns the history as another viewer knows it. The caller has made sure that they may look at it.
    pub(crate) fn through(self, viewer: Viewer) -> Result<Self, ReplayError> {
        Self::of(viewer, self.source)
    }

    /// Returns a whole history as a viewer may know it.
    ///
    /// # Errors
    /// [`ReplayError::NotOfSeat`]; for a player, also the errors of [`fold`](Self::fold).
    pub fn of(viewer: Viewer, whole: impl Into<HistorySource>) -> Result<Self, ReplayError> {
        let source = whole.into();
        let viewer = viewer.narrowed(source.history.view)?;
        if viewer.sees_all() {
            return Ok(Self { viewer, source, known: None });
        }
        let start = source.history.start()?;
        Self::after(viewer, source, 0, start.as_ref(), &mut |_| {})
    }

    /// Returns a whole source as a viewer may know it, and passes the known entries after entry `settled` to `observe`.
    /// All entries up to that one must be wholly shown, and `state` is the state after it.
    ///
    /// Whatever a ruleset shows at one head, it shows at every later one; this is a law of every ruleset. So whoever
    /// follows a growing history need not fold settled entries again.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn after(
        viewer: Viewer,
        source: HistorySource,
        settled: u64,
        state: &dyn AnyState,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<Self, ReplayError> {
        let head = source.head;
        let is_own = source.history.view.is_some();
        let mut end = None;
        if !viewer.sees_all() {
            let mut last = state.fork();
            source.advance(viewer, last.as_mut(), settled..=head, None)?;
            end = Some(last.state_bytes());
        }
        let mut seq = settled;
        let mut whole = settled;
        let mut seqs = Vec::new();
        source.fold(viewer, state.fork().as_mut(), settled, head, end.as_deref(), &mut |entry, step| {
            if step.concealed() {
                return;
            }
            seq += 1;
            if whole + 1 == entry.seq && step.wholly_shown() {
                whole += 1;
            } else {
                seqs.push(entry.seq);
            }
            observe(&mut ViewedEntry { viewer, seq, step, entry, is_own });
        })?;
        Ok(Self { viewer, source, known: end.map(|end| KnownEntries { settled: whole, seqs, end }) })
    }

    /// Returns the same history, with its entries read from another source of them.
    #[must_use]
    pub fn read_from(self, source: HistorySource) -> Self {
        Self { source, ..self }
    }

    /// Returns the number of the last entry of those at the beginning that are wholly shown. Up to it, numbers are those
    /// of the log.
    #[must_use]
    pub fn settled(&self) -> u64 {
        match &self.known {
            Some(known) => known.settled,
            None => self.source.head,
        }
    }

    /// Removes the entries after entry `seq`, in the viewer's numbering.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`]; for a player, also the errors of [`fold`](Self::fold).
    pub fn up_to(mut self, seq: u64) -> Result<Self, ReplayError> {
        self.require(seq)?;
        let last = self.in_log(seq);
        self.source.cut_after(last);
        self.source.history.name = self.name().up_to(Some(seq));
        if let Some(known) = &mut self.known {
            known.settled = known.settled.min(last);
            known.seqs.retain(|seq| *seq <= last);
            known.end = self.source.state_at(self.viewer, last, None)?.state_bytes();
        }
        Ok(self)
    }

    /// Returns the number in the log of entry `seq`, in the viewer's numbering; 0 for 0 and for an entry that the viewer
    /// does not know of.
    #[must_use]
    pub fn in_log(&self, seq: u64) -> u64 {
        let Some(known) = &self.known else { return seq.min(self.source.head) };
        let Some(index) = seq.checked_sub(known.settled + 1) else { return seq };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        known.seqs.get(index).copied().unwrap_or(0)
    }

    /// Returns how many entries this viewer knows of up to entry `seq` of the log.
    #[must_use]
    pub fn known_within(&self, seq: u64) -> u64 {
        let Some(known) = &self.known else { return seq.min(self.source.head) };
        seq.min(known.settled) + known.seqs.partition_point(|known| *known <= seq) as u64
    }

    /// Returns the name of the history in messages.
    #[must_use]
    pub fn name(&self) -> &SourceName {
        &self.source.history.name
    }

    /// Returns the number of entries that the viewer may know of, which is the number of the last.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.known_within(self.source.head)
    }

    /// Returns the state before the first entry.
    ///
    /// # Errors
    /// [`ReplayError::Setup`].
    pub fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.source.history.start()
    }

    /// Returns the state at the position.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn state(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.source.state_at(self.viewer, self.source.head, None)
    }

    /// Returns the state after entry `seq`, in the viewer's numbering.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`], and as for [`fold`](Self::fold).
    pub fn state_at(&self, seq: u64) -> Result<Box<dyn AnyState>, ReplayError> {
        self.require(seq)?;
        self.source.state_at(self.viewer, self.in_log(seq), None)
    }

    /// Requires that the viewer knows of an entry `seq`.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`].
    pub fn require(&self, seq: u64) -> Result<(), ReplayError> {
        let head = self.head();
        if seq > head {
            return Err(ReplayError::NoEntry { history: self.name().clone(), seq, head });
        }
        Ok(())
    }

    /// Folds the entries after known entry `from` up to known entry `to`, in the viewer's numbering.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn advance(&self, state: &mut dyn AnyState, from: u64, to: u64) -> Result<(), ReplayError> {
        self.source.advance(self.viewer, state, self.in_log(from)..=self.in_log(to), None)
    }

    /// Folds as [`advance`](Self::advance) does and passes each known entry to `observe`, also if it is concealed at the
    /// position.
    pub(crate) fn pass(
        &self,
        state: &mut dyn AnyState,
        from: u64,
        to: u64,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        self.pass_log(state, self.in_log(from), self.in_log(to), observe)
    }

    fn pass_log(
        &self,
        state: &mut dyn AnyState,
        after: u64,
        to: u64,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        let Self { viewer, source, known } = self;
        let is_own = self.is_of_seat();
        let end = known.as_ref().map(|known| known.end.as_slice());
        let mut seq = self.known_within(after);
        source.fold(*viewer, state, after, to, end, &mut |entry, step| {
            if self.in_log(seq + 1) == entry.seq {
                seq += 1;
                observe(&mut ViewedEntry { viewer: *viewer, seq, step, entry, is_own });
            }
        })
    }

    /// Folds all entries and passes those that the viewer may know of to `observe`. Returns the state at the position.
    ///
    /// # Errors
    /// [`ReplayError::Entry`], or [`ReplayError::ConcealedEntry`] for a player.
    pub fn fold(
        &self,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<Box<dyn AnyState>, ReplayError> {
        self.fold_between(0, self.source.head, observe)
    }

    /// Folds the history again and returns the records of some entries by number.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn records_of(&self, seqs: impl Iterator<Item = u64>) -> Result<BTreeMap<u64, Record>, ReplayError> {
        let seqs: BTreeSet<_> = seqs.collect();
        let mut records = BTreeMap::new();
        self.fold(&mut |seen| {
            if seqs.contains(&seen.seq()) {
                records.insert(seen.seq(), seen.record());
            }
        })?;
        Ok(records)
    }

    /// Passes the entries after entry `after` up to entry `to`, in the viewer's numbering, to `observe`.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold); the host is shown the entries before the error.
    pub fn show(
        &self,
        after: u64,
        to: u64,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        self.fold_between(self.in_log(after), self.in_log(to), observe)?;
        Ok(())
    }

    /// Folds the entries up to entry `to` of the log, from the nearest snapshot, and passes the known ones after entry
    /// `after` to `observe`.
    fn fold_between(
        &self,
        after: u64,
        to: u64,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<Box<dyn AnyState>, ReplayError> {
        let (at, mut state) = self.source.nearest_state(after)?;
        self.pass_log(state.as_mut(), at, to, &mut |seen| {
            if seen.entry.seq > after && !seen.step.concealed() {
                observe(seen);
            }
        })?;
        Ok(state)
    }

    /// Returns the first entry that the source records otherwise than the rules compute it, if the viewer may know it.
    /// Only the last entry's state hash is compared, because hashing states takes longer than all else.
    #[must_use]
    pub fn contradiction(&self) -> Option<Divergence> {
        if !may_know_recorded(self.viewer, self.is_of_seat()) || !self.source.is_recorded() {
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

    pub(crate) fn records_after(&self, seq: u64) -> Result<Vec<Record>, ReplayError> {
        let mut records = Vec::new();
        self.fold_between(seq, self.source.head, &mut |seen| records.push(seen.record()))?;
        Ok(records)
    }

    /// Appends entries to the history and returns their records, as far as the viewer may know them after the last.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    pub fn play_on(self, entries: &PackedEntries) -> Result<Vec<Record>, ReplayError> {
        let before = self.source.head;
        let mut history = self.source.into_history()?;
        for (added, entry) in (1..).zip(entries.iter()) {
            let recorded_at_ms = Some(entry.recorded_at_ms);
            let entry = LogEntry::new(before + added, entry.seat, entry.command);
            history.entries.push(LogEntry { recorded_at_ms, ..entry });
        }
        Self::of(self.viewer, history)?.records_after(before)
    }

    /// Returns the viewer. For a file for one seat, it is that seat.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        self.viewer
    }

    /// Returns the store that an opened branch is read from, if the viewer is the host.
    #[must_use]
    pub fn store(&self) -> Option<&StoreReader> {
        if self.viewer.sees_all() { self.source.store() } else { None }
    }

    /// Returns the title of the match.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.source.history.title
    }

    /// Returns `true` if the source is a file for one seat, in which nothing is concealed from that seat.
    #[must_use]
    pub fn is_of_seat(&self) -> bool {
        self.source.history.view.is_some()
    }

    /// Returns the ruleset.
    #[must_use]
    pub fn rules(&self) -> &Arc<dyn AnyRules> {
        &self.source.history.rules
    }

    pub(crate) fn dice(&self) -> String {
        if self.source.history.view.is_some_and(|view| view.is_seeded) {
            return "seeded".into();
        }
        self.viewer.dice(&self.source.history.dice)
    }

    /// Returns the setup as TOML for the host; for a player, the view of the first state as JSON.
    ///
    /// # Errors
    /// [`ReplayError::Setup`].
    pub fn setup(&self) -> Result<String, ReplayError> {
        if !self.viewer.sees_all() {
            return Ok(format!("{:#}\n", self.viewer.view(self.start()?.as_ref())));
        }
        let written = self.source.history.rules.write_setup(&self.source.history.setup);
        written.map_err(|cause| ReplayError::Setup(self.name().clone(), cause))
    }

    /// Returns the underlying history. The caller has made sure that the viewer may know all of it.
    ///
    /// # Errors
    /// [`ReplayError`] if entries that are not in memory cannot be read.
    pub fn into_history(self) -> Result<History, ReplayError> {
        self.source.into_history()
    }

    /// Returns the first `count` entries as they are in the log, if this is the host. `what` names the purpose in the
    /// error.
    pub(crate) fn whole(&self, what: &'static str, count: u64) -> Result<History, ReplayError> {
        self.viewer.require_all(what)?;
        self.source.until(count)
    }

    /// Returns the state of a revision, and the viewer. For what a service has for one seat, the viewer is that seat.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be read or folded. A player learns no more from it than that player may
    /// know.
    pub fn seek(
        viewer: Viewer,
        revision: &Revision,
        sources: &dyn Sources,
    ) -> Result<(Viewer, Box<dyn AnyState>), ReplayError> {
        let name = SourceName::Revision(revision.clone());
        let source = HistorySource::open(&read_name(viewer, &name), sources)?;
        // Snapshots lead to the head, and to entries in the numbering of the log.
        if source.history.view.is_none() && (viewer.sees_all() || revision.seq.is_none()) {
            return Ok((viewer, source.state_at(viewer, source.head, None)?));
        }
        // Anything else takes several passes, so the entries are read once.
        let seat_history = Self::at(viewer, source.into_history()?.into(), &name)?;
        Ok((seat_history.viewer, seat_history.state()?))
    }
}

/// Returns the name of what is read for a viewer: the whole history, except for a host, who needs no later entry of a
/// branch.
fn read_name(viewer: Viewer, name: &SourceName) -> SourceName {
    match name {
        SourceName::Revision(_) if viewer.sees_all() => name.clone(),
        _ => name.up_to(None),
    }
}

#[cfg(test)]
mod tests {
    use turnfold_core::Seat;

    use super::*;
    use crate::example::random_play;
    use crate::text::json_line;

    #[test]
    fn from_a_settled_entry_on_a_viewer_knows_what_the_whole_history_shows() {
        let mut concealed = 0;
        for history in random_play(3, 14) {
            let start = history.start().unwrap();
            for seat in start.players().iter().copied().chain([Seat::P8, Seat::Host]) {
                let viewer = Viewer::of(seat);
                let mut settled = 0;
                let mut state = start.fork();
                let mut lines = Vec::new();
                for count in 0..=history.entries.len() {
                    let mut end = history.until(count);
                    end.entries.retain(|entry| entry.seq > settled);
                    lines.truncate(usize::try_from(settled).unwrap());
                    let source = HistorySource::of_end(end, settled);
                    let known = SeatHistory::after(viewer, source, settled, state.as_ref(), &mut |seen| {
                        lines.push(json_line(&seen.record()).unwrap());
                    });
                    let known = known.unwrap();
                    let whole = SeatHistory::of(viewer, history.until(count)).unwrap();
                    let records = whole.records_after(0).unwrap();
                    let expected: Vec<_> = records.iter().map(|record| json_line(record).unwrap()).collect();
                    assert_eq!(lines, expected, "{seat} after {count}");
                    assert_eq!((known.head(), known.settled()), (whole.head(), whole.settled()));
                    concealed += count - lines.len();
                    known.advance(state.as_mut(), settled, known.settled()).unwrap();
                    settled = known.settled();
                }
            }
        }
        assert!(concealed > 0, "nothing was concealed, so that nothing was proven");
    }
}
