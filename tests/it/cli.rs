//! The real binary, verb by verb, with stdout, stderr and exit codes in one transcript.

use turnfold_tests::sandbox::Sandbox;

mod amend;
mod bisect;
mod blame;
mod bless;
#[cfg(unix)] // pseudo-terminals
mod bless_on_terminal;
mod branch;
mod bundles;
mod check;
mod concealment;
mod corpus;
mod diff;
mod doctor;
mod documents;
mod export;
mod export_as_seat;
mod fair;
mod find;
mod groups;
mod header;
mod help;
mod hints;
#[cfg(unix)] // pipes, devices and limits of memory
mod hostile;
mod impact;
mod json;
mod links;
mod locked;
mod log;
mod long_logs;
mod matches;
mod narrow;
mod new;
mod page;
#[cfg(unix)] // pseudo-terminals
mod pager;
mod perft;
mod play;
mod recorded;
mod reload;
mod rename;
mod replay;
mod rules;
mod script;
mod serve;
mod setups;
mod several;
mod show;
mod shrink;
mod simulate;
mod snapshots;
mod sources;
mod store;
mod table;
#[cfg(feature = "modules")]
mod tour;
mod unread;
#[cfg(unix)] // pipes, links and devices
mod unusual_files;
mod verify;
#[cfg(unix)] // signals
mod watch;

/// Returns a sandbox whose store contains the match `duel`, with a roll and one moved unit.
pub(crate) fn duel() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\" confirm \"move 0,1\"");
    sandbox
}
