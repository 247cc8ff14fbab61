//! Audits a match: numbering, chain and encoding of every branch, and all other records of the match.
//!
//! The store knows no rules, so it passes entries and snapshots to the caller as it reads them.

use std::collections::BTreeMap;
use std::path::Path;

use turnfold_core::Digest;

use crate::ancestry::Ancestry;
use crate::backup::walk::sort_parents_first;
use crate::engine::EngineReader;
use crate::entry::{Entry, Seq};
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::Branch;
use crate::reader::store_reader::StoreReader;
use crate::reader::store_report::Damage;
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshot, has_snapshot};

/// A branch without damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundBranch {
    /// Its name.
    pub name: BranchName,
    /// The number of its entries, its ancestors' included.
    pub entries: u64,
    /// The number of its own entries.
    pub own_entries: u64,
    /// The link after its last entry.
    pub link: Digest,
}

/// The result of an audit of a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchAudit {
    /// The sound branches: `main`, then the others by name.
    pub branches: Vec<SoundBranch>,
    /// What is damaged; empty if nothing is.
    pub damage: Vec<Damage>,
}

/// What an audit reads, in this order: the match, then each branch with its entries and its result. Parents come before
/// their children.
#[derive(Debug)]
pub enum Audited<'a> {
    /// The setup of the match.
    Match(&'a Genesis),
    /// A branch. Its entries follow.
    Branch {
        /// Its name.
        name: &'a BranchName,
        /// The fork at which its entries continue. If `None`, they begin with the first entry of the history.
        fork: Option<BegunFork>,
    },
    /// The next entries of the branch.
    Entries(&'a [Entry]),
    /// Other branches begin after the previous entry, or after the setup. The number is the one in [`BegunFork`].
    Fork(usize),
    /// The state kept after the previous entry, by any build. Only folding the entries can prove it right.
    Snapshot {
        /// The seq of that entry.
        seq: Seq,
        /// The number of rolls before the state.
        rolls: u64,
        /// The state, as its ruleset encodes it.
        state: &'a [u8],
        /// The file of the snapshot.
        path: &'a Path,
    },
    /// The branch was read to its end without damage.
    Sound(SoundBranch),
    /// Something is damaged. The audit continues with the next branch.
    Damaged(Damage),
}

/// The fork at which a branch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunFork {
    /// The number of the fork within the match.
    pub number: usize,
    /// Whether no further branch begins there.
    pub is_last: bool,
}

const ENTRIES_MAX: u64 = 256;

// Every seq with a snapshot must be one at which entries are passed on.
const _: () = assert!(SNAPSHOT_INTERVAL.is_multiple_of(ENTRIES_MAX));

impl StoreReader {
    /// Audits a match: numbering, chain, encoding and idempotency keys of every branch. It uses no rules.
    ///
    /// # Errors
    /// Returns the errors of [`audit_with`](StoreReader::audit_with).
    pub fn audit(&self, match_name: &MatchName) -> Result<MatchAudit, StoreError> {
        let mut found = MatchAudit::default();
        self.audit_with(match_name, &mut |audited| match audited {
            Audited::Sound(branch) => found.branches.push(branch),
            Audited::Damaged(damage) => found.damage.push(damage),
            _ => {}
        })?;
        found.branches.sort_by(|left, right| left.name.main_first().cmp(&right.name.main_first()));
        Ok(found)
    }

    /// Audits a match like [`audit`](StoreReader::audit), and passes everything it reads to `observe`.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or errors of reading other than damage. Damage is passed to `observe`.
    pub fn audit_with(
        &self,
        match_name: &MatchName,
        observe: &mut dyn FnMut(Audited<'_>),
    ) -> Result<(), StoreError> {
        let _branches = self.engine.hold_branches();
        audit(self.engine.as_ref(), match_name, observe)
    }
}

/// Audits a match. The caller must keep its branches from being deleted or renamed.
pub(crate) fn audit(
    engine: &dyn EngineReader,
    match_name: &MatchName,
    observe: &mut dyn FnMut(Audited<'_>),
) -> Result<(), StoreError> {
    let mut audit = Audit { engine, match_name, observe, damage: Vec::new(), forks: BTreeMap::new() };
    let audited = audit.run();
    audited.or_else(|error| audit.record(None, error))
}

struct Audit<'a> {
    engine: &'a dyn EngineReader,
    match_name: &'a MatchName,
    observe: &'a mut dyn FnMut(Audited<'_>),
    damage: Vec<Damage>,
    /// The forks of the match, by the branch that has the entry before the fork and by that entry.
    forks: BTreeMap<(usize, Seq), AuditedFork>,
}

struct AuditedFork {
    number: usize,
    /// The number of branches that have not begun there yet.
    waiting: u64,
    /// The link there; `None` before the chain reached it.
    link: Option<Digest>,
}

struct AuditedBranch {
    branch: Branch,
    /// Its number in the ancestry.
    index: usize,
    /// `None` if the branch must be read from the first entry of its history.
    fork: Option<(usize, Seq)>,
}

impl Audit<'_> {
    fn run(&mut self) -> Result<(), StoreError> {
        let found_match = match self.engine.found_match(self.match_name) {
            // Either the match never existed, or its record is missing.
            Err(error @ StoreError::NoSuchMatch { .. }) => {
                return self.engine.require_all_matches().and(Err(error));
            }
            found => found?,
        };
        (self.observe)(Audited::Match(&found_match.genesis()?));
        let (auditable, missing) = self.engine.auditable(&found_match)?;
        if let Some(error) = missing {
            self.record(None, error)?;
        }
        let mut branches = Vec::new();
        for (name, branch) in auditable {
            match branch {
                Ok(branch) => branches.push(branch),
                Err(error) => self.record(Some(&name), error)?,
            }
        }
        for branch in self.with_forks(branches) {
            if let Err(error) = self.audit_branch(&branch) {
                self.record(Some(&branch.branch.found.name), error)?;
            }
        }
        Ok(())
    }

    fn with_forks(&mut self, mut branches: Vec<Branch>) -> Vec<AuditedBranch> {
        sort_parents_first(&mut branches);
        let mut ancestry = Ancestry::default();
        let mut indexes = BTreeMap::new();
        let mut audited = Vec::new();
        for branch in branches {
            let parent = branch.found.parent.as_ref();
            let known = parent.and_then(|parent| indexes.get(&parent.id).copied());
            let index = ancestry.add(known, branch.found.forked_at().saturating_add(1));
            indexes.insert(branch.found.id, index);
            let fork =
                known.zip(parent).map(|(known, parent)| (ancestry.holder(known, parent.at), parent.at));
            if let Some(fork) = fork {
                let number = self.forks.len();
                let fork = self.forks.entry(fork).or_insert(AuditedFork { number, waiting: 0, link: None });
                fork.waiting += 1;
            }
            audited.push(AuditedBranch { branch, index, fork });
        }
        audited
    }

    /// Audits the branch's own entries. If its fork was not reached soundly, it reads the ancestors' entries too.
    fn audit_branch(
        &mut self,
        AuditedBranch { branch, index, fork }: &AuditedBranch,
    ) -> Result<(), StoreError> {
        let damage_before = self.damage.len();
        let Branch { found, head, .. } = branch;
        let begun = fork.and_then(|fork| self.begun(fork, found.before));
        (self.observe)(Audited::Branch { name: &found.name, fork: begun });
        let first = begun.map_or(1, |_| found.forked_at().saturating_add(1));
        if found.parent.is_none() {
            self.reach((*index, 0), branch.found_match.link());
        }
        let mut entries = branch.entries(self.engine, first..=head.seq)?;
        let mut idempotency_keys = BTreeMap::new();
        let mut chunk = Vec::new();
        while let Some(linked) = entries.next_linked() {
            let (entry, link) = linked?;
            let seq = entry.seq;
            if let Some(key) = entry.idempotency_key.clone().filter(|_| seq > found.forked_at()) {
                idempotency_keys.entry(key).or_insert((seq, seq)).1 = seq;
            }
            chunk.push(entry);
            let is_fork = self.forks.contains_key(&(*index, seq));
            if is_fork || seq.is_multiple_of(ENTRIES_MAX) {
                (self.observe)(Audited::Entries(&chunk));
                chunk.clear();
                self.reach((*index, seq), link);
                self.hand_on_snapshot(&link, seq);
            }
        }
        (self.observe)(Audited::Entries(&chunk));
        let end = entries.link();
        for (seq, reason) in self.engine.audit_kept(branch, idempotency_keys)? {
            self.find(Some(&found.name), seq, reason);
        }
        if self.damage.len() == damage_before {
            let name = found.name.clone();
            let entries = head.seq;
            let own_entries = head.seq - found.forked_at();
            (self.observe)(Audited::Sound(SoundBranch { name, entries, own_entries, link: end }));
        }
        Ok(())
    }

    fn begun(&mut self, fork: (usize, Seq), before: Digest) -> Option<BegunFork> {
        let fork = self.forks.get_mut(&fork)?;
        fork.waiting -= 1;
        (fork.link == Some(before)).then_some(BegunFork { number: fork.number, is_last: fork.waiting == 0 })
    }

    fn reach(&mut self, at: (usize, Seq), link: Digest) {
        if let Some(fork) = self.forks.get_mut(&at) {
            fork.link = Some(link);
            (self.observe)(Audited::Fork(fork.number));
        }
    }

    fn hand_on_snapshot(&mut self, link: &Digest, seq: Seq) {
        let snapshots = self.engine.snapshots().filter(|snapshots| snapshots.exist());
        let Some(snapshots) = snapshots.filter(|_| has_snapshot(seq)) else { return };
        if let Some(Snapshot { rolls, state, .. }) = snapshots.read(link, seq, None) {
            let path = snapshots.path(link);
            (self.observe)(Audited::Snapshot { seq, rolls, state: &state, path: &path });
        }
    }

    fn record(&mut self, branch: Option<&BranchName>, error: StoreError) -> Result<(), StoreError> {
        let StoreError::Corrupt { branch: placed, seq, reason, .. } = error else { return Err(error) };
        self.find(placed.as_ref().or(branch), seq, reason);
        Ok(())
    }

    fn find(&mut self, branch: Option<&BranchName>, seq: Option<Seq>, reason: String) {
        let match_name = Some(self.match_name.clone());
        let branch = branch.cloned();
        let damage = Damage { match_name, branch, seq, reason };
        // Damage to a parent appears again in every branch that begins on it.
        if !self.damage.contains(&damage) {
            self.damage.push(damage.clone());
            (self.observe)(Audited::Damaged(damage));
        }
    }
}
