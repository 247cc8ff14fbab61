//! The totals of a store in words.

use turnfold_store::Totals;

use crate::output::counted;

/// Writes totals in words.
pub(super) fn told(totals: Totals) -> String {
    let Totals { matches, branches, entries } = totals;
    let matches = counted(matches, "match", "matches");
    let branches = counted(branches, "branch", "branches");
    format!("{matches}, {branches}, {}", counted(entries, "entry", "entries"))
}
