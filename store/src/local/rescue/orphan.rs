//! Orphans: records that belong to nothing, which no reader would ever come across.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::StoreError;
use crate::local::layout::key;
use crate::local::reader::records::Records;

/// What records may belong to.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) matches: BTreeSet<u64>,
    pub(super) branches: BTreeSet<u64>,
    /// Ids from this one on were given since the others were listed.
    pub(super) next_id: u64,
}

/// Records that belong to nothing for the same reason.
#[derive(Debug)]
pub(super) struct Orphans {
    pub(super) first_key: Vec<u8>,
    pub(super) count: u64,
}

/// Finds the records of the whole store that belong to no match and no branch, by what they would have to belong to.
///
/// Nothing refers to them, so no other audit sees them; a store that was only ever written to by this crate has none.
pub(super) fn orphans(records: &Records, owners: &Owners) -> Result<BTreeMap<String, Orphans>, StoreError> {
    let mut orphans: BTreeMap<(Option<u64>, String), Orphans> = BTreeMap::new();
    for record in records.scan(vec![0]..vec![u8::MAX]) {
        let (key, _) = record?;
        if let Some(reason) = owners.reason_against(&key) {
            let id = key::id_of(&key);
            orphans.entry((id, reason)).or_insert(Orphans { first_key: key, count: 0 }).count += 1;
        }
    }
    // Who was created meanwhile is no orphan.
    let created = owners.next_id..records.store_record()?.next_id;
    let of_nothing = orphans.into_iter().filter(|((id, _), _)| !id.is_some_and(|id| created.contains(&id)));
    Ok(of_nothing.map(|((_, reason), orphans)| (reason, orphans)).collect())
}

impl Owners {
    /// Says why a record belongs to nothing, if it does not.
    fn reason_against(&self, key: &[u8]) -> Option<String> {
        let (owner, ids) = match key.first() {
            Some(b's') if key == key::STORE => return None,
            Some(b'm') => return None,
            Some(b'a') => {
                let has_hash = key::hash_after(key, key::GRANT_PREFIX).is_some();
                return (!has_hash).then(|| "it names no grant".to_owned());
            }
            Some(b'b' | b'i') => ("match", &self.matches),
            Some(b'h' | b'k' | b'p') => ("branch", &self.branches),
            _ => return Some("there is no such table".to_owned()),
        };
        let Some(id) = key::id_of(key) else { return Some(format!("it names no {owner}")) };
        (!ids.contains(&id)).then(|| format!("there is no {owner} with the id {id}"))
    }
}
