//! Comparisons: of what a source records with what the rules compute, and of one history with another.

pub(crate) mod diff;
pub(crate) mod difference;
pub(crate) mod divergence;
mod impact;
mod migration;
pub(crate) mod outcomes;

pub use diff::{Comparison, DiffStat, Ignored, Side, StatesPart, compare, records_of};
pub use difference::{Difference, view_of};
pub use divergence::{Claim, Divergence, DivergenceKind, Subject};
pub use impact::{FirstDifference, RecordedLog};
pub use migration::MigratedMatch;
pub use outcomes::changed_claims;
