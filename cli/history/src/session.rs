//! Plays a match in memory: takes commands, returns records, and rolls dice as they fall due.

pub(crate) mod play;
pub(crate) mod script;

pub use play::{AcceptedCall, NotPlayed, PlayCall, PlayCaller, PlayOutcome, PlayPosition, RepeatedCall};
pub use script::{OtherSeat, ScriptCommand, ScriptCommands};

use std::io;

use turnfold_core::admission::Refusal;
use turnfold_core::{
    AnyState, CommandSource, DicePolicy, DueRoll, FoldError, Logged, Malformed, Rejected, Seat, Step,
};

use crate::error::ReplayError;
use crate::history::record::{Detail, Record};

/// The source of a roll that falls due.
#[derive(Clone, Copy, Debug)]
pub enum Roller {
    /// No source: the caller gives `roll` commands.
    Absent,
    /// The dice of a seeded match.
    Seeded,
    /// A source from outside, in a recorded match.
    Outside(fn(&DueRoll) -> io::Result<Vec<i32>>),
}

impl Roller {
    /// Returns the roller of a match. Seeded dice roll by themselves. Fair dice are rolled only by mail (FD-11).
    #[must_use]
    pub fn of(dice: &DicePolicy) -> Self {
        match dice {
            DicePolicy::Recorded | DicePolicy::Fair(_) => Self::Absent,
            DicePolicy::Seeded(_) => Self::Seeded,
        }
    }
}

/// A match that is being played.
pub struct Session {
    /// The current state.
    pub state: Box<dyn AnyState>,
    dice: DicePolicy,
    roller: Roller,
    next_seq: u64,
    detail: Detail,
}

/// The rejected command of a call.
#[derive(Clone, Debug)]
pub struct RejectedCommand {
    /// The command's index in the call, from 0.
    pub index: usize,
    /// The command's record.
    pub record: Box<Record>,
}

impl Session {
    /// The most rolls in a row. A tied roll falls due again, but more rolls than this are an error of the rules.
    pub const ROLLS_IN_A_ROW_MAX: u32 = 10_000;

    /// Starts a session at a state whose next entry has number `next_seq`.
    #[must_use]
    pub fn new(
        mut state: Box<dyn AnyState>,
        dice: DicePolicy,
        roller: Roller,
        next_seq: u64,
        detail: Detail,
    ) -> Self {
        state.begin_recording();
        Self { state, dice, roller, next_seq, detail }
    }

    /// Plays one command and every roll that falls due before and after it. Adds the records of what was accepted to
    /// `played`. A command of a seat that plays `alone` has no roll before it.
    ///
    /// The inner error is the record of the command if it was rejected.
    ///
    /// # Errors
    /// [`ReplayError::EndlessRolls`], [`ReplayError::Chance`] and [`ReplayError::OwnDice`] if a roll fails.
    pub fn submit(
        &mut self,
        given: &ScriptCommand,
        alone: Option<Seat>,
        played: &mut Vec<Record>,
    ) -> Result<Result<(), Box<Record>>, ReplayError> {
        if alone.is_none() && !ScriptCommand::is_roll(&given.command) {
            self.roll_due(played)?;
        }
        match self.submit_alone(given, alone) {
            Ok(entry) => played.push(entry),
            Err(record) => return Ok(Err(record)),
        }
        self.roll_due(played)?;
        Ok(Ok(()))
    }

    /// Plays one command and no roll.
    ///
    /// # Errors
    /// The command's record if it was rejected.
    pub fn submit_alone(
        &mut self,
        given: &ScriptCommand,
        default_seat: Option<Seat>,
    ) -> Result<Record, Box<Record>> {
        let read = match &given.malformed {
            Some(message) => Err(Rejected::new("malformed", message.as_str())),
            None => self.state.read(&given.command).map_err(|cause| self.unread(cause)),
        };
        let mut seat = given.seat.or(default_seat);
        let played = read.and_then(|text| {
            seat = seat.or_else(|| self.state.default_seat(&text));
            match seat {
                Some(seat) => self.fold(seat, &text),
                None => Err(Rejected::new("malformed", "no seat issues this command")),
            }
        });
        played.map_err(|rejected| {
            let state = self.state.as_ref();
            Box::new(Record::rejected(seat, &given.command, rejected, state, self.detail))
        })
    }

    /// Returns the rejection of a command that cannot be read. Some games read commands by what is possible in the
    /// state; after the end, that is nothing, so the rejection says that the match is over.
    fn unread(&self, cause: Malformed) -> Rejected {
        if self.state.result().is_some() {
            let over = Refusal::MatchOver;
            return Rejected::new(over.code(), over.to_string());
        }
        Rejected::new("malformed", cause.0)
    }

    /// Makes every roll that is due, until none is.
    ///
    /// # Errors
    /// [`ReplayError::EndlessRolls`], [`ReplayError::Chance`] and [`ReplayError::OwnDice`].
    pub fn roll_due(&mut self, played: &mut Vec<Record>) -> Result<(), ReplayError> {
        for _ in 0..Self::ROLLS_IN_A_ROW_MAX {
            match self.roll_once()? {
                Some(roll) => played.push(roll),
                None => return Ok(()),
            }
        }
        Err(ReplayError::EndlessRolls(Self::ROLLS_IN_A_ROW_MAX))
    }

    /// Makes one roll if one is due and the session has a roller. A tie leaves the roll due.
    pub(crate) fn roll_once(&mut self) -> Result<Option<Record>, ReplayError> {
        let Some(due) = self.state.due_roll() else { return Ok(None) };
        let values = match self.roller {
            Roller::Absent => return Ok(None),
            Roller::Seeded => self.state.seeded_roll(&self.dice),
            Roller::Outside(roll) => Some(roll(&due).map_err(ReplayError::Chance)?),
        };
        let Some(command) = values.and_then(|values| self.state.roll_command(values)) else {
            return Ok(None);
        };
        self.fold(Seat::Host, &command).map(Some).map_err(ReplayError::OwnDice)
    }

    fn fold(&mut self, seat: Seat, command: &str) -> Result<Record, Rejected> {
        let logged = Logged { seq: self.next_seq, seat, command: CommandSource::Text(command) };
        let mut played = None;
        let detail = self.detail;
        let observe = &mut |step: &mut dyn Step| played = Some(Record::of(step, detail));
        let folded = detail.viewer.fold(self.state.as_mut(), &[logged], &self.dice, observe);
        folded.map_err(|error| rejected(&error))?;
        self.next_seq += 1;
        Ok(played.expect("a fold that succeeds shows its entry"))
    }
}

fn rejected(error: &FoldError) -> Rejected {
    match error {
        FoldError::Malformed { message, .. } => Rejected::new("malformed", message.as_str()),
        FoldError::Rejected { rejected, .. } => Rejected::clone(rejected),
        // The values of the seeded dice are not shown, because they are the next roll.
        FoldError::WrongRoll { seq, .. } => Rejected::new(
            "bad_roll",
            format!("entry {seq}: the seeded dice give another roll, and roll by themselves"),
        ),
        other => Rejected::new("malformed", other.to_string()),
    }
}
