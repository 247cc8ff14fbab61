//! Verify: a stored match audited down to its rules, with every command folded again.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Registry};
use turnfold_store::{
    Audited, BegunFork, BranchName, Damage, Entry, Genesis, MatchName, Seq, SoundBranch, StoreError,
    StoreReader,
};

use crate::fault::catch;
use crate::golden::origins::{AuditedOrigins, is_wrong};
use crate::history::entry::stored;
use crate::history::{distrusted, recorded_rules};

/// What the audit of a match found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The branches in which all is well: `main`, then the others by name.
    pub branches: Vec<VerifiedBranch>,
    /// What is wrong; nothing, if all is well.
    pub findings: Vec<Finding>,
    /// What is left to another check.
    #[serde(rename = "dice")]
    pub left: Option<&'static str>,
    /// The referee by whose rules the entries were folded, if no others did (RF-17).
    pub referee: Option<String>,
}

/// Returns what an audit of a match alone leaves to another check when rolls come from there, for people.
///
/// Of fair dice only count and range are checked: their values follow from what stands in the desk (FD-11).
#[must_use]
pub fn left_to_check(dice: &DicePolicy) -> Option<&'static str> {
    matches!(dice, DicePolicy::Fair(_)).then_some("values are checked by audit, with the desk")
}

/// Returns the referee that knows the rules, with the name and version that it gives itself: `sums 1 (./sums)`.
#[must_use]
pub fn named_referee(rules: &dyn AnyRules) -> Option<String> {
    rules.referee().map(|command| format!("{} {} (`{command}`)", rules.name(), rules.version()))
}

/// A branch in which all is well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifiedBranch {
    /// Its name.
    pub branch: BranchName,
    /// How many entries it has, including its parents'.
    pub entries: u64,
    /// The link after the last.
    pub link: Digest,
    /// The hash of the state after the last.
    pub state_hash: Digest,
}

/// Something wrong with a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The branch that holds it; `None` when it concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The entry concerned, where it is one.
    pub seq: Option<Seq>,
    /// What kind of finding it is.
    pub kind: FindingKind,
    /// What is wrong.
    pub message: String,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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

/// Writes the kind as JSON does.
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

/// Audits a match: all that the store holds of it, and every command under the match's rules, with seeded dice computed
/// again. It goes on with the next branch after a finding.
///
/// # Errors
/// [`StoreError::NoSuchMatch`], and trouble with reading that is not damage; damage is a finding.
pub fn verify(
    store: &StoreReader,
    match_name: &MatchName,
    registry: &Registry,
) -> Result<Verification, StoreError> {
    let mut judge = Judge::new(registry);
    store.audit_with(match_name, &mut |audited| judge.take_or_fault(audited))?;
    let mut verification = judge.verification;
    verification.branches.sort_by(|left, right| left.branch.main_first().cmp(&right.branch.main_first()));
    let place = |finding: &Finding| finding.branch.as_ref().map(|name| (!name.is_main(), name.clone()));
    verification.findings.sort_by_cached_key(place);
    Ok(verification)
}

/// A branch while it is folded.
#[derive(Default)]
struct Folding {
    /// Gone once its rules do not agree, or where this build does not have them.
    state: Option<Box<dyn AnyState>>,
    /// The first entry with which they do not agree, and why.
    disagreement: Option<(Seq, String)>,
}

impl Folding {
    fn fork(&self) -> Self {
        let Self { state, disagreement } = self;
        Self { state: state.as_ref().map(|state| state.fork()), disagreement: disagreement.clone() }
    }
}

/// What the rules compute while the store is audited.
struct Judge<'a> {
    registry: &'a Registry,
    verification: Verification,
    /// The match's first state, if this build has its rules.
    start: Folding,
    dice: DicePolicy,
    /// The branch that is being audited, and how many findings there were before it.
    branch: Option<BranchName>,
    findings_before: usize,
    folding: Folding,
    /// States at which other branches begin, by the numbers of their forks.
    forks: BTreeMap<usize, Folding>,
    origins: AuditedOrigins,
}

impl<'a> Judge<'a> {
    fn new(registry: &'a Registry) -> Self {
        Self {
            registry,
            verification: Verification::default(),
            start: Folding::default(),
            dice: DicePolicy::Recorded,
            branch: None,
            findings_before: 0,
            folding: Folding::default(),
            forks: BTreeMap::new(),
            origins: AuditedOrigins::default(),
        }
    }

    /// Takes what was read. With a module that fails nothing more is folded (MD-6).
    fn take_or_fault(&mut self, audited: Audited<'_>) {
        if let Err(fault) = catch(|| self.take(audited)) {
            (self.start, self.folding, self.forks) = Default::default();
            self.find(None, FindingKind::Disagrees, fault.to_string());
        }
    }

    fn take(&mut self, audited: Audited<'_>) {
        if let Some(origin) = self.origins.take(&audited) {
            self.find(Some(origin.head), FindingKind::Disagrees, is_wrong(&origin));
        }
        match audited {
            Audited::Match(genesis) => self.begin(genesis),
            Audited::Branch { name, fork } => {
                self.branch = Some(name.clone());
                self.findings_before = self.verification.findings.len();
                self.folding = self.fork_at(fork);
                // What is shared with a branch below is wrong with each that begins behind it.
                if let Some((seq, message)) = self.folding.disagreement.clone() {
                    self.find(Some(seq), FindingKind::Disagrees, message);
                }
            }
            Audited::Entries(entries) => self.fold(entries),
            Audited::Fork(number) => {
                self.forks.insert(number, self.folding.fork());
            }
            Audited::Snapshot { seq, rolls, state, path } => {
                let differs =
                    |folded: &dyn AnyState| rolls != folded.rolls() || state != folded.state_bytes();
                if self.folding.state.as_deref().is_some_and(differs) {
                    let message = "its snapshot is not the state that the entries fold to; remove";
                    let message = format!("{message} `{}`", path.display());
                    self.find(Some(seq), FindingKind::WrongSnapshot, message);
                }
            }
            Audited::Sound(branch) => self.end(branch),
            Audited::Damaged(damage) => self.verification.findings.push(damage.into()),
        }
    }

    /// Starts the match under its rules, if this build has them.
    fn begin(&mut self, genesis: &Genesis) {
        let Genesis { format, setup, .. } = genesis;
        self.dice = genesis.dice;
        self.verification.left = left_to_check(&self.dice);
        if !genesis.has_known_format() {
            let [created, later] = [Genesis::FORMAT, Genesis::FORMAT_3];
            let message = format!("the match has format {format}, this build knows {created} and {later}");
            return self.find(None, FindingKind::UnknownRules, message);
        }
        let rules = match recorded_rules(genesis, self.registry) {
            Ok(rules) => rules,
            Err(cause) => return self.find(None, FindingKind::UnknownRules, cause.to_string()),
        };
        self.verification.referee = named_referee(&*rules);
        match distrusted(&rules).start(setup) {
            Ok(state) => self.start.state = Some(state),
            Err(error) => self.find(None, FindingKind::Disagrees, error.to_string()),
        }
    }

    /// Returns what a branch begins with.
    fn fork_at(&mut self, fork: Option<BegunFork>) -> Folding {
        match fork {
            None => self.start.fork(),
            Some(BegunFork { number, is_last: true }) => self.forks.remove(&number).unwrap_or_default(),
            Some(BegunFork { number, .. }) => self.forks.get(&number).map(Folding::fork).unwrap_or_default(),
        }
    }

    /// Folds some more entries, and no more once the rules do not agree.
    fn fold(&mut self, entries: &[Entry]) {
        let Some(state) = &mut self.folding.state else { return };
        let logged = stored(entries);
        if let Err(error) = state.fold(&logged, &self.dice, &mut |_| {}) {
            let seq = error.seq();
            let message = error.to_string();
            self.folding = Folding { state: None, disagreement: Some((seq, message.clone())) };
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
