//! Folding again: what a fold gives once it must give every time, also on from a stored state.

use turnfold_core::{AnyRules, AnyState, DicePolicy, Logged};

use super::mismatch::{Mismatch, MismatchKind, Place};
use super::{EntryLine, Replay};

/// Entries that were folded once and are to be folded again.
pub(super) struct Again<'a> {
    pub(super) rules: &'a dyn AnyRules,
    pub(super) setup: &'a [u8],
    pub(super) dice: &'a DicePolicy,
    /// With the numbers of their lines.
    pub(super) entries: &'a [(usize, &'a EntryLine)],
}

/// Two folds of the same entries that do not agree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disagreement {
    kind: MismatchKind,
    /// Where the entry after which they disagree stands; `None` before the first.
    entry: Option<(usize, EntryLine)>,
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
    pub(super) fn disagreement(&self, hash: &str) -> Option<Disagreement> {
        let middle = self.entries.len() / 2;
        let (head, tail) = self.entries.split_at(middle);
        let Ok(mut second) = self.rules.start(self.setup) else {
            return Some(self.otherwise(MismatchKind::NotDeterministic, 0, hash, "no start"));
        };
        let middle_hash = head.last().and_then(|(_, entry)| entry.hash.as_deref());
        if let Err(other) = self.fold(second.as_mut(), head, middle_hash) {
            let first = middle_hash.unwrap_or("entries that can be folded");
            return Some(self.otherwise(MismatchKind::NotDeterministic, middle, first, &other));
        }
        let stored = second.state_bytes();
        let end = self.entries.len();
        if let Err(other) = self.fold(second.as_mut(), tail, Some(hash)) {
            return Some(self.otherwise(MismatchKind::NotDeterministic, end, hash, &other));
        }
        let resumed = self.rules.resume(&stored).map_err(|error| error.to_string());
        let resumed = resumed.and_then(|mut state| self.fold(state.as_mut(), tail, Some(hash)));
        resumed.err().map(|other| self.otherwise(MismatchKind::NotStorable, end, hash, &other))
    }

    /// Folds entries and requires this state hash after them; otherwise says what there is instead.
    fn fold(
        &self,
        state: &mut dyn AnyState,
        entries: &[(usize, &EntryLine)],
        hash: Option<&str>,
    ) -> Result<(), String> {
        let logged: Vec<Logged<'_>> = entries.iter().map(|(_, entry)| entry.logged()).collect();
        state.fold(&logged, self.dice, &mut |_| {}).map_err(|error| error.to_string())?;
        let other = format!("{:.16}", state.state_hash());
        if hash.is_none_or(|hash| hash == other) { Ok(()) } else { Err(other) }
    }

    fn otherwise(&self, kind: MismatchKind, count: usize, first: &str, other: &str) -> Disagreement {
        let last = count.checked_sub(1).and_then(|last| self.entries.get(last));
        let entry = last.map(|&(line, entry)| (line, entry.clone()));
        Disagreement { kind, entry, first: first.into(), other: other.into() }
    }
}

impl Disagreement {
    pub(super) fn mismatch(self, replay: &Replay) -> Box<Mismatch> {
        let (line, place) = match &self.entry {
            Some((line, entry)) => (*line, Place::entry(entry)),
            None => (replay.closing_line(), Place::ClosingLine),
        };
        Box::new(Mismatch {
            file: replay.file.clone(),
            line,
            place,
            until: None,
            kind: self.kind,
            expected: self.first,
            actual: self.other,
            hashes: None,
            rules: Vec::new(),
            dice: None,
            state: None,
        })
    }
}

#[cfg(test)]
mod tests;
