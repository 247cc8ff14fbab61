//! Amends a replay: changes one entry and plays the later ones again.

use serde::Serialize;
use turnfold_core::{AnyState, DicePolicy, Outcome, Seat};

use crate::compare::Divergence;
use crate::session::{Roller, ScriptCommand, Session};
use crate::tfl::{Replay, ReplayLine};
use crate::{Attempt, Detail, LogEntry, Record, ReplayError, Viewer, require_rules};

/// The change of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amending {
    /// Another command replaces the entry.
    Replace(ScriptCommand),
    /// A command is inserted before the entry.
    Insert(ScriptCommand),
    /// The entry is dropped.
    Drop,
}

/// An amended history.
pub struct Amendment {
    /// The number of the changed entry.
    pub seq: u64,
    /// The entry that was replaced or dropped.
    pub removed: Option<Record>,
    /// The entry that replaced it or was inserted.
    pub added: Option<Record>,
    /// The entries from the changed one on, in the form that the store appends. Those played again keep their time.
    pub entries: Vec<LogEntry>,
    /// The number of original entries that were played again.
    pub kept: u64,
    /// The later entries and attempts that no longer fit. Each was left out before the next was tried.
    pub conflicts: Vec<Conflict>,
    /// The later entries and attempts with other outcomes, and the entries' numbers now; an attempt has none.
    pub outcomes: Vec<(Divergence, Option<u64>)>,
    /// The later rolls that the seed changes, adds or drops.
    pub rolls: Vec<ChangedRoll>,
    /// The state at the end of the original.
    pub before: Box<dyn AnyState>,
    /// The whole history, without state hashes and closing line.
    pub replay: Replay,
    session: Session,
}

/// A later entry that the rules reject now, or an attempt that they accept now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The entry's number in the original; `None` for an attempt.
    pub seq: Option<u64>,
    /// The seat that gives the command.
    pub seat: Seat,
    /// The command.
    pub command: String,
    /// The code of the rejection; `accepted` for an attempt.
    pub reason: String,
    /// Why it no longer fits, in words.
    pub message: String,
}

/// A roll that the seed changes, adds or drops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedRoll {
    /// The roll's number in the original, if it had the roll.
    pub seq: Option<u64>,
    /// The roll's number now, if there is one.
    pub new_seq: Option<u64>,
    /// The command in the original.
    pub old: Option<String>,
    /// The command now.
    pub new: Option<String>,
}

impl Replay {
    /// Changes entry `seq` of a blessed replay and plays the later ones again.
    ///
    /// Seeded dice are rolled again, because each value depends on the number of rolls before it. Recorded rolls keep
    /// their values and are conflicts if no roll is due. A new command that names no seat is given by `seat`, or else
    /// by the seat that the rules choose for it. `progress` is called for each entry from the changed one on. If the
    /// new command is rejected, the inner error is its record.
    ///
    /// # Errors
    /// [`ReplayError::Refused`] for a recording, [`ReplayError::File`] if the original cannot be folded, and errors of
    /// the dice.
    pub fn amend(
        &self,
        seq: u64,
        change: &Amending,
        seat: Option<Seat>,
        progress: &mut dyn FnMut(),
    ) -> Result<Result<Amendment, Box<Record>>, ReplayError> {
        require_rules(&*self.header.rules)?;
        let dice = self.header.dice;
        let mut lines = self.lines.iter();
        let place = lines.position(|line| matches!(line, ReplayLine::Entry(entry) if entry.seq == seq));
        let place = place.unwrap_or(self.lines.len());
        let (prefix, rest) = self.lines.split_at(place);
        let mut state = self.start()?;
        self.fold_entries(state.as_mut(), prefix.iter().filter_map(ReplayLine::entry), &mut |_| {})?;
        let mut before = state.fork();
        let mut target = None;
        self.fold_entries(before.as_mut(), rest.iter().filter_map(ReplayLine::entry), &mut |step| {
            if step.seq() == seq {
                target = Some(Record::of(step, Detail::new(Viewer::HOST)));
            }
        })?;
        if matches!(change, Amending::Insert(_)) {
            target = None;
        }
        let mut amendment = Amendment {
            seq,
            removed: target,
            added: None,
            entries: Vec::new(),
            kept: 0,
            conflicts: Vec::new(),
            outcomes: Vec::new(),
            rolls: Vec::new(),
            before,
            replay: Replay { lines: prefix.to_vec(), closing: None, ..self.clone() },
            session: Session::new(state, dice, Roller::Seeded, seq, Detail::new(Viewer::HOST)),
        };
        for line in rest {
            if matches!(line, ReplayLine::Entry(_)) {
                progress();
            }
            match line {
                ReplayLine::Blank | ReplayLine::Comment(_) => amendment.replay.lines.push(line.clone()),
                ReplayLine::Attempt(attempt) => amendment.attempt(attempt),
                ReplayLine::Entry(entry) if entry.seq == seq => {
                    if let Err(rejected) = amendment.change(entry, change, seat)? {
                        return Ok(Err(rejected));
                    }
                }
                ReplayLine::Entry(entry) => amendment.entry(entry)?,
            }
        }
        if amendment.before.due_roll().is_none() {
            amendment.roll_due()?;
        }
        Ok(Ok(amendment))
    }
}

impl Amendment {
    /// Returns the state at the end.
    #[must_use]
    pub fn after(&self) -> &dyn AnyState {
        self.session.state.as_ref()
    }

    /// Returns the number of entries of the whole history.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.seq - 1 + self.entries.len() as u64
    }

    fn change(
        &mut self,
        entry: &LogEntry,
        change: &Amending,
        seat: Option<Seat>,
    ) -> Result<Result<(), Box<Record>>, ReplayError> {
        let (Amending::Replace(given) | Amending::Insert(given)) = change else { return Ok(Ok(())) };
        let is_insertion = matches!(change, Amending::Insert(_));
        let mut comments = Vec::new();
        if is_insertion {
            // Comments directly above an entry belong to it.
            let lines = &mut self.replay.lines;
            let mut first = lines.len();
            while first > 0 && matches!(lines.get(first - 1), Some(ReplayLine::Comment(_))) {
                first -= 1;
            }
            comments = lines.split_off(first);
        }
        match self.play(given, seat)? {
            Ok(played) => self.added = Some(self.take(played, None)),
            Err(rejected) => return Ok(Err(rejected)),
        }
        self.replay.lines.extend(comments);
        if is_insertion {
            self.entry(entry)?;
        }
        Ok(Ok(()))
    }

    fn entry(&mut self, entry: &LogEntry) -> Result<(), ReplayError> {
        let command = entry.command.to_string();
        if matches!(self.replay.header.dice, DicePolicy::Seeded(_)) && ScriptCommand::is_roll(&command) {
            return self.roll_again(entry);
        }
        let line = ScriptCommand { seat: Some(entry.seat), command, malformed: None, number: None };
        let record = match self.play(&line, None)? {
            Ok(played) => self.take(played, Some(entry)),
            Err(record) => {
                self.conflicts.push(Conflict {
                    seq: Some(entry.seq),
                    seat: entry.seat,
                    command: line.command,
                    reason: record.outcome.code().unwrap_or_default().into(),
                    message: record.message.unwrap_or_default(),
                });
                return Ok(());
            }
        };
        let computed = LogEntry { outcome: Some(record.outcome), hash: None, ..entry.clone() };
        if let Some(found) = Divergence::contradiction(entry, &computed) {
            self.outcomes.push((found, record.seq));
        }
        Ok(())
    }

    fn roll_again(&mut self, entry: &LogEntry) -> Result<(), ReplayError> {
        let command = entry.command.to_string();
        let mut roll = ChangedRoll { seq: Some(entry.seq), new_seq: None, old: Some(command), new: None };
        if let Some(played) = self.session.roll_once()? {
            let record = self.take(played, Some(entry));
            roll.new_seq = record.seq;
            roll.new = Some(record.command);
        }
        if roll.old != roll.new {
            self.rolls.push(roll);
        }
        Ok(())
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let outcome = Outcome::from(&self.session.state.judge(attempt.seat, &attempt.command));
        if !matches!(outcome, Outcome::Rejected(_)) {
            self.conflicts.push(Conflict {
                seq: None,
                seat: attempt.seat,
                command: attempt.command.clone(),
                reason: "accepted".into(),
                message: "the attempt is accepted now".into(),
            });
            return;
        }
        self.replay.lines.push(ReplayLine::Attempt(Attempt { outcome: None, ..attempt.clone() }));
        if let Some(found) = Divergence::of_attempt(attempt, outcome) {
            self.outcomes.push((found, None));
        }
    }

    /// Plays a command. If it is rejected and a roll by the seed is due, rolls and plays it again.
    fn play(
        &mut self,
        given: &ScriptCommand,
        seat: Option<Seat>,
    ) -> Result<Result<Record, Box<Record>>, ReplayError> {
        match self.session.submit_without_rolls(given, seat) {
            Err(_) if self.roll_due()? => Ok(self.session.submit_without_rolls(given, seat)),
            result => Ok(result),
        }
    }

    fn roll_due(&mut self) -> Result<bool, ReplayError> {
        let mut rolls = Vec::new();
        self.session.roll_due(&mut rolls)?;
        let any = !rolls.is_empty();
        for roll in rolls {
            let record = self.take(roll, None);
            let new = Some(record.command);
            self.rolls.push(ChangedRoll { seq: None, new_seq: record.seq, old: None, new });
        }
        Ok(any)
    }

    /// Adds an accepted entry and returns its record. `origin` is the original entry that it repeats, if any.
    fn take(&mut self, record: Record, origin: Option<&LogEntry>) -> Record {
        let seq = self.head() + 1;
        let seat = record.seat.unwrap_or(Seat::Host);
        let outcome = Some(record.outcome.clone());
        let line = LogEntry { outcome, ..LogEntry::new(seq, seat, record.command.clone()) };
        self.replay.lines.push(ReplayLine::Entry(line));
        let recorded_at_ms = origin.and_then(|entry| entry.recorded_at_ms);
        self.kept += u64::from(origin.is_some());
        let entry = LogEntry::new(seq, seat, record.command_bytes.clone());
        self.entries.push(LogEntry { recorded_at_ms, ..entry });
        record
    }
}
