//! Folds again: a fold must give the same result every time, also when it resumes from a stored state.

use std::fmt::Display;

use turnfold_core::AnyState;

use super::mismatch::Mismatch;
use crate::compare::divergence::{Claim, Divergence, DivergenceKind, Subject};
use crate::history::entry::{LogEntry, ShortHash, logged};
use crate::tfl::Replay;

/// Entries that were folded once and must fold again to the same state.
pub(super) struct Again<'a> {
    pub(super) replay: &'a Replay,
    pub(super) setup: &'a [u8],
    /// The entries with their line numbers.
    pub(super) entries: &'a [(usize, &'a LogEntry)],
}

impl Again<'_> {
    /// Folds the entries a second time, and also from a state that is stored halfway. Compares both with `hash`, the
    /// state hash that the first fold ended in.
    ///
    /// Halfway, the second fold is compared with the hash in the file, because the first fold agreed with it there.
    pub(super) fn disagreement(&self, hash: ShortHash) -> Option<Box<Mismatch>> {
        let middle = self.entries.len() / 2;
        let (head, tail) = self.entries.split_at(middle);
        let Ok(mut second) = self.replay.header.rules.start(self.setup) else {
            return Some(self.otherwise(DivergenceKind::NotDeterministic, 0, &hash, "no start"));
        };
        let middle_hash = head.last().and_then(|(_, entry)| entry.hash);
        if let Err(other) = self.fold(second.as_mut(), head, middle_hash) {
            let first = match middle_hash {
                Some(hash) => hash.to_string(),
                None => "entries that can be folded".into(),
            };
            return Some(self.otherwise(DivergenceKind::NotDeterministic, middle, &first, &other));
        }
        let stored = second.state_bytes();
        let rolls = second.rolls();
        let end = self.entries.len();
        if let Err(other) = self.fold(second.as_mut(), tail, Some(hash)) {
            return Some(self.otherwise(DivergenceKind::NotDeterministic, end, &hash, &other));
        }
        let resumed = match self.replay.header.rules.resume(&stored, rolls) {
            Ok(mut state) => self.fold(state.as_mut(), tail, Some(hash)),
            Err(error) => Err(error.to_string()),
        };
        match resumed {
            Ok(()) => None,
            Err(other) => Some(self.otherwise(DivergenceKind::NotStorable, end, &hash, &other)),
        }
    }

    /// Folds entries and requires this state hash after them. The error is the other hash, or why the fold failed.
    fn fold(
        &self,
        state: &mut dyn AnyState,
        entries: &[(usize, &LogEntry)],
        hash: Option<ShortHash>,
    ) -> Result<(), String> {
        let log = logged(entries.iter().map(|(_, entry)| *entry));
        state.fold(&log, &self.replay.header.dice, &mut |_| {}).map_err(|error| error.to_string())?;
        let other = ShortHash::from(state.state_hash());
        match hash {
            Some(hash) if hash != other => Err(other.to_string()),
            _ => Ok(()),
        }
    }

    /// Returns a mismatch at the last of the first `count` entries, with what the two folds gave.
    fn otherwise(
        &self,
        kind: DivergenceKind,
        count: usize,
        first: &dyn Display,
        other: &str,
    ) -> Box<Mismatch> {
        let mut line = self.replay.closing_line();
        let mut subject = Subject::End { after: 0 };
        if let Some((at, entry)) = self.entries.iter().take(count).next_back() {
            line = *at;
            subject = Subject::from(*entry);
        }
        let first = Claim::Run(first.to_string());
        let other = Claim::Run(other.into());
        let divergence = Divergence::new(subject, kind, Some(first), other);
        Box::new(Mismatch::new(&self.replay.file, line, divergence))
    }
}
