//! An amendment as lines of text and as a JSON document.

use serde_json::{Value, json};
use turnfold_core::{Outcome, Seat};
use turnfold_history::compare::difference::{differences, view_of};
use turnfold_history::{Amendment, ChangedRoll, Claim, Difference, Divergence, Record};
use turnfold_show::render;

use crate::output::{Line, added, counted, dim, plain, removed, strong, warning};

/// The most rolls, and the most outcomes that turned, that text shows; JSON has all.
const SHOWN_MAX: usize = 10;

pub(super) struct Amended<'a> {
    pub(super) amendment: &'a Amendment,
    pub(super) source: String,
    pub(super) target: String,
    pub(super) is_branch: bool,
    pub(super) is_created: bool,
}

impl Amended<'_> {
    pub(super) fn document(&self) -> Value {
        let Self { amendment, source, target, is_created, .. } = self;
        let mut conflicts = Vec::new();
        for conflict in &amendment.conflicts {
            let (seat, command) = conflict.subject.command().unzip();
            let (reason, message) = why(conflict);
            // An attempt has no seq.
            let seq = conflict.subject.seq();
            conflicts.push(
                json!({ "seq": seq, "seat": seat, "command": command, "reason": reason, "message": message }),
            );
        }
        let mut outcomes = Vec::new();
        for (changed, new_seq) in &amendment.outcomes {
            let (seat, command) = changed.subject.command().unzip();
            outcomes.push(json!({
                "seq": changed.subject.seq(), "new_seq": new_seq, "seat": seat, "command": command,
                "old": changed.recorded, "new": changed.computed,
            }));
        }
        let mut rolls = Vec::new();
        for ChangedRoll { old, new } in &amendment.rolls {
            let (seq, old) = old.clone().unzip();
            let (new_seq, new) = new.clone().unzip();
            rolls.push(json!({ "seq": seq, "new_seq": new_seq, "old": old, "new": new }));
        }
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
            "conflicts": conflicts,
            "outcomes": outcomes,
            "rolls": rolls,
            "state": self.state_differences(),
        })
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(Record { seq: Some(seq), seat: Some(seat), command, .. }) = &self.amendment.removed {
            lines.push(removed(format_args!("- {seq} {seat} {command}")).into());
        }
        if let Some(record) = &self.amendment.added {
            lines.push(Line::from("+ ").join(render::record(record)));
        }
        if !self.amendment.conflicts.is_empty() {
            lines.push(strong("no longer applies (each was left out before the next was tried)").into());
        }
        for conflict in &self.amendment.conflicts {
            let (reason, message) = why(conflict);
            let (number, outcome) = match conflict.subject.seq() {
                Some(seq) => (seq.to_string(), format!("rejected {reason}")),
                None => ("!".into(), reason.to_string()),
            };
            let given = plain(format_args!("  {number} {} => ", given(conflict)));
            lines.push([given, removed(outcome), plain(format_args!(" ({message})"))].into());
        }
        if self.is_created {
            self.add_rolls(&mut lines);
            self.add_outcomes(&mut lines);
            self.add_states(&mut lines);
            lines.push(self.summary());
        }
        lines
    }

    fn add_states(&self, lines: &mut Vec<Line>) {
        let differences = self.state_differences();
        let heading = if !differences.is_empty() {
            format!("state, {} → {}", self.source, self.target)
        } else if self.amendment.before.state_hash() == self.amendment.after().state_hash() {
            "the states at the end are equal".into()
        } else {
            "the views at the end are equal".into()
        };
        lines.push(strong(heading).into());
        lines.extend(differences.iter().map(|difference| Line::from(format!("  {difference}"))));
    }

    fn state_differences(&self) -> Vec<Difference> {
        let before = view_of(self.amendment.before.as_ref(), Seat::Host);
        differences(&before, &view_of(self.amendment.after(), Seat::Host))
    }

    fn add_rolls(&self, lines: &mut Vec<Line>) {
        let rolls = &self.amendment.rolls;
        if !rolls.is_empty() {
            lines.push(strong("rolled again by the seed").into());
        }
        for ChangedRoll { old, new } in rolls.iter().take(SHOWN_MAX) {
            let [old, new] = [old, new].map(|roll| match roll {
                Some((seq, command)) => format!("{seq} {command}"),
                None => "(none)".into(),
            });
            lines.push(format!("  {old} → {new}").into());
        }
        lines.extend(rest(rolls.len()));
    }

    /// Adds the number of changed outcomes and the first one, then those that turned from applied to ignored or back.
    fn add_outcomes(&self, lines: &mut Vec<Line>) {
        let Some((first, others)) = self.amendment.outcomes.split_first() else { return };
        let changed = counted(self.amendment.outcomes.len() as u64, "outcome differs", "outcomes differ");
        lines.push(strong(format_args!("{changed}, first that of {}", place(first))).into());
        lines.push(removed(format_args!("- {}", first.0.expected())).into());
        lines.push(added(format_args!("+ {}", first.0.computed)).into());
        let mut turned = 0;
        for other in others {
            let (changed, _) = other;
            let is_now_ignored = is_ignored(Some(&changed.computed));
            if is_ignored(changed.recorded.as_ref()) == is_now_ignored {
                continue;
            }
            turned += 1;
            if turned > SHOWN_MAX {
                continue;
            }
            let place = place(other);
            lines.push(if is_now_ignored {
                let before = plain(format_args!("  {place} was applied, is "));
                [before, warning(&changed.computed), plain(" now")].into()
            } else {
                let before = plain(format_args!("  {place} was "));
                [before, warning(changed.expected()), plain(", is applied now")].into()
            });
        }
        lines.extend(rest(turned));
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

fn rest(all: usize) -> Option<Line> {
    let more = all.checked_sub(SHOWN_MAX).filter(|more| *more > 0)?;
    Some(dim(format_args!("  and {more} more")).into())
}

/// Returns a code and a message for a command that no longer applies: those of the rejection, or `accepted` for an
/// attempt that no longer fails.
fn why(conflict: &Divergence) -> (&str, &str) {
    match &conflict.computed {
        Claim::Rejection { outcome, message } => (outcome.code().unwrap_or_default(), message),
        _ => ("accepted", "the attempt is accepted now"),
    }
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
