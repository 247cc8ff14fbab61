//! Verifies a stored match by its rules: every command is folded again.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Registry};
use turnfold_store::{
    Audited, BegunFork, BranchName, Damage, Entry, Genesis, MatchName, Seq, SoundBranch, StoreError,
    StoreReader,
};

use crate::catch;
use crate::golden::origins::AuditedOrigins;
use crate::history::entry::LogEntry;
use crate::history::{distrusted, recorded_rules};

/// The result of verifying a match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The branches without findings: `main`, then the others by name.
    pub branches: Vec<VerifiedBranch>,
    /// What is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
    /// What another check has to verify.
    #[serde(rename = "dice")]
    pub left: Option<&'static str>,
    /// The referee that folded the entries, if it is the only one that can (RF-17).
    pub referee: Option<String>,
}

impl Verification {
    /// Returns what another check has to verify for these dice, in words.
    ///
    /// For fair dice, only the count and range of values are checked, because the values follow from the match's desk
    /// (FD-11).
    #[must_use]
    pub fn left_to_check(dice: &DicePolicy) -> Option<&'static str> {
        if matches!(dice, DicePolicy::Fair(_)) {
            Some("values are checked by audit, with the desk")
        } else {
            None
        }
    }

    /// Returns the referee of these rules with the name and version that it reports, such as ``sums 1 (`./sums`)``.
    #[must_use]
    pub fn named_referee(rules: &dyn AnyRules) -> Option<String> {
        let command = rules.referee()?;
        Some(format!("{} {} (`{command}`)", rules.name(), rules.version()))
    }
}

/// A branch without findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifiedBranch {
    /// The branch's name.
    pub branch: BranchName,
    /// The number of entries, including its parents'.
    pub entries: u64,
    /// The link after the last entry.
    pub link: Digest,
    /// The hash of the state after the last entry.
    pub state_hash: Digest,
}

/// Something that is wrong with a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The branch; `None` if the finding concerns the whole match.
    pub branch: Option<BranchName>,
    /// The number of the entry, if the finding concerns one.
    pub seq: Option<Seq>,
    /// The kind of finding.
    pub kind: FindingKind,
    /// What is wrong.
    pub message: String,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The store does not have what was written to it.
    Damaged,
    /// The log is intact, but its rules refuse it or a migrated match has other entries than its origin.
    Disagrees,
    /// This build does not have this version of the match's ruleset.
    UnknownRules,
    /// The log folds, but a kept snapshot is another state than the folded one.
    WrongSnapshot,
}

/// Writes the kind as in JSON.
impl fmt::Display for FindingKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

impl From<Damage> for Finding {
    fn from(damage: Damage) -> Self {
        let Damage { branch, seq, reason, .. } = damage;
        Self { branch, seq, kind: FindingKind::Damaged, message: reason }
    }
}

/// Audits a match: everything that the store has of it, and every command under the match's rules. Seeded dice are
/// computed again. After a finding, the audit continues with the next branch.
///
/// # Errors
/// [`StoreError::NoSuchMatch`], and errors of reading. Damage is a finding.
pub fn verify(
    store: &StoreReader,
    match_name: &MatchName,
    registry: &Registry,
) -> Result<Verification, StoreError> {
    let mut judge = Judge::new(registry);
    store.audit_with(match_name, &mut |audited| judge.take_or_fault(audited))?;
    let mut verification = judge.verification;
    verification.branches.sort_by(|left, right| left.branch.main_first().cmp(&right.branch.main_first()));
    verification
        .findings
        .sort_by_cached_key(|finding| finding.branch.as_ref().map(|name| (!name.is_main(), name.clone())));
    Ok(verification)
}

#[derive(Default)]
struct BranchFold {
    /// The state so far; `None` once the rules refuse an entry, or if this build does not have them.
    state: Option<Box<dyn AnyState>>,
    /// The first entry that the rules refuse, and why.
    disagreement: Option<(Seq, String)>,
}

impl BranchFold {
    fn fork(&self) -> Self {
        let Self { state, disagreement } = self;
        Self { state: state.as_ref().map(|state| state.fork()), disagreement: disagreement.clone() }
    }
}

struct Judge<'a> {
    registry: &'a Registry,
    verification: Verification,
    /// The match's first state, if this build has its rules.
    start: BranchFold,
    dice: DicePolicy,
    /// The branch that is being audited, and the number of findings before it.
    branch: Option<BranchName>,
    findings_before: usize,
    folding: BranchFold,
    /// The states at which other branches begin, by the numbers of their forks.
    forks: BTreeMap<usize, BranchFold>,
    origins: AuditedOrigins,
}

impl<'a> Judge<'a> {
    fn new(registry: &'a Registry) -> Self {
        Self {
            registry,
            verification: Verification::default(),
            start: BranchFold::default(),
            dice: DicePolicy::Recorded,
            branch: None,
            findings_before: 0,
            folding: BranchFold::default(),
            forks: BTreeMap::new(),
            origins: AuditedOrigins::default(),
        }
    }

    /// Takes what was read. If a module fails, nothing more is folded (MD-6).
    fn take_or_fault(&mut self, audited: Audited<'_>) {
        if let Err(fault) = catch(|| self.take(audited)) {
            (self.start, self.folding, self.forks) = Default::default();
            self.find(None, FindingKind::Disagrees, fault.to_string());
        }
    }

    fn take(&mut self, audited: Audited<'_>) {
        if let Some(origin) = self.origins.take(&audited) {
            self.find(Some(origin.head), FindingKind::Disagrees, Finding::wrong_origin(&origin));
        }
        match audited {
            Audited::Match(genesis) => self.begin(genesis),
            Audited::Branch { name, fork } => {
                self.branch = Some(name.clone());
                self.findings_before = self.verification.findings.len();
                self.folding = self.fork_at(fork);
                // An error in entries that several branches share is a finding for each of them.
                if let Some((seq, message)) = self.folding.disagreement.clone() {
                    self.find(Some(seq), FindingKind::Disagrees, message);
                }
            }
            Audited::Entries(entries) => self.fold(entries),
            Audited::Fork(number) => {
                self.forks.insert(number, self.folding.fork());
            }
            Audited::Snapshot { seq, rolls, state, path } => {
                if let Some(folded) = &self.folding.state
                    && (rolls != folded.rolls() || state != folded.state_bytes())
                {
                    let message = "its snapshot is not the state that the entries fold to; remove";
                    let message = format!("{message} `{}`", path.display());
                    self.find(Some(seq), FindingKind::WrongSnapshot, message);
                }
            }
            Audited::Sound(branch) => self.end(branch),
            Audited::Damaged(damage) => self.verification.findings.push(damage.into()),
        }
    }

    fn begin(&mut self, genesis: &Genesis) {
        let Genesis { format, setup, .. } = genesis;
        self.dice = genesis.dice;
        self.verification.left = Verification::left_to_check(&self.dice);
        if !genesis.has_known_format() {
            let [created, later] = [Genesis::FORMAT, Genesis::FORMAT_3];
            let message = format!("the match has format {format}, this build knows {created} and {later}");
            return self.find(None, FindingKind::UnknownRules, message);
        }
        let rules = match recorded_rules(genesis, self.registry) {
            Ok(rules) => rules,
            Err(cause) => return self.find(None, FindingKind::UnknownRules, cause.to_string()),
        };
        self.verification.referee = Verification::named_referee(&*rules);
        match distrusted(&rules).start(setup) {
            Ok(state) => self.start.state = Some(state),
            Err(error) => self.find(None, FindingKind::Disagrees, error.to_string()),
        }
    }

    fn fork_at(&mut self, fork: Option<BegunFork>) -> BranchFold {
        match fork {
            None => self.start.fork(),
            Some(BegunFork { number, is_last: true }) => self.forks.remove(&number).unwrap_or_default(),
            Some(BegunFork { number, .. }) => match self.forks.get(&number) {
                Some(folding) => folding.fork(),
                None => BranchFold::default(),
            },
        }
    }

    fn fold(&mut self, entries: &[Entry]) {
        let Some(state) = &mut self.folding.state else { return };
        let logged = LogEntry::stored(entries);
        if let Err(error) = state.fold(&logged, &self.dice, &mut |_| {}) {
            let seq = error.seq();
            let message = error.to_string();
            self.folding = BranchFold { state: None, disagreement: Some((seq, message.clone())) };
            self.find(Some(seq), FindingKind::Disagrees, message);
        }
    }

    fn end(&mut self, sound: SoundBranch) {
        if let Some(state) = &self.folding.state
            && self.verification.findings.len() == self.findings_before
        {
            let SoundBranch { name: branch, entries, link, .. } = sound;
            let state_hash = state.state_hash();
            self.verification.branches.push(VerifiedBranch { branch, entries, link, state_hash });
        }
    }

    fn find(&mut self, seq: Option<Seq>, kind: FindingKind, message: String) {
        let branch = self.branch.clone();
        self.verification.findings.push(Finding { branch, seq, kind, message });
    }
}
