//! Verifies a stored match: its chain, and every command by its rules, which fold it again.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::slice;

use serde::Serialize;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Registry};
use turnfold_store::{
    Audited, BegunFork, BranchName, Damage, Entry, Genesis, MatchName, Origin, OriginCheck, Seq, SoundBranch,
    StoreError, StoreReader,
};

use crate::{History, LogEntry, ReplayError, catch, distrusted, recorded_rules};

/// The result of verifying a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The branches without findings, or with a sound chain if nothing was folded: `main`, then the others by name.
    pub branches: Vec<VerifiedBranch>,
    /// What is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
    /// What another check has to verify.
    pub left: Option<&'static str>,
    /// The referee that folded the entries, if it is the only one that can (RF-17).
    pub referee: Option<String>,
}

impl Verification {
    /// What [`verify`] does not check without a registry, in words.
    pub const NOT_CHECKED: &str = "commands, outcomes, states, dice and snapshots, which need the rules";

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

/// A branch without findings, or with a sound chain if nothing was folded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifiedBranch {
    /// The branch's name.
    pub branch: BranchName,
    /// The number of entries, including its parents'.
    pub entries: u64,
    /// The link after the last entry.
    pub link: Digest,
    /// The hash of the state after the last entry; `None` if nothing was folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_hash: Option<Digest>,
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

impl Finding {
    /// Returns the message for an origin with other entries than the match.
    #[must_use]
    pub fn wrong_origin(origin: &Origin) -> String {
        let Origin { ruleset_version, head, link, .. } = origin;
        format!(
            "its origin has other entries: under version {ruleset_version}, the link after entry {head} is not \
             {link:.16}"
        )
    }
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

/// Audits a match: numbering, encoding, chain and idempotency keys of every branch, the origins that the match names,
/// and every command under the match's rules in the registry. Seeded dice are computed again. After a finding, the audit
/// continues with the next branch. Without a registry, nothing is folded.
///
/// # Errors
/// [`StoreError::NoSuchMatch`], and errors of reading. Damage is a finding.
pub fn verify(
    store: &StoreReader,
    match_name: &MatchName,
    registry: Option<&Registry>,
) -> Result<Verification, StoreError> {
    let mut judge = Judge {
        registry,
        verification: Verification::default(),
        origins: None,
        start: BranchFold::default(),
        dice: DicePolicy::Recorded,
        branch: None,
        findings_before: 0,
        folding: BranchFold::default(),
        forks: BTreeMap::new(),
    };
    store.audit_with(match_name, &mut |audited| judge.take_or_fault(audited))?;
    let Verification { mut branches, mut findings, left, referee } = judge.verification;
    branches.sort_by(|a, b| a.branch.main_first().cmp(&b.branch.main_first()));
    if registry.is_some() {
        findings.sort_by_cached_key(|finding| {
            finding.branch.as_ref().map(|name| (!name.is_main(), name.clone()))
        });
    }
    Ok(Verification { branches, findings, left, referee })
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
    registry: Option<&'a Registry>,
    verification: Verification,
    /// Checks that `main` has the entries of the matches that it continues, if there are any.
    origins: Option<OriginCheck>,
    /// The match's first state, if this build has its rules.
    start: BranchFold,
    dice: DicePolicy,
    /// The branch that is being audited, and the number of findings before it.
    branch: Option<BranchName>,
    findings_before: usize,
    folding: BranchFold,
    /// The states at which other branches begin, by the numbers of their forks.
    forks: BTreeMap<usize, BranchFold>,
}

impl Judge<'_> {
    /// Takes what was read. If a module fails, nothing more is folded (MD-6).
    fn take_or_fault(&mut self, audited: Audited<'_>) {
        if let Err(fault) = catch(|| self.take(audited)) {
            (self.start, self.folding, self.forks) = Default::default();
            self.find(None, FindingKind::Disagrees, fault.to_string());
        }
    }

    fn take(&mut self, audited: Audited<'_>) {
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
            Audited::Entries(entries) => {
                if let (Some(origins), Some(branch)) = (&mut self.origins, &self.branch)
                    && branch.is_main()
                {
                    for entry in entries {
                        origins.take(&entry.encode());
                    }
                }
                self.fold(entries);
            }
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
        let origins = OriginCheck::of(genesis);
        if !origins.is_idle() {
            self.origins = Some(origins);
        }
        let Some(registry) = self.registry else { return };
        let Genesis { format, setup, .. } = genesis;
        self.dice = genesis.dice;
        self.verification.left = Verification::left_to_check(&self.dice);
        if !genesis.has_known_format() {
            let [created, later] = [Genesis::FORMAT, Genesis::FORMAT_3];
            let message = format!("the match has format {format}, this build knows {created} and {later}");
            return self.find(None, FindingKind::UnknownRules, message);
        }
        let rules = match recorded_rules(genesis, registry) {
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
            Some(BegunFork { number, .. }) => {
                self.forks.get(&number).map(BranchFold::fork).unwrap_or_default()
            }
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
        let SoundBranch { name: branch, entries, link, .. } = sound;
        if branch.is_main()
            && let Some(origin) = self.origins.take().and_then(|origins| origins.first_wrong())
        {
            self.find(Some(origin.head), FindingKind::Disagrees, Finding::wrong_origin(&origin));
        }
        if self.registry.is_some() && self.verification.findings.len() > self.findings_before {
            return;
        }
        let state_hash = self.folding.state.as_ref().map(|state| state.state_hash());
        if state_hash.is_some() || self.registry.is_none() {
            self.verification.branches.push(VerifiedBranch { branch, entries, link, state_hash });
        }
    }

    fn find(&mut self, seq: Option<Seq>, kind: FindingKind, message: String) {
        let branch = self.branch.clone();
        self.verification.findings.push(Finding { branch, seq, kind, message });
    }
}

impl History {
    /// Stores, reloads and folds again at every entry. Returns the first entry after which the state hashes differ.
    ///
    /// At each entry, the state of `window` entries ago is read back from its bytes and folded forward. A hash differs if
    /// a part of the state does not survive storage.
    ///
    /// # Errors
    /// [`ReplayError::NotReloadable`]; [`ReplayError::Setup`] and [`ReplayError::Entry`] if the history cannot be
    /// folded.
    pub fn first_unsynced(&self, window: usize) -> Result<Option<u64>, ReplayError> {
        let mut state = self.start()?;
        // The bytes and rolls of the last states, oldest first: after entries i−window to i.
        let mut stored = VecDeque::from([(state.state_bytes(), state.rolls())]);
        for (index, entry) in self.entries.iter().enumerate() {
            fold(self, state.as_mut(), slice::from_ref(entry))?;
            let first = (index + 1).saturating_sub(stored.len());
            let Some((bytes, rolls)) = stored.front() else { return Ok(None) };
            let reloaded = self.rules.resume(bytes, *rolls);
            let mut reloaded = reloaded.map_err(|cause| ReplayError::NotReloadable(first, cause))?;
            fold(self, reloaded.as_mut(), self.entries.get(first..=index).unwrap_or_default())?;
            if reloaded.state_hash() != state.state_hash() {
                return Ok(Some(entry.seq));
            }
            stored.push_back((state.state_bytes(), state.rolls()));
            if stored.len() > window {
                stored.pop_front();
            }
        }
        Ok(None)
    }
}

fn fold(history: &History, state: &mut dyn AnyState, entries: &[LogEntry]) -> Result<(), ReplayError> {
    state
        .fold(&LogEntry::all_logged(entries), &history.dice, &mut |_| {})
        .map_err(|cause| ReplayError::Entry(history.name.clone(), cause))
}
