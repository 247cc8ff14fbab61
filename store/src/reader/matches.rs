//! Matches: which there are, one after another.

use std::fmt;

use super::found::{FoundMatch, match_name_in};
use super::line::Line;
use super::records::Records;
use super::scan::Scan;
use super::store_reader::StoreReader;
use crate::entry::{Genesis, Seq};
use crate::error::StoreError;
use crate::layout::key;
use crate::names::{BranchName, MatchName};

/// What [`StoreReader::matches`] says of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchInfo {
    /// Its name.
    pub name: MatchName,
    /// How it begins.
    pub genesis: Genesis,
    /// The number of the last entry of `main`.
    pub head: Seq,
    /// How many branches it has, `main` among them.
    pub branches: u64,
}

impl StoreReader {
    /// Lists the matches by name, all at once; [`matches_after`](StoreReader::matches_after) needs less memory.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] at the first match that cannot be read, or when some are missing.
    pub fn matches(&self) -> Result<Vec<MatchInfo>, StoreError> {
        let (_matches, _branches) = (self.records.hold_matches(), self.records.hold_branches());
        self.matches_after(None)?.collect()
    }

    /// Reads the matches by name, one after another, those that come after a name or all. Iteration ends with the
    /// first error.
    ///
    /// Only when all are read is it noticed that some are missing; the iterator then ends with the error. A match that
    /// is renamed or deleted meanwhile may be among them under either name, or not be.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the store's own record cannot be read; the iterator returns it for a match.
    pub fn matches_after(&self, after: Option<&MatchName>) -> Result<Matches<'_>, StoreError> {
        Ok(Matches { records: &self.records, found: self.records.found_matches(after)? })
    }
}

/// Matches, as [`StoreReader::matches_after`] reads them.
pub struct Matches<'a> {
    records: &'a Records,
    found: FoundMatches<'a>,
}

impl Iterator for Matches<'_> {
    type Item = Result<MatchInfo, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let info = match self.found.next()? {
                Ok(found) => match self.records.match_info(&found) {
                    // It was deleted while we looked.
                    Err(_) if self.records.is_gone(&found.name) => continue,
                    info => info,
                },
                Err(error) => Err(error),
            };
            self.found.is_ended |= info.is_err();
            return Some(info);
        }
    }
}

impl fmt::Debug for Matches<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Matches").finish_non_exhaustive()
    }
}

/// The records of matches by name.
pub(crate) struct FoundMatches<'a> {
    records: &'a Records,
    scan: Scan<'a>,
    /// How many there were at the beginning, and the id from which on they are newer; nothing when some are left out.
    expected: Option<(u64, u64)>,
    found: u64,
    is_ended: bool,
}

impl FoundMatches<'_> {
    fn step(&mut self) -> Option<Result<FoundMatch, StoreError>> {
        let Some(record) = self.scan.next() else {
            self.expected.filter(|(expected, _)| *expected != self.found)?;
            // One may have been renamed or deleted meanwhile; then there are as many as there should be.
            return self.records.require_all_matches().err().map(Err);
        };
        let read = record.and_then(|(key, value)| FoundMatch::read(match_name_in(&key)?, &key, &value));
        if let (Ok(found), Some((_, next_id))) = (&read, self.expected) {
            self.found += u64::from(found.id < next_id);
        }
        Some(read)
    }
}

impl Iterator for FoundMatches<'_> {
    type Item = Result<FoundMatch, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended {
            return None;
        }
        let next = self.step();
        self.is_ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Records {
    /// Reads the records of matches by name; when all are read, their number is right or the last thing is an error.
    pub(crate) fn found_matches(&self, after: Option<&MatchName>) -> Result<FoundMatches<'_>, StoreError> {
        let record = self.store_record()?;
        let mut range = key::all_matches();
        if let Some(after) = after {
            range.start = [key::of_match(after).as_slice(), &[0]].concat();
        }
        let expected = after.is_none().then_some((record.matches, record.next_id));
        Ok(FoundMatches { records: self, scan: self.scan(range), expected, found: 0, is_ended: false })
    }

    fn is_gone(&self, name: &MatchName) -> bool {
        matches!(self.find_match(name), Err(StoreError::NoSuchMatch { .. }))
    }

    fn match_info(&self, of: &FoundMatch) -> Result<MatchInfo, StoreError> {
        let main = self.find_branch(of, &BranchName::main())?;
        let Line { of, head, .. } = self.line(of, main)?;
        Ok(MatchInfo { genesis: of.genesis()?, head: head.seq, branches: of.branches, name: of.name })
    }
}
