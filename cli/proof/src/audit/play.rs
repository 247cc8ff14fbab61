//! A branch folded by its rules from the Genesis on, with its seeded rolls computed again (TR-26, TR-27).

use turnfold_core::registry::NoRules;
use turnfold_core::{
    AnyRules, AnyState, DicePolicy, Digest, Fault, FaultKind, FoldError, Logged, Outcome, Registry, Step,
};
use turnfold_history::golden::Verification;
use turnfold_history::{LogEntry, catch, distrusted, recorded_rules};
use turnfold_store::{Entry, Genesis};

/// How many entries are folded at a time.
const RUN: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FoldVerdict {
    /// The rules accept every entry.
    Sound,
    /// This build cannot check the branch.
    Unknown(String),
    /// The rules reject this entry, 0 being the setup.
    Rejected(u64, String),
}

fn why_unknown(cause: &NoRules) -> String {
    match cause {
        NoRules::Unknown { name, .. } => {
            format!("this build does not have the ruleset `{}`", name.escape_debug())
        }
        NoRules::OtherVersion { name, recorded, known } => {
            format!("this build has version {known} of the ruleset `{name}`, not {recorded}")
        }
        cause => cause.to_string(),
    }
}

/// Returns why a fold by these rules proves nothing to others; `None` for rules that others have, too.
fn why_unproven(rules: &dyn AnyRules) -> Option<String> {
    if !rules.has_rules() {
        return Some("recorded, no rules".into());
    }
    Verification::named_referee(rules).map(|referee| format!("recomputed by your referee {referee}"))
}

pub(super) struct Playing {
    state: Option<Box<dyn AnyState>>,
    /// The module that folds the branch (MD-10).
    pub(super) module: Option<Digest>,
    /// Why folding it proves nothing to others (RF-17, RF-18).
    pub(super) unproven: Option<String>,
    /// The same branch by the built-in rules of the same name and version. Any module may take that name, so the built-in
    /// rules decide.
    built_in: Option<Box<dyn AnyState>>,
    dice: DicePolicy,
    /// Whether the game rolls dice, as far as this build knows.
    pub(super) has_dice: bool,
    waiting: Vec<Entry>,
    pub(super) verdict: FoldVerdict,
    /// The first roll that the seed does not give.
    pub(super) wrong_roll: Option<(u64, String)>,
}

impl Playing {
    pub(super) fn of(genesis: &Genesis, registry: &Registry) -> Self {
        match catch(|| Self::begun(genesis, registry)) {
            Ok(begun) => begun,
            Err(fault) => Self { verdict: of_fault(0, &fault), ..Self::without_state(genesis) },
        }
    }

    fn without_state(genesis: &Genesis) -> Self {
        Self {
            state: None,
            module: genesis.module,
            unproven: None,
            built_in: None,
            dice: genesis.dice,
            has_dice: true,
            waiting: Vec::new(),
            verdict: FoldVerdict::Sound,
            wrong_roll: None,
        }
    }

    fn begun(genesis: &Genesis, registry: &Registry) -> Self {
        let Genesis { format, setup, .. } = genesis;
        let mut begun = Self { module: None, ..Self::without_state(genesis) };
        let rules = recorded_rules(genesis, registry);
        if let Ok(rules) = &rules {
            begun.module = rules.module();
            begun.unproven = why_unproven(&**rules);
        }
        match rules {
            _ if !genesis.has_known_format() => {
                let reason = format!("this build does not know format {format} of a log");
                begun.verdict = FoldVerdict::Unknown(reason);
            }
            Err(cause) => begun.verdict = FoldVerdict::Unknown(why_unknown(&cause)),
            Ok(rules) => match distrusted(&rules).start(setup) {
                Ok(state) => begun.state = Some(state),
                Err(error) => begun.verdict = FoldVerdict::Rejected(0, error.to_string()),
            },
        }
        if begun.module.is_some()
            && let Ok(known) = registry.resolve(&genesis.ruleset, genesis.ruleset_version, None)
            && known.module().is_none()
        {
            let state = begun.state.as_ref();
            let differs = match known.start(setup) {
                Ok(built_in) if state.is_some_and(|state| state.state_hash() == built_in.state_hash()) => {
                    begun.built_in = Some(built_in);
                    None
                }
                Ok(_) => Some("begin with another state".into()),
                Err(error) => Some(format!("refuse the setup: {error}")),
            };
            if let Some(differs) = differs
                && begun.verdict == FoldVerdict::Sound
            {
                begun.verdict = FoldVerdict::Rejected(0, format!("the rules built in {differs}"));
            }
        }
        if let Some(state) = &begun.state {
            // A game may accept rolls of one size only, so several sizes are tried.
            begun.has_dice = (0..=8).any(|count| state.roll_command(vec![1; count]).is_some());
        }
        begun
    }

    pub(super) fn fork(&mut self) -> Self {
        self.settle();
        Self {
            state: self.state.as_ref().map(|state| state.fork()),
            module: self.module,
            unproven: self.unproven.clone(),
            built_in: self.built_in.as_ref().map(|state| state.fork()),
            dice: self.dice,
            has_dice: self.has_dice,
            waiting: Vec::new(),
            verdict: self.verdict.clone(),
            wrong_roll: self.wrong_roll.clone(),
        }
    }

    pub(super) fn take(&mut self, entry: Entry) {
        if self.state.is_some() {
            self.waiting.push(entry);
        }
        if self.waiting.len() >= RUN {
            self.settle();
        }
    }

    pub(super) fn leave_out(&mut self) {
        self.settle();
        // What follows the entry cannot be folded.
        self.state = None;
        if self.verdict == FoldVerdict::Sound {
            self.verdict = FoldVerdict::Unknown("records are left out".into());
        }
    }

    pub(super) fn is_judged_by_built_in(&self) -> bool {
        self.built_in.is_some()
    }

    pub(super) fn rolls(&mut self) -> u64 {
        self.settle();
        self.state.as_ref().map_or(0, |state| state.rolls())
    }

    fn compare(&mut self, log: &[Logged<'_>], computed: &[Computed]) {
        let Some(state) = &mut self.built_in else { return };
        let mut expected = Vec::new();
        let folded = state.fold(log, &self.dice, &mut |step| expected.push(Computed::of(step)));
        let differs = expected.iter().zip(computed).position(|(built_in, module)| built_in != module);
        let what = match (differs.and_then(|place| expected.get(place)), folded) {
            (Some(Computed { outcome, hash }), _) => format!("give `{outcome}` and state {hash:.16}"),
            (None, Err(error)) => format!("reject it: {}", without_seq(&error)),
            (None, Ok(())) => return,
        };
        let seq = log.get(differs.unwrap_or(expected.len())).map_or(0, |entry| entry.seq);
        self.verdict = FoldVerdict::Rejected(seq, format!("the rules built in {what}, the module does not"));
        self.state = None;
        self.built_in = None;
    }

    /// Folds the waiting entries. A wrong roll is a finding of the row `dice`, so folding goes on as if it had been recorded.
    pub(super) fn settle(&mut self) {
        let entries = std::mem::take(&mut self.waiting);
        let logged = LogEntry::stored(&entries);
        let mut rest = logged.as_slice();
        let compares = self.built_in.is_some();
        let mut computed = Vec::new();
        while let Some(state) = &mut self.state {
            let mut folded = 0;
            let observe = &mut |step: &mut dyn Step| {
                folded += 1;
                if compares {
                    computed.push(Computed::of(step));
                }
            };
            let error = match catch(|| state.fold(rest, &self.dice, observe)) {
                Ok(Ok(())) => {
                    self.compare(&logged, &computed);
                    return;
                }
                Ok(Err(error)) => error,
                // MD-6: the state of a module that failed is discarded.
                Err(fault) => {
                    let seq = rest.get(folded).or(rest.last()).map_or(0, |entry| entry.seq);
                    self.verdict = of_fault(seq, &fault);
                    self.state = None;
                    return;
                }
            };
            if !matches!(error, FoldError::WrongRoll { .. }) {
                self.verdict = FoldVerdict::Rejected(error.seq(), without_seq(&error));
                self.state = None;
                return;
            }
            self.wrong_roll.get_or_insert((error.seq(), without_seq(&error)));
            self.dice = DicePolicy::Recorded;
            rest = rest.get(folded..).unwrap_or_default();
        }
    }
}

#[derive(PartialEq, Eq)]
struct Computed {
    outcome: Outcome,
    hash: Digest,
}

impl Computed {
    fn of(step: &mut dyn Step) -> Self {
        Self { outcome: step.outcome(), hash: step.state_hash() }
    }
}

fn of_fault(seq: u64, fault: &Fault) -> FoldVerdict {
    if fault.kind == FaultKind::Overrun {
        // A module that only ran out of time shows nothing about the match.
        FoldVerdict::Unknown(fault.to_string())
    } else {
        FoldVerdict::Rejected(seq, fault.to_string())
    }
}

/// Returns the message without the number of the entry, which the row names.
fn without_seq(error: &FoldError) -> String {
    let text = error.to_string();
    let prefix = format!("entry {}: ", error.seq());
    text.strip_prefix(&prefix).unwrap_or(&text).to_owned()
}
