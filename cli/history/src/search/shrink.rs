//! Shrinks a log to the smallest one that still shows something.
//!
//! Delta debugging after A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
//! Transactions on Software Engineering 28(2), 2002. Parts of the log are left out, large ones first. If the rest still
//! shows it, the rest replaces the log. The parts are rounds, then turns, then single entries; last, the arguments that
//! remain are made simpler. All of this repeats until nothing more can be left out or made simpler. So the result is
//! 1-minimal: every entry is needed. In a short log, no two entries can be left out either.
//!
//! When a part is left out, the rest is folded again, and entries that the rules now reject go too. Rolls keep their
//! values. If these are still the values of the seed, the dice stay seeded; otherwise the rolls become recorded ones.

mod arguments;
mod failing;
mod goal;
mod kept;
mod parts;
mod search;
mod shrinker;

pub use failing::shrink_failing;
pub use search::{Least, Shrinking, shrink};

#[cfg(test)]
mod tests;
