//! Rulesets that are not built in. A module is one WebAssembly file that contains a whole game (MD-3 to MD-7). A
//! referee is a program in any language that answers requests line by line (RF-1 to RF-17).
//!
//! [`load`] returns a module and [`Referees`] a referee as [`AnyRules`](turnfold_core::AnyRules), like a built-in
//! ruleset. All answers are checked before use. A module or referee that cannot continue or breaks a law ends the
//! operation with a [`Fault`](turnfold_core::Fault).

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

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use allowance::within;
pub use folders::{ModuleFile, ModuleFolders, read_module};
pub use load::{LoadError, digest, load};
pub use process::{Launch, Referees, end_all};
pub use recording::{Recording, RecordingBranch};

/// Locks a value. It is whole even if a thread panicked, because each change under a lock is one step.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
