//! Steps through a history entry by entry, forward and back.
//!
//! States along the history are kept as they are passed (VW-8), so that a jump costs at most one fold from the nearest.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use serde_json::Value;
use turnfold_core::AnyState;
use turnfold_core::picture::Picture;

use crate::ViewedEntry;
use crate::compare::Difference;
use crate::error::ReplayError;
use crate::search::condition::{Condition, Survey};
use crate::viewer::Viewer;
use crate::viewer::seat_history::SeatHistory;

/// The number of entries of a list that are folded at once.
const BLOCK: u64 = 256;

const BLOCKS_MAX: usize = 16;

/// The most states that are kept (VW-8). Beyond it, every second one is dropped.
const KEPT_MAX: usize = 64;

const STRIDE: u64 = 256;

/// A position in a history, with kept states that make other positions quick to reach.
pub struct Stepper {
    seat_history: SeatHistory,
    /// The viewer of the history. A viewer who may see everything may switch to any other.
    owner: Viewer,
    /// The number of known entries before the state.
    at: u64,
    /// The number of entries of the log before the position. It is kept when the viewer changes.
    entries: u64,
    state: Box<dyn AnyState>,
    /// The state before the last known entry; `None` at the setup.
    before: Option<Box<dyn AnyState>>,
    kept: KeptStates,
    blocks: BTreeMap<u64, Vec<StepperEntry>>,
}

impl Stepper {
    /// Creates a stepper at the setup of a history.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be folded.
    pub fn new(seat_history: SeatHistory) -> Result<Self, ReplayError> {
        let owner = seat_history.viewer();
        let state = seat_history.start()?;
        let kept = KeptStates { states: BTreeMap::from([(0, state.fork())]), stride: STRIDE };
        Ok(Self {
            seat_history,
            owner,
            at: 0,
            entries: 0,
            state,
            before: None,
            kept,
            blocks: BTreeMap::new(),
        })
    }

    /// Returns the number of the current entry in the viewer's numbering; 0 is the setup.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Returns the history, as its viewer knows it.
    #[must_use]
    pub fn history(&self) -> &SeatHistory {
        &self.seat_history
    }

    /// Returns the picture of the state.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.seat_history.viewer().picture(self.state.as_ref())
    }

    /// Returns the picture of the state before the current entry; `None` at the setup.
    #[must_use]
    pub fn picture_before(&self) -> Option<Picture> {
        self.before.as_deref().map(|before| self.seat_history.viewer().picture(before))
    }

    /// Returns the view of the state.
    #[must_use]
    pub fn view(&self) -> Value {
        self.seat_history.viewer().view(self.state.as_ref())
    }

    /// Returns the fields of the view that the current entry changed.
    #[must_use]
    pub fn changes(&self) -> Vec<Difference> {
        match &self.before {
            Some(before) => {
                Difference::between(&self.seat_history.viewer().view(before.as_ref()), &self.view())
            }
            None => Vec::new(),
        }
    }

    /// Goes to entry `to`, or to the last one if there are fewer.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be folded.
    pub fn go(&mut self, to: u64) -> Result<(), ReplayError> {
        let to = to.min(self.seat_history.head());
        self.entries = self.seat_history.in_log(to);
        let Some(before) = to.checked_sub(1) else {
            (self.at, self.state, self.before) = (0, self.state_after(0)?, None);
            return Ok(());
        };
        let before = self.state_after(before)?;
        let mut state = before.fork();
        self.seat_history.advance(state.as_mut(), to - 1, to)?;
        self.kept.keep(to, state.as_ref());
        (self.at, self.state, self.before) = (to, state, Some(before));
        Ok(())
    }

    /// Returns the existing entries with numbers in a range.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be folded.
    pub fn entries(&mut self, range: Range<u64>) -> Result<Vec<StepperEntry>, ReplayError> {
        let range = range.start.max(1)..range.end.min(self.seat_history.head() + 1);
        let mut entries = Vec::new();
        if range.is_empty() {
            return Ok(entries);
        }
        for block in (range.start - 1) / BLOCK..=(range.end - 2) / BLOCK {
            if !self.blocks.contains_key(&block) {
                if self.blocks.len() >= BLOCKS_MAX {
                    self.blocks.clear();
                }
                let from = block * BLOCK;
                let to = (from + BLOCK).min(self.seat_history.head());
                let mut state = self.state_after(from)?;
                let mut shown = Vec::new();
                self.seat_history.pass(state.as_mut(), from, to, &mut |seen| {
                    if !seen.step.concealed() {
                        let contradiction = seen.contradiction();
                        let recorded = contradiction.and_then(|found| Some(found.recorded?.to_string()));
                        shown.push(StepperEntry { seq: seen.seq(), text: text_of(seen), recorded });
                    }
                })?;
                self.kept.keep(to, state.as_ref());
                self.blocks.insert(block, shown);
            }
            for entry in self.blocks.get(&block).into_iter().flatten() {
                if range.contains(&entry.seq) {
                    entries.push(entry.clone());
                }
            }
        }
        Ok(entries)
    }

    /// Finds the next entry whose command or outcome contains a text, ignoring case. The search wraps around at the
    /// end.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be folded.
    pub fn search(&mut self, text: &str, direction: SearchDirection) -> Result<Option<Hit>, ReplayError> {
        let text = text.to_lowercase();
        let at = self.at();
        let end = self.seat_history.head() + 1;
        let parts = match direction {
            SearchDirection::Forward => [at + 1..end, 1..at + 1],
            SearchDirection::Back => [1..at, at.max(1)..end],
        };
        for (index, part) in parts.into_iter().enumerate() {
            let found = self.find(part, direction, &mut |seen, _| {
                seen.is_some_and(|seen| {
                    !seen.step.concealed() && text_of(seen).to_lowercase().contains(&text)
                })
            })?;
            if let Some(seq) = found {
                return Ok(Some(Hit { seq, wrapped: index > 0 }));
            }
        }
        Ok(None)
    }

    /// Finds the next entry that makes a condition true.
    ///
    /// # Errors
    /// [`ReplayError::Condition`] for a condition that makes no sense in any view from here on,
    /// [`ReplayError::NoView`], and [`ReplayError`] if the history cannot be folded.
    pub fn first_true(&mut self, condition: &Condition) -> Result<Option<u64>, ReplayError> {
        let mut survey = Survey::default();
        let mut held = false;
        self.seat_history.viewer().require_view(self.state.as_ref())?;
        let found = self.find(
            self.at() + 1..self.seat_history.head() + 1,
            SearchDirection::Forward,
            &mut |_, field| {
                let holds = condition.ask(field, &mut survey);
                !mem::replace(&mut held, holds) && holds
            },
        )?;
        if found.is_none() {
            survey.check()?;
        }
        Ok(found)
    }

    /// Finds the next entry that changes the field at a path.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be folded.
    pub fn change_of(&mut self, path: &str, direction: SearchDirection) -> Result<Option<u64>, ReplayError> {
        let range = match direction {
            SearchDirection::Forward => self.at() + 1..self.seat_history.head() + 1,
            SearchDirection::Back => 1..self.at(),
        };
        let mut value = None;
        self.find(range, direction, &mut |_, field| {
            let new = field(path);
            mem::replace(&mut value, new.clone()) != new
        })
    }

    /// Returns the first or, searching back, the last entry of a range for which `is_wanted` returns `true`. The range
    /// is folded in parts. Before each part, `is_wanted` gets the fields there, and that answer does not count.
    fn find(
        &mut self,
        range: Range<u64>,
        direction: SearchDirection,
        is_wanted: &mut IsWanted<'_>,
    ) -> Result<Option<u64>, ReplayError> {
        let viewer = self.seat_history.viewer();
        let mut from = range.start.saturating_sub(1);
        let mut to = range.end.saturating_sub(1);
        while from < to {
            let part = match direction {
                SearchDirection::Forward => from..(from + self.kept.stride - from % self.kept.stride).min(to),
                SearchDirection::Back => ((to - 1) - (to - 1) % self.kept.stride).max(from)..to,
            };
            let mut state = self.state_after(part.start)?;
            is_wanted(None, &|path| viewer.field(state.as_ref(), path));
            let mut found = None;
            self.seat_history.pass(state.as_mut(), part.start, part.end, &mut |seen| {
                let is_open = found.is_none() || direction == SearchDirection::Back;
                if is_open && is_wanted(Some(seen), &|path| seen.field(path)) {
                    found = Some(seen.seq());
                }
            })?;
            self.kept.keep(part.end, state.as_ref());
            if found.is_some() {
                return Ok(found);
            }
            match direction {
                SearchDirection::Forward => from = part.end,
                SearchDirection::Back => to = part.start,
            }
        }
        Ok(None)
    }

    /// Returns the viewers to choose from, in order: the host and each player, or a player alone.
    #[must_use]
    pub fn all_viewers(&self) -> Vec<Viewer> {
        let mut viewers = vec![self.owner];
        if self.owner.sees_all() {
            viewers.extend(self.state.players().iter().map(|seat| Viewer::of(*seat)));
        }
        viewers
    }

    /// Returns the same position as another viewer sees it, or the last one before it that they know of.
    ///
    /// # Errors
    /// [`ReplayError::Concealed`] for a viewer that is not in [`all_viewers`](Self::all_viewers), and [`ReplayError`]
    /// if the history cannot be folded.
    pub fn through(self, viewer: Viewer) -> Result<Self, ReplayError> {
        if !self.all_viewers().contains(&viewer) {
            return Err(ReplayError::Concealed { what: "other views show secrets", viewer: self.owner });
        }
        let mut stepper = Self::new(self.seat_history.through(viewer)?)?;
        stepper.owner = self.owner;
        stepper.go(stepper.seat_history.known_within(self.entries))?;
        stepper.entries = self.entries;
        Ok(stepper)
    }

    fn state_after(&mut self, count: u64) -> Result<Box<dyn AnyState>, ReplayError> {
        let (mut at, mut state) = match self.kept.states.range(..=count).next_back() {
            Some((kept, state)) if *kept >= self.at || self.at > count => (*kept, state.fork()),
            _ => (self.at, self.state.fork()),
        };
        while at < count {
            let to = (at + self.kept.stride - at % self.kept.stride).min(count);
            self.seat_history.advance(state.as_mut(), at, to)?;
            at = to;
            self.kept.keep(at, state.as_ref());
        }
        Ok(state)
    }
}

/// Called with an entry, or with none before the first of each part, and with the fields of the view there.
type IsWanted<'a> = dyn FnMut(Option<&ViewedEntry<'_>>, &dyn Fn(&str) -> Option<Value>) -> bool + 'a;

/// States along a history.
struct KeptStates {
    states: BTreeMap<u64, Box<dyn AnyState>>,
    /// The number of entries between two states.
    stride: u64,
}

impl KeptStates {
    fn keep(&mut self, count: u64, state: &dyn AnyState) {
        if !count.is_multiple_of(self.stride) || self.states.contains_key(&count) {
            return;
        }
        self.states.insert(count, state.fork());
        if self.states.len() > KEPT_MAX {
            self.stride *= 2;
            self.states.retain(|kept, _| kept.is_multiple_of(self.stride));
        }
    }
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepperEntry {
    /// The entry's number in the viewer's numbering.
    pub seq: u64,
    /// Seat, command and outcome.
    pub text: String,
    /// What the source records instead, if that differs.
    pub recorded: Option<String>,
}

fn text_of(seen: &ViewedEntry<'_>) -> String {
    format!("{} {} => {}", seen.seat(), seen.command(), seen.outcome())
}

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchDirection {
    /// Towards the end.
    Forward,
    /// Towards the setup.
    Back,
}

/// An entry that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The entry's number in the viewer's numbering.
    pub seq: u64,
    /// Whether the search reached one end of the history and continued at the other.
    pub wrapped: bool,
}
