//! Shows the progress of work on a store, and writes totals in words.

use std::time::Duration;

use turnfold_store::Totals;

use crate::output::counted;
use crate::stderr;

/// Shows a progress line on stderr until the returned function is dropped. The store calls the function with what is
/// done so far.
pub(super) fn progress(doing: &'static str) -> impl FnMut(Totals) {
    let bar = stderr::progress(0, "{spinner} {prefix}: {msg} ({elapsed})").with_prefix(doing);
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    move |totals| {
        if !bar.is_hidden() {
            bar.set_message(in_words(totals));
        }
    }
}

pub(super) fn in_words(totals: Totals) -> String {
    let Totals { matches, branches, entries } = totals;
    let matches = counted(matches, "match", "matches");
    let branches = counted(branches, "branch", "branches");
    format!("{matches}, {branches}, {}", counted(entries, "entry", "entries"))
}
