//! What an amendment changed, told as lines for people and as a document for programs.

use serde::Serialize;
use turnfold_core::Seat;

use crate::failure::Failure;
use crate::output::{Output, Tone, counted, paint};
use crate::record;
use turnfold_replay::amend::{Amendment, ChangedOutcome, ChangedRoll, Conflict};
use turnfold_replay::difference::{Difference, differences, view_of};
use turnfold_replay::record::{Record, RecordJson};

/// How many rolls, and how many outcomes that turned, are told to people; programs are told all.
const SHOWN_MAX: usize = 10;

/// What the messages of an amendment name.
pub(crate) struct Names {
    /// The line of play that is amended.
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
    removed: Option<RecordJson<'a>>,
    added: Option<RecordJson<'a>>,
    /// The number of entries, and how many of them were played again.
    entries: u64,
    kept: usize,
    state_hash: String,
    conflicts: &'a [Conflict],
    outcomes: &'a [ChangedOutcome],
    rolls: Vec<RollJson<'a>>,
    state: Vec<Difference>,
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
    /// Gives the amendment as a document for programs.
    pub(super) fn to_json(self, created: bool) -> Result<AmendmentJson<'a>, Failure> {
        let Self { amendment, names } = self;
        Ok(AmendmentJson {
            created,
            source: &names.source,
            seq: amendment.seq,
            target: &names.target,
            removed: amendment.removed.as_ref().map(Record::to_json).transpose()?,
            added: amendment.added.as_ref().map(Record::to_json).transpose()?,
            entries: amendment.head(),
            kept: amendment.kept(),
            state_hash: amendment.after().state_hash().to_string(),
            conflicts: &amendment.conflicts,
            outcomes: &amendment.outcomes,
            rolls: amendment.rolls.iter().map(RollJson::of).collect(),
            state: self.state_differences(),
        })
    }

    /// Prints the entry that was changed and what was put in its place.
    pub(super) fn print_change(&self, output: &mut Output) -> Result<(), Failure> {
        if let Some(Record { seq: Some(seq), seat: Some(seat), command, .. }) = &self.amendment.removed {
            output.line(paint(Tone::Old, format_args!("- {seq} {seat} {command}")))?;
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
        for Conflict { seq, seat, command, reason, message } in &self.amendment.conflicts {
            let (number, became) = match seq {
                Some(seq) => (seq.to_string(), format!("rejected {reason}")),
                None => ("!".into(), (*reason).to_string()),
            };
            let became = paint(Tone::Old, became);
            output.line(format_args!("  {number} {seat} {command} => {became} ({message})"))?;
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
        output.line(paint(Tone::Old, format_args!("- {}", first.old)))?;
        output.line(paint(Tone::New, format_args!("+ {}", first.new)))?;
        let turned: Vec<_> = others.iter().filter(|changed| has_turned(changed)).collect();
        for turned in turned.iter().take(SHOWN_MAX) {
            let (place, old, new) = (place(turned), &turned.old, &turned.new);
            let told = if is_ignored(new) {
                format!("  {place} was applied, is {} now", paint(Tone::Odd, new))
            } else {
                format!("  {place} was {}, is applied now", paint(Tone::Odd, old))
            };
            output.line(told)?;
        }
        print_rest(turned.len(), output)
    }
}

/// Says how many of a list were not shown.
fn print_rest(all: usize, output: &mut Output) -> Result<(), Failure> {
    if all > SHOWN_MAX {
        output.line(paint(Tone::Faint, format_args!("  and {} more", all - SHOWN_MAX)))?;
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

/// Returns `true` if it was applied and is now ignored, or the other way round.
fn has_turned(changed: &ChangedOutcome) -> bool {
    is_ignored(&changed.old) != is_ignored(&changed.new)
}

fn place(changed: &ChangedOutcome) -> String {
    let ChangedOutcome { seat, command, .. } = changed;
    match (changed.seq, changed.new_seq) {
        (Some(old), Some(new)) if old != new => format!("entry {old}, now {new} ({seat} {command})"),
        (Some(seq), _) => format!("entry {seq} ({seat} {command})"),
        (None, _) => format!("the attempt ({seat} {command})"),
    }
}

fn is_ignored(outcome: &str) -> bool {
    outcome.starts_with("ignored ")
}
