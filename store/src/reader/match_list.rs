//! Lists matches.

use std::fmt;

use super::store_reader::StoreReader;
use super::store_report::MatchInfo;
use crate::engine::Results;
use crate::error::StoreError;
use crate::names::MatchName;

impl StoreReader {
    /// Lists all matches by name. [`matches_after`](StoreReader::matches_after) needs less memory.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] for the first match that cannot be read, or if matches are missing.
    pub fn matches(&self) -> Result<Vec<MatchInfo>, StoreError> {
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.matches_after(None)?.collect()
    }

    /// Reads matches one after another by name; if `after` is given, only those after that name. Iteration ends with
    /// the first error.
    ///
    /// Missing matches are noticed only when all matches are read; the error is then the last item. A match that is
    /// renamed or deleted during the iteration may appear under either name, or not at all.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] if the store's own record cannot be read. The iterator returns it for a match
    /// that cannot be read.
    pub fn matches_after(&self, after: Option<&MatchName>) -> Result<Matches<'_>, StoreError> {
        Ok(Matches(self.engine.matches_after(after)?))
    }
}

/// An iterator over matches, which [`StoreReader::matches_after`] returns.
pub struct Matches<'a>(Results<'a, MatchInfo>);

impl Iterator for Matches<'_> {
    type Item = Result<MatchInfo, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl fmt::Debug for Matches<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Matches").finish_non_exhaustive()
    }
}
