//! Tests across crates: laws, rules, golden logs, the real binary, crashes, documents and the repository itself.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written that way by their tool")]
#![expect(clippy::too_many_lines, reason = "a transcript is read from start to end, in one place")]

mod script;

mod laws;

mod channel;
mod cycletap;
mod desk;
mod hexcapture;
mod initiative;
mod lifecycle;

#[cfg(feature = "modules")]
mod accord;
mod bundled_modules;
mod cli;
mod client;
mod damage;
mod durable;
mod every_source;
mod formats;
mod frames;
mod fuzz;
mod goldens;
mod layout;
mod mail;
mod main_job;
#[cfg(feature = "modules")]
mod modules;
mod mutants;
mod old_versions;
mod papers;
mod perft;
mod pictures;
mod readme;
mod recorded_module;
#[cfg(feature = "modules")]
mod referees;
mod registry;
mod simulation;
#[cfg(all(unix, feature = "stepper"))] // pseudo-terminals
mod stepper;
mod stores_of_earlier_builds;
#[cfg(unix)] // pseudo-terminals
mod terminal;
mod trust;
mod verify;
mod versions;
