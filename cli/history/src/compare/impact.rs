//! The impact of this build's rules on a recorded log of any version.

use std::sync::Arc;

use serde_json::Value;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Outcome, Registry};
use turnfold_store::Log;

use super::{Claim, Difference, Divergence, DivergenceKind, Subject, port};
use crate::text::first_word;
use crate::tfl::{Header, Replay, ReplayLine, TflError};
use crate::{
    CommandForm, LogEntry, ReplayError, Revision, ShortHash, Viewer, distrusted, find_rules, recorded_rules,
};

/// A log to fold under other rules than its own, by default those of this build.
pub struct RecordedLog {
    /// The name of the file or branch in messages.
    pub name: String,
    /// The rules to fold by.
    pub rules: Arc<dyn AnyRules>,
    /// The rules under which it was recorded, if this build has them. For a log of the store, `None` if they are the
    /// same as `rules`.
    recorded_rules: Option<Arc<dyn AnyRules>>,
    /// The version of the ruleset under which the log was recorded.
    pub version: u32,
    /// The setup, or why it cannot be read.
    pub(super) setup: Result<Vec<u8>, TflError>,
    pub(super) dice: DicePolicy,
    /// Entries and attempts.
    pub(super) lines: Vec<ReplayLine>,
    /// The state hash at the end, if it is recorded.
    closing: Option<Digest>,
    /// A referee that claims to be the same game. If present, the rules are compared with it, and not with what is
    /// recorded (RF-20).
    pub port: Option<Arc<dyn AnyRules>>,
}

/// The first difference between a log and the rules that fold it.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstDifference {
    /// The number of the entry, or of the one before an attempt or the end.
    pub seq: u64,
    /// The entry, attempt or end, with the recorded and the computed claim.
    pub divergence: Divergence,
    /// The key by which logs are grouped, such as `applied → ignored not_adjacent`.
    pub group: String,
    /// The first field whose value after the entry differs from its value under the recorded rules. `None` if the
    /// latter is unknown. It is known if this build has the recorded rules, or if the recorded outcome is that the
    /// command was ignored.
    pub field: Option<Difference>,
}

impl RecordedLog {
    /// Returns the log in a replay file of any version.
    #[must_use]
    pub fn of_replay(replay: &Replay, registry: &Registry) -> Self {
        let Header { rules, version, module, dice, .. } = &replay.header;
        let mut lines = replay.lines.clone();
        lines.retain(|line| matches!(line, ReplayLine::Entry(_) | ReplayLine::Attempt(_)));
        Self {
            name: replay.file.clone(),
            rules: rules.clone(),
            recorded_rules: registry.resolve(rules.name(), *version, module.as_ref()).ok(),
            version: *version,
            setup: replay.setup(),
            dice: *dice,
            lines,
            closing: replay.closing.map(|closing| closing.state),
            port: None,
        }
    }

    /// Returns a log of the store, of any version, to fold by these rules, or by the newest of its name. The store records
    /// no outcomes. They are computed by the version of the log, if it is another and the registry has it.
    ///
    /// # Errors
    /// [`ReplayError::Unreadable`] for a ruleset that the registry does not have, and for a log that the rules of its
    /// own version reject.
    pub fn of_store(
        name: &Revision,
        log: Log,
        rules: Option<Arc<dyn AnyRules>>,
        registry: &Registry,
    ) -> Result<Self, ReplayError> {
        let Log { genesis, entries, .. } = log;
        let name = name.to_string();
        let rules = match rules {
            Some(rules) => rules,
            None => find_rules(&genesis.ruleset, registry)
                .map_err(|cause| ReplayError::unreadable(&name, cause))?,
        };
        let mut entries: Vec<LogEntry> = entries.into_iter().map(LogEntry::from).collect();
        let recorded_rules = match recorded_rules(&genesis, registry) {
            Ok(recorded) if *recorded != *rules => Some(recorded),
            _ => None,
        };
        if let Some(recorded) = &recorded_rules {
            let mut outcomes = Vec::new();
            recorded
                .start(&genesis.setup)
                .map_err(|cause| ReplayError::unreadable(&name, cause))?
                .fold(&LogEntry::all_logged(&entries), &genesis.dice, &mut |step| {
                    outcomes.push(step.outcome());
                })
                .map_err(|cause| ReplayError::unreadable(&name, cause))?;
            for (entry, outcome) in entries.iter_mut().zip(outcomes) {
                entry.outcome = Some(outcome);
            }
        }
        Ok(Self {
            name,
            rules,
            recorded_rules,
            version: genesis.ruleset_version,
            setup: Ok(genesis.setup),
            dice: genesis.dice,
            lines: entries.into_iter().map(ReplayLine::Entry).collect(),
            closing: None,
            port: None,
        })
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.lines.iter().filter_map(ReplayLine::entry).count() as u64
    }

    /// Returns `true` if any entry has an outcome to compare.
    #[must_use]
    pub fn has_outcomes(&self) -> bool {
        self.lines.iter().filter_map(ReplayLine::entry).any(|entry| entry.outcome.is_some())
    }

    /// Folds the log and returns its first difference from what is recorded.
    ///
    /// An outcome that differs counts before any state that does. A new layout of the state changes every hash and
    /// would hide which outcomes change. Hashes are computed in the layout of the recorded version.
    ///
    /// # Errors
    /// [`ReplayError::Unreadable`] if the setup cannot be started or a command cannot be read, and
    /// [`ReplayError::File`] for a setup that cannot be read.
    pub fn first_difference(&self) -> Result<Option<FirstDifference>, ReplayError> {
        if let Some(port) = &self.port {
            return port::first_difference(self, port);
        }
        let mut state = self.start()?;
        let mut other_state = None;
        let mut seq = 0;
        for (index, line) in self.lines.iter().enumerate() {
            let found = match line {
                ReplayLine::Attempt(attempt) if attempt.outcome.is_some() => {
                    let judged = state.judge(attempt.seat, &attempt.command);
                    Divergence::of_attempt(attempt, Outcome::from(&judged))
                }
                ReplayLine::Entry(entry) => {
                    seq += 1;
                    let found = self.fold(entry, state.as_mut())?;
                    if let (None, None, Some(recorded)) = (&found, &other_state, entry.hash) {
                        // Hashing a state is expensive, so it is done only if there is a hash to compare.
                        let computed = ShortHash::from(state.state_hash_as(self.version));
                        if recorded != computed {
                            let kind = DivergenceKind::StateHash;
                            let recorded = Some(Claim::Hash(recorded));
                            let divergence = Divergence::new(entry, kind, recorded, Claim::Hash(computed));
                            other_state = Some((index, divergence));
                        }
                    }
                    found
                }
                _ => None,
            };
            if let Some(divergence) = found {
                return self.difference_at(index, divergence).map(Some);
            }
        }
        if let Some((index, divergence)) = other_state {
            return self.difference_at(index, divergence).map(Some);
        }
        let Some(recorded) = self.closing else { return Ok(None) };
        let computed = state.state_hash_as(self.version);
        if recorded == computed {
            return Ok(None);
        }
        let kind = DivergenceKind::ClosingState;
        let recorded = Some(Claim::text(recorded));
        let divergence = Divergence::new(Subject::End, kind, recorded, Claim::text(computed));
        Ok(Some(FirstDifference::without_field(seq, divergence)))
    }

    pub(super) fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        let setup = self.setup.clone()?;
        // A referee's answers may depend on the run instead of on a change of its rules, so it is checked for that
        // (RF-15).
        let is_referee = self.rules.referee().is_some();
        let rules = if is_referee { distrusted(&self.rules) } else { Arc::clone(&self.rules) };
        rules.start(&setup).map_err(|error| ReplayError::unreadable(&self.name, error))
    }

    fn fold(&self, entry: &LogEntry, state: &mut dyn AnyState) -> Result<Option<Divergence>, ReplayError> {
        let mut outcome = None;
        let folded = state.fold(&[entry.logged()], &self.dice, &mut |step| outcome = Some(step.outcome()));
        let found = match folded {
            Ok(()) => Divergence::contradiction(entry, &LogEntry { outcome, hash: None, ..entry.clone() }),
            Err(error) => match Divergence::of_refusal(entry, &error) {
                Some(refusal) => Some(refusal),
                None => return Err(ReplayError::unreadable(&self.name, error)),
            },
        };
        let Some(found) = found else { return Ok(None) };
        let subject = Subject::Entry { seq: entry.seq, seat: entry.seat, command: self.command(entry) };
        Ok(Some(Divergence { subject, ..found }))
    }

    pub(super) fn command(&self, entry: &LogEntry) -> String {
        if let CommandForm::Bytes(bytes) = &entry.command
            && let Ok(text) = self.rules.command_text(bytes)
        {
            return text;
        }
        entry.command.to_string()
    }

    /// Folds up to an entry or attempt again, to find the fields that it changes now and changed under the recorded
    /// rules.
    fn difference_at(&self, index: usize, divergence: Divergence) -> Result<FirstDifference, ReplayError> {
        let (before, rest) = self.lines.split_at(index);
        let before = LogEntry::all_logged(before.iter().filter_map(ReplayLine::entry));
        let mut seq = before.len() as u64;
        let mut state = self.start()?;
        let folded = state.fold(&before, &self.dice, &mut |_| {});
        folded.map_err(|error| ReplayError::unreadable(&self.name, error))?;
        let view = Viewer::HOST.view(state.as_ref());
        if let Some(entry) = rest.first().and_then(ReplayLine::entry) {
            seq = entry.seq;
            // A rejected entry changes nothing.
            let _ = self.fold(entry, state.as_mut());
        }
        let view_here = Viewer::HOST.view(state.as_ref());
        let changed = Difference::between(&view, &view_here).into_iter().next();
        let recorded_view = match &divergence.recorded {
            Some(Claim::Outcome(Outcome::Ignored(_))) => Some(view),
            _ => self.recorded_view(index),
        };
        let field = recorded_view.and_then(|old| Difference::between(&old, &view_here).into_iter().next());
        Ok(FirstDifference { seq, group: group(&divergence, changed.as_ref()), divergence, field })
    }

    /// Folds by the recorded rules up to an entry or attempt, inclusive. Returns `None` if this build does not have
    /// them or they cannot fold it.
    fn recorded_view(&self, index: usize) -> Option<Value> {
        let rules = self.recorded_rules.as_ref().filter(|rules| ***rules != *self.rules)?;
        let mut state = rules.start(self.setup.as_ref().ok()?).ok()?;
        let lines = self.lines.get(..=index)?;
        let entries = lines.iter().filter_map(ReplayLine::entry);
        state.fold(&LogEntry::all_logged(entries), &self.dice, &mut |_| {}).ok()?;
        Some(Viewer::HOST.view(state.as_ref()))
    }
}

impl FirstDifference {
    pub(super) fn without_field(seq: u64, divergence: Divergence) -> Self {
        Self { seq, group: group(&divergence, None), divergence, field: None }
    }
}

/// Returns the name of a difference's group, such as `applied → ignored not_adjacent`. `field` is the first one that
/// the entry changes.
pub(super) fn group(divergence: &Divergence, field: Option<&Difference>) -> String {
    match (divergence.kind, &divergence.recorded, &divergence.computed) {
        (DivergenceKind::WrongRoll, ..) => "the seed gives another roll".into(),
        (DivergenceKind::Attempt, Some(old), new) => format!("attempt {old} → {new}"),
        (DivergenceKind::View, ..) => {
            let changed = field.map_or("the view".into(), pattern);
            format!("same outcomes, another view: {changed}")
        }
        (DivergenceKind::ClosingState, ..) => "same outcomes, another state at the end".into(),
        (DivergenceKind::StateHash, ..) => {
            let changed = field.map_or("nothing that the view shows".into(), pattern);
            format!("same outcomes, other states from an entry on that changes {changed}")
        }
        (_, Some(Claim::Outcome(Outcome::Applied(_))), Claim::Outcome(Outcome::Applied(_))) => {
            // The first effect in which two outcomes differ.
            let [old, new] = divergence.changed_parts();
            effect_group(old.as_deref().map(first_word), new.as_deref().map(first_word))
        }
        (_, None, new) => format!("accepted → {}", side(new)),
        (_, Some(old), new) => format!("{} → {}", side(old), side(new)),
    }
}

fn side(claim: &Claim) -> String {
    match claim {
        Claim::Outcome(Outcome::Applied(_)) => "applied".into(),
        other => other.short(),
    }
}

pub(super) fn effect_group(old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) if old == new => format!("effect {old} differs"),
        (Some(old), Some(new)) => format!("effect {old} → {new}"),
        (Some(old), None) => format!("effect {old} is gone"),
        (None, Some(new)) => format!("effect {new} is new"),
        (None, None) => "effects differ".into(),
    }
}

/// Returns the path of a field with `*` in place of numbers, so that the same field of different units gives one group.
fn pattern(field: &Difference) -> String {
    let mut names = Vec::new();
    for name in field.path.split('/') {
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        names.push(if is_number { "*" } else { name });
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use turnfold_core::{Rejected, Seat};

    use super::*;

    fn check(old: Option<&str>, new: Claim, kind: DivergenceKind, expected: &str, code: Option<&str>) {
        let old = old.map(|old| Claim::Outcome(old.parse().unwrap()));
        let divergence = Divergence::new(&LogEntry::new(1, Seat::P1, "x".to_owned()), kind, old, new);
        assert_eq!(group(&divergence, None), expected);
        assert_eq!(divergence.code(), code);
    }

    #[test]
    fn outcomes_are_grouped_by_what_turned_or_by_the_first_effect_that_differs() {
        for (old, new, group, reason) in [
            ("selected unit=a", "ignored no_unit", "applied → ignored no_unit", Some("no_unit")),
            ("ignored no_unit", "selected unit=a", "ignored no_unit → applied", Some("no_unit")),
            ("ignored a", "ignored b", "ignored a → ignored b", Some("b")),
            ("x at=1; moved to=1", "x at=1; moved to=2", "effect moved differs", None),
            ("moved to=1", "killed unit=a", "effect moved → killed", None),
            ("x; moved to=1", "x", "effect moved is gone", None),
            ("x", "x; moved to=1", "effect moved is new", None),
            ("flash text=\"a; b\"; y", "flash text=\"a; b\"; z", "effect y → z", None),
        ] {
            let new = Claim::Outcome(new.parse().unwrap());
            check(Some(old), new, DivergenceKind::Outcome, group, reason);
        }
        let rejection = |code| Claim::Rejection(Rejected::new(code, "why"));
        let kind = DivergenceKind::Rejected;
        check(None, rejection("unit_busy"), kind, "accepted → rejected unit_busy", Some("unit_busy"));
        check(Some("ignored a"), rejection("b"), kind, "ignored a → rejected b", Some("b"));
    }

    #[test]
    fn fields_of_other_units_are_the_same_field() {
        let field = |path: &str| Difference { path: path.into(), old: None, new: None };
        assert_eq!(pattern(&field("/units/12/mp")), "/units/*/mp");
        assert_eq!(pattern(&field("")), "");
    }
}
