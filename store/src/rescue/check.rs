//! Check: the store's own audit, which asks no rules.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use super::part::Totals;
use crate::backend::Record;
use crate::error::StoreError;
use crate::key;
use crate::lookup::{FoundBranch, FoundMatch};
use crate::matches::name_in;
use crate::names::MatchName;
use crate::open::{Shared, Store};
use crate::verify::{Finding, FindingKind, audit};

/// What an audit of a store found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheck {
    /// What is sound.
    pub sound: Totals,
    /// What is wrong; nothing, if all is well.
    pub findings: Vec<StoreFinding>,
}

/// Something wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFinding {
    /// The match concerned; `None` when it concerns the store as a whole.
    pub match_name: Option<MatchName>,
    /// What is wrong.
    pub finding: Finding,
}

impl Store {
    /// Audits everything stored, but asks no rules: every record, the numbering and chain of every branch, the index
    /// of idempotency keys, how many matches and branches there are, and that no record belongs to nothing.
    ///
    /// What FORMAT and WATERMARK say is compared whenever a store is opened. `observe` is told how far it is.
    ///
    /// # Errors
    /// Trouble with reading that is not damage; damage is a finding.
    pub fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        // Were a branch deleted meanwhile, its records would seem to be missing or to belong to nothing.
        let _undeleted = self.shared.deleting.read().unwrap_or_else(PoisonError::into_inner);
        let mut check = Check {
            shared: &self.shared,
            next_id: self.shared.read_store()?.next_id,
            sound: Totals::default(),
            findings: Vec::new(),
            match_ids: BTreeSet::new(),
            branch_ids: BTreeSet::new(),
        };
        check.matches(observe)?;
        check.strays()?;
        Ok(StoreCheck { sound: check.sound, findings: check.findings })
    }
}

struct Check<'a> {
    shared: &'a Shared,
    /// Ids from this one on were given since we began.
    next_id: u64,
    sound: Totals,
    findings: Vec<StoreFinding>,
    match_ids: BTreeSet<u64>,
    branch_ids: BTreeSet<u64>,
}

impl Check<'_> {
    fn matches(&mut self, observe: &mut dyn FnMut(Totals)) -> Result<(), StoreError> {
        if let Err(error) = self.shared.require_all_matches() {
            self.record(None, error)?;
        }
        for record in self.shared.scan(key::all_matches()) {
            match record.and_then(|(key, value)| self.one_match(&key, &value)) {
                Ok(()) => observe(self.sound),
                Err(error) => self.record(None, error)?,
            }
        }
        Ok(())
    }

    fn one_match(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let name = name_in(key)?;
        let found = FoundMatch::read(&name, key, value)?;
        self.match_ids.insert(found.id);
        for (branch, key, value) in self.shared.readable_branches(&found)? {
            if let Ok(found) = FoundBranch::read(&found, &branch, &key, &value) {
                self.branch_ids.insert(found.id);
            }
        }
        let audit = audit(self.shared, &name, false)?;
        self.sound.matches += u64::from(audit.findings.is_empty());
        self.sound.branches += audit.sound;
        self.sound.entries += audit.own_entries;
        let placed = |finding| StoreFinding { match_name: Some(name.clone()), finding };
        self.findings.extend(audit.findings.into_iter().map(placed));
        Ok(())
    }

    /// Looks for records that belong to no match or branch, and for such as no store writes.
    fn strays(&mut self) -> Result<(), StoreError> {
        self.strays_of(b'b', "branch", "match", &self.match_ids.clone())?;
        let branches = std::mem::take(&mut self.branch_ids);
        for (table, what) in [(b'h', "head"), (b'k', "key"), (b'p', "page"), (b't', "tail")] {
            self.strays_of(table, what, "branch", &branches)?;
        }
        let tables: BTreeSet<u8> = b"bhkmpst".iter().copied().collect();
        for table in 0..=u8::MAX {
            if !tables.contains(&table) && self.first_in(vec![table], table)?.is_some() {
                self.find(format!("there are records of the unknown table {table:#04x}"));
            }
        }
        Ok(())
    }

    /// Looks at one record of each owner in a table, so that the work does not grow with the records.
    fn strays_of(
        &mut self,
        table: u8,
        what: &str,
        owner: &str,
        ids: &BTreeSet<u64>,
    ) -> Result<(), StoreError> {
        let mut from = vec![table];
        while let Some((key, _)) = self.first_in(from, table)? {
            let id = key.get(1..key::ID_PREFIX).and_then(|id| id.try_into().ok()).map(u64::from_be_bytes);
            let Some(id) = id else {
                self.find(format!("a {what} record has no proper key"));
                from = [key.as_slice(), &[0]].concat();
                continue;
            };
            if !ids.contains(&id) && id < self.next_id {
                self.find(format!("{what} records belong to {owner} number {id}, which is not there"));
            }
            let Some(next) = id.checked_add(1) else { return Ok(()) };
            from = [&[table], &next.to_be_bytes()[..]].concat();
        }
        Ok(())
    }

    fn first_in(&self, from: Vec<u8>, table: u8) -> Result<Option<Record>, StoreError> {
        // No key of the last table is as long as this.
        let until = table.checked_add(1).map_or(vec![u8::MAX; 1024], |next| vec![next]);
        Ok(self.shared.backend.scan(&(from..until), 1)?.into_iter().next())
    }

    fn record(&mut self, match_name: Option<MatchName>, error: StoreError) -> Result<(), StoreError> {
        let StoreError::Corrupt { match_name: placed, branch, seq, reason } = error else {
            return Err(error);
        };
        let finding = Finding { branch, seq, kind: FindingKind::Damaged, message: reason };
        self.findings.push(StoreFinding { match_name: placed.or(match_name), finding });
        Ok(())
    }

    fn find(&mut self, message: String) {
        let finding = Finding { branch: None, seq: None, kind: FindingKind::Damaged, message };
        self.findings.push(StoreFinding { match_name: None, finding });
    }
}
