//! Rulesets that are not built in: modules, one WebAssembly file that holds all of a game (MD-3 to MD-7), and referees,
//! programs in any language that are asked line by line (RF-1 to RF-17).
//!
//! [`load`] gives a module and [`Referees`] a referee as [`AnyRules`](turnfold_core::AnyRules), like any ruleset that is
//! built in. Nothing that either answers is believed before it was checked. One that cannot go on, or that breaks a law,
//! ends the operation with a [`Fault`](turnfold_core::Fault).

#![forbid(unsafe_code)]

mod allowance;
mod answers;
mod carrier;
mod command;
mod fold;
mod folders;
#[cfg(feature = "interpreter")]
mod form;
mod held;
mod hello;
#[cfg(feature = "interpreter")]
mod instance;
mod json;
mod laws;
mod load;
#[cfg(feature = "interpreter")]
mod module;
mod process;
mod recorded;
mod recording;
mod referee;
mod rules;
mod second;
mod setup;
mod state;
mod step;
mod trial;

pub use allowance::within;
pub use folders::{ModuleFile, ModuleFolders, read_module};
pub use load::{LoadError, digest, load};
pub use process::{Launch, Referees, end_all};
pub use recording::{Recording, RecordingBranch};
