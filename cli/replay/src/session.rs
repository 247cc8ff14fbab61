//! A match being played in memory: commands in, records out, dice rolled as they fall due.

use turnfold_core::{AnyState, CommandSource, DicePolicy, DueRoll, FoldError, Logged, Rejected, Seat, Step};
use turnfold_store::NewEntry;

use crate::error::ReplayError;
use crate::record::{Detail, Record};
use crate::script::ScriptLine;

/// Rolls in a row after which something must be wrong: a tied roll is due again, but not for ever.
const ROLLS_IN_A_ROW_MAX: u32 = 10_000;

/// Who rolls when a roll falls due.
#[derive(Clone, Copy, Debug)]
pub enum Roller {
    /// Nobody; a `roll` command must come.
    Nobody,
    /// The dice of a seeded match.
    Seeded,
    /// A source from outside, in a recorded match.
    Outside(fn(&DueRoll) -> Result<Vec<i32>, ReplayError>),
}

impl Roller {
    /// Chooses the roller of a match: seeded matches roll by themselves.
    pub fn of(dice: &DicePolicy) -> Self {
        match dice {
            DicePolicy::Recorded => Self::Nobody,
            DicePolicy::Seeded(_) => Self::Seeded,
        }
    }
}

/// Tells whether a command records a roll, in every ruleset alike.
pub fn is_roll(command: &str) -> bool {
    command.split(' ').next() == Some("roll")
}

/// A match being played.
pub struct Table {
    pub state: Box<dyn AnyState>,
    dice: DicePolicy,
    roller: Roller,
    next_seq: u64,
    detail: Detail,
}

/// An accepted entry: what to store and what to print.
pub struct Played {
    pub seat: Seat,
    pub command: Vec<u8>,
    pub record: Record,
    /// Whether those who play may not know of it.
    pub is_concealed: bool,
}

impl Played {
    /// Returns the entry as the store takes it.
    pub fn to_store(&self, recorded_at_ms: i64) -> NewEntry {
        NewEntry { seat: self.seat, command: self.command.clone(), recorded_at_ms }
    }
}

impl Table {
    /// Sits down at a state whose next entry is `next_seq`.
    pub fn new(
        state: Box<dyn AnyState>,
        dice: DicePolicy,
        roller: Roller,
        next_seq: u64,
        detail: Detail,
    ) -> Self {
        Self { state, dice, roller, next_seq, detail }
    }

    /// Plays one line and every roll that falls due before and after it. What was accepted goes to `played`.
    ///
    /// The inner result is the record of the command when it was rejected.
    pub fn submit(
        &mut self,
        line: &ScriptLine,
        played: &mut Vec<Played>,
    ) -> Result<Result<(), Box<Record>>, ReplayError> {
        if !is_roll(&line.command) {
            self.roll_due(played)?;
        }
        match self.submit_alone(line, None) {
            Ok(entry) => played.push(entry),
            Err(record) => return Ok(Err(record)),
        }
        self.roll_due(played)?;
        Ok(Ok(()))
    }

    /// Plays one line and no roll beside it, or gives its record when it was rejected.
    pub fn submit_alone(
        &mut self,
        line: &ScriptLine,
        default_seat: Option<Seat>,
    ) -> Result<Played, Box<Record>> {
        let seat = line.seat.or(default_seat).or_else(|| self.state.default_seat(&line.command));
        let outcome = match (&line.malformed, seat) {
            (Some(message), _) => Err(Rejected { code: "malformed", message: message.clone() }),
            (None, Some(seat)) => self.fold(seat, &line.command),
            // Nobody issues what is no command; judging says why it is none.
            (None, None) => Err(self.malformed(&line.command)),
        };
        outcome.map_err(|rejected| {
            let state = self.state.as_ref();
            Box::new(Record::rejected(seat, &line.command, rejected, state, self.detail))
        })
    }

    /// Rolls what is due, as often as it is due.
    pub fn roll_due(&mut self, played: &mut Vec<Played>) -> Result<(), ReplayError> {
        for _ in 0..ROLLS_IN_A_ROW_MAX {
            match self.roll_once()? {
                Some(roll) => played.push(roll),
                None => return Ok(()),
            }
        }
        Err(ReplayError::trouble(format!("a roll is still due after {ROLLS_IN_A_ROW_MAX} rolls in a row")))
    }

    /// Rolls what is due once, if anybody rolls; a tie leaves the roll due.
    pub fn roll_once(&mut self) -> Result<Option<Played>, ReplayError> {
        let Some(due) = self.state.due_roll() else { return Ok(None) };
        let values = match self.roller {
            Roller::Nobody => return Ok(None),
            Roller::Seeded => self.dice.values(self.next_seq, &due),
            Roller::Outside(roll) => Some(roll(&due)?),
        };
        let Some(command) = values.and_then(|values| self.state.roll_command(values)) else {
            return Ok(None);
        };
        let broken =
            |rejected: Rejected| ReplayError::trouble(format!("the rules reject their own dice: {rejected}"));
        self.fold(Seat::Host, &command).map(Some).map_err(broken)
    }

    fn malformed(&self, command: &str) -> Rejected {
        let rejected = self.state.judge(Seat::Host, command).err();
        rejected
            .unwrap_or_else(|| Rejected { code: "malformed", message: "nobody issues this command".into() })
    }

    fn fold(&mut self, seat: Seat, command: &str) -> Result<Played, Rejected> {
        let logged = Logged { seq: self.next_seq, seat, command: CommandSource::Text(command) };
        let mut played = None;
        let detail = self.detail;
        let observe = &mut |step: &mut dyn Step| {
            let (seat, command, is_concealed) = (step.seat(), step.command_bytes(), step.concealed());
            played = Some(Played { seat, command, record: Record::of(step, detail), is_concealed });
        };
        let folded = detail.eyes.fold(self.state.as_mut(), &[logged], &self.dice, observe);
        folded.map_err(|error| rejected(&error))?;
        self.next_seq += 1;
        Ok(played.expect("a fold that succeeds shows its entry"))
    }
}

/// A fold error of a command that a user gives is a rejection.
fn rejected(error: &FoldError) -> Rejected {
    match error {
        FoldError::Malformed { message, .. } => Rejected { code: "malformed", message: message.clone() },
        FoldError::Rejected { code, message, .. } => Rejected { code, message: message.clone() },
        FoldError::WrongRoll { .. } => Rejected { code: "bad_roll", message: error.to_string() },
        other => Rejected { code: "malformed", message: other.to_string() },
    }
}
