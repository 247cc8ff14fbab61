//! Finds entries that make a condition true, or that have some seat, command, effect or reason.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::error::ReplayError;
use crate::history::record::Record;
use crate::search::condition::{Condition, Survey};
use crate::viewer::seat_history::SeatHistory;
use crate::viewer::viewed_entry::ViewedEntry;

/// The criteria of a search. An entry must meet all of them.
#[derive(Default)]
pub struct Wanted<'a> {
    /// The condition that the entry must make true.
    pub when: Option<&'a Condition>,
    /// The test that the entry must pass.
    pub is_wanted: Option<&'a (dyn Fn(&mut ViewedEntry<'_>) -> bool + Sync)>,
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
    wanted: &Wanted<'_>,
    survey: &mut Survey,
    take: &mut dyn FnMut(FoundEntry) -> ControlFlow<()>,
) -> Result<(), ReplayError> {
    let Wanted { when, is_wanted } = wanted;
    let start = seat_history.start()?;
    if when.is_some() {
        seat_history.viewer().require_view(start.as_ref())?;
    }
    let mut held =
        when.is_some_and(|condition| condition.ask(&|path| seat_history.field(start.as_ref(), path), survey));
    let mut search = ControlFlow::Continue(());
    if held && is_wanted.is_none() {
        search = take(FoundEntry { seq: 0, entry: None });
    }
    seat_history.fold(&mut |seen| {
        if search.is_break() {
            return;
        }
        let becomes_true = when.is_none_or(|condition| {
            let held_before = held;
            held = condition.ask(&|path| seen.field(path), survey);
            held && !held_before
        });
        if becomes_true && is_wanted.is_none_or(|is_wanted| is_wanted(seen)) {
            search = take(FoundEntry { seq: seen.seq(), entry: Some(seen.record()) });
        }
    })?;
    Ok(())
}
