//! The audit: everything stored of a match, and every command folded again under its rules.

use std::collections::BTreeMap;

use turnfold_core::{AnyState, CommandSource, DicePolicy, Digest, Logged, Registry};

use crate::dir::snapshots::{SNAPSHOT_INTERVAL, has_snapshot};
use crate::entry::{Entry, Genesis, Seq};
use crate::error::StoreError;
use crate::layout::key;
use crate::layout::record::IdempotencyRecord;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::line::Line;
use crate::reader::records::Records;
use crate::reader::store_reader::StoreReader;

/// What an audit of a match found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The branches in which all is well: `main`, then the others by name.
    pub branches: Vec<BranchVerification>,
    /// What is wrong; nothing, if all is well.
    pub findings: Vec<Finding>,
}

/// A branch in which all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchVerification {
    /// Its name.
    pub branch: BranchName,
    /// How many entries it has, those of its parents included.
    pub entries: u64,
    /// The link after the last.
    pub link: Digest,
    /// The hash of the state after the last.
    pub state_hash: Digest,
}

/// Something wrong with a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The branch that holds it; `None` when it concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The entry concerned, where it is one.
    pub seq: Option<Seq>,
    /// What sort of thing it is.
    pub kind: FindingKind,
    /// What is wrong.
    pub message: String,
}

/// The sorts of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The store does not hold what was written to it.
    Damaged,
    /// The log is as it was written, but its rules give something else.
    Disagrees,
    /// This build does not have the match's ruleset, in its version.
    UnknownRules,
    /// The log and its rules are in order, but a state kept to spare folding it was another.
    WrongSnapshot,
}

/// How many entries are folded at a time.
const FOLD_MAX: usize = 256;

// Every snapshot follows the last entry of a fold.
const _: () = assert!(SNAPSHOT_INTERVAL.is_multiple_of(FOLD_MAX as u64));

impl StoreReader {
    /// Audits a match: numbering, chain and encoding of every branch, and every command under the match's rules, with
    /// seeded dice computed again. It goes on with the next branch after a finding.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and trouble with reading that is not damage; damage is a finding.
    pub fn verify(&self, match_name: &MatchName, registry: &Registry) -> Result<Verification, StoreError> {
        let _branches = self.records.hold_branches();
        let Audit { findings, branches, .. } = audit(&self.records, match_name, Some(registry))?;
        Ok(Verification { branches, findings })
    }
}

/// Audits a match, with its rules as a registry has them or without.
pub(crate) fn audit<'a>(
    records: &'a Records,
    match_name: &'a MatchName,
    registry: Option<&'a Registry>,
) -> Result<Audit<'a>, StoreError> {
    let (findings, branches) = (Vec::new(), Vec::new());
    let mut audit = Audit { records, match_name, registry, findings, branches, sound: 0, own_entries: 0 };
    match audit.run() {
        Ok(()) => {}
        Err(error @ StoreError::Corrupt { .. }) => audit.damage(None, error),
        Err(error) => return Err(error),
    }
    Ok(audit)
}

/// An audit and what it found.
pub(crate) struct Audit<'a> {
    records: &'a Records,
    match_name: &'a MatchName,
    /// The rules under which commands are folded; none if they are not.
    registry: Option<&'a Registry>,
    pub(crate) findings: Vec<Finding>,
    branches: Vec<BranchVerification>,
    /// How many branches are sound as far as they were looked at, and how many entries those have of their own.
    pub(crate) sound: u64,
    pub(crate) own_entries: u64,
}

/// The state of a branch while it is folded; gone once its rules do not agree.
type Folding = Option<Box<dyn AnyState>>;

impl Audit<'_> {
    fn run(&mut self) -> Result<(), StoreError> {
        let of = self.records.find_match(self.match_name)?;
        let genesis = of.genesis()?;
        let start = self.registry.and_then(|registry| self.start(&genesis, registry));
        let mut branches = match self.records.stored_branches(self.match_name) {
            Ok((_, branches)) => branches,
            Err(error) => {
                self.record_damage(None, error)?;
                self.records.readable_branches(&of)?
            }
        };
        branches.sort_by(|left, right| {
            (!left.name.is_main(), &left.name).cmp(&(!right.name.is_main(), &right.name))
        });
        for stored in branches {
            let line = stored.read(&of).and_then(|branch| self.records.line(&of, branch));
            let audited = line.and_then(|line| {
                let folding = start.as_ref().map(|start| start.fork());
                self.audit_line(&line, (folding, genesis.dice))
            });
            if let Err(error) = audited {
                self.record_damage(Some(&stored.name), error)?;
            }
        }
        Ok(())
    }

    /// Starts the match under its rules, if this build has them.
    fn start(&mut self, genesis: &Genesis, registry: &Registry) -> Folding {
        let Genesis { format, ruleset, ruleset_version, setup, .. } = genesis;
        if *format != Genesis::FORMAT {
            let message = format!("the match has format {format}, this build knows {}", Genesis::FORMAT);
            self.find(None, None, FindingKind::UnknownRules, message);
            return None;
        }
        let Some(rules) = registry.find(ruleset) else {
            let message = format!("unknown ruleset `{ruleset}`");
            self.find(None, None, FindingKind::UnknownRules, message);
            return None;
        };
        if rules.version() != *ruleset_version {
            let known = rules.version();
            let message =
                format!("ruleset `{ruleset}` has version {ruleset_version}, this build knows {known}");
            self.find(None, None, FindingKind::UnknownRules, message);
            return None;
        }
        match rules.start(setup) {
            Ok(state) => Some(state),
            Err(error) => {
                self.find(None, None, FindingKind::Disagrees, error.to_string());
                None
            }
        }
    }

    fn audit_line(
        &mut self,
        line: &Line,
        (mut folding, dice): (Folding, DicePolicy),
    ) -> Result<(), StoreError> {
        let findings_before = self.findings.len();
        let Line { branch, head, .. } = line;
        let name = &branch.name;
        let mut entries = line.entries(self.records, 1..=head.seq)?;
        let mut keys = BTreeMap::new();
        let mut chunk = Vec::new();
        for entry in &mut entries {
            let entry = entry?;
            let seq = entry.seq;
            if let Some(key) = entry.key.clone().filter(|_| entry.seq > branch.forked_at()) {
                let IdempotencyRecord { last, .. } =
                    keys.entry(key).or_insert(IdempotencyRecord { first: entry.seq, last: entry.seq });
                *last = entry.seq;
            }
            chunk.push(entry);
            if chunk.len() == FOLD_MAX {
                self.fold(name, &mut folding, &chunk, &dice);
                chunk.clear();
                self.audit_snapshot(line, seq, folding.as_deref())?;
            }
        }
        self.fold(name, &mut folding, &chunk, &dice);
        let end = entries.link();
        self.audit_keys(line, keys)?;
        self.audit_strays(line)?;
        if self.findings.len() != findings_before {
            return Ok(());
        }
        self.sound += 1;
        self.own_entries += head.seq - branch.forked_at();
        if let Some(state) = folding {
            let (branch, state_hash) = (name.clone(), state.state_hash());
            self.branches.push(BranchVerification { branch, entries: head.seq, link: end, state_hash });
        }
        Ok(())
    }

    /// Folds some more entries, and no more once the rules do not agree.
    fn fold(&mut self, name: &BranchName, folding: &mut Folding, entries: &[Entry], dice: &DicePolicy) {
        let Some(state) = folding else { return };
        let logged: Vec<_> = entries
            .iter()
            .map(|entry| {
                let command = CommandSource::Bytes(&entry.command);
                Logged { seq: entry.seq, seat: entry.seat, command }
            })
            .collect();
        if let Err(error) = state.fold(&logged, dice, &mut |_| {}) {
            self.find(Some(name), Some(error.seq()), FindingKind::Disagrees, error.to_string());
            *folding = None;
        }
    }

    /// Compares the snapshot after an entry, if there is one, with what the entries fold to.
    fn audit_snapshot(
        &mut self,
        line: &Line,
        seq: Seq,
        folded: Option<&dyn AnyState>,
    ) -> Result<(), StoreError> {
        let (Some(snapshots), Some(state)) = (&self.records.snapshots, folded) else { return Ok(()) };
        if !has_snapshot(seq) {
            return Ok(());
        }
        let name = line.link_at(self.records, seq)?;
        if snapshots.read(&name, seq, None).is_some_and(|kept| kept != state.state_bytes()) {
            let message = "its snapshot is not the state that the entries fold to; remove";
            let message = format!("{message} `{}`", snapshots.path(&name).display());
            self.find(Some(&line.branch.name), Some(seq), FindingKind::WrongSnapshot, message);
        }
        Ok(())
    }

    /// Requires the index of idempotency keys to say what the entries say.
    fn audit_keys(
        &mut self,
        line: &Line,
        mut keys: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    ) -> Result<(), StoreError> {
        let Line { branch, head, .. } = line;
        let name = &branch.name;
        for (key, value) in self.records.scan_all(key::idempotency_of(branch.id))? {
            let text = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse().ok());
            let text: IdempotencyKey =
                text.ok_or_else(|| StoreError::damaged("an idempotency key has no proper name"))?;
            let expected = keys.remove(&text);
            let indexed =
                crate::layout::record::read::<IdempotencyRecord>("an idempotency key", &key, &value);
            let seq = expected.map(|expected| expected.first);
            let message = match indexed {
                Ok(indexed) if Some(indexed) == expected => continue,
                // It may have been appended since we read the head.
                Ok(indexed) if expected.is_none() && indexed.first > head.seq => continue,
                Ok(_) => {
                    format!("the idempotency key `{text}` stands for other entries than those that carry it")
                }
                Err(error) => format!("the idempotency key `{text}`: {error}"),
            };
            self.find(Some(name), seq, FindingKind::Damaged, message);
        }
        for (text, IdempotencyRecord { first, .. }) in keys {
            let message = format!("the idempotency key `{text}` is missing");
            self.find(Some(name), Some(first), FindingKind::Damaged, message);
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
            let message = format!("it lies behind the head, which is {}", head.seq);
            self.find(Some(&branch.name), Some(last), FindingKind::Damaged, message);
        }
        Ok(())
    }

    /// Notes damage, and passes on any other error.
    fn record_damage(&mut self, branch: Option<&BranchName>, error: StoreError) -> Result<(), StoreError> {
        match error {
            StoreError::Corrupt { .. } => {
                self.damage(branch, error);
                Ok(())
            }
            other => Err(other),
        }
    }

    fn damage(&mut self, branch: Option<&BranchName>, error: StoreError) {
        if let StoreError::Corrupt { branch: placed, seq, reason, .. } = error {
            self.find(placed.as_ref().or(branch), seq, FindingKind::Damaged, reason);
        }
    }

    fn find(&mut self, branch: Option<&BranchName>, seq: Option<Seq>, kind: FindingKind, message: String) {
        let finding = Finding { branch: branch.cloned(), seq, kind, message };
        // Damage to a parent shows in every branch that begins on it.
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}
