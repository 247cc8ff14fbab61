//! An amendment as lines of text and as a JSON document.

use serde_json::{Value, json};
use turnfold_core::{Outcome, Seat};
use turnfold_history::compare::difference::{differences, view_of};
use turnfold_history::{Amendment, ChangedRoll, Claim, Difference, Divergence, Record};
use turnfold_show::render;

use crate::output::{Line, added, counted, dim, plain, removed, strong, warning};

/// The most rolls, and the most outcomes that turned, that text shows; JSON has all.
const SHOWN_MAX: usize = 10;

/// What an amendment changed, with the names that its messages use.
pub(super) struct Amended<'a> {
    pub(super) amendment: &'a Amendment,
    /// The name of the original history.
    pub(super) source: String,
    /// The name of the new branch or file.
    pub(super) target: String,
    /// Whether the target is a branch.
    pub(super) is_branch: bool,
    /// Whether the target was written.
    pub(super) is_created: bool,
}

impl Amended<'_> {
    pub(super) fn document(&self) -> Value {
        let Self { amendment, source, target, is_created, .. } = self;
        let conflicts = amendment.conflicts.iter().map(|conflict| {
            let (seat, command) = conflict.subject.command().unzip();
            let (reason, message) = why(conflict);
            // An attempt has no seq.
            let seq = conflict.subject.seq();
            json!({ "seq": seq, "seat": seat, "command": command, "reason": reason, "message": message })
        });
        let outcomes = amendment.outcomes.iter().map(|(changed, new_seq)| {
            let (seat, command) = changed.subject.command().unzip();
            json!({
                "seq": changed.subject.seq(),
                "new_seq": new_seq,
                "seat": seat,
                "command": command,
                "old": changed.recorded,
                "new": changed.computed,
            })
        });
        let rolls = amendment.rolls.iter().map(|ChangedRoll { old, new }| {
            let (seq, old) = old.as_ref().map(|(seq, command)| (seq, command)).unzip();
            let (new_seq, new) = new.as_ref().map(|(seq, command)| (seq, command)).unzip();
            json!({ "seq": seq, "new_seq": new_seq, "old": old, "new": new })
        });
        json!({
            "created": is_created,
            "source": source,
            "seq": amendment.seq,
            "target": target,
            "removed": amendment.removed,
            "added": amendment.added,
            "entries": amendment.head(),
            "kept": amendment.kept,
            "state_hash": amendment.after().state_hash(),
            "conflicts": conflicts.collect::<Vec<_>>(),
            "outcomes": outcomes.collect::<Vec<_>>(),
            "rolls": rolls.collect::<Vec<_>>(),
            "state": self.state_differences(),
        })
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        let mut lines = self.change();
        lines.extend(self.conflicts());
        if self.is_created {
            lines.extend(self.rolls());
            lines.extend(self.outcomes());
            lines.extend(self.states());
            lines.push(self.summary());
        }
        lines
    }

    /// Returns the entry that was changed and its replacement.
    fn change(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(Record { seq: Some(seq), seat: Some(seat), command, .. }) = &self.amendment.removed {
            lines.push(removed(format_args!("- {seq} {seat} {command}")).into());
        }
        lines.extend(
            self.amendment.added.as_ref().map(|record| Line::from("+ ").join(render::record(record))),
        );
        lines
    }

    /// Returns the commands that no longer apply.
    fn conflicts(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.amendment.conflicts.is_empty() {
            lines.push(strong("no longer applies (each was left out before the next was tried)").into());
        }
        lines.extend(self.amendment.conflicts.iter().map(|conflict| {
            let (reason, message) = why(conflict);
            let (number, outcome) = match conflict.subject.seq() {
                Some(seq) => (seq.to_string(), format!("rejected {reason}")),
                None => ("!".into(), reason.to_string()),
            };
            let given = plain(format_args!("  {number} {} => ", given(conflict)));
            Line::from([given, removed(outcome), plain(format_args!(" ({message})"))])
        }));
        lines
    }

    /// Returns the fields in which the states at the end differ.
    fn states(&self) -> Vec<Line> {
        let differences = self.state_differences();
        let heading = if !differences.is_empty() {
            format!("state, {} → {}", self.source, self.target)
        } else if self.amendment.before.state_hash() == self.amendment.after().state_hash() {
            "the states at the end are equal".into()
        } else {
            "the views at the end are equal".into()
        };
        let differences = differences.iter().map(|difference| Line::from(format!("  {difference}")));
        [strong(heading).into()].into_iter().chain(differences).collect()
    }

    fn state_differences(&self) -> Vec<Difference> {
        let view = |state| view_of(state, Seat::Host);
        differences(&view(self.amendment.before.as_ref()), &view(self.amendment.after()))
    }

    fn rolls(&self) -> Vec<Line> {
        let rolls = &self.amendment.rolls;
        let heading = (!rolls.is_empty()).then(|| strong("rolled again by the seed").into());
        let side = |roll: &Option<(u64, String)>| {
            roll.as_ref().map_or_else(|| "(none)".into(), |(seq, command)| format!("{seq} {command}"))
        };
        let line = |roll: &ChangedRoll| format!("  {} → {}", side(&roll.old), side(&roll.new)).into();
        heading.into_iter().chain(rolls.iter().take(SHOWN_MAX).map(line)).chain(rest(rolls.len())).collect()
    }

    /// Returns the number of changed outcomes and the first one, then those that turned from applied to ignored or
    /// back.
    fn outcomes(&self) -> Vec<Line> {
        let Some((first, others)) = self.amendment.outcomes.split_first() else { return Vec::new() };
        let changed = counted(self.amendment.outcomes.len() as u64, "outcome differs", "outcomes differ");
        let mut lines = vec![
            strong(format_args!("{changed}, first that of {}", place(first))).into(),
            removed(format_args!("- {}", first.0.expected())).into(),
            added(format_args!("+ {}", first.0.computed)).into(),
        ];
        let turned: Vec<_> = others.iter().filter(|(changed, _)| has_turned(changed)).collect();
        lines.extend(turned.iter().take(SHOWN_MAX).map(|changed| {
            let place = place(changed);
            let old = changed.0.expected();
            let new = &changed.0.computed;
            if is_ignored(Some(new)) {
                Line::from([plain(format_args!("  {place} was applied, is ")), warning(new), plain(" now")])
            } else {
                Line::from([plain(format_args!("  {place} was ")), warning(old), plain(", is applied now")])
            }
        }));
        lines.extend(rest(turned.len()));
        lines
    }

    fn summary(&self) -> Line {
        let Self { amendment, .. } = self;
        let target = if self.is_branch {
            let place = format!("{}:{}", self.source, amendment.seq - 1);
            let target = strong(&self.target);
            Line::from([plain("created "), target, plain(format_args!(", which begins after {place}"))])
        } else {
            Line::from(format!("wrote `{}`", self.target))
        };
        let entries = counted(amendment.head(), "entry", "entries");
        target
            .then(plain(format_args!(": {entries}, {} of them played again ", amendment.kept)))
            .then(dim(format_args!("#{:.16}", amendment.after().state_hash())))
    }
}

/// Returns the line that counts the items beyond [`SHOWN_MAX`], if there are any.
fn rest(all: usize) -> Option<Line> {
    (all > SHOWN_MAX).then(|| dim(format_args!("  and {} more", all - SHOWN_MAX)).into())
}

/// Returns a code and a message for a command that no longer applies: those of the rejection, or `accepted` for an
/// attempt that no longer fails.
fn why(conflict: &Divergence) -> (&str, &str) {
    match &conflict.computed {
        Claim::Rejection { outcome, message } => (outcome.code().unwrap_or_default(), message),
        _ => ("accepted", "the attempt is accepted now"),
    }
}

/// Returns `true` if a command was applied and is now ignored, or the other way round.
fn has_turned(changed: &Divergence) -> bool {
    is_ignored(changed.recorded.as_ref()) != is_ignored(Some(&changed.computed))
}

fn place((changed, new_seq): &(Divergence, Option<u64>)) -> String {
    match (changed.subject.seq(), new_seq) {
        (Some(old), Some(new)) if old != *new => format!("entry {old}, now {new} ({})", given(changed)),
        (Some(_), _) => changed.subject.to_string(),
        (None, _) => format!("the {}", changed.subject),
    }
}

fn given(changed: &Divergence) -> String {
    let (seat, command) = changed.subject.command().unwrap_or((Seat::Host, ""));
    format!("{seat} {command}")
}

fn is_ignored(claim: Option<&Claim>) -> bool {
    matches!(claim, Some(Claim::Outcome(Outcome::Ignored(_))))
}
