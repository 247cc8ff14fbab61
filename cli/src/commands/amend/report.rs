//! What an amendment changed, told as lines for people and as a document for programs.

use serde::Serialize;
use turnfold_core::{Digest, Outcome, Seat};
use turnfold_replay::{
    Amendment, ChangedRoll, Claim, Difference, Divergence, Record,
    difference::{differences, view_of},
};

use crate::failure::Failure;
use crate::output::{Output, Tone, counted, paint};
use crate::record;

/// How many rolls, and how many outcomes that turned, are told to people; programs are told all.
const SHOWN_MAX: usize = 10;

/// What the messages of an amendment name.
pub(crate) struct Names {
    /// The history that is amended.
    pub(crate) source: String,
    /// The branch or file that is written.
    pub(crate) target: String,
}

/// An amendment as a JSON document.
#[derive(Serialize)]
pub(crate) struct AmendmentJson<'a> {
    /// Whether the branch or file was written.
    created: bool,
    source: &'a str,
    /// The number of the changed entry.
    seq: u64,
    target: &'a str,
    removed: Option<&'a Record>,
    added: Option<&'a Record>,
    /// The number of entries, and how many of them were played again.
    entries: u64,
    kept: u64,
    state_hash: Digest,
    conflicts: Vec<ConflictJson<'a>>,
    outcomes: Vec<OutcomeJson<'a>>,
    rolls: Vec<RollJson<'a>>,
    state: Vec<Difference>,
}

/// A line of the original that no longer applies.
#[derive(Serialize)]
struct ConflictJson<'a> {
    /// The entry's number in the original; an attempt has none.
    seq: Option<u64>,
    seat: Option<Seat>,
    command: Option<&'a str>,
    /// The rejection's name, or `accepted` for an attempt that no longer fails.
    reason: &'a str,
    message: &'a str,
}

/// A line of the original with another outcome.
#[derive(Serialize)]
struct OutcomeJson<'a> {
    /// The entry's number in the original; an attempt has none.
    seq: Option<u64>,
    /// Its number now.
    new_seq: Option<u64>,
    seat: Option<Seat>,
    command: Option<&'a str>,
    old: Option<&'a Claim>,
    new: &'a Claim,
}

#[derive(Serialize)]
struct RollJson<'a> {
    seq: Option<u64>,
    new_seq: Option<u64>,
    old: Option<&'a str>,
    new: Option<&'a str>,
}

/// What an amendment changed, and what its messages name.
#[derive(Clone, Copy)]
pub(super) struct Report<'a> {
    pub(super) amendment: &'a Amendment,
    pub(super) names: &'a Names,
}

impl<'a> Report<'a> {
    /// Returns the amendment as a document for programs.
    pub(super) fn to_json(self, created: bool) -> AmendmentJson<'a> {
        let Self { amendment, names } = self;
        AmendmentJson {
            created,
            source: &names.source,
            seq: amendment.seq,
            target: &names.target,
            removed: amendment.removed.as_ref(),
            added: amendment.added.as_ref(),
            entries: amendment.head(),
            kept: amendment.kept,
            state_hash: amendment.after().state_hash(),
            conflicts: amendment.conflicts.iter().map(ConflictJson::of).collect(),
            outcomes: amendment.outcomes.iter().map(OutcomeJson::of).collect(),
            rolls: amendment.rolls.iter().map(RollJson::of).collect(),
            state: self.state_differences(),
        }
    }

    /// Prints the entry that was changed and what was put in its place.
    pub(super) fn print_change(&self, output: &mut Output) -> Result<(), Failure> {
        if let Some(Record { seq: Some(seq), seat: Some(seat), command, .. }) = &self.amendment.removed {
            output.line(paint(Tone::Removed, format_args!("- {seq} {seat} {command}")))?;
        }
        if let Some(record) = &self.amendment.added {
            output.text("+ ")?;
            record::print(record, output)?;
        }
        Ok(())
    }

    /// Prints the lines that no longer apply.
    pub(super) fn print_conflicts(&self, output: &mut Output) -> Result<(), Failure> {
        if self.amendment.conflicts.is_empty() {
            return Ok(());
        }
        let heading = "no longer applies (each was left out before the next was tried)";
        output.line(paint(Tone::Strong, heading))?;
        for conflict in self.amendment.conflicts.iter().map(ConflictJson::of) {
            let ConflictJson { seq, reason, message, .. } = conflict;
            let (number, became) = match seq {
                Some(seq) => (seq.to_string(), format!("rejected {reason}")),
                None => ("!".into(), reason.to_string()),
            };
            let (became, given) = (paint(Tone::Removed, became), given(conflict.seat, conflict.command));
            output.line(format_args!("  {number} {given} => {became} ({message})"))?;
        }
        Ok(())
    }

    /// Prints what became otherwise of the entries that were played again, and how the states at the end differ.
    pub(super) fn print_differences(&self, output: &mut Output) -> Result<(), Failure> {
        self.print_rolls(output)?;
        self.print_outcomes(output)?;
        let differences = self.state_differences();
        if differences.is_empty() {
            let equal = self.amendment.before.state_hash() == self.amendment.after().state_hash();
            let what = if equal { "states" } else { "views" };
            output.line(paint(Tone::Strong, format_args!("the {what} at the end are equal")))?;
            return Ok(());
        }
        output.line(paint(
            Tone::Strong,
            format_args!("state, {} → {}", self.names.source, self.names.target),
        ))?;
        for difference in &differences {
            output.line(format_args!("  {difference}"))?;
        }
        Ok(())
    }

    fn state_differences(&self) -> Vec<Difference> {
        let view = |state| view_of(state, Seat::Host);
        differences(&view(self.amendment.before.as_ref()), &view(self.amendment.after()))
    }

    fn print_rolls(&self, output: &mut Output) -> Result<(), Failure> {
        if self.amendment.rolls.is_empty() {
            return Ok(());
        }
        output.line(paint(Tone::Strong, "rolled again by the seed"))?;
        let side = |roll: &Option<(u64, String)>| {
            roll.as_ref().map_or_else(|| "(none)".into(), |(seq, command)| format!("{seq} {command}"))
        };
        for roll in self.amendment.rolls.iter().take(SHOWN_MAX) {
            output.line(format_args!("  {} → {}", side(&roll.old), side(&roll.new)))?;
        }
        print_rest(self.amendment.rolls.len(), output)
    }

    /// Prints how many outcomes changed and the first of them, then those that turned from applied to ignored or back.
    fn print_outcomes(&self, output: &mut Output) -> Result<(), Failure> {
        let Some((first, others)) = self.amendment.outcomes.split_first() else { return Ok(()) };
        let changed = counted(self.amendment.outcomes.len() as u64, "outcome differs", "outcomes differ");
        output.line(paint(Tone::Strong, format_args!("{changed}, first that of {}", place(first))))?;
        output.line(paint(Tone::Removed, format_args!("- {}", first.0.expected())))?;
        output.line(paint(Tone::Added, format_args!("+ {}", first.0.computed)))?;
        let turned: Vec<_> = others.iter().filter(|(changed, _)| has_turned(changed)).collect();
        for changed in turned.iter().take(SHOWN_MAX) {
            let (place, old, new) = (place(changed), changed.0.expected(), &changed.0.computed);
            let line = if is_ignored(Some(new)) {
                format!("  {place} was applied, is {} now", paint(Tone::Warning, new))
            } else {
                format!("  {place} was {}, is applied now", paint(Tone::Warning, old))
            };
            output.line(line)?;
        }
        print_rest(turned.len(), output)
    }
}

/// Says how many of a list were not shown.
fn print_rest(all: usize, output: &mut Output) -> Result<(), Failure> {
    if all > SHOWN_MAX {
        output.line(paint(Tone::Dim, format_args!("  and {} more", all - SHOWN_MAX)))?;
    }
    Ok(())
}

impl<'a> RollJson<'a> {
    fn of(changed: &'a ChangedRoll) -> Self {
        let seq = |roll: &Option<(u64, String)>| roll.as_ref().map(|(seq, _)| *seq);
        Self {
            seq: seq(&changed.old),
            new_seq: seq(&changed.new),
            old: changed.old.as_ref().map(|(_, command)| command.as_str()),
            new: changed.new.as_ref().map(|(_, command)| command.as_str()),
        }
    }
}

impl<'a> ConflictJson<'a> {
    fn of(conflict: &'a Divergence) -> Self {
        let (seat, command) = conflict.subject.command().unzip();
        let (reason, message) = match &conflict.computed {
            Claim::Rejection { outcome, message } => (outcome.code().unwrap_or_default(), message.as_str()),
            _ => ("accepted", "the attempt is accepted now"),
        };
        Self { seq: conflict.subject.seq(), seat, command, reason, message }
    }
}

impl<'a> OutcomeJson<'a> {
    fn of((changed, new_seq): &'a (Divergence, Option<u64>)) -> Self {
        let Divergence { subject, recorded, computed, .. } = changed;
        let (seat, command) = subject.command().unzip();
        let (seq, new_seq) = (subject.seq(), *new_seq);
        Self { seq, new_seq, seat, command, old: recorded.as_ref(), new: computed }
    }
}

/// Returns `true` if it was applied and is now ignored, or the other way round.
fn has_turned(changed: &Divergence) -> bool {
    is_ignored(changed.recorded.as_ref()) != is_ignored(Some(&changed.computed))
}

fn place((changed, new_seq): &(Divergence, Option<u64>)) -> String {
    let (seat, command) = changed.subject.command().unzip();
    match (changed.subject.seq(), new_seq) {
        (Some(old), Some(new)) if old != *new => format!("entry {old}, now {new} ({})", given(seat, command)),
        (Some(_), _) => changed.subject.to_string(),
        (None, _) => format!("the {}", changed.subject),
    }
}

fn given(seat: Option<Seat>, command: Option<&str>) -> String {
    format!("{} {}", seat.unwrap_or(Seat::Host), command.unwrap_or_default())
}

fn is_ignored(claim: Option<&Claim>) -> bool {
    matches!(claim, Some(Claim::Outcome(Outcome::Ignored(_))))
}
