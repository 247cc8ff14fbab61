//! `turnfold store`: checks, backs up and restores a store.

mod backup;
mod check;
mod database;
mod doctor;
mod heads;
mod restore;
mod salvage;
mod size;

use std::time::Duration;

use turnfold_store::Totals;

use crate::output::counted;
use crate::stderr;

verbs! {
    /// Check, back up, restore, salvage, compact and measure a store
    #[command(after_help = "Example: turnfold store check")]
    StoreCommand {
        Check(check::Args) => check::run,
        Backup(backup::Args) => backup::run,
        Restore(restore::Args) => restore::run,
        Salvage(salvage::Args) => salvage::run,
        Compact(size::CompactArgs) => size::compact,
        Upgrade(database::UpgradeArgs) => database::upgrade,
        Spread(database::SpreadArgs) => database::spread,
        Size(size::Args) => size::run,
        Heads(heads::Args) => heads::run,
        Doctor(doctor::Args) => doctor::run,
    }
}

/// Shows a progress line on stderr until the returned function is dropped. The store calls the function with what is
/// done so far.
fn progress(doing: &'static str) -> impl FnMut(Totals) {
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

fn in_words(totals: Totals) -> String {
    let Totals { matches, branches, entries } = totals;
    let matches = counted(matches, "match", "matches");
    let branches = counted(branches, "branch", "branches");
    format!("{matches}, {branches}, {}", counted(entries, "entry", "entries"))
}
