//! Proofs of matches for people who trust neither the host nor this program.
//!
//! [`signing`] has keys, their memory and checkpoints of branches. [`bundle`] writes matches and checkpoints into one file and
//! imports them. [`audit`] reads a bundle or a store once and computes the eight rows, to which a caller may add what it
//! knows about some matches, such as their desks.

pub mod audit;
pub mod bundle;
mod error;
mod limits;
pub mod signing;

pub use error::ProofError;
pub use limits::NOTE as NOTE_LIMITS;
