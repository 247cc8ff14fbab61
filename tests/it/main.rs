//! Tests that cross crates: laws, rules, golden logs, the real binary, crashes, documents and the house itself.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written that way by their tool")]
#![expect(clippy::too_many_lines, reason = "a transcript is read from start to end, in one place")]

mod sandbox;
mod script;

mod laws;

mod channel;
mod cycletap;
mod desk;
mod hexcapture;
mod initiative;
mod lifecycle;

mod cli;
mod crash;
mod damage;
mod durable;
mod example;
#[cfg(target_os = "linux")] // strace
mod faults;
#[cfg(unix)]
mod fleet;
mod formats;
mod frames;
mod fuzz;
mod goldens;
mod layout;
mod mail;
mod main_job;
mod mutants;
#[cfg(unix)] // a browser
mod page;
mod papers;
mod perft;
mod pictures;
mod platforms;
mod readme;
mod registry;
mod rescue;
mod serve;
mod simulation;
#[cfg(unix)] // pseudo-terminals
mod stepper;
mod stores_of_earlier_builds;
#[cfg(unix)] // pseudo-terminals
mod terminal;
mod trust;
mod unfinished_files;
mod verify;
mod versions;
