//! Amending: one entry of a replay changed, and all that came after it played again on top.

use serde::Serialize;
use turnfold_core::{AnyState, Seat, Step};

use crate::error::ReplayError;
use crate::eyes::Eyes;
use crate::record::{Became, Detail, Record};
use crate::script::ScriptLine;
use crate::session::{Played, Roller, Table, is_roll};
use crate::tfl::{AttemptLine, EntryLine, Line, Replay};

/// What happens to an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another command takes its place.
    Replace(ScriptLine),
    /// A command comes before it.
    Insert(ScriptLine),
    /// It is left out.
    Drop,
}

/// A line of play worked out anew.
pub struct Amendment {
    /// The number of the changed entry.
    pub seq: u64,
    /// The entry that was replaced or left out.
    pub removed: Option<Record>,
    /// The entry that was put in.
    pub added: Option<Record>,
    /// The entries from the changed one on.
    pub entries: Vec<AmendedEntry>,
    /// The later lines that no longer apply; each was left out before the next was tried.
    pub conflicts: Vec<Conflict>,
    /// The later lines of which something else becomes.
    pub outcomes: Vec<ChangedOutcome>,
    /// The later rolls that the seed now gives otherwise.
    pub rolls: Vec<ChangedRoll>,
    /// The state at the end of the original.
    pub before: Box<dyn AnyState>,
    /// The whole line of play, without state hashes and closing line.
    pub replay: Replay,
    table: Table,
    rolls_by_seed: bool,
}

/// An entry to be stored.
pub struct AmendedEntry {
    pub seat: Seat,
    pub command: Vec<u8>,
    /// The entry of the original that it repeats.
    pub origin: Option<u64>,
}

/// A line of the original that no longer applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The entry's number in the original; an attempt has none.
    pub seq: Option<u64>,
    pub seat: Seat,
    pub command: String,
    /// The rejection's name, or `accepted` for an attempt that no longer fails.
    pub reason: &'static str,
    pub message: String,
}

/// A line of the original of which something else becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedOutcome {
    /// The entry's number in the original; an attempt has none.
    pub seq: Option<u64>,
    /// Its number now.
    pub new_seq: Option<u64>,
    pub seat: Seat,
    pub command: String,
    pub old: String,
    pub new: String,
}

/// A roll that the seed gives otherwise, makes anew or no longer makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRoll {
    /// Its number in the original and its command there.
    pub old: Option<(u64, String)>,
    /// Its number now and its command.
    pub new: Option<(u64, String)>,
}

/// Changes entry `seq` of a blessed replay and plays the later ones again.
///
/// Seeded dice are rolled again by the seed, because their values follow from the numbers of the entries; recorded
/// rolls keep their values and are conflicts where no roll is due. Without a seat of its own, the new command is
/// given by `seat`, or by whose command it is. The inner result is its record when it is rejected.
pub fn amend(
    original: &Replay,
    seq: u64,
    change: &Change,
    seat: Option<Seat>,
    progress: &mut dyn FnMut(),
) -> Result<Result<Amendment, Box<Record>>, ReplayError> {
    let dice = original.header.dice;
    let is_target = |line: &Line| matches!(line, Line::Entry(entry) if entry.seq == seq);
    let place = original.lines.iter().position(is_target).unwrap_or(original.lines.len());
    let (prefix, rest) = original.lines.split_at(place);
    let mut state = original.start()?;
    fold(original, state.as_mut(), prefix, &mut |_| {})?;
    let mut before = state.fork();
    let mut target = None;
    fold(original, before.as_mut(), rest, &mut |step| {
        if step.seq() == seq {
            target = Some(Record::of(step, Detail::new(Eyes::HOST)));
        }
    })?;
    let roller = Roller::of(&dice);
    let mut amendment = Amendment {
        seq,
        removed: target.filter(|_| !matches!(change, Change::Insert(_))),
        added: None,
        entries: Vec::new(),
        conflicts: Vec::new(),
        outcomes: Vec::new(),
        rolls: Vec::new(),
        before,
        replay: Replay { lines: prefix.to_vec(), closing: None, ..original.clone() },
        table: Table::new(state, dice, roller, seq, Detail::new(Eyes::HOST)),
        rolls_by_seed: matches!(roller, Roller::Seeded),
    };
    for line in rest {
        if matches!(line, Line::Entry(_)) {
            progress();
        }
        match line {
            Line::Blank | Line::Comment(_) => amendment.replay.lines.push(line.clone()),
            Line::Attempt(attempt) => amendment.attempt(attempt),
            Line::Entry(entry) if entry.seq == seq => {
                if let Err(rejected) = amendment.change(entry, change, seat)? {
                    return Ok(Err(rejected));
                }
            }
            Line::Entry(entry) => amendment.entry(entry)?,
        }
    }
    if amendment.before.due_roll().is_none() {
        amendment.roll_due()?;
    }
    Ok(Ok(amendment))
}

/// Folds the entries among some lines, showing each.
fn fold(
    original: &Replay,
    state: &mut dyn AnyState,
    lines: &[Line],
    observe: &mut dyn FnMut(&mut dyn Step),
) -> Result<(), ReplayError> {
    let entries = lines.iter().filter_map(|line| match line {
        Line::Entry(entry) => Some(entry.logged()),
        _ => None,
    });
    let entries: Vec<_> = entries.collect();
    state
        .fold(&entries, &original.header.dice, observe)
        .map_err(|error| ReplayError::from(original.locate(&error)))
}

impl Amendment {
    /// Gives the state at the end.
    pub fn after(&self) -> &dyn AnyState {
        self.table.state.as_ref()
    }

    /// Gives the number of entries of the whole line of play.
    pub fn head(&self) -> u64 {
        self.seq - 1 + self.entries.len() as u64
    }

    /// Tells how many entries of the original were played again.
    pub fn kept(&self) -> usize {
        self.entries.iter().filter(|entry| entry.origin.is_some()).count()
    }

    fn change(
        &mut self,
        entry: &EntryLine,
        change: &Change,
        seat: Option<Seat>,
    ) -> Result<Result<(), Box<Record>>, ReplayError> {
        match change {
            Change::Drop => {}
            Change::Replace(line) => match self.play(line, seat)? {
                Ok(played) => self.added = Some(self.take(played, None)),
                Err(rejected) => return Ok(Err(rejected)),
            },
            Change::Insert(line) => {
                // Comments right above an entry are about it and stay with it.
                let lines = &mut self.replay.lines;
                let is_comment = |line: &&Line| matches!(line, Line::Comment(_));
                let above = lines.iter().rev().take_while(is_comment).count();
                let comments = lines.split_off(lines.len() - above);
                match self.play(line, seat)? {
                    Ok(played) => self.added = Some(self.take(played, None)),
                    Err(rejected) => return Ok(Err(rejected)),
                }
                self.replay.lines.extend(comments);
                self.entry(entry)?;
            }
        }
        Ok(Ok(()))
    }

    /// Plays an entry of the original again.
    fn entry(&mut self, entry: &EntryLine) -> Result<(), ReplayError> {
        if self.rolls_by_seed && is_roll(&entry.command) {
            return self.roll_again(entry);
        }
        let line = ScriptLine {
            seat: Some(entry.seat),
            command: entry.command.clone(),
            malformed: None,
            number: None,
        };
        let record = match self.play(&line, None)? {
            Ok(played) => self.take(played, Some(entry.seq)),
            Err(record) => {
                self.conflict(entry, *record);
                return Ok(());
            }
        };
        let old = entry.outcome.clone().unwrap_or_default();
        if record.outcome != old {
            let EntryLine { seat, command, .. } = entry.clone();
            let (seq, new) = (Some(entry.seq), record.outcome);
            self.outcomes.push(ChangedOutcome { seq, new_seq: record.seq, seat, command, old, new });
        }
        Ok(())
    }

    /// Takes down an entry that the rules now reject.
    fn conflict(&mut self, entry: &EntryLine, record: Record) {
        let (reason, message) = match record.became {
            Became::Rejected(rejected) => (rejected.code, rejected.message),
            Became::Applied | Became::Ignored { .. } => ("rejected", record.outcome),
        };
        let EntryLine { seat, command, .. } = entry.clone();
        self.conflicts.push(Conflict { seq: Some(entry.seq), seat, command, reason, message });
    }

    /// Rolls where the original did, if a roll is still due there.
    fn roll_again(&mut self, entry: &EntryLine) -> Result<(), ReplayError> {
        let old = Some((entry.seq, entry.command.clone()));
        match self.table.roll_once()? {
            Some(played) => {
                let record = self.take(played, Some(entry.seq));
                if record.command != entry.command {
                    self.rolls.push(ChangedRoll { old, new: record.seq.zip(Some(record.command)) });
                }
            }
            None => self.rolls.push(ChangedRoll { old, new: None }),
        }
        Ok(())
    }

    /// Tries again what failed in the original.
    fn attempt(&mut self, attempt: &AttemptLine) {
        let AttemptLine { seat, command, code } = attempt.clone();
        let old = code.unwrap_or_default();
        match self.table.state.judge(seat, &command) {
            Ok(_) => {
                let message = "the attempt is accepted now".into();
                self.conflicts.push(Conflict { seq: None, seat, command, reason: "accepted", message });
            }
            Err(rejected) => {
                self.replay.lines.push(Line::Attempt(AttemptLine { code: None, ..attempt.clone() }));
                if rejected.code != old {
                    let [old, new] = [old.as_str(), rejected.code].map(|code| format!("rejected {code}"));
                    self.outcomes.push(ChangedOutcome { seq: None, new_seq: None, seat, command, old, new });
                }
            }
        }
    }

    /// Plays a command; when it is rejected and the seed has a roll to make first, after that roll.
    fn play(
        &mut self,
        line: &ScriptLine,
        seat: Option<Seat>,
    ) -> Result<Result<Played, Box<Record>>, ReplayError> {
        match self.table.submit_alone(line, seat) {
            Err(_) if self.roll_due()? => Ok(self.table.submit_alone(line, seat)),
            result => Ok(result),
        }
    }

    /// Makes the rolls that the original did not make here; tells whether there were any.
    fn roll_due(&mut self) -> Result<bool, ReplayError> {
        let mut rolls = Vec::new();
        self.table.roll_due(&mut rolls)?;
        let any = !rolls.is_empty();
        for roll in rolls {
            let record = self.take(roll, None);
            self.rolls.push(ChangedRoll { old: None, new: record.seq.zip(Some(record.command)) });
        }
        Ok(any)
    }

    /// Takes an accepted entry over, and gives its record.
    fn take(&mut self, played: Played, origin: Option<u64>) -> Record {
        let Played { seat, command, record, .. } = played;
        let (text, outcome) = (record.command.clone(), Some(record.outcome.clone()));
        let seq = self.head() + 1;
        self.replay.lines.push(Line::Entry(EntryLine { seq, seat, command: text, outcome, hash: None }));
        self.entries.push(AmendedEntry { seat, command, origin });
        record
    }
}
