//! Ports: a port is a referee that claims to be the same game as one of this build. Finds the first entry at which it
//! differs (RF-20).

use std::sync::Arc;

use serde_json::{Value, json};
use turnfold_core::admission::Refusal;
use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Outcome, Perspective, Seat, Step};

use super::difference::side_text;
use super::impact::{FirstDifference, RecordedLog, effect_group, group};
use super::{Claim, Difference, Divergence, DivergenceKind, Subject};
use crate::history::distrusted;
use crate::text::first_word;
use crate::tfl::ReplayLine;
use crate::{Attempt, LogEntry, ReplayError};

struct PortEntry {
    outcome: Outcome,
    effects: Value,
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
    let mut pair = PortedMatch::start(log, port)?;
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

impl<'a> PortedMatch<'a> {
    /// Starts the match under both. The port gets the setup as people write it.
    fn start(log: &'a RecordedLog, port: &Arc<dyn AnyRules>) -> Result<Self, ReplayError> {
        let own = log.start()?;
        let setup = log.setup.clone()?;
        let written =
            log.rules.write_setup(&setup).map_err(|error| ReplayError::unreadable(&log.name, error))?;
        let port = distrusted(port);
        let setup = port.read_setup(&written).map_err(|error| ReplayError::unreadable(&log.name, error))?;
        let ported = port.start(&setup).map_err(|error| ReplayError::unreadable(&log.name, error))?;
        Ok(Self { log, own, ported })
    }

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
        let command = self.in_words_of_port(entry.seat, &text);
        let own = fold_one(&mut *self.own, entry, &self.log.dice)
            .map_err(|error| ReplayError::unreadable(&self.log.name, error))?;
        let Some(own) = own else { return Ok(None) };
        let subject = Subject::Entry { seq: entry.seq, seat: entry.seat, command: text };
        if entry.outcome.as_ref().is_some_and(|recorded| *recorded != own.outcome) {
            let why = format!("this build itself computes another outcome of {subject}; check the log first");
            return Err(ReplayError::unreadable(&self.log.name, ReplayError::Unusable(why)));
        }
        let sent = LogEntry::new(entry.seq, entry.seat, command.as_str());
        let expected = LogEntry { outcome: Some(own.outcome.clone()), hash: None, ..entry.clone() };
        // The rules of this build have checked the roll against the seed already.
        let ported = match fold_one(&mut *self.ported, &sent, &DicePolicy::Recorded) {
            Ok(Some(ported)) => ported,
            Ok(None) => return Ok(None),
            Err(error) => {
                let Some(found) = Divergence::of_refusal(&expected, &error) else {
                    return Err(ReplayError::unreadable(&self.log.name, error));
                };
                return Ok(Some(FirstDifference::without_field(entry.seq, Divergence { subject, ..found })));
            }
        };
        let recorded = Some(Claim::Outcome(own.outcome.clone()));
        let computed = Claim::Outcome(ported.outcome.clone());
        let divergence = Divergence::new(subject.clone(), DivergenceKind::Outcome, recorded, computed);
        match (&own.outcome, &ported.outcome) {
            // The texts of effects are not compared, because the two write an effect's fields in different orders.
            (Outcome::Applied(_), Outcome::Applied(_)) => Ok(match own.difference(&ported) {
                Some((field, group)) => {
                    Some(FirstDifference { seq: entry.seq, divergence, group, field: Some(field) })
                }
                None => self.views(entry.seq, subject),
            }),
            (own, ported) if own == ported => Ok(self.views(entry.seq, subject)),
            _ => Ok(Some(FirstDifference::without_field(entry.seq, divergence))),
        }
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

fn fold_one(
    state: &mut dyn AnyState,
    entry: &LogEntry,
    dice: &DicePolicy,
) -> Result<Option<PortEntry>, FoldError> {
    let mut became = None;
    let observe = &mut |step: &mut dyn Step| {
        let effects = serde_json::from_str(&step.effects_json()).unwrap_or_default();
        became = Some(PortEntry { outcome: step.outcome(), effects });
    };
    state.fold(&LogEntry::all_logged([entry]), dice, observe)?;
    Ok(became)
}

impl PortEntry {
    fn difference(&self, ported: &Self) -> Option<(Difference, String)> {
        let own_effects = json!({ "effects": self.effects });
        let field =
            Difference::between(&own_effects, &json!({ "effects": ported.effects })).into_iter().next()?;
        let own = self.effects();
        let ported = ported.effects();
        let mut index = 0;
        while index < own.len() && own.get(index) == ported.get(index) {
            index += 1;
        }
        let group = effect_group(own.get(index).map(name_of), ported.get(index).map(name_of));
        Some((field, group))
    }

    fn effects(&self) -> &[Value] {
        self.effects.as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

fn name_of(effect: &Value) -> &str {
    effect.get("effect").and_then(Value::as_str).unwrap_or_default()
}
