//! The audit of a match: numbering, chain and encoding of every branch, and all that the store keeps beside them.
//!
//! The store knows no rules. Whoever does is handed the entries, and the states kept beside them, while they are read.

use std::collections::BTreeMap;
use std::path::Path;

use turnfold_core::Digest;

use crate::engine::EngineReader;
use crate::entry::{Entry, Genesis, Seq};
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::line::Line;
use crate::reader::report::Damage;
use crate::reader::store_reader::StoreReader;
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshot, has_snapshot};

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
        let _branches = self.engine.hold_branches();
        audit(self.engine.as_ref(), match_name, observe)
    }
}

/// Audits a match of which no branch is deleted or renamed meanwhile.
pub(crate) fn audit(
    engine: &dyn EngineReader,
    match_name: &MatchName,
    observe: &mut dyn FnMut(Audited<'_>),
) -> Result<(), StoreError> {
    let mut audit = Audit { engine, match_name, observe, damage: Vec::new() };
    let audited = audit.run();
    audited.or_else(|error| audit.record(None, error))
}

struct Audit<'a> {
    engine: &'a dyn EngineReader,
    match_name: &'a MatchName,
    observe: &'a mut dyn FnMut(Audited<'_>),
    damage: Vec<Damage>,
}

impl Audit<'_> {
    fn run(&mut self) -> Result<(), StoreError> {
        let of = self.engine.found_match(self.match_name)?;
        (self.observe)(Audited::Match(&of.genesis()?));
        let (mut branches, missing) = self.engine.auditable(&of)?;
        if let Some(error) = missing {
            self.record(None, error)?;
        }
        branches.sort_by(|(left, _), (right, _)| (!left.is_main(), left).cmp(&(!right.is_main(), right)));
        for (name, line) in branches {
            if let Err(error) = line.and_then(|line| self.audit_line(&line)) {
                self.record(Some(&name), error)?;
            }
        }
        Ok(())
    }

    fn audit_line(&mut self, line: &Line) -> Result<(), StoreError> {
        let damage_before = self.damage.len();
        let Line { branch, head, .. } = line;
        (self.observe)(Audited::Branch(&branch.name));
        let mut entries = line.entries(self.engine, 1..=head.seq)?;
        let mut idempotency_keys = BTreeMap::new();
        let mut chunk = Vec::new();
        for entry in &mut entries {
            let entry = entry?;
            let seq = entry.seq;
            if let Some(key) = entry.idempotency_key.clone().filter(|_| seq > branch.forked_at()) {
                idempotency_keys.entry(key).or_insert((seq, seq)).1 = seq;
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
        for (seq, reason) in self.engine.audit_kept(line, idempotency_keys)? {
            self.find(Some(&branch.name), seq, reason);
        }
        if self.damage.len() == damage_before {
            let (name, entries, own_entries) = (branch.name.clone(), head.seq, head.seq - branch.forked_at());
            (self.observe)(Audited::Sound(SoundBranch { name, entries, own_entries, link: end }));
        }
        Ok(())
    }

    /// Hands on the snapshot after an entry, if there is one.
    fn hand_on_snapshot(&mut self, line: &Line, seq: Seq) -> Result<(), StoreError> {
        let snapshots = self.engine.snapshots().filter(|snapshots| snapshots.exist());
        let Some(snapshots) = snapshots.filter(|_| has_snapshot(seq)) else { return Ok(()) };
        let name = line.link_at(self.engine, seq)?;
        if let Some(Snapshot { rolls, state, .. }) = snapshots.read(&name, seq, None) {
            let path = snapshots.path(&name);
            (self.observe)(Audited::Snapshot { seq, rolls, state: &state, path: &path });
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
