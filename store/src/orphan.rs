//! Orphans: records that belong to nothing, which no reader would ever come across.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::backend::pieces;
use crate::error::StoreError;
use crate::key;
use crate::lookup::FoundMatch;
use crate::names::MatchName;
use crate::open::{Shared, Store};
use crate::record::{self, BranchRecord};

/// A record that belongs to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Its key.
    pub key: Vec<u8>,
    /// What it would have to belong to.
    pub reason: String,
}

impl fmt::Display for Orphan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "record `{}`: {}", self.key.escape_ascii(), self.reason)
    }
}

/// How many records are looked at at a time.
const SCAN_MAX: usize = 256;

impl Store {
    /// Lists the records of the whole store that belong to no match and no branch. Nothing refers to them, so no other
    /// audit sees them; a store that was only ever written to by this crate has none.
    ///
    /// # Errors
    /// Those of reading, and [`StoreError::Corrupt`] when matches or branches cannot be read or are missing.
    pub fn orphans(&self) -> Result<Vec<Orphan>, StoreError> {
        let owners = Owners::read(&self.shared)?;
        let mut orphans = Vec::new();
        let mut range = Vec::new()..vec![u8::MAX];
        loop {
            let found = self.shared.backend.scan(&range, SCAN_MAX)?;
            let Some((last, _)) = found.last() else { return Ok(orphans) };
            range.start = [last.as_slice(), &[0]].concat();
            for (key, _) in found {
                let of_piece = pieces::owner_of(&key);
                let owner = of_piece.unwrap_or(&key);
                let reason = match of_piece.map(|owner| self.shared.backend.get(owner)).transpose()? {
                    Some(None) => Some("it is a piece of a record that is not there".to_owned()),
                    _ => owners.reason_against(owner),
                };
                if let Some(reason) = reason {
                    orphans.push(Orphan { key, reason });
                }
            }
        }
    }
}

/// What records may belong to.
#[derive(Default)]
struct Owners {
    matches: BTreeSet<u64>,
    branches: BTreeMap<u64, MatchName>,
    /// Beyond it no id has been given.
    next_id: u64,
}

impl Owners {
    fn read(shared: &Shared) -> Result<Self, StoreError> {
        let mut owners = Self::default();
        for (key, value) in shared.match_records()? {
            let name = key::text_after(&key, key::MATCH_PREFIX).and_then(|text| text.parse().ok());
            let name: MatchName =
                name.ok_or_else(|| StoreError::damaged("a match record has no proper name"))?;
            owners.matches.insert(FoundMatch::read(&name, &key, &value)?.id);
            let (_, branches) = shared.branch_records(&name)?;
            for (branch, key, value) in branches {
                let found = record::read::<BranchRecord>("its branch record", &key, &value);
                let found = found.map_err(|error| error.within(&name, Some(&branch)))?;
                owners.branches.insert(found.id, name.clone());
            }
        }
        // Read last: what was created meanwhile has an id from here on.
        owners.next_id = shared.read_store()?.next_id;
        Ok(owners)
    }

    /// Says why a record belongs to nothing, if it does not.
    fn reason_against(&self, key: &[u8]) -> Option<String> {
        let id = key::id_of(key);
        match (key.first(), id) {
            (Some(b's'), _) if key == key::STORE => None,
            (Some(b'm'), _) => None,
            (Some(b'b'), Some(id)) if self.matches.contains(&id) => None,
            (Some(b'b'), Some(id)) => Some(format!("there is no match with the id {id}")),
            (Some(b'h' | b'k' | b'p' | b't'), Some(id)) if self.branches.contains_key(&id) => None,
            (Some(b'h' | b'k' | b'p' | b't'), Some(id)) => {
                Some(format!("there is no branch with the id {id}"))
            }
            _ => Some("there is no such table".to_owned()),
        }
    }
}
