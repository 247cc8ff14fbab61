//! An entry of a history as a viewer may know it.

use serde_json::Value;
use turnfold_core::picture::Picture;
use turnfold_core::{AnyState, DicePolicy, Digest, FoldError, Json, Outcome, Seat, Step};
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

/// Folds entries that follow a state, such as those just appended to a match. Passes each entry that the viewer may
/// know of after the last one to `observe`. `known` is the number of entries before them that the viewer will then know
/// of.
///
/// # Errors
/// [`FoldError`] for the first entry that cannot be folded.
pub fn fold_as_viewer(
    viewer: Viewer,
    state: &mut dyn AnyState,
    known: u64,
    entries: &[LogEntry],
    dice: &DicePolicy,
    observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
) -> Result<(), FoldError> {
    let mut seq = known;
    let observe = &mut |entry: &LogEntry, step: &mut dyn Step| {
        if !step.concealed() {
            seq += 1;
            observe(&mut ViewedEntry { viewer, seq, step, entry, is_own: false });
        }
    };
    viewer.fold_entries(state, entries, dice, observe)
}

impl ViewedEntry<'_> {
    /// Returns the entry's number in the viewer's numbering.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the entry's number in the log. Only the host may see it.
    #[must_use]
    pub fn seq_in_log(&self) -> u64 {
        self.entry.seq
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

    /// Returns the effects that the viewer may know of, as a JSON array.
    pub(crate) fn effects_json(&self) -> Json {
        self.step.effects_json()
    }

    /// Returns the hash of the state after the entry, if the viewer may know it.
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
        record.recorded = self.contradiction().and_then(|found| Some(found.recorded?.to_string()));
        record
    }

    /// Returns the view of the state after the entry.
    #[must_use]
    pub fn view(&self) -> Value {
        self.field("").unwrap_or_default()
    }

    /// Returns the value at a path, a JSON pointer, in the view of the state after the entry.
    #[must_use]
    pub fn field(&self, path: &str) -> Option<Value> {
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
        self.entry.outcome.as_ref().filter(|_| may_know_recorded(self.viewer, self.is_own))
    }

    /// Returns when the entry was recorded, in Unix milliseconds; `None` for a replay file.
    #[must_use]
    pub fn recorded_at_ms(&self) -> Option<i64> {
        self.entry.recorded_at_ms
    }

    /// Returns the idempotency key. Only the host may see one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.entry.key.as_ref().map(IdempotencyKey::as_str).filter(|_| self.viewer.sees_all())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::random_play;
    use crate::history::entry::logged;
    use crate::text::json_line;
    use crate::viewer::seat_history::SeatHistory;

    fn lines(records: &[Record]) -> Vec<String> {
        records.iter().map(|record| json_line(record).unwrap()).collect()
    }

    #[test]
    fn looking_on_from_a_kept_state_is_looking_at_the_whole_line_of_play() {
        let mut concealed = 0;
        for mut history in random_play(3, 14) {
            let start = history.start().unwrap();
            for seat in start.players().iter().copied().chain([Seat::P8, Seat::Host]) {
                let seat_history = SeatHistory::of(Viewer::of(seat), history).unwrap();
                let at_each_entry = (0..=14)
                    .map(|count| (seat_history.known_within(count), seat_history.records_after(count)));
                let expected: Vec<_> = at_each_entry.collect();
                history = seat_history.into_history();
                let mut kept = start.fork();
                for (count, (known, records)) in expected.into_iter().take(history.entries.len()).enumerate()
                {
                    let (after, mut seen) = (&history.entries[count..], Vec::new());
                    let observe = &mut |entry: &mut ViewedEntry<'_>| seen.push(entry.record());
                    let fork = &mut *kept.fork();
                    fold_as_viewer(Viewer::of(seat), fork, known as u64, after, &history.dice, observe)
                        .unwrap();
                    assert_eq!(lines(&seen), lines(&records.unwrap()), "{seat} after {count}");
                    concealed += after.len() - seen.len();
                    kept.fold(&logged(&after[..1]), &history.dice, &mut |_| {}).unwrap();
                }
            }
        }
        assert!(concealed > 0, "nothing was concealed, so that nothing was proven");
    }
}
