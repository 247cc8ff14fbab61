//! Plays a match in memory: takes commands, returns records, and rolls dice as they fall due. Commands come from scripts:
//! one `[SEAT:] command` a line, with `#` comments.

pub use crate::play::{AcceptedCall, NotPlayed, PlayCall, PlayPosition, RepeatedCall};

use std::borrow::Cow;
use std::{io, slice};

use turnfold_core::admission::Refusal;
use turnfold_core::{
    AnyState, CommandSource, DicePolicy, DueRoll, FoldError, Logged, Malformed, Rejected, Seat, Step,
};

use crate::text::first_word;
use crate::{Detail, Record, ReplayError, Viewer};

/// The source of a roll that falls due.
#[derive(Clone, Copy, Debug)]
pub enum Roller {
    /// No source: the caller gives `roll` commands.
    Absent,
    /// The seed of a seeded match. In other matches this makes no roll, because recorded dice are rolled on a table, and
    /// fair dice only by mail (FD-11).
    Seeded,
    /// A source from outside, in a recorded match.
    Outside(fn(&DueRoll) -> io::Result<Vec<i32>>),
}

/// A match that is being played.
pub struct Session {
    /// The current state.
    pub state: Box<dyn AnyState>,
    dice: DicePolicy,
    roller: Roller,
    pub(crate) next_seq: u64,
    detail: Detail,
}

/// The rejected command of a call.
#[derive(Clone, Debug)]
pub struct RejectedCommand {
    /// The command's index in the call, from 0.
    pub index: usize,
    /// The command's record.
    pub record: Box<Record>,
    /// The sentence to show after the record.
    pub reason: NotPlayed,
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
        match self.submit_without_rolls(given, alone) {
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
    pub fn submit_without_rolls(
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
        let folded = detail.viewer.fold(self.state.as_mut(), &[logged], &self.dice, None, observe);
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

/// A command as a user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCommand {
    /// The seat, if one is named.
    pub seat: Option<Seat>,
    /// The command's text, or the whole line if its seat does not exist.
    pub command: String,
    /// What is wrong with the line, if that is known before a ruleset reads it.
    pub malformed: Option<String>,
    /// The number of its line in the script, from 1; `None` for a command from elsewhere.
    pub number: Option<usize>,
}

impl ScriptCommand {
    /// Returns `true` if a command records a roll. The command is the same in every ruleset.
    #[must_use]
    pub fn is_roll(command: &str) -> bool {
        first_word(command) == "roll"
    }

    /// Parses a script, a line at a time. It may begin with a byte order mark, which some editors write.
    pub fn each_in(text: &str) -> impl Iterator<Item = Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        text.lines().enumerate().filter_map(|(index, line)| {
            let line = without_comment(line).trim();
            if line.is_empty() {
                return None;
            }
            Some(Self { number: Some(index + 1), ..Self::parse(line) })
        })
    }

    /// Parses a line without its comment. The text before the first colon is a seat, unless it has a space; then the
    /// colon belongs to the command, as in a time. A seat that does not exist makes the command malformed, as any other
    /// bad text does, so that a script can continue after it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut read = Self { seat: None, command: text.into(), malformed: None, number: None };
        let Some((seat, command)) = text.split_once(':') else { return read };
        if seat.contains(char::is_whitespace) {
            return read;
        }
        match seat.parse::<Seat>() {
            Ok(seat) => {
                read.seat = Some(seat);
                read.command = command.strip_prefix(' ').unwrap_or(command).into();
            }
            Err(cause) => read.malformed = Some(cause.to_string()),
        }
        read
    }
}

impl Viewer {
    /// Makes this viewer's seat the seat of every command that names none.
    ///
    /// # Errors
    /// [`ReplayError::OtherSeat`] for a command that names another seat.
    pub fn give(self, lines: &mut [ScriptCommand]) -> Result<(), ReplayError> {
        for line in lines {
            // A spectator has no commands. A command without a seat then counts as p1's, so it is refused.
            let own = self.perspective().seat();
            let seat = *line.seat.get_or_insert(own.unwrap_or(Seat::P1));
            if own != Some(seat) {
                return Err(ReplayError::OtherSeat { seat, command: line.command.clone(), own: self });
            }
        }
        Ok(())
    }
}

/// The commands of a call, in order.
#[derive(Clone, Copy, Debug)]
pub enum ScriptCommands<'a> {
    /// Parsed commands.
    Read(&'a [ScriptCommand]),
    /// The text of a script, which may be long, and the viewer whose seat gives its commands, if any.
    Text(&'a str, Option<Viewer>),
}

impl<'a> ScriptCommands<'a> {
    /// Returns the commands in order. A command that names another seat than the viewer's is returned unchanged.
    #[must_use]
    pub fn iter(self) -> Box<dyn Iterator<Item = Cow<'a, ScriptCommand>> + 'a> {
        match self {
            Self::Read(lines) => Box::new(lines.iter().map(Cow::Borrowed)),
            Self::Text(text, viewer) => Box::new(ScriptCommand::each_in(text).map(move |mut line| {
                // The caller has checked the seats before.
                if let Some(viewer) = viewer {
                    let _ = viewer.give(slice::from_mut(&mut line));
                }
                Cow::Owned(line)
            })),
        }
    }
}

fn without_comment(line: &str) -> &str {
    for (at, _) in line.match_indices('#') {
        let before = line.get(..at).unwrap_or_default();
        if before.is_empty() || before.ends_with(char::is_whitespace) {
            return before;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_seats_and_carry_comments() {
        let lines: Vec<_> = ScriptCommand::each_in(
            "# head\n\np1: tap 1,2\n  host:tick # tail\nroll 3 4\nextend T18:00\np17: x\n",
        )
        .collect();
        let found: Vec<_> = lines.iter().map(|line| (line.seat, line.command.as_str())).collect();
        let expected = [
            (Some(Seat::P1), "tap 1,2"),
            (Some(Seat::Host), "tick"),
            (None, "roll 3 4"),
            (None, "extend T18:00"),
            (None, "p17: x"),
        ];
        assert_eq!(found, expected);
        assert!(lines.iter().rev().skip(1).all(|line| line.malformed.is_none()));
        assert!(lines.last().unwrap().malformed.as_ref().unwrap().contains("unknown seat `p17`"));
    }
}
