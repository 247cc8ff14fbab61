//! How far a long work on a store is, where someone watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use turnfold_store::Totals;

use super::totals::told;
use crate::output;

/// A line on stderr that tells what is being done and how far; it goes when the work ends.
pub(super) struct Progress {
    line: ProgressBar,
}

impl Progress {
    pub(super) fn new(doing: &'static str) -> Self {
        if !output::stderr_is_terminal() {
            return Self { line: ProgressBar::hidden() };
        }
        let line = ProgressBar::new_spinner().with_prefix(doing);
        let style = ProgressStyle::with_template("{spinner} {prefix}: {msg} ({elapsed})");
        let line = style.map(|style| line.clone().with_style(style)).unwrap_or(line);
        line.enable_steady_tick(Duration::from_millis(200));
        Self { line }
    }

    /// Returns what the store tells how far it is.
    pub(super) fn observer(&self) -> impl FnMut(Totals) {
        let line = self.line.clone();
        move |totals| {
            if !line.is_hidden() {
                line.set_message(told(totals));
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}
