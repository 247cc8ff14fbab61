//! Matches: which there are, one after another.

use super::found::{match_name_in, read_match};
use super::records::Records;
use crate::error::StoreError;
use crate::local::layout::key;
use crate::local::scan::Scan;
use crate::names::{BranchName, MatchName};
use crate::reader::found::FoundMatch;
use crate::reader::line::Line;
use crate::reader::report::MatchInfo;

/// What is said of matches, read one after another.
pub(crate) struct MatchInfos<'a> {
    pub(crate) records: &'a Records,
    pub(crate) found: FoundMatches<'a>,
}

impl Iterator for MatchInfos<'_> {
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
        let read = || {
            let (key, value) = record?;
            read_match(match_name_in(&key)?, &key, &value)
        };
        let read = read();
        if let (Ok(found), Some((_, next_id))) = (&read, self.expected) {
            self.found += u64::from(found.number() < next_id);
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
        Ok(FoundMatches {
            records: self,
            scan: Scan::new(self.backend.as_ref(), range),
            expected,
            found: 0,
            is_ended: false,
        })
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
