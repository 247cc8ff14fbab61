//! One log folded by the rules of this build.

use turnfold_core::AnyRules;
use turnfold_replay::{FirstDifference, RecordedLog};

use crate::failure::Failure;

/// The result for one log.
pub(super) struct Finding {
    /// The file, or the branch.
    pub(super) name: String,
    /// Its ruleset and the version it was recorded under, where they are known.
    pub(super) recorded: Option<(&'static dyn AnyRules, u32)>,
    pub(super) entries: u64,
    /// The first difference, or why it cannot be computed.
    pub(super) departure: Result<Option<FirstDifference>, Failure>,
}

impl Finding {
    pub(super) fn unreadable(name: String, failure: Failure) -> Self {
        Self { name, recorded: None, entries: 0, departure: Err(failure) }
    }

    pub(super) fn of(log: RecordedLog) -> Self {
        let recorded = Some((log.rules, log.version));
        Self {
            entries: log.entries(),
            recorded,
            departure: log.departure().map_err(Failure::from),
            name: log.name,
        }
    }
}
