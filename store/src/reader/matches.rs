//! Matches: which there are, one after another.

use std::fmt;

use super::lookup::FoundMatch;
use super::scan::Scan;
use crate::entry::{Genesis, Seq};
use crate::error::StoreError;
use crate::layout::key;
use crate::names::{BranchName, MatchName};
use crate::open::{Shared, StoreReader};

/// What [`StoreReader::matches`] tells of a match.
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
        let (_matches, _branches) = (self.shared.hold_matches(), self.shared.hold_branches());
        self.matches_after(None)?.collect()
    }

    /// Reads the matches by name, one after another, those that come after a name or all. Iteration ends with the
    /// first error.
    ///
    /// Only when all are read is it noticed that some are missing; the iterator then ends with the error. A match that
    /// is renamed or deleted meanwhile may be among them under either name, or not be.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the store's own record cannot be read; the iterator gives it for a match.
    pub fn matches_after(&self, after: Option<&MatchName>) -> Result<Matches<'_>, StoreError> {
        Ok(Matches { shared: &self.shared, found: self.shared.found_matches(after)? })
    }
}

/// Matches, as [`StoreReader::matches_after`] reads them.
pub struct Matches<'a> {
    shared: &'a Shared,
    found: FoundMatches<'a>,
}

impl Iterator for Matches<'_> {
    type Item = Result<MatchInfo, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let info = match self.found.next()? {
                Ok((name, found)) => match self.shared.match_info(name.clone(), &found) {
                    // It was deleted while we looked.
                    Err(_) if self.shared.is_gone(&name) => continue,
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
    shared: &'a Shared,
    scan: Scan<'a>,
    /// How many there were at the beginning, and the id from which on they are newer; nothing when some are left out.
    expected: Option<(u64, u64)>,
    found: u64,
    is_ended: bool,
}

impl FoundMatches<'_> {
    fn step(&mut self) -> Option<Result<(MatchName, FoundMatch), StoreError>> {
        let Some(record) = self.scan.next() else {
            self.expected.filter(|(expected, _)| *expected != self.found)?;
            // One may have been renamed or deleted meanwhile; then there are as many as there should be.
            return self.shared.require_all_matches().err().map(Err);
        };
        let read = record.and_then(|(key, value)| {
            let name = name_in(&key)?;
            FoundMatch::read(&name, &key, &value).map(|found| (name, found))
        });
        if let (Ok((_, found)), Some((_, next_id))) = (&read, self.expected) {
            self.found += u64::from(found.id < next_id);
        }
        Some(read)
    }
}

impl Iterator for FoundMatches<'_> {
    type Item = Result<(MatchName, FoundMatch), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended {
            return None;
        }
        let next = self.step();
        self.is_ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Shared {
    /// Reads the records of matches by name; when all are read, their number is right or the last thing is an error.
    pub(crate) fn found_matches(&self, after: Option<&MatchName>) -> Result<FoundMatches<'_>, StoreError> {
        let record = self.read_store()?;
        let mut range = key::all_matches();
        if let Some(after) = after {
            range.start = [key::of_match(after).as_slice(), &[0]].concat();
        }
        let expected = after.is_none().then_some((record.matches, record.next_id));
        Ok(FoundMatches { shared: self, scan: self.scan(range), expected, found: 0, is_ended: false })
    }

    fn is_gone(&self, name: &MatchName) -> bool {
        matches!(self.find_match(name), Err(StoreError::NoSuchMatch { .. }))
    }

    fn match_info(&self, name: MatchName, found: &FoundMatch) -> Result<MatchInfo, StoreError> {
        let main = BranchName::main();
        let branch = self.find_branch(&name, found, &main)?;
        let head = self.head(&branch).map_err(|error| error.within(&name, Some(&main)))?;
        Ok(MatchInfo { genesis: found.genesis(&name)?, name, head: head.seq, branches: found.branches })
    }

    /// Requires that there are as many match records as there should be.
    pub(crate) fn require_all_matches(&self) -> Result<(), StoreError> {
        let counted = self.unless_changed(
            |shared| shared.read_store().map(|record| (record.matches, record.next_id)),
            |shared, (expected, _)| {
                let mut records = shared.scan(key::all_matches());
                let count = records.try_fold(0, |count: u64, record| record.map(|_| count + 1))?;
                Ok(if count == expected { Ok(()) } else { Err(expected) })
            },
        )?;
        counted.map_err(wrong_number)
    }
}

/// Gives the name in a match record's key.
pub(crate) fn name_in(key: &[u8]) -> Result<MatchName, StoreError> {
    let name = key::text_after(key, key::MATCH_PREFIX).and_then(|text| text.parse().ok());
    name.ok_or_else(|| StoreError::damaged("a match record has no proper name"))
}

fn wrong_number(expected: u64) -> StoreError {
    StoreError::damaged(format!("it should hold {expected} matches, but holds another number"))
}
