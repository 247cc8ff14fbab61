//! Histories of any length as a viewer may know them, read and folded a run of entries at a time.

use turnfold_core::{Seat, Step};
use turnfold_store::StoreReader;

use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
use crate::history::Sources;
use crate::history::entry::{LogEntry, logged};
use crate::history::position::Tail;
use crate::history::revision::SourceName;
use crate::history::source::HistorySource;
use crate::viewer::Viewer;
use crate::viewer::viewed_entry::{ViewedEntry, may_know_recorded};

/// A history as one viewer knows it, like [`SeatHistory`](super::SeatHistory), with only a run of entries in memory.
/// Piped input is kept whole, because it can be read only once.
pub struct LongHistory {
    viewer: Viewer,
    source: HistorySource,
}

impl LongHistory {
    /// Opens a revision or a replay file. The number in `name` counts entries as the viewer does. A file for one seat
    /// is viewed as that seat.
    ///
    /// # Errors
    /// [`ReplayError`] if the source cannot be read, and [`ReplayError::NotOfSeat`]. Errors in its entries may show
    /// only when they are folded.
    pub fn open(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let source = HistorySource::open(name, sources)?;
        Ok(Self { viewer: viewer.narrowed(source.view)?, source })
    }

    /// Returns the store that a branch is read from, if the viewer is the host.
    #[must_use]
    pub fn store(&self) -> Option<&StoreReader> {
        if self.viewer.sees_all() { self.source.store() } else { None }
    }

    /// Returns `true` if the source is a file for one seat, in which nothing is concealed from that seat.
    #[must_use]
    pub fn is_of_seat(&self) -> bool {
        self.source.view.is_some()
    }

    /// Returns the first entry that a file records otherwise than the rules compute it. Compares as
    /// [`SeatHistory::contradiction`](super::SeatHistory::contradiction) does; a branch records nothing to compare.
    #[must_use]
    pub fn contradiction(&self) -> Option<Divergence> {
        if self.source.store().is_some() || !may_know_recorded(self.viewer, self.is_of_seat()) {
            return None;
        }
        let mut found = None;
        let head = self.source.head;
        let compare = &mut |seen: &mut ViewedEntry<'_>| {
            if found.is_none() {
                found = seen.contradiction_of(seen.seq == head && seen.viewer.sees_all());
            }
        };
        // The verb that shows the history reports why it cannot be folded.
        let _ = self.show(Tail { count: u64::MAX, first: 1 }, None, compare);
        found
    }

    /// Returns the players of the match.
    ///
    /// # Errors
    /// [`ReplayError::Setup`] if the rules refuse the setup.
    pub fn players(&self) -> Result<Vec<Seat>, ReplayError> {
        Ok(self.source.start()?.players().to_vec())
    }

    /// Passes the last entries that the viewer may know of to `observe`. It can be called again.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be read or folded, after the entries before the error were passed to a
    /// host. A player learns no more from it than that player may know.
    pub fn show_last(
        &self,
        tail: Tail,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        self.show(tail, self.source.name.seq(), observe)
    }

    /// Shows the last entries up to entry `to`, in the viewer's numbering, or up to the last of all.
    fn show(
        &self,
        tail: Tail,
        to: Option<u64>,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        if self.viewer.sees_all() {
            self.show_to_host(tail, to, observe)
        } else {
            self.show_to_player(tail, to, observe)
        }
    }

    fn show_to_host(
        &self,
        tail: Tail,
        to: Option<u64>,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        let source = &self.source;
        let to = to.unwrap_or(source.head);
        // The store itself reports a branch that is too short.
        if source.store().is_none() {
            self.require(to, source.head)?;
        }
        let passed = tail.before(&source.name, to)?;
        let viewer = self.viewer;
        let (at, mut state) = source.nearest_state(passed)?;
        source.each_run(at, to, &mut |run| {
            let folded = viewer.fold_entries(state.as_mut(), run, &source.dice, &mut |entry, step| {
                if entry.seq > passed {
                    observe(&mut ViewedEntry { viewer, seq: entry.seq, step, entry, is_own: false });
                }
            });
            folded.map_err(|cause| viewer.broken_entry(&source.name, cause))
        })
    }

    /// Shows entries as a player may know them. What is known is decided at the end of the whole history first, for the
    /// numbers, and then at the position.
    fn show_to_player(
        &self,
        tail: Tail,
        to: Option<u64>,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        let mut last = self.source.head;
        let mut end = self.state_bytes(last)?;
        let mut known = Vec::new();
        self.fold_as_at(&end, last, &mut |entry, step| {
            if !step.concealed() {
                known.push(entry.seq);
            }
        })?;
        if let Some(seq) = to {
            self.require(seq, known.len() as u64)?;
            known.truncate(usize::try_from(seq).unwrap_or(usize::MAX));
            last = known.last().copied().unwrap_or(0);
            end = self.state_bytes(last)?;
        }
        let passed = tail.before(&self.source.name, known.len() as u64)?;
        let mut known = (1..).zip(known).peekable();
        self.fold_as_at(&end, last, &mut |entry, step| {
            let Some((seq, _)) = known.next_if(|(_, known)| *known == entry.seq) else { return };
            if seq > passed && !step.concealed() {
                let is_own = self.is_of_seat();
                observe(&mut ViewedEntry { viewer: self.viewer, seq, step, entry, is_own });
            }
        })
    }

    /// Folds entries up to `to` and shows what the viewer may know of them in the later state of these bytes.
    fn fold_as_at(
        &self,
        later: &[u8],
        to: u64,
        observe: &mut dyn FnMut(&LogEntry, &mut dyn Step),
    ) -> Result<(), ReplayError> {
        let mut state = self.source.start()?;
        self.source.each_run(0, to, &mut |run| {
            let mut rest = run.iter();
            let observe = &mut |step: &mut dyn Step| {
                if let Some(entry) = rest.next() {
                    observe(entry, step);
                }
            };
            let viewer = self.viewer.perspective();
            let folded = state.fold_as_at(viewer, later, &logged(run), &self.source.dice, observe);
            folded.map_err(|cause| self.viewer.broken_entry(&self.source.name, cause))
        })
    }

    /// Returns the bytes of the state after an entry.
    fn state_bytes(&self, seq: u64) -> Result<Vec<u8>, ReplayError> {
        let (at, mut state) = self.source.nearest_state(seq)?;
        self.source.each_run(at, seq, &mut |run| {
            let folded = state.fold(&logged(run), &self.source.dice, &mut |_| {});
            folded.map_err(|cause| self.viewer.broken_entry(&self.source.name, cause))
        })?;
        Ok(state.state_bytes())
    }

    /// Requires that entry `seq` is not after `head`.
    fn require(&self, seq: u64, head: u64) -> Result<(), ReplayError> {
        if seq <= head {
            return Ok(());
        }
        Err(ReplayError::NoEntry { history: self.source.name.up_to(None), seq, head })
    }
}
