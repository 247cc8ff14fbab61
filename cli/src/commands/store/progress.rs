//! The progress of work on a store, and what a store holds in words.

use std::time::Duration;

use turnfold_store::Totals;

use crate::output::counted;
use crate::stderr;

/// Shows on stderr what is done to a store and how far, until it is dropped. The store calls it with what is done.
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
