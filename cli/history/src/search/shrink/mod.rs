//! Shrinking: the smallest log that still shows something.
//!
//! Delta debugging after A. Zeller and R. Hildebrandt, "Simplifying and Isolating ReplayError-Inducing Input", IEEE
//! Transactions on Software Engineering 28(2), 2002: parts of the log are left out, large ones first, and what still
//! shows the thing goes on without them. The parts are rounds, then turns, then single entries; at last the arguments of
//! what remains are made simpler. All of it is repeated until nothing more can be left out or made simpler, so that the
//! result is 1-minimal: every entry of it is needed. Of a short log, no two entries can be left out either.
//!
//! Whatever is left out, the rest is folded again, and entries that the rules no longer accept go too. Rolls keep the
//! values that they had. Where those are still the values of the seed, the dice stay seeded; where a roll went too, the
//! others stand as recorded.

mod arguments;
mod failing;
mod goal;
mod kept;
mod parts;
mod search;
mod shrinker;

pub use failing::shrink_failing;
pub use search::{Least, Progress, Shrinking, shrink};

#[cfg(test)]
mod tests;
