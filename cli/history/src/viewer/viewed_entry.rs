//! An entry of a history as a viewer may know it.

use serde_json::Value;
use turnfold_core::picture::Picture;
use turnfold_core::{AnyState, DicePolicy, Digest, FoldError, Json, Outcome, Seat, Step};
use turnfold_store::IdempotencyKey;

use crate::compare::divergence::Divergence;
use crate::history::entry::LogEntry;
use crate::history::record::{Detail, LoggedRecord, Record};
use crate::viewer::Viewer;

/// An entry that the viewer may know of, and as much of it as they may know.
pub struct ViewedEntry<'a> {
    pub(crate) viewer: Viewer,
    /// Its number as the viewer counts entries.
    pub(crate) seq: u64,
    pub(crate) step: &'a mut dyn Step,
    pub(crate) entry: &'a LogEntry,
    /// Whether its source contains only what the viewer may know.
    pub(crate) is_own: bool,
}

/// Folds entries that follow a state, such as those just appended to a match whose state is kept, and shows each that the
/// viewer may know of once all of them are folded. `known` entries before them are known then.
///
/// # Errors
/// [`FoldError`] at the first entry that cannot be folded.
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
    /// Returns its number as the viewer counts entries.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns its number in the log, which only the host counts by.
    #[must_use]
    pub fn seq_in_log(&self) -> u64 {
        self.entry.seq
    }

    /// Returns the entry as the rules fold it, for what only the rules can say, such as its sentences.
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

    /// Returns the command as a file for the viewer has it, which has values of no meaning in place of concealed ones.
    pub(crate) fn stand_in(&self) -> String {
        self.step.stand_in()
    }

    /// Returns the outcome as replay files write it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.step.outcome()
    }

    /// Returns what the viewer may know of it in the game's sentences (VW-80), with seats for players; empty where the game
    /// has no words for it.
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

    /// Returns the hash of the state after it, where the viewer may know it.
    pub(crate) fn state_hash(&mut self) -> Option<Digest> {
        self.viewer.step_hash(self.step)
    }

    /// Returns the record to print, with the view of the state after it.
    pub fn record_with_view(&mut self) -> Record {
        self.record_in(Detail { state: true, ..Detail::new(self.viewer) })
    }

    /// Returns the record to print.
    pub fn record(&mut self) -> Record {
        self.record_in(Detail::new(self.viewer))
    }

    fn record_in(&mut self, detail: Detail) -> Record {
        let mut record = Record::of(self.step, detail);
        record.seq = Some(self.seq);
        record.recorded = self.contradiction().and_then(|found| Some(found.recorded?.to_string()));
        record
    }

    /// Returns the view of the state after it.
    #[must_use]
    pub fn view(&self) -> Value {
        self.field("").unwrap_or_default()
    }

    /// Returns what a path leads to in the view of the state after it.
    #[must_use]
    pub fn field(&self, path: &str) -> Option<Value> {
        self.step.view_at(self.viewer.perspective(), path)
    }

    /// Returns the picture of the state after it.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.step.picture(self.viewer.perspective())
    }

    /// Returns the record with the further knowledge of its source.
    pub fn logged_record(&mut self) -> LoggedRecord {
        let recorded_at_ms = self.recorded_at_ms();
        let key = self.key().map(String::from);
        LoggedRecord { record: self.record(), recorded_at_ms, key, link: None }
    }

    /// Returns the outcome that its source records, where the viewer may know it.
    #[must_use]
    pub fn recorded_outcome(&self) -> Option<&Outcome> {
        self.entry.outcome.as_ref().filter(|_| may_know_recorded(self.viewer, self.is_own))
    }

    /// Returns when it was recorded; a replay file does not know.
    #[must_use]
    pub fn recorded_at_ms(&self) -> Option<i64> {
        self.entry.recorded_at_ms
    }

    /// Returns the key it was recorded with. A player sees none, not even its own.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.entry.key.as_ref().map(IdempotencyKey::as_str).filter(|_| self.viewer.see_all())
    }

    /// Returns how what its source records differs from what the rules compute, where the viewer may know it.
    #[must_use]
    pub fn contradiction(&mut self) -> Option<Divergence> {
        self.contradiction_of(self.viewer.see_all())
    }

    /// Compares as [`contradiction`](Self::contradiction) does, the state hash only if `with_hash`: it takes longer to compute
    /// than all else.
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

/// Returns `true` if a viewer may know what a source records of its entries: outcomes and hashes cover what is concealed, so
/// a player may only if the source contains nothing else than what this player may know.
pub(in crate::viewer) fn may_know_recorded(viewer: Viewer, is_own: bool) -> bool {
    viewer.see_all() || is_own
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
