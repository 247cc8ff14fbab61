//! Comparisons: of what a source records with what the rules compute, and of one history with another.

mod diff;
mod difference;
pub(crate) mod divergence;
mod impact;
mod migration;
mod port;

pub use diff::{Comparison, DiffStat, Side, StatesPart, compare};
pub use difference::Difference;
pub use divergence::{Claim, Divergence, DivergenceKind, Subject};
pub use impact::{FirstDifference, RecordedLog};
pub use migration::MigratedMatch;
