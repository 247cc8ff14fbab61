//! Scripts: one `[SEAT:] command` a line, with `#` comments.

use std::borrow::Cow;
use std::slice;

use turnfold_core::Seat;

use crate::text::first_word;
use crate::viewer::Viewer;

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

/// A command of another seat than the one that plays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{seat}: {command}` is a command of {seat}, not of {own}")]
pub struct OtherSeat {
    /// The seat that the command names.
    pub seat: Seat,
    /// The command.
    pub command: String,
    /// The seat that plays.
    pub own: Viewer,
}

impl Viewer {
    /// Makes this viewer's seat the seat of every command that names none.
    ///
    /// # Errors
    /// [`OtherSeat`] for a command that names another seat.
    pub fn give(self, lines: &mut [ScriptCommand]) -> Result<(), OtherSeat> {
        for line in lines {
            // A spectator has no commands. A command without a seat then counts as p1's, so it is refused.
            let own = self.perspective().seat();
            let seat = *line.seat.get_or_insert(own.unwrap_or(Seat::P1));
            if own != Some(seat) {
                return Err(OtherSeat { seat, command: line.command.clone(), own: self });
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

    pub(crate) fn count(self) -> usize {
        match self {
            Self::Read(lines) => lines.len(),
            Self::Text(..) => self.iter().count(),
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
