//! Iterates over matches.

use super::found::{match_name_in, read_match};
use super::records::Records;
use crate::engine::{EngineReader as _, until_error};
use crate::error::StoreError;
use crate::local::layout::key;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::Branch;
use crate::reader::found::FoundMatch;
use crate::reader::store_report::MatchInfo;

impl Records {
    /// Reads the records of matches, sorted by name, after one of them if `after` is given. Without `after`, the last
    /// item is an error if the number of matches is wrong.
    pub(crate) fn found_matches<'a>(
        &'a self,
        after: Option<&MatchName>,
    ) -> Result<impl Iterator<Item = Result<FoundMatch, StoreError>> + use<'a>, StoreError> {
        let record = self.store_record()?;
        let mut range = key::all_matches();
        if let Some(after) = after {
            range.start = [key::of_match(after).as_slice(), &[0]].concat();
        }
        // The number of matches, and the next id: a match with that id or a higher one is newer. `None` if the scan
        // starts later.
        let expected = after.is_none().then_some((record.matches, record.next_id));
        let mut records = self.scan(range);
        let mut count = 0;
        Ok(until_error(move || {
            let Some(record) = records.next() else {
                expected.filter(|(expected, _)| *expected != count)?;
                // A match may have been renamed or deleted during the scan. The new count is then right.
                return self.count_matches().err().map(Err);
            };
            let read = record.and_then(|(key, value)| read_match(match_name_in(&key)?, &key, &value));
            if let (Ok(found), Some((_, next_id))) = (&read, expected) {
                count += u64::from(found.number() < next_id);
            }
            Some(read)
        }))
    }

    /// Describes matches. It omits a match that was deleted since it was found.
    pub(super) fn match_infos(
        &self,
        mut found: impl Iterator<Item = Result<FoundMatch, StoreError>>,
    ) -> impl Iterator<Item = Result<MatchInfo, StoreError>> {
        until_error(move || {
            loop {
                let found_match = match found.next()? {
                    Ok(found_match) => found_match,
                    Err(error) => return Some(Err(error)),
                };
                let info = self.match_info(&found_match);
                let is_gone =
                    || matches!(self.found_match(&found_match.name), Err(StoreError::NoSuchMatch { .. }));
                if info.is_ok() || !is_gone() {
                    return Some(info);
                }
            }
        })
    }

    fn match_info(&self, found_match: &FoundMatch) -> Result<MatchInfo, StoreError> {
        let main = self.find_branch(found_match, &BranchName::main())?;
        let Branch { found_match, head, .. } = self.branch(found_match, main)?;
        Ok(MatchInfo {
            genesis: found_match.genesis()?,
            head: head.seq,
            branches: found_match.branches,
            name: found_match.name,
        })
    }
}
