//! A match being played in memory: commands in, records out, dice rolled as they fall due.

use turnfold_core::{AnyState, CommandSource, DicePolicy, FoldError, Logged, Rejected, Seat, Step};
use turnfold_store::NewEntry;

use crate::failure::Failure;
use crate::random;
use crate::record::{Detail, Record};
use crate::script::ScriptLine;

/// Rolls in a row after which something must be wrong: a tied roll is due again, but not for ever.
const ROLLS_IN_A_ROW_MAX: u32 = 10_000;

/// Who rolls when a roll falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roller {
    /// Nobody; a `roll` command must come.
    Nobody,
    /// The dice of a seeded match.
    Seeded,
    /// The operating system, in a recorded match.
    System,
}

impl Roller {
    /// Chooses the roller for a match: seeded matches roll by themselves unless told not to.
    pub(crate) fn choose(dice: &DicePolicy, no_auto_roll: bool, system: bool) -> Result<Self, Failure> {
        match (dice, no_auto_roll, system) {
            (_, true, false) | (DicePolicy::Recorded, false, false) => Ok(Self::Nobody),
            (DicePolicy::Seeded(_), false, false) => Ok(Self::Seeded),
            (DicePolicy::Recorded, false, true) => Ok(Self::System),
            (DicePolicy::Seeded(_), _, true) => {
                Err(Failure::usage("`--dice system` is for recorded matches; this one rolls from its seed"))
            }
            (DicePolicy::Recorded, true, true) => {
                Err(Failure::usage("`--dice system` and `--no-auto-roll` exclude each other"))
            }
        }
    }
}

/// Tells whether a command records a roll, in every ruleset alike.
pub(crate) fn is_roll(command: &str) -> bool {
    command.split(' ').next() == Some("roll")
}

/// A match being played.
pub(crate) struct Table {
    pub(crate) state: Box<dyn AnyState>,
    dice: DicePolicy,
    roller: Roller,
    next_seq: u64,
    detail: Detail,
}

/// An accepted entry: what to store and what to print.
pub(crate) struct Played {
    pub(crate) seat: Seat,
    pub(crate) command: Vec<u8>,
    pub(crate) record: Record,
    /// Whether those who play may not know of it.
    pub(crate) is_concealed: bool,
}

impl Played {
    /// Returns the entry as the store takes it.
    pub(crate) fn to_store(&self, recorded_at_ms: i64) -> NewEntry {
        NewEntry { seat: self.seat, command: self.command.clone(), recorded_at_ms }
    }
}

impl Table {
    /// Sits down at a state whose next entry is `next_seq`.
    pub(crate) fn new(
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
    pub(crate) fn submit(
        &mut self,
        line: &ScriptLine,
        played: &mut Vec<Played>,
    ) -> Result<Result<(), Box<Record>>, Failure> {
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
    pub(crate) fn submit_alone(
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
    pub(crate) fn roll_due(&mut self, played: &mut Vec<Played>) -> Result<(), Failure> {
        for _ in 0..ROLLS_IN_A_ROW_MAX {
            match self.roll_once()? {
                Some(roll) => played.push(roll),
                None => return Ok(()),
            }
        }
        Err(Failure::trouble(format!("a roll is still due after {ROLLS_IN_A_ROW_MAX} rolls in a row")))
    }

    /// Rolls what is due once, if anybody rolls; a tie leaves the roll due.
    pub(crate) fn roll_once(&mut self) -> Result<Option<Played>, Failure> {
        let Some(due) = self.state.due_roll() else { return Ok(None) };
        let values = match self.roller {
            Roller::Nobody => return Ok(None),
            Roller::Seeded => self.dice.values(self.next_seq, &due),
            Roller::System => Some(random::roll(&due)?),
        };
        let Some(command) = values.and_then(|values| self.state.roll_command(values)) else {
            return Ok(None);
        };
        let broken =
            |rejected: Rejected| Failure::trouble(format!("the rules reject their own dice: {rejected}"));
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
