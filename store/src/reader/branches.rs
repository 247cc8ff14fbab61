//! Branches: which there are.

use turnfold_core::Digest;

use super::lookup::{FoundBranch, FoundMatch};
use crate::backend::Record;
use crate::entry::{Genesis, Seq};
use crate::error::StoreError;
use crate::layout::key;
use crate::names::{BranchName, MatchName};
use crate::open::{Shared, StoreReader};

/// What [`StoreReader::branches`] tells of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name.
    pub name: BranchName,
    /// The branch it begins on, and after which entry; `None` for `main`.
    pub parent: Option<(BranchName, Seq)>,
    /// The number of its last entry.
    pub head: Seq,
    /// The link after its last entry.
    pub head_link: Digest,
}

impl StoreReader {
    /// Gives how a match begins.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and those of reading.
    pub fn genesis(&self, name: &MatchName) -> Result<Genesis, StoreError> {
        self.shared.find_match(name)?.genesis(name)
    }

    /// Lists the branches of a match: `main`, then the others by name.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and [`StoreError::Corrupt`] when one cannot be read or some are missing.
    pub fn branches(&self, match_name: &MatchName) -> Result<Vec<BranchInfo>, StoreError> {
        let _branches = self.shared.hold_branches();
        let (found_match, branches) = self.shared.branch_records(match_name)?;
        let mut infos = Vec::new();
        for (name, key, value) in branches {
            let info = self.shared.branch_info(&found_match, &name, &key, &value);
            infos.push(info.map_err(|error| error.within(match_name, Some(&name)))?);
        }
        infos.sort_by(|left, right| {
            (!left.name.is_main(), &left.name).cmp(&(!right.name.is_main(), &right.name))
        });
        Ok(infos)
    }

    /// Gives the number of a branch's last entry.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and those of reading.
    pub fn head(&self, match_name: &MatchName, branch: &BranchName) -> Result<Seq, StoreError> {
        self.shared.find(match_name, branch).map(|(_, _, head)| head.seq)
    }
}

/// A branch's name, and its record's key and value.
type NamedRecord = (BranchName, Vec<u8>, Vec<u8>);

fn with_names(records: Vec<Record>) -> Result<Vec<NamedRecord>, StoreError> {
    let named = records.into_iter().map(|(key, value)| {
        let name = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse().ok());
        name.map(|name| (name, key, value))
            .ok_or_else(|| StoreError::damaged("a branch record has no proper name"))
    });
    named.collect()
}

impl Shared {
    /// Gives a match and the records of its branches; their number is right.
    pub(crate) fn branch_records(
        &self,
        match_name: &MatchName,
    ) -> Result<(FoundMatch, Vec<NamedRecord>), StoreError> {
        let found = self.unless_changed(
            |shared| {
                let next_id = shared.read_store().ok().map(|record| record.next_id);
                shared.find_match(match_name).map(|found| (found.id, found.branches, next_id))
            },
            |shared, (id, expected, _)| {
                let records = shared.scan_all(&key::branches_of(id))?;
                let is_right = records.len() as u64 == expected;
                Ok(is_right.then_some(records).ok_or(expected))
            },
        )?;
        let records = found.map_err(|expected| {
            let reason = format!("it should have {expected} branches, but the store holds another number");
            StoreError::damaged(reason).within(match_name, None)
        })?;
        let found_match = self.find_match(match_name)?;
        let named = with_names(records).map_err(|error| error.within(match_name, None))?;
        Ok((found_match, named))
    }

    /// Gives the branch records there are, whatever their number should be.
    pub(crate) fn readable_branches(&self, found_match: &FoundMatch) -> Result<Vec<NamedRecord>, StoreError> {
        with_names(self.scan_all(&key::branches_of(found_match.id))?)
    }

    fn branch_info(
        &self,
        found_match: &FoundMatch,
        name: &BranchName,
        key: &[u8],
        value: &[u8],
    ) -> Result<BranchInfo, StoreError> {
        let found = FoundBranch::read(found_match, name, key, value)?;
        let head = self.head(&found)?;
        let parent = found.parent.map(|parent| {
            let name = parent.name.parse::<BranchName>();
            name.map(|name| (name, parent.at)).map_err(|error| StoreError::damaged(error.to_string()))
        });
        Ok(BranchInfo {
            name: name.clone(),
            parent: parent.transpose()?,
            head: head.seq,
            head_link: head.link,
        })
    }

    /// Looks at `what` while `version` stays the same; a writer may have been between the two.
    pub(crate) fn unless_changed<V: PartialEq + Copy, T, E>(
        &self,
        version: impl Fn(&Self) -> Result<V, StoreError>,
        look: impl Fn(&Self, V) -> Result<Result<T, E>, StoreError>,
    ) -> Result<Result<T, E>, StoreError> {
        let mut before = version(self)?;
        loop {
            let found = look(self, before)?;
            let after = version(self)?;
            if found.is_ok() || after == before {
                return Ok(found);
            }
            before = after;
        }
    }
}
