//! The audit of a whole store that asks no rules, and how much a store holds.

use super::report::{StoreCheck, StoreStats};
use super::store_reader::StoreReader;
use crate::backup::part::Totals;
use crate::error::StoreError;

impl StoreReader {
    /// Audits everything stored, but asks no rules: every record, the numbering and chain of every branch, the index
    /// of idempotency keys, every grant, how many matches, branches and entries there are, and that no record belongs to
    /// nothing.
    ///
    /// On disk every commit of the journal is read too, and what is kept of them is compared. `observe` receives the
    /// progress.
    ///
    /// # Errors
    /// Trouble with reading that is not damage; damage is listed.
    pub fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        // Were something deleted meanwhile, its records would seem to be missing or to belong to nothing.
        let (_matches, _branches) = (self.engine.hold_matches(), self.engine.hold_branches());
        self.engine.check(observe)
    }

    /// Counts what is stored, one match after another, and returns the `top` largest matches.
    ///
    /// # Errors
    /// Any error of reading; entries are counted but their chain is not checked.
    pub fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        let (_matches, _branches) = (self.engine.hold_matches(), self.engine.hold_branches());
        self.engine.stats(top, observe)
    }
}
