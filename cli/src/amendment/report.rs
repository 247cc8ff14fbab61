//! What an amendment changed, told as lines for people and as a document for programs.

use serde::Serialize;
use turnfold_core::Seat;

use super::{Amendment, ChangedOutcome, ChangedRoll, Conflict};
use crate::difference::{Difference, differences, view_of};
use crate::failure::Failure;
use crate::output::{Output, Tone, counted, paint};
use crate::record::{Record, RecordJson};

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

impl Amendment {
    /// Gives the amendment as a document for programs.
    pub(crate) fn to_json<'a>(
        &'a self,
        names: &'a Names,
        created: bool,
    ) -> Result<AmendmentJson<'a>, Failure> {
        Ok(AmendmentJson {
            created,
            source: &names.source,
            seq: self.seq,
            target: &names.target,
            removed: self.removed.as_ref().map(Record::to_json).transpose()?,
            added: self.added.as_ref().map(Record::to_json).transpose()?,
            entries: self.head(),
            kept: self.kept(),
            state_hash: self.after().state_hash().to_string(),
            conflicts: &self.conflicts,
            outcomes: &self.outcomes,
            rolls: self.rolls.iter().map(ChangedRoll::to_json).collect(),
            state: self.state_differences(),
        })
    }

    /// Prints the entry that was changed and what was put in its place.
    pub(crate) fn print_change(&self, output: &mut Output) -> Result<(), Failure> {
        if let Some(Record { seq: Some(seq), seat: Some(seat), command, .. }) = &self.removed {
            output.line(paint(Tone::Old, format_args!("- {seq} {seat} {command}")))?;
        }
        if let Some(record) = &self.added {
            output.text("+ ")?;
            record.print(output)?;
        }
        Ok(())
    }

    /// Prints the lines that no longer apply.
    pub(crate) fn print_conflicts(&self, output: &mut Output) -> Result<(), Failure> {
        if self.conflicts.is_empty() {
            return Ok(());
        }
        let heading = "no longer applies (each was left out before the next was tried)";
        output.line(paint(Tone::Strong, heading))?;
        for Conflict { seq, seat, command, reason, message } in &self.conflicts {
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
    pub(crate) fn print_differences(&self, names: &Names, output: &mut Output) -> Result<(), Failure> {
        self.print_rolls(output)?;
        self.print_outcomes(output)?;
        let differences = self.state_differences();
        if differences.is_empty() {
            let equal = self.before.state_hash() == self.after().state_hash();
            let what = if equal { "states" } else { "views" };
            output.line(paint(Tone::Strong, format_args!("the {what} at the end are equal")))?;
            return Ok(());
        }
        output.line(paint(Tone::Strong, format_args!("state, {} → {}", names.source, names.target)))?;
        for difference in &differences {
            output.line(format_args!("  {difference}"))?;
        }
        Ok(())
    }

    fn state_differences(&self) -> Vec<Difference> {
        let view = |state| view_of(state, Seat::Host);
        differences(&view(self.before.as_ref()), &view(self.after()))
    }

    fn print_rolls(&self, output: &mut Output) -> Result<(), Failure> {
        if self.rolls.is_empty() {
            return Ok(());
        }
        output.line(paint(Tone::Strong, "rolled again by the seed"))?;
        let side = |roll: &Option<(u64, String)>| {
            roll.as_ref().map_or_else(|| "(none)".into(), |(seq, command)| format!("{seq} {command}"))
        };
        for roll in self.rolls.iter().take(SHOWN_MAX) {
            output.line(format_args!("  {} → {}", side(&roll.old), side(&roll.new)))?;
        }
        print_rest(self.rolls.len(), output)
    }

    /// Prints how many outcomes changed and the first of them, then those that turned from applied to ignored or back.
    fn print_outcomes(&self, output: &mut Output) -> Result<(), Failure> {
        let Some((first, others)) = self.outcomes.split_first() else { return Ok(()) };
        let changed = counted(self.outcomes.len() as u64, "outcome differs", "outcomes differ");
        output.line(paint(Tone::Strong, format_args!("{changed}, first that of {}", first.place())))?;
        output.line(paint(Tone::Old, format_args!("- {}", first.old)))?;
        output.line(paint(Tone::New, format_args!("+ {}", first.new)))?;
        let turned: Vec<_> = others.iter().filter(|changed| changed.has_turned()).collect();
        for turned in turned.iter().take(SHOWN_MAX) {
            let (place, old, new) = (turned.place(), &turned.old, &turned.new);
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

impl ChangedRoll {
    fn to_json(&self) -> RollJson<'_> {
        let seq = |roll: &Option<(u64, String)>| roll.as_ref().map(|(seq, _)| *seq);
        RollJson {
            seq: seq(&self.old),
            new_seq: seq(&self.new),
            old: self.old.as_ref().map(|(_, command)| command.as_str()),
            new: self.new.as_ref().map(|(_, command)| command.as_str()),
        }
    }
}

impl ChangedOutcome {
    /// Tells whether it was applied and is now ignored, or the other way round.
    fn has_turned(&self) -> bool {
        is_ignored(&self.old) != is_ignored(&self.new)
    }

    fn place(&self) -> String {
        let Self { seat, command, .. } = self;
        match (self.seq, self.new_seq) {
            (Some(old), Some(new)) if old != new => format!("entry {old}, now {new} ({seat} {command})"),
            (Some(seq), _) => format!("entry {seq} ({seat} {command})"),
            (None, _) => format!("the attempt ({seat} {command})"),
        }
    }
}

fn is_ignored(outcome: &str) -> bool {
    outcome.starts_with("ignored ")
}
