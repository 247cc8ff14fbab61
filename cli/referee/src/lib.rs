//! Rulesets that are not built in: modules, one WebAssembly file that holds all of a game (MD-3 to MD-7), and referees,
//! programs in any language that are asked line by line (RF-1 to RF-17).
//!
//! [`load`] gives a module and [`Referees`] a referee as [`AnyRules`](turnfold_core::AnyRules), like any ruleset that is
//! built in. Nothing that either answers is believed before it was checked. One that cannot go on, or that breaks a law,
//! ends the operation with a [`Fault`](turnfold_core::Fault).

#![forbid(unsafe_code)]

mod allowance;
#[cfg(feature = "interpreter")]
mod answers;
#[cfg(feature = "interpreter")]
mod carrier;
#[cfg(feature = "interpreter")]
mod command;
mod file;
#[cfg(feature = "interpreter")]
mod fold;
mod folders;
#[cfg(feature = "interpreter")]
mod form;
#[cfg(feature = "interpreter")]
mod held;
#[cfg(feature = "interpreter")]
mod hello;
#[cfg(feature = "interpreter")]
mod instance;
#[cfg(feature = "interpreter")]
mod json;
#[cfg(feature = "interpreter")]
mod laws;
mod load;
#[cfg(feature = "interpreter")]
mod module;
#[cfg(feature = "interpreter")]
mod process;
#[cfg(feature = "interpreter")]
mod recorded;
#[cfg(feature = "interpreter")]
mod recording;
#[cfg(feature = "interpreter")]
mod referee;
#[cfg(feature = "interpreter")]
mod rules;
#[cfg(feature = "interpreter")]
mod second;
#[cfg(feature = "interpreter")]
mod setup;
#[cfg(feature = "interpreter")]
mod state;
#[cfg(feature = "interpreter")]
mod step;
#[cfg(feature = "interpreter")]
mod trial;

pub use allowance::within;
pub use file::{LoadError, digest};
pub use folders::{ModuleFile, ModuleFolders, read_module};
pub use load::load;
#[cfg(feature = "interpreter")]
pub use process::{Launch, Referees, end_all};
#[cfg(feature = "interpreter")]
pub use recording::{Recording, RecordingBranch};
