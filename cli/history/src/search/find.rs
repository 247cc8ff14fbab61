//! Finding entries: at which a condition becomes true, or of some seat, command, effect or reason.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::error::ReplayError;
use crate::history::record::Record;
use crate::search::condition::{Condition, Survey};
use crate::viewer::seat_history::SeatHistory;
use crate::viewer::viewed_entry::ViewedEntry;

/// What is looked for in a history. An entry is found if it fits all of it.
#[derive(Default)]
pub struct Wanted<'a> {
    /// A condition that the entry makes true.
    pub when: Option<&'a Condition>,
    /// What else the entry must be.
    pub is_wanted: Option<&'a (dyn Fn(&mut ViewedEntry<'_>) -> bool + Sync)>,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundEntry {
    /// Its number as the viewer counts entries; 0 is the setup.
    pub seq: u64,
    /// The entry; the setup is none.
    pub entry: Option<Record>,
}

/// Passes on the entries that are found, in order and none of them held, until `take` breaks off. The setup is found if it
/// makes the condition true and nothing else is asked for.
///
/// # Errors
/// What is wrong with the history, also behind the entry at which `take` broke off. That a condition makes no sense in the
/// views is no error here, but what `survey` shows.
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
