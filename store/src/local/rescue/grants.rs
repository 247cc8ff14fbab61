//! The audit of grants: each readable, and listed for the match that it names.

use std::collections::BTreeSet;

use turnfold_core::Digest;

use crate::error::StoreError;
use crate::grant::GrantId;
use crate::local::layout::key;
use crate::local::layout::record::GrantRecord;
use crate::local::reader::found::{match_name_in, read_match};
use crate::local::reader::grants::read_grant;
use crate::local::reader::records::Records;
use crate::reader::found::FoundMatch;

/// Returns what is wrong with grants, and what cannot be read.
pub(super) fn damage(records: &Records) -> Vec<StoreError> {
    let _grants = records.hold_grants();
    let mut audit = Audit { records, damaged: BTreeSet::new(), damage: Vec::new() };
    // Matches that are missing or damaged are found by themselves.
    for (key, value) in records.scan(key::all_matches()).flatten() {
        let of = match_name_in(&key).and_then(|name| read_match(name, &key, &value));
        if let Ok(of) = of {
            audit.of_match(&of);
        }
    }
    audit.unlisted();
    audit.damage
}

struct Audit<'a> {
    records: &'a Records,
    /// Grants that are known to be damaged.
    damaged: BTreeSet<Digest>,
    damage: Vec<StoreError>,
}

impl Audit<'_> {
    /// Requires what is listed for a match to be its grants.
    fn of_match(&mut self, of: &FoundMatch) {
        for listed in self.records.listed_grants(of.number()) {
            let found = listed.and_then(|(hash, seat)| {
                let grant = self.records.grant(of, &hash);
                if grant.is_err() {
                    self.damaged.insert(hash);
                }
                let grant = grant?;
                let reason = format!("the grant `{}` is listed for another seat", GrantId::of(&hash));
                if grant.kind.seat() == seat { Ok(()) } else { Err(StoreError::damaged(reason)) }
            });
            self.damage.extend(found.err().map(|error| error.within(&of.name, None)));
        }
    }

    /// Requires every grant to be listed.
    fn unlisted(&mut self) {
        for record in self.records.scan(key::all_grants()) {
            let found = record.and_then(|(key, value)| {
                let hash = key::hash_after(&key, key::GRANT_PREFIX);
                // Whatever else has such a key is found among the records that belong to nothing.
                let Some(hash) = hash.filter(|hash| !self.damaged.contains(hash)) else { return Ok(()) };
                let GrantRecord { match_id, grant } = read_grant(&hash, &key, &value)?;
                let is_listed = self.records.backend.get(&key::of_match_grant(match_id, &hash))?;
                let reason = format!("the grant `{}` is not listed", GrantId::of(&hash));
                let unlisted = || StoreError::damaged(reason).within(&grant.match_name, None);
                is_listed.map(|_| ()).ok_or_else(unlisted)
            });
            self.damage.extend(found.err());
        }
    }
}
