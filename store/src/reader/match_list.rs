//! Matches: which there are, one after another.

use std::fmt;

use super::store_reader::StoreReader;
use super::store_report::MatchInfo;
use crate::engine::Each;
use crate::error::StoreError;
use crate::names::MatchName;

impl StoreReader {
    /// Lists the matches by name, all at once; [`matches_after`](StoreReader::matches_after) needs less memory.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] at the first match that cannot be read, or when some are missing.
    pub fn matches(&self) -> Result<Vec<MatchInfo>, StoreError> {
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.matches_after(None)?.collect()
    }

    /// Reads the matches by name, one after another, all or only the matches after a name. Iteration ends with the
    /// first error.
    ///
    /// Only when all are read is it noticed that some are missing; the iterator then ends with the error. A match that
    /// is renamed or deleted at the same time may be among them under either name, or not be.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the store's own record cannot be read; the iterator returns it for a match.
    pub fn matches_after(&self, after: Option<&MatchName>) -> Result<Matches<'_>, StoreError> {
        Ok(Matches(self.engine.matches_after(after)?))
    }
}

/// Matches, as [`StoreReader::matches_after`] reads them.
pub struct Matches<'a>(Each<'a, MatchInfo>);

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
