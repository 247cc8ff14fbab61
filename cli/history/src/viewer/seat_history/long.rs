//! Histories of any length as a viewer may know them: they are read and folded a run of entries at a time.

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

/// A history as one viewer knows it, like [`SeatHistory`](super::SeatHistory), that holds few entries at a time. What is
/// piped in is held whole, as it can be read only once.
pub struct LongHistory {
    viewer: Viewer,
    source: HistorySource,
}

impl LongHistory {
    /// Opens a revision or a replay file; the number of its last entry counts the entries of the viewer. A file for one
    /// seat is viewed as that seat.
    ///
    /// # Errors
    /// What is wrong with the source. What is wrong with its entries may show only once they are folded.
    pub fn open(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let source = HistorySource::open(name, sources)?;
        Ok(Self { viewer: viewer.narrowed(source.view)?, source })
    }

    /// Returns the store that it is read from, for the host.
    #[must_use]
    pub fn store(&self) -> Option<&StoreReader> {
        if self.viewer.see_all() { self.source.store() } else { None }
    }

    /// Returns `true` if the source contains only what the viewing seat may know.
    #[must_use]
    pub fn is_of_seat(&self) -> bool {
        self.source.view.is_some()
    }

    /// Returns the first entry that a file records otherwise than the rules compute it, as
    /// [`SeatHistory::contradiction`](super::SeatHistory::contradiction) does.
    #[must_use]
    pub fn contradiction(&self) -> Option<Divergence> {
        if self.source.store().is_some() || !may_know_recorded(self.viewer, self.is_of_seat()) {
            return None;
        }
        let mut found = None;
        let head = self.source.head;
        let compare = &mut |seen: &mut ViewedEntry<'_>| {
            if found.is_none() {
                found = seen.contradiction_of(seen.seq == head && seen.viewer.see_all());
            }
        };
        // What cannot be folded is named by the verb that shows it.
        let _ = self.show(Tail { count: u64::MAX, first: 1 }, None, compare);
        found
    }

    /// Returns the players of the match.
    ///
    /// # Errors
    /// What is wrong with its setup.
    pub fn players(&self) -> Result<Vec<Seat>, ReplayError> {
        Ok(self.source.start()?.players().to_vec())
    }

    /// Shows the last entries that the viewer may know of. It can be called again.
    ///
    /// # Errors
    /// What is wrong with the history; the host has been shown the entries before the error. A player learns no more than
    /// it may know.
    pub fn show_last(
        &self,
        tail: Tail,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        self.show(tail, self.source.name.seq(), observe)
    }

    /// Shows the last entries up to one, as the viewer counts, or of all.
    fn show(
        &self,
        tail: Tail,
        to: Option<u64>,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        if self.viewer.see_all() {
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
        // A store names the branch that is too short by itself.
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

    /// Shows entries as a player may know of them. What it may know is decided at the end of the whole history first, and
    /// then at the position.
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

    /// Folds entries and shows what the viewer may know of them once the match has come to a later state.
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

    /// Requires that there is an entry, unless it is 0.
    fn require(&self, seq: u64, head: u64) -> Result<(), ReplayError> {
        if seq <= head {
            return Ok(());
        }
        Err(ReplayError::NoEntry { history: self.source.name.up_to(None), seq, head })
    }
}
