//! Comparisons: of what a source records with what the rules compute, and of one history with another.

pub mod diff;
pub mod difference;
pub mod divergence;
pub mod impact;
pub mod migration;
pub mod outcomes;
