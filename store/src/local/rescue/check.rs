//! Check: the store's own audit, which asks no rules.

use super::grants;
use super::orphan::{Orphans, Owners, orphans};
use crate::audit::{Audited, audit};
use crate::backup::part::Totals;
use crate::error::StoreError;
use crate::local::layout::key;
use crate::local::layout::record::StoreRecord;
use crate::local::reader::found::{match_name_in, read_match};
use crate::local::reader::records::Records;
use crate::names::MatchName;
use crate::reader::report::{Damage, StoreCheck};

/// Audits all records; nothing is deleted during the audit.
pub(crate) fn check(records: &Records, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
    let StoreRecord { next_id, entries, .. } = records.store_record()?;
    let owners = Owners { next_id, ..Owners::default() };
    let found = |reason| Damage { match_name: None, branch: None, seq: None, reason };
    let damage = records.backend.compare()?.into_iter().map(found).collect();
    let mut check = Check { records, sound: Totals::default(), damage, owners };
    check.matches(observe)?;
    check.grants()?;
    check.count(entries);
    check.strays()?;
    Ok(StoreCheck { sound: check.sound, damage: check.damage })
}

struct Check<'a> {
    records: &'a Records,
    sound: Totals,
    damage: Vec<Damage>,
    owners: Owners,
}

impl Check<'_> {
    fn matches(&mut self, observe: &mut dyn FnMut(Totals)) -> Result<(), StoreError> {
        if let Err(error) = self.records.require_all_matches() {
            self.record(None, error)?;
        }
        for record in self.records.scan(key::all_matches()) {
            match record.and_then(|(key, value)| self.one_match(&key, &value)) {
                Ok(()) => observe(self.sound),
                Err(error) => self.record(None, error)?,
            }
        }
        Ok(())
    }

    fn one_match(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let name = match_name_in(key)?;
        let of = read_match(name.clone(), key, value)?;
        self.owners.matches.insert(of.number());
        let branches = self.records.readable_branches(&of)?;
        let read = branches.iter().filter_map(|stored| stored.read(&of).ok());
        self.owners.branches.extend(read.map(|branch| branch.id));
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

    /// Requires every grant to be readable, and to be listed for its match.
    fn grants(&mut self) -> Result<(), StoreError> {
        for damage in grants::damage(self.records) {
            self.record(None, damage)?;
        }
        Ok(())
    }

    /// Requires as many entries to be there as the store counts.
    fn count(&mut self, expected: u64) {
        let found = self.sound.entries;
        if found < expected && self.damage.is_empty() {
            let reason = format!("{} of {expected} entries are in no branch", expected - found);
            self.damage.push(Damage { match_name: None, branch: None, seq: None, reason });
        }
    }

    /// Looks for records that belong to no match or branch, and for such as no store writes.
    fn strays(&mut self) -> Result<(), StoreError> {
        let orphans = match orphans(self.records, &self.owners) {
            Ok(orphans) => orphans,
            Err(error) => return self.record(None, error),
        };
        for (reason, Orphans { first_key, count }) in orphans {
            let key = first_key.escape_ascii();
            let records = if count == 1 { "record belongs" } else { "records belong" };
            let reason = format!("{count} {records} to nothing, the first is `{key}`: {reason}");
            self.damage.push(Damage { match_name: None, branch: None, seq: None, reason });
        }
        Ok(())
    }

    fn record(&mut self, match_name: Option<MatchName>, error: StoreError) -> Result<(), StoreError> {
        let StoreError::Corrupt { match_name: placed, branch, seq, reason } = error else {
            return Err(error);
        };
        self.damage.push(Damage { match_name: placed.or(match_name), branch, seq, reason });
        Ok(())
    }
}
