//! Ports: a port is a referee that claims to be the same game as one of this build. Finds the first entry at which it
//! differs (RF-20).

use std::sync::Arc;

use serde_json::{Value, json};
use turnfold_core::admission::Refusal;
use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Outcome, Perspective, Seat};

use super::difference::side_text;
use super::impact::{FirstDifference, RecordedLog, effect_group, group};
use super::{Claim, Difference, Divergence, DivergenceKind, Subject};
use crate::text::first_word;
use crate::tfl::ReplayLine;
use crate::{Attempt, LogEntry, ReplayError, distrusted};

struct PortEntry {
    outcome: Outcome,
    effects: Vec<Value>,
}

struct PortedMatch<'a> {
    log: &'a RecordedLog,
    own: Box<dyn AnyState>,
    ported: Box<dyn AnyState>,
}

/// Folds a log by the rules of this build and by a port. Returns the first entry that the port refuses, or at which
/// outcomes, effects or views differ. State hashes are not compared, because the two encode states differently.
pub(super) fn first_difference(
    log: &RecordedLog,
    port: &Arc<dyn AnyRules>,
) -> Result<Option<FirstDifference>, ReplayError> {
    let own = log.start()?;
    // The port gets the setup as people write it.
    let written = log.rules.write_setup(&log.setup.clone()?);
    let written = written.map_err(|error| ReplayError::unreadable(&log.name, error))?;
    let port = distrusted(port);
    let setup = port.read_setup(&written).map_err(|error| ReplayError::unreadable(&log.name, error))?;
    let ported = port.start(&setup).map_err(|error| ReplayError::unreadable(&log.name, error))?;
    let mut pair = PortedMatch { log, own, ported };
    if let Some(found) = pair.views(0, Subject::Header { path: None }) {
        return Ok(Some(found));
    }
    let mut seq = 0;
    for line in &log.lines {
        let found = match line {
            ReplayLine::Attempt(attempt) => pair.attempt(seq, attempt),
            ReplayLine::Entry(entry) => {
                seq += 1;
                pair.fold(entry)?
            }
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

impl PortedMatch<'_> {
    fn attempt(&self, seq: u64, attempt: &Attempt) -> Option<FirstDifference> {
        let own = Outcome::from(&self.own.judge(attempt.seat, &attempt.command));
        let command = self.in_words_of_port(attempt.seat, &attempt.command);
        let ported = Outcome::from(&self.ported.judge(attempt.seat, &command));
        // A text that is no command is no command of the port either. But turnfold rejects a command with one of these
        // codes before the referee reads it, such as when the match is over or a roll is due (RF-8).
        let is_unreadable = own.code() == Some("malformed");
        if is_unreadable && ported.code().is_some_and(|code| Refusal::CODES.contains(&code)) {
            return None;
        }
        let expected = Attempt { outcome: Some(own), ..attempt.clone() };
        let found = Divergence::of_attempt(&expected, ported)?;
        Some(FirstDifference::without_field(seq, found))
    }

    fn fold(&mut self, entry: &LogEntry) -> Result<Option<FirstDifference>, ReplayError> {
        let text = self.log.command(entry);
        let sent = LogEntry::new(entry.seq, entry.seat, self.in_words_of_port(entry.seat, &text));
        let own = fold_one(&mut *self.own, entry, &self.log.dice)
            .map_err(|error| ReplayError::unreadable(&self.log.name, error))?;
        let expected =
            LogEntry { outcome: Some(own.outcome.clone()), ..LogEntry::new(entry.seq, entry.seat, text) };
        let subject = Subject::from(&expected);
        if entry.outcome.is_some() && entry.outcome != expected.outcome {
            let why = format!("this build itself computes another outcome of {subject}; check the log first");
            return Err(ReplayError::unreadable(&self.log.name, ReplayError::Unusable(why)));
        }
        // The rules of this build have checked the roll against the seed already.
        let ported = match fold_one(&mut *self.ported, &sent, &DicePolicy::Recorded) {
            Ok(ported) => ported,
            Err(error) => match Divergence::of_refusal(&expected, &error) {
                Some(found) => return Ok(Some(FirstDifference::without_field(entry.seq, found))),
                None => return Err(ReplayError::unreadable(&self.log.name, error)),
            },
        };
        let recorded = Some(Claim::Outcome(own.outcome.clone()));
        let computed = Claim::Outcome(ported.outcome.clone());
        let divergence = Divergence::new(&expected, DivergenceKind::Outcome, recorded, computed);
        match (&own.outcome, &ported.outcome) {
            // The texts of effects are not compared, because the two write an effect's fields in different orders.
            (Outcome::Applied(_), Outcome::Applied(_)) => {
                if let Some((field, group)) = own.difference(&ported) {
                    let field = Some(field);
                    return Ok(Some(FirstDifference { seq: entry.seq, divergence, group, field }));
                }
            }
            (own, ported) if own == ported => {}
            _ => return Ok(Some(FirstDifference::without_field(entry.seq, divergence))),
        }
        Ok(self.views(entry.seq, subject))
    }

    /// Compares the views of the host and, in a game with secrets, of every player and of a spectator.
    fn views(&self, seq: u64, subject: Subject) -> Option<FirstDifference> {
        let mut viewers = vec![Perspective::HOST];
        if self.own.has_secrets() {
            viewers.extend(self.own.players().iter().copied().map(Perspective::Seat));
            viewers.push(Perspective::Spectator);
        }
        for viewer in viewers {
            let own = self.own.view_at(viewer, "").unwrap_or_default();
            let ported = self.ported.view_at(viewer, "").unwrap_or_default();
            let Some(mut field) = Difference::between(&own, &ported).into_iter().next() else { continue };
            if viewer != Perspective::HOST {
                field = Difference { path: format!("{} (as {viewer})", field.path), ..field };
            }
            let old = Claim::Text(side_text(field.old.as_ref()));
            let new = Claim::Text(side_text(field.new.as_ref()));
            let divergence = Divergence::new(subject, DivergenceKind::View, Some(old), new);
            let group = group(&divergence, Some(&field));
            return Some(FirstDifference { seq, divergence, group, field: Some(field) });
        }
        None
    }

    /// Returns a command as the port reads it: there, every roll of the host begins with `roll` (RF-9).
    fn in_words_of_port(&self, seat: Seat, command: &str) -> String {
        if seat == Seat::Host
            && let Some(own_roll) = self.own.roll_command(vec![1])
            && let Some((word, values)) = command.split_once(' ')
            && word == first_word(&own_roll)
        {
            return format!("roll {values}");
        }
        command.into()
    }
}

fn fold_one(state: &mut dyn AnyState, entry: &LogEntry, dice: &DicePolicy) -> Result<PortEntry, FoldError> {
    let mut became = None;
    state.fold(&[entry.logged()], dice, &mut |step| {
        let effects = serde_json::from_str(&step.effects_json()).unwrap_or_default();
        became = Some(PortEntry { outcome: step.outcome(), effects });
    })?;
    Ok(became.expect("the fold showed the entry"))
}

impl PortEntry {
    fn difference(&self, ported: &Self) -> Option<(Difference, String)> {
        let effects = json!({ "effects": self.effects });
        let ported_effects = json!({ "effects": ported.effects });
        let field = Difference::between(&effects, &ported_effects).into_iter().next()?;
        let mut index = 0;
        while index < self.effects.len() && self.effects.get(index) == ported.effects.get(index) {
            index += 1;
        }
        let [own, ported] = [self, ported].map(|entry| entry.effects.get(index).map(name_of));
        Some((field, effect_group(own, ported)))
    }
}

fn name_of(effect: &Value) -> &str {
    effect.get("effect").and_then(Value::as_str).unwrap_or_default()
}
