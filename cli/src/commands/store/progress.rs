//! The progress of work on a store, and what a store holds in words.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use turnfold_store::Totals;

use crate::output::counted;
use crate::stderr;

/// A line on stderr that shows what is being done and how far; it disappears when the work ends.
pub(super) struct Progress {
    line: ProgressBar,
}

impl Progress {
    pub(super) fn new(doing: &'static str) -> Self {
        if !stderr::is_terminal() {
            return Self { line: ProgressBar::hidden() };
        }
        let line = ProgressBar::new_spinner().with_prefix(doing);
        let style = ProgressStyle::with_template("{spinner} {prefix}: {msg} ({elapsed})");
        let line = style.map(|style| line.clone().with_style(style)).unwrap_or(line);
        line.enable_steady_tick(Duration::from_millis(200));
        Self { line }
    }

    /// Returns the function that the store calls with its progress.
    pub(super) fn observer(&self) -> impl FnMut(Totals) {
        let line = self.line.clone();
        move |totals| {
            if !line.is_hidden() {
                line.set_message(in_words(totals));
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

/// Writes totals in words.
pub(super) fn in_words(totals: Totals) -> String {
    let Totals { matches, branches, entries } = totals;
    let matches = counted(matches, "match", "matches");
    let branches = counted(branches, "branch", "branches");
    format!("{matches}, {branches}, {}", counted(entries, "entry", "entries"))
}
