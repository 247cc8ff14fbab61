//! An entry of a history as a viewer may know it.

use serde_json::Value;
use turnfold_core::picture::Picture;
use turnfold_core::{Digest, Json, Outcome, Seat, Step};
use turnfold_store::IdempotencyKey;

use crate::compare::divergence::Divergence;
use crate::history::entry::LogEntry;
use crate::history::record::{Detail, LoggedRecord, Record};
use crate::viewer::Viewer;

/// An entry that the viewer may know of, with as much of it as they may know.
pub struct ViewedEntry<'a> {
    pub(crate) viewer: Viewer,
    /// The entry's number in the viewer's numbering.
    pub(crate) seq: u64,
    pub(crate) step: &'a mut dyn Step,
    pub(crate) entry: &'a LogEntry,
    /// Whether its source is a file for this viewer's seat.
    pub(crate) is_own: bool,
}

impl ViewedEntry<'_> {
    /// Returns the entry's number in the viewer's numbering.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the step of the fold, for what only the rules can say, such as sentences.
    #[must_use]
    pub fn step(&self) -> &dyn Step {
        self.step
    }

    /// Returns the seat whose command it is.
    #[must_use]
    pub fn seat(&self) -> Seat {
        self.step.seat()
    }

    /// Returns the command as people are shown it.
    #[must_use]
    pub fn command(&self) -> String {
        self.step.shown()
    }

    /// Returns the command as a file for the viewer has it: with meaningless values in place of concealed ones.
    pub(crate) fn stand_in(&self) -> String {
        self.step.stand_in()
    }

    /// Returns the outcome as replay files write it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.step.outcome()
    }

    /// Returns the entry in the game's sentences (VW-80), as far as the viewer may know it. They name players by seat.
    /// Empty if the game has no sentences for it.
    #[must_use]
    pub fn sentence(&self) -> String {
        if !self.step.is_worded() {
            return String::new();
        }
        let mut sentences = self.step.sentences(self.viewer.perspective());
        sentences.retain(|sentence| !sentence.is_empty());
        sentences.join(" ")
    }

    pub(crate) fn effects_json(&self) -> Json {
        self.step.effects_json()
    }

    pub(crate) fn state_hash(&mut self) -> Option<Digest> {
        self.viewer.step_hash(self.step)
    }

    /// Returns the record with the view of the state after the entry.
    pub fn record_with_view(&mut self) -> Record {
        self.record_in(Detail { state: true, ..Detail::new(self.viewer) })
    }

    /// Returns the record without views.
    pub fn record(&mut self) -> Record {
        self.record_in(Detail::new(self.viewer))
    }

    fn record_in(&mut self, detail: Detail) -> Record {
        let mut record = Record::of(self.step, detail);
        record.seq = Some(self.seq);
        if let Some(found) = self.contradiction() {
            record.recorded = found.recorded.map(|recorded| recorded.to_string());
        }
        record
    }

    /// Returns the view of the state after the entry.
    #[must_use]
    pub fn view(&self) -> Value {
        self.field("").unwrap_or_default()
    }

    pub(crate) fn field(&self, path: &str) -> Option<Value> {
        self.step.view_at(self.viewer.perspective(), path)
    }

    /// Returns the picture of the state after the entry.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.step.picture(self.viewer.perspective())
    }

    /// Returns the record with the time and key that its source has.
    pub fn logged_record(&mut self) -> LoggedRecord {
        let recorded_at_ms = self.recorded_at_ms();
        let key = self.key().map(String::from);
        LoggedRecord { record: self.record(), recorded_at_ms, key, link: None }
    }

    /// Returns the outcome that the source records, if the viewer may know it.
    #[must_use]
    pub fn recorded_outcome(&self) -> Option<&Outcome> {
        if may_know_recorded(self.viewer, self.is_own) { self.entry.outcome.as_ref() } else { None }
    }

    /// Returns when the entry was recorded, in Unix milliseconds; `None` for a replay file.
    #[must_use]
    pub fn recorded_at_ms(&self) -> Option<i64> {
        self.entry.recorded_at_ms
    }

    /// Returns the idempotency key. Only the host may see one.
    #[must_use]
    pub(crate) fn key(&self) -> Option<&str> {
        if !self.viewer.sees_all() {
            return None;
        }
        self.entry.key.as_ref().map(IdempotencyKey::as_str)
    }

    /// Compares what the source records with what the rules compute, if the viewer may know it.
    #[must_use]
    pub fn contradiction(&mut self) -> Option<Divergence> {
        self.contradiction_of(self.viewer.sees_all())
    }

    /// Compares as [`contradiction`](Self::contradiction) does, but compares the state hash only if `with_hash`,
    /// because computing it takes longer than all else.
    pub(crate) fn contradiction_of(&mut self, with_hash: bool) -> Option<Divergence> {
        let Self { viewer, entry, is_own, step, .. } = self;
        let is_recorded = entry.outcome.is_some() || (with_hash && entry.hash.is_some());
        if !is_recorded || !may_know_recorded(*viewer, *is_own) {
            return None;
        }
        let computed = if with_hash {
            LogEntry::of(*step)
        } else {
            LogEntry {
                outcome: Some(step.outcome()),
                ..LogEntry::new(step.seq(), step.seat(), step.command())
            }
        };
        Divergence::contradiction(entry, &computed)
    }
}

/// Returns `true` if a viewer may know what a source records. Recorded outcomes and hashes cover what is concealed, so
/// a player may know them only in a file for that player's seat.
pub(in crate::viewer) fn may_know_recorded(viewer: Viewer, is_own: bool) -> bool {
    viewer.sees_all() || is_own
}
