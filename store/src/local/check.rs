//! Check: the store's own audit, which uses no rules.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::thread;

use turnfold_core::Digest;

use crate::audit::{Audited, audit};
use crate::backup::part::Totals;
use crate::error::{Placed, StoreError};
use crate::grant::GrantId;
use crate::local::key;
use crate::local::record::{GrantRecord, StoreRecord};
use crate::local::records::{Records, match_name_in, read_grant, read_match};
use crate::reader::branch::FoundMatch;
use crate::reader::store_report::{Damage, StoreCheck};

/// Audits all records. The caller must keep matches and branches from being deleted during the audit.
pub(crate) fn check(records: &Records, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
    let StoreRecord { next_id, entries, .. } = records.store_record()?;
    let mut check = Check {
        records,
        sound: Totals::default(),
        damage: Vec::new(),
        matches: BTreeSet::new(),
        branches: BTreeSet::new(),
        next_id,
    };
    // The journal is compared with its index meanwhile, because that takes a fifth of the time.
    let mut damage = Vec::new();
    thread::scope(|scope| {
        let comparing = match thread::Builder::new().spawn_scoped(scope, || records.backend.compare()) {
            Ok(comparing) => comparing,
            Err(source) => return Err(StoreError::Io { action: "start a thread".to_owned(), source }),
        };
        let checked = check.records(observe);
        for reason in comparing.join().unwrap_or_else(|panic| resume_unwind(panic))? {
            damage.push(Damage { match_name: None, branch: None, seq: None, reason });
        }
        checked
    })?;
    damage.append(&mut check.damage);
    check.damage = damage;
    check.count(entries);
    check.strays()?;
    Ok(StoreCheck { sound: check.sound, damage: check.damage })
}

struct Check<'a> {
    records: &'a Records,
    sound: Totals,
    damage: Vec<Damage>,
    /// The ids of the matches and branches that were found.
    matches: BTreeSet<u64>,
    branches: BTreeSet<u64>,
    /// The next id when the audit began. Matches and branches with this id or a higher one are newer than the lists.
    next_id: u64,
}

impl Check<'_> {
    fn records(&mut self, observe: &mut dyn FnMut(Totals)) -> Result<(), StoreError> {
        self.matches(observe)?;
        self.grants()?;
        self.notes()
    }

    fn matches(&mut self, observe: &mut dyn FnMut(Totals)) -> Result<(), StoreError> {
        self.note(self.records.count_matches())?;
        for record in self.records.scan(key::all_matches()) {
            let audited = record.and_then(|(key, value)| self.one_match(&key, &value));
            if audited.is_ok() {
                observe(self.sound);
            }
            self.note(audited)?;
        }
        Ok(())
    }

    fn one_match(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let name = match_name_in(key)?;
        let found_match = read_match(name.clone(), key, value)?;
        self.matches.insert(found_match.number());
        for stored in self.records.readable_branches(&found_match) {
            if let Ok(branch) = stored?.read(&found_match) {
                self.branches.insert(branch.id);
            }
        }
        let damage_before = self.damage.len();
        audit(self.records, &name, &mut |audited| match audited {
            Audited::Sound(branch) => {
                self.sound.branches += 1;
                self.sound.entries += branch.own_entries;
            }
            Audited::Damaged(damage) => self.damage.push(damage),
            _ => {}
        })?;
        self.sound.matches += u64::from(self.damage.len() == damage_before);
        Ok(())
    }

    fn grants(&mut self) -> Result<(), StoreError> {
        let records = self.records;
        let _grants = records.hold_grants();
        let mut damaged = BTreeSet::new();
        // Missing or damaged matches are reported elsewhere.
        for found_match in records.readable_matches() {
            self.grants_of(&found_match, &mut damaged)?;
        }
        for record in records.scan(key::all_grants()) {
            let found = record.and_then(|(key, value)| {
                let Some(hash) = key::hash_after(&key, key::GRANT_PREFIX) else {
                    // A malformed key is reported with the records that belong to nothing.
                    return Ok(());
                };
                if damaged.contains(&hash) {
                    return Ok(());
                }
                let GrantRecord { match_id, grant } = read_grant(&hash, &key, &value)?;
                if records.backend.get(&key::of_match_grant(match_id, &hash))?.is_some() {
                    return Ok(());
                }
                let reason = format!("the grant `{}` is not listed", GrantId::of(&hash));
                Err(StoreError::damaged(reason).within(&grant.match_name, None))
            });
            self.note(found)?;
        }
        Ok(())
    }

    fn notes(&mut self) -> Result<(), StoreError> {
        for found_match in self.records.readable_matches() {
            self.note(self.records.placed_notes(&found_match).map(drop))?;
        }
        Ok(())
    }

    /// Requires every grant in a match's list to be a grant of the match, and adds the others to `damaged`.
    fn grants_of(
        &mut self,
        found_match: &FoundMatch,
        damaged: &mut BTreeSet<Digest>,
    ) -> Result<(), StoreError> {
        for listed in self.records.listed_grants(found_match.number()) {
            let found = listed.and_then(|(hash, seat)| {
                let grant = self.records.grant(found_match, &hash);
                if grant.is_err() {
                    damaged.insert(hash);
                }
                if grant?.kind.seat() == seat {
                    return Ok(());
                }
                let reason = format!("the grant `{}` is listed for another seat", GrantId::of(&hash));
                Err(StoreError::damaged(reason))
            });
            self.note(found.within(&found_match.name, None))?;
        }
        Ok(())
    }

    fn count(&mut self, expected: u64) {
        let found = self.sound.entries;
        if found < expected && self.damage.is_empty() {
            let reason = format!("{} of {expected} entries are in no branch", expected - found);
            self.damage.push(Damage { match_name: None, branch: None, seq: None, reason });
        }
    }

    fn strays(&mut self) -> Result<(), StoreError> {
        let orphans = match self.orphans() {
            Ok(orphans) => orphans,
            Err(error) => return self.note(Err(error)),
        };
        for (reason, Orphans { first_key, count }) in orphans {
            let key = first_key.escape_ascii();
            let records = if count == 1 { "record belongs" } else { "records belong" };
            let reason = format!("{count} {records} to nothing, the first is `{key}`: {reason}");
            self.damage.push(Damage { match_name: None, branch: None, seq: None, reason });
        }
        Ok(())
    }

    fn note(&mut self, found: Result<(), StoreError>) -> Result<(), StoreError> {
        if let Err(StoreError::Corrupt { match_name, branch, seq, reason }) = found {
            self.damage.push(Damage { match_name, branch, seq, reason });
            return Ok(());
        }
        found
    }

    /// Finds all records that belong to no match and no branch, by the reason.
    ///
    /// No other audit sees them, because nothing refers to them. A store that only this crate ever wrote to has none.
    fn orphans(&self) -> Result<BTreeMap<String, Orphans>, StoreError> {
        let mut orphans: BTreeMap<(Option<u64>, String), Orphans> = BTreeMap::new();
        for record in self.records.scan(vec![0]..vec![u8::MAX]) {
            let (key, _) = record?;
            if let Some(reason) = self.reason_against(&key) {
                let id = key::id_of(&key);
                orphans.entry((id, reason)).or_insert(Orphans { first_key: key, count: 0 }).count += 1;
            }
        }
        // Records of matches and branches that were created during the audit are no orphans.
        let created = self.next_id..self.records.store_record()?.next_id;
        let mut by_reason = BTreeMap::new();
        for ((id, reason), found) in orphans {
            if !id.is_some_and(|id| created.contains(&id)) {
                by_reason.insert(reason, found);
            }
        }
        Ok(by_reason)
    }

    fn reason_against(&self, key: &[u8]) -> Option<String> {
        let (owner, ids) = match key.first() {
            Some(b's') if key == key::STORE => return None,
            Some(b'm') => return None,
            Some(b'a') => {
                let has_hash = key::hash_after(key, key::GRANT_PREFIX).is_some();
                return (!has_hash).then(|| "it names no grant".to_owned());
            }
            Some(b'b' | b'i' | b'n') => ("match", &self.matches),
            Some(b'h' | b'k' | b'p') => ("branch", &self.branches),
            _ => return Some("there is no such table".to_owned()),
        };
        let Some(id) = key::id_of(key) else { return Some(format!("it names no {owner}")) };
        (!ids.contains(&id)).then(|| format!("there is no {owner} with the id {id}"))
    }
}

#[derive(Debug)]
struct Orphans {
    first_key: Vec<u8>,
    count: u64,
}
