//! Matches that are to be made: their titles, and those that come from a replay file.

use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest};
use turnfold_store::{NewEntry, SNAPSHOT_INTERVAL};

use crate::error::ReplayError;
pub use crate::error::limits::check_title;
use crate::golden::bless::bless_if_true;
use crate::history::entry::LogEntry;
use crate::history::position::Passed;
use crate::tfl::Replay;

/// What a replay file contains of a match: everything but its id and its times.
pub struct Imported {
    /// Its rules.
    pub rules: Arc<dyn AnyRules>,
    /// Its setup, as the log stores it.
    pub setup: Vec<u8>,
    /// Where its rolls come from.
    pub dice: DicePolicy,
    /// The module that it pins (MD-8).
    pub module: Option<Digest>,
    /// Its title.
    pub title: String,
    /// Its entries.
    pub entries: Vec<NewEntry>,
    /// The state after them.
    pub state: Box<dyn AnyState>,
    /// The snapshots that were passed.
    pub passed: Passed,
}

impl Imported {
    /// Folds a replay. Outcomes and hashes must be right where the file has them.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn of(replay: &Replay, recorded_at_ms: i64) -> Result<Self, ReplayError> {
        let blessed = bless_if_true(replay)?;
        let (rules, setup, dice) = (replay.header.rules.clone(), replay.setup()?, replay.header.dice);
        let mut state = replay.start()?;
        let mut entries = Vec::new();
        let logged: Vec<_> = blessed.entries().map(LogEntry::logged).collect();
        let mut passed = Passed::default();
        for run in logged.chunks(usize::try_from(SNAPSHOT_INTERVAL).unwrap_or(usize::MAX)) {
            state.fold(run, &dice, &mut |step| {
                entries.push(NewEntry { seat: step.seat(), command: step.command_bytes(), recorded_at_ms });
            })?;
            passed.note(entries.len() as u64, state.as_ref());
        }
        let (module, title) = (replay.header.module, replay.header.title.clone());
        Ok(Self { rules, setup, dice, module, title, entries, state, passed })
    }
}
