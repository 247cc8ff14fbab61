//! Finds entries that make a condition true, or that have some seat, command, effect or reason.

use std::ops::ControlFlow;

pub use glob::Pattern;
use serde::Serialize;
use turnfold_core::{Outcome, Seat};

use crate::ViewedEntry;
use crate::error::ReplayError;
use crate::history::entry::Record;
use crate::search::condition::{Condition, Survey};
use crate::text::first_word;
use crate::viewer::seat_history::SeatHistory;

/// The criteria of a search. An entry must meet all of them.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The condition that the entry must make true.
    pub when: Option<Condition>,
    /// A pattern that its command must match.
    pub command: Option<Pattern>,
    /// The name of an effect that it must have.
    pub effect: Option<String>,
    /// The reason for which it must be ignored.
    pub reason: Option<String>,
    /// The seat that must have given it.
    pub seat: Option<Seat>,
    /// Whether the outcome is the recorded one. Without effect and reason, it must then differ from the computed one.
    pub recorded: bool,
    /// The entry after which the search begins; `None` to begin with the setup.
    pub after: Option<u64>,
}

impl Wanted {
    fn selects(&self) -> bool {
        self.command.is_some()
            || self.effect.is_some()
            || self.reason.is_some()
            || self.seat.is_some()
            || self.recorded
    }

    fn fits(&self, seen: &mut ViewedEntry<'_>) -> bool {
        if self.after.is_some_and(|after| seen.seq() <= after)
            || self.seat.is_some_and(|seat| seat != seen.seat())
            || self.command.as_ref().is_some_and(|pattern| !pattern.matches(&seen.command()))
        {
            return false;
        }
        if self.effect.is_none() && self.reason.is_none() {
            return !self.recorded || seen.contradiction().is_some();
        }
        if !self.recorded {
            return self.fits_outcome(&seen.outcome());
        }
        seen.recorded_outcome().is_some_and(|outcome| self.fits_outcome(outcome))
    }

    fn fits_outcome(&self, outcome: &Outcome) -> bool {
        if let Some(name) = &self.effect
            && !outcome.effects().any(|effect| first_word(effect) == name)
        {
            return false;
        }
        self.reason.is_none() || self.reason.as_deref() == outcome.code()
    }
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundEntry {
    /// The entry's number in the viewer's numbering; 0 is the setup.
    pub seq: u64,
    /// The entry's record; `None` for the setup.
    pub entry: Option<Record>,
}

/// Passes each entry found to `take`, in order, until `take` breaks off; none is kept in memory. The setup is found if
/// it makes the condition true and there is no other criterion.
///
/// # Errors
/// [`ReplayError`] for a viewer without a view, and if the history cannot be folded, even after the entry at which
/// `take` broke off. A condition that makes no sense in the views is no error here: the caller checks `survey`.
pub fn find(
    seat_history: &SeatHistory,
    wanted: &Wanted,
    survey: &mut Survey,
    take: &mut dyn FnMut(FoundEntry) -> ControlFlow<()>,
) -> Result<(), ReplayError> {
    let when = wanted.when.as_ref();
    let start = seat_history.start()?;
    if when.is_some() {
        seat_history.viewer().require_view(start.as_ref())?;
    }
    let mut held = false;
    if let Some(condition) = when {
        held = condition.ask(&|path| seat_history.viewer().field(start.as_ref(), path), survey);
    }
    let mut search = ControlFlow::Continue(());
    if held && !wanted.selects() && wanted.after.is_none() {
        search = take(FoundEntry { seq: 0, entry: None });
    }
    seat_history.fold(&mut |seen| {
        if search.is_break() {
            return;
        }
        let mut becomes_true = true;
        if let Some(condition) = when {
            let holds = condition.ask(&|path| seen.field(path), survey);
            becomes_true = holds && !held;
            held = holds;
        }
        if becomes_true && wanted.fits(seen) {
            search = take(FoundEntry { seq: seen.seq(), entry: Some(seen.record()) });
        }
    })?;
    Ok(())
}
