//! Folding again: what a fold gives once it must give every time, also on from a stored state.

use std::fmt::Display;

use turnfold_core::{AnyRules, AnyState, DicePolicy};

use super::mismatch::Mismatch;
use crate::compare::divergence::{Claim, Divergence, DivergenceKind, Subject};
use crate::history::entry::{LogEntry, ShortHash, logged};
use crate::tfl::Replay;

/// Entries that were folded once and are to be folded again.
pub(super) struct Again<'a> {
    pub(super) rules: &'a dyn AnyRules,
    pub(super) setup: &'a [u8],
    pub(super) dice: &'a DicePolicy,
    /// With the numbers of their lines.
    pub(super) entries: &'a [(usize, &'a LogEntry)],
}

/// Two folds of the same entries that do not agree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disagreement {
    kind: DivergenceKind,
    /// Where the entry after which they disagree stands; `None` before the first.
    entry: Option<(usize, LogEntry)>,
    /// What the first fold gave.
    first: String,
    /// What the other gave.
    other: String,
}

impl Again<'_> {
    /// Folds the entries a second time, and on from a state stored half-way, both in silence; compares with the state
    /// hash that the first fold ended in.
    ///
    /// Half-way the second fold is compared with what the file says, because the first agreed with it up to there.
    pub(super) fn disagreement(&self, hash: ShortHash) -> Option<Disagreement> {
        let middle = self.entries.len() / 2;
        let (head, tail) = self.entries.split_at(middle);
        let Ok(mut second) = self.rules.start(self.setup) else {
            return Some(self.otherwise(DivergenceKind::NotDeterministic, 0, &hash, "no start"));
        };
        let middle_hash = head.last().and_then(|(_, entry)| entry.hash);
        if let Err(other) = self.fold(second.as_mut(), head, middle_hash) {
            let first =
                middle_hash.map_or_else(|| "entries that can be folded".into(), |hash| hash.to_string());
            return Some(self.otherwise(DivergenceKind::NotDeterministic, middle, &first, &other));
        }
        let (stored, rolls) = (second.state_bytes(), second.rolls());
        let end = self.entries.len();
        if let Err(other) = self.fold(second.as_mut(), tail, Some(hash)) {
            return Some(self.otherwise(DivergenceKind::NotDeterministic, end, &hash, &other));
        }
        let resumed = self.rules.resume(&stored, rolls).map_err(|error| error.to_string());
        let resumed = resumed.and_then(|mut state| self.fold(state.as_mut(), tail, Some(hash)));
        resumed.err().map(|other| self.otherwise(DivergenceKind::NotStorable, end, &hash, &other))
    }

    /// Folds entries and requires this state hash after them; otherwise says what there is instead.
    fn fold(
        &self,
        state: &mut dyn AnyState,
        entries: &[(usize, &LogEntry)],
        hash: Option<ShortHash>,
    ) -> Result<(), String> {
        let log = logged(entries.iter().map(|(_, entry)| *entry));
        state.fold(&log, self.dice, &mut |_| {}).map_err(|error| error.to_string())?;
        let other = ShortHash::from(state.state_hash());
        if hash.is_none_or(|hash| hash == other) { Ok(()) } else { Err(other.to_string()) }
    }

    fn otherwise(
        &self,
        kind: DivergenceKind,
        count: usize,
        first: &dyn Display,
        other: &str,
    ) -> Disagreement {
        let last = count.checked_sub(1).and_then(|last| self.entries.get(last));
        let entry = last.map(|&(line, entry)| (line, entry.clone()));
        Disagreement { kind, entry, first: first.to_string(), other: other.into() }
    }
}

impl Disagreement {
    pub(super) fn mismatch(self, replay: &Replay) -> Box<Mismatch> {
        let (line, subject) = match &self.entry {
            Some((line, entry)) => (*line, Subject::of_entry(entry)),
            None => (replay.closing_line(), Subject::End { after: 0 }),
        };
        let (recorded, computed) = (Some(Claim::Run(self.first)), Claim::Run(self.other));
        let divergence = Divergence { subject, kind: self.kind, recorded, computed, hashes: None };
        Box::new(Mismatch::new(&replay.file, line, divergence))
    }
}

#[cfg(test)]
mod tests;
