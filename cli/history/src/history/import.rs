//! New matches: checks of their titles, and matches read from replay files.

use std::path::Path;
use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Outcome, Registry};
use turnfold_store::{NewEntry, PackedEntries, SNAPSHOT_INTERVAL};

use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
pub use crate::error::limits::check_title;
use crate::golden::bless::bless_if_true;
use crate::history::entry::{Attempt, LogEntry, logged};
use crate::history::snapshots::Passed;
use crate::history::source::RUN;
use crate::tfl::{Closing, LogHasher, LongReplay, Replay, ReplayLine};

/// A match from a replay file: everything but its id and its times.
pub struct Imported {
    /// The rules.
    pub rules: Arc<dyn AnyRules>,
    /// The setup, as the log stores it.
    pub setup: Vec<u8>,
    /// Where its rolls come from.
    pub dice: DicePolicy,
    /// The module that the match pins (MD-8).
    pub module: Option<Digest>,
    /// The title.
    pub title: String,
    /// The entries.
    pub entries: PackedEntries,
    /// The state after the last entry.
    pub state: Box<dyn AnyState>,
    /// The snapshots that are due among the entries.
    pub passed: Passed,
}

impl Imported {
    /// Folds a replay. Outcomes and hashes that the file records must be right.
    ///
    /// # Errors
    /// [`ReplayError`] if the file records something that the rules do not compute, or its setup or an entry cannot be
    /// folded.
    pub fn of(replay: &Replay, recorded_at_ms: i64) -> Result<Self, ReplayError> {
        let blessed = bless_if_true(replay)?;
        let rules = replay.header.rules.clone();
        let setup = replay.setup()?;
        let dice = replay.header.dice;
        let mut state = replay.start()?;
        let mut entries = PackedEntries::default();
        let logged: Vec<_> = blessed.entries().map(LogEntry::logged).collect();
        let mut passed = Passed::default();
        for run in logged.chunks(usize::try_from(SNAPSHOT_INTERVAL).unwrap_or(usize::MAX)) {
            state.fold(run, &dice, &mut |step| {
                entries.push(&NewEntry { seat: step.seat(), command: step.command_bytes(), recorded_at_ms });
            })?;
            passed.note(entries.count(), state.as_ref());
        }
        let module = replay.header.module;
        let title = replay.header.title.clone();
        Ok(Self { rules, setup, dice, module, title, entries, state, passed })
    }

    /// Folds a replay file while reading it in runs of entries, so that a long one takes little memory. Returns `None`
    /// for standard input, for a page, for a file for one seat, and for a file with an error. The caller then uses
    /// [`of`](Self::of), which reads them or names the error.
    #[must_use]
    pub fn of_long(path: &Path, registry: &Registry, recorded_at_ms: i64) -> Option<Self> {
        let long = LongReplay::open(path, registry)?;
        let header = &long.replay.header;
        if header.view.is_some() {
            return None;
        }
        let rules = header.rules.clone();
        let dice = header.dice;
        let state = long.replay.start().ok()?;
        let mut reading = Reading {
            dice,
            state,
            run: Vec::new(),
            log: LogHasher::new(header),
            recorded_at_ms,
            entries: PackedEntries::default(),
            passed: Passed::default(),
        };
        let mut is_true = true;
        let closing = long.pass_lines(&mut |line| {
            is_true = reading.take(line);
            Ok(is_true)
        });
        let recorded = closing.ok().filter(|_| is_true && reading.fold())?;
        let Reading { state, log, entries, passed, .. } = reading;
        let closing = Closing {
            count: entries.count(),
            state: state.state_hash(),
            log: log.finish(),
            header: header.mark(),
        };
        if recorded.is_some_and(|recorded| recorded != closing) {
            return None;
        }
        let module = header.module;
        let title = header.title.clone();
        let setup = long.replay.setup().ok()?;
        Some(Self { rules, setup, dice, module, title, entries, state, passed })
    }
}

/// A replay file that is folded while it is read.
struct Reading {
    dice: DicePolicy,
    state: Box<dyn AnyState>,
    /// Entries that are not folded yet.
    run: Vec<LogEntry>,
    log: LogHasher,
    recorded_at_ms: i64,
    entries: PackedEntries,
    passed: Passed,
}

impl Reading {
    /// Takes the next line. Returns `false` if the file records something that the rules do not compute.
    fn take(&mut self, line: ReplayLine) -> bool {
        match line {
            ReplayLine::Blank | ReplayLine::Comment(_) => true,
            ReplayLine::Entry(entry) => {
                let is_full = entry.seq.is_multiple_of(RUN as u64);
                self.run.push(entry);
                !is_full || self.fold()
            }
            ReplayLine::Attempt(Attempt { seat, command, .. }) => {
                self.fold()
                    && matches!(Outcome::from(&self.state.judge(seat, &command)), Outcome::Rejected(_))
            }
        }
    }

    /// Folds the waiting entries. Returns `false` if the rules refuse one, or compute another outcome or hash than the
    /// file records.
    fn fold(&mut self) -> bool {
        let Self { dice, state, run, log, recorded_at_ms, entries, passed } = self;
        let mut recorded = run.iter();
        let mut is_true = true;
        let folded = state.fold(&logged(&*run), dice, &mut |step| {
            let computed = LogEntry::of(step);
            is_true &= recorded
                .next()
                .is_some_and(|recorded| Divergence::contradiction(recorded, &computed).is_none());
            log.add(&computed);
            let seat = step.seat();
            let command = step.command_bytes();
            let recorded_at_ms = *recorded_at_ms;
            entries.push(&NewEntry { seat, command, recorded_at_ms });
        });
        passed.note(entries.count(), state.as_ref());
        run.clear();
        is_true && folded.is_ok()
    }
}
