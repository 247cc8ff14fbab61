//! The audit of a match: numbering, chain and encoding of every branch, and all that the store keeps beside them.
//!
//! The store knows no rules. Whoever does is handed the entries, and the states kept beside them, while they are read.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use turnfold_core::Digest;

use crate::dir::snapshots::{SNAPSHOT_INTERVAL, Snapshot, has_snapshot};
use crate::entry::{Entry, Genesis, Seq};
use crate::error::StoreError;
use crate::layout::record::IdempotencyRecord;
use crate::layout::{key, record};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::line::Line;
use crate::reader::records::Records;
use crate::reader::store_reader::StoreReader;

/// Something stored that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The match concerned; `None` when it concerns the store as a whole.
    #[serde(rename = "match")]
    pub match_name: Option<MatchName>,
    /// The branch concerned; `None` when it concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The entry concerned, where it is one.
    pub seq: Option<Seq>,
    /// What is wrong.
    #[serde(rename = "message")]
    pub reason: String,
}

/// A branch of which the store holds all that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundBranch {
    /// Its name.
    pub name: BranchName,
    /// How many entries it has, those of its parents included.
    pub entries: u64,
    /// How many of them are its own.
    pub own_entries: u64,
    /// The link after the last.
    pub link: Digest,
}

/// What an audit of a match found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchAudit {
    /// The sound branches: `main`, then the others by name.
    pub branches: Vec<SoundBranch>,
    /// What is wrong; nothing, if all is well.
    pub damage: Vec<Damage>,
}

/// What an audit comes across, in this order: the match, then each branch with its entries and whether it is sound.
#[derive(Debug)]
pub enum Audited<'a> {
    /// How the match begins.
    Match(&'a Genesis),
    /// A branch, whose entries follow.
    Branch(&'a BranchName),
    /// The next entries of the branch, from the first of all.
    Entries(&'a [Entry]),
    /// The state kept after the entry before, whichever build kept it; only folding the entries proves it right.
    Snapshot {
        /// The entry.
        seq: Seq,
        /// How many rolls led to the state.
        rolls: u64,
        /// The state as its ruleset encodes it.
        state: &'a [u8],
        /// The file.
        path: &'a Path,
    },
    /// All of the branch has been read and nothing is wrong.
    Sound(SoundBranch),
    /// Something is wrong; the audit goes on with the next branch.
    Damaged(Damage),
}

/// How many entries are handed on at a time.
const ENTRIES_MAX: usize = 256;

// Every snapshot follows the last of those that are handed on.
const _: () = assert!(SNAPSHOT_INTERVAL.is_multiple_of(ENTRIES_MAX as u64));

impl StoreReader {
    /// Audits a match: numbering, chain, encoding and idempotency keys of every branch. Rules are not asked.
    ///
    /// # Errors
    /// As for [`audit_with`](StoreReader::audit_with).
    pub fn audit(&self, match_name: &MatchName) -> Result<MatchAudit, StoreError> {
        let mut found = MatchAudit::default();
        self.audit_with(match_name, &mut |audited| match audited {
            Audited::Sound(branch) => found.branches.push(branch),
            Audited::Damaged(damage) => found.damage.push(damage),
            _ => {}
        })?;
        Ok(found)
    }

    /// Audits a match as [`audit`](StoreReader::audit) does, and hands everything it reads to `observe`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and trouble with reading that is not damage; damage is observed.
    pub fn audit_with(
        &self,
        match_name: &MatchName,
        observe: &mut dyn FnMut(Audited<'_>),
    ) -> Result<(), StoreError> {
        let _branches = self.records.hold_branches();
        audit(&self.records, match_name, observe)
    }
}

/// Audits a match of which no branch is deleted or renamed meanwhile.
pub(crate) fn audit(
    records: &Records,
    match_name: &MatchName,
    observe: &mut dyn FnMut(Audited<'_>),
) -> Result<(), StoreError> {
    let mut audit = Audit { records, match_name, observe, damage: Vec::new() };
    let audited = audit.run();
    audited.or_else(|error| audit.record(None, error))
}

struct Audit<'a> {
    records: &'a Records,
    match_name: &'a MatchName,
    observe: &'a mut dyn FnMut(Audited<'_>),
    damage: Vec<Damage>,
}

impl Audit<'_> {
    fn run(&mut self) -> Result<(), StoreError> {
        let of = self.records.find_match(self.match_name)?;
        (self.observe)(Audited::Match(&of.genesis()?));
        let mut branches = match self.records.stored_branches(self.match_name) {
            Ok((_, branches)) => branches,
            Err(error) => {
                self.record(None, error)?;
                self.records.readable_branches(&of)?
            }
        };
        branches.sort_by(|left, right| {
            (!left.name.is_main(), &left.name).cmp(&(!right.name.is_main(), &right.name))
        });
        for stored in branches {
            let line = stored.read(&of).and_then(|branch| self.records.line(&of, branch));
            if let Err(error) = line.and_then(|line| self.audit_line(&line)) {
                self.record(Some(&stored.name), error)?;
            }
        }
        Ok(())
    }

    fn audit_line(&mut self, line: &Line) -> Result<(), StoreError> {
        let damage_before = self.damage.len();
        let Line { branch, head, .. } = line;
        (self.observe)(Audited::Branch(&branch.name));
        let mut entries = line.entries(self.records, 1..=head.seq)?;
        let mut idempotency_keys = BTreeMap::new();
        let mut chunk = Vec::new();
        for entry in &mut entries {
            let entry = entry?;
            let seq = entry.seq;
            if let Some(key) = entry.idempotency_key.clone().filter(|_| seq > branch.forked_at()) {
                idempotency_keys.entry(key).or_insert(IdempotencyRecord { first: seq, last: seq }).last = seq;
            }
            chunk.push(entry);
            if chunk.len() == ENTRIES_MAX {
                (self.observe)(Audited::Entries(&chunk));
                chunk.clear();
                self.hand_on_snapshot(line, seq)?;
            }
        }
        (self.observe)(Audited::Entries(&chunk));
        let end = entries.link();
        self.audit_idempotency(line, idempotency_keys)?;
        self.audit_strays(line)?;
        if self.damage.len() == damage_before {
            let (name, entries, own_entries) = (branch.name.clone(), head.seq, head.seq - branch.forked_at());
            (self.observe)(Audited::Sound(SoundBranch { name, entries, own_entries, link: end }));
        }
        Ok(())
    }

    /// Hands on the snapshot after an entry, if there is one.
    fn hand_on_snapshot(&mut self, line: &Line, seq: Seq) -> Result<(), StoreError> {
        let snapshots = self.records.snapshots.as_ref().filter(|snapshots| snapshots.exist());
        let Some(snapshots) = snapshots.filter(|_| has_snapshot(seq)) else { return Ok(()) };
        let name = line.link_at(self.records, seq)?;
        if let Some(Snapshot { rolls, state, .. }) = snapshots.read(&name, seq, None) {
            let path = snapshots.path(&name);
            (self.observe)(Audited::Snapshot { seq, rolls, state: &state, path: &path });
        }
        Ok(())
    }

    /// Requires the index of idempotency keys to say what the entries say.
    fn audit_idempotency(
        &mut self,
        line: &Line,
        mut idempotency_keys: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    ) -> Result<(), StoreError> {
        let Line { branch, head, .. } = line;
        let name = &branch.name;
        for (key, value) in self.records.scan_all(key::idempotency_of(branch.id))? {
            let text = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse().ok());
            let text: IdempotencyKey =
                text.ok_or_else(|| StoreError::damaged("an idempotency key has no proper name"))?;
            let expected = idempotency_keys.remove(&text);
            let indexed = record::read::<IdempotencyRecord>("an idempotency key", &key, &value);
            let seq = expected.map(|expected| expected.first);
            let reason = match indexed {
                Ok(indexed) if Some(indexed) == expected => continue,
                // It may have been appended since we read the head.
                Ok(indexed) if expected.is_none() && indexed.first > head.seq => continue,
                Ok(_) => {
                    format!("the idempotency key `{text}` stands for other entries than those that carry it")
                }
                Err(error) => format!("the idempotency key `{text}`: {error}"),
            };
            self.find(Some(name), seq, reason);
        }
        for (text, IdempotencyRecord { first, .. }) in idempotency_keys {
            let reason = format!("the idempotency key `{text}` is missing");
            self.find(Some(name), Some(first), reason);
        }
        Ok(())
    }

    /// Looks for entries behind the head, which a head that was set back leaves.
    fn audit_strays(&mut self, line: &Line) -> Result<(), StoreError> {
        let Line { branch, head, .. } = line;
        let last_page = self.records.page_at(branch.id, 0, Seq::MAX - 1)?;
        let last_tail = self.records.backend.last(&key::tails_of(branch.id))?;
        let paged = match &last_page {
            Some(stored) => Some(stored.next(&stored.read()?) - 1),
            None => None,
        };
        let tail = last_tail.and_then(|(key, _)| key::seq_of(&key));
        let last = paged.max(tail).filter(|last| *last > head.seq);
        // Someone may have appended since we read the head; what counts is the head as it is now.
        if let Some(last) = last.filter(|_| self.records.stored_head(branch).is_ok_and(|now| now == *head)) {
            let reason = format!("it lies behind the head, which is {}", head.seq);
            self.find(Some(&branch.name), Some(last), reason);
        }
        Ok(())
    }

    /// Notes damage, and passes on any other error.
    fn record(&mut self, branch: Option<&BranchName>, error: StoreError) -> Result<(), StoreError> {
        let StoreError::Corrupt { branch: placed, seq, reason, .. } = error else { return Err(error) };
        self.find(placed.as_ref().or(branch), seq, reason);
        Ok(())
    }

    fn find(&mut self, branch: Option<&BranchName>, seq: Option<Seq>, reason: String) {
        let (match_name, branch) = (Some(self.match_name.clone()), branch.cloned());
        let damage = Damage { match_name, branch, seq, reason };
        // Damage to a parent shows in every branch that begins on it.
        if !self.damage.contains(&damage) {
            self.damage.push(damage.clone());
            (self.observe)(Audited::Damaged(damage));
        }
    }
}
