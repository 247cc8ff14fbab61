//! Scripts: `[SEAT:] command`, one a line, `#` comments.

use std::path::{Path, PathBuf};

use turnfold_core::Seat;

use crate::failure::Failure;
use crate::{files, limits};

/// A command as a user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptLine {
    /// The seat, where one is named.
    pub(crate) seat: Option<Seat>,
    /// The command's text; when the seat is none, all of the line.
    pub(crate) command: String,
    /// What is wrong with the line before any ruleset reads it.
    pub(crate) malformed: Option<String>,
    /// Its number in the script, from 1; a command that comes from elsewhere has none.
    pub(crate) number: Option<usize>,
}

impl ScriptLine {
    /// Reads a line without its comment. A seat that does not exist makes the command malformed, as any other bad
    /// text does, so that a script goes on where it is told to.
    pub(crate) fn parse(text: &str) -> Self {
        let whole = |malformed| Self { seat: None, command: text.into(), malformed, number: None };
        let Some((seat, command)) = text.split_once(':') else { return whole(None) };
        match seat.parse::<Seat>() {
            Ok(seat) => {
                let command = command.strip_prefix(' ').unwrap_or(command);
                Self { seat: Some(seat), command: command.into(), malformed: None, number: None }
            }
            Err(cause) => whole(Some(cause.to_string())),
        }
    }
}

impl ScriptLine {
    /// Says where in the script the line stands, as `script.txt:4`.
    pub(crate) fn place(&self, script: Option<&PathBuf>) -> Option<String> {
        Some(format!("{}:{}", files::input_name(script?), self.number?))
    }
}

/// Reads the commands of a script: a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<ScriptLine>, Failure> {
    let bytes = files::read_input_or_stdin(path, &limits::SCRIPT)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes().iter().take(error.utf8_error().valid_up_to()).filter(|byte| **byte == b'\n');
        Failure::usage(format!("{}:{}: expected UTF-8 text", files::input_name(path), line.count() + 1))
    })?;
    Ok(parse(&text))
}

fn parse(text: &str) -> Vec<ScriptLine> {
    let lines = (1..).zip(text.lines().map(|line| without_comment(line).trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty());
    lines.map(|(number, line)| ScriptLine { number: Some(number), ..ScriptLine::parse(line) }).collect()
}

/// Cuts a comment: a `#` at the start or after a space.
fn without_comment(line: &str) -> &str {
    let starts_comment = |&(at, _): &(usize, char)| {
        line.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
    };
    let comment = line.char_indices().filter(|(_, character)| *character == '#').find(starts_comment);
    comment.and_then(|(at, _)| line.get(..at)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_seats_and_carry_comments() {
        let lines = parse("# head\n\np1: tap 1,2\n  host:tick # tail\nroll 3 4\np9: x\n");
        let told: Vec<_> = lines.iter().map(|line| (line.seat, line.command.as_str())).collect();
        let expected =
            [(Some(Seat::P1), "tap 1,2"), (Some(Seat::Host), "tick"), (None, "roll 3 4"), (None, "p9: x")];
        assert_eq!(told, expected);
        let places: Vec<_> = lines.iter().filter_map(|line| line.place(Some(&"s.txt".into()))).collect();
        assert_eq!(places, ["s.txt:3", "s.txt:4", "s.txt:5", "s.txt:6"]);
        let from_stdin = lines.first().and_then(|line| line.place(Some(&"-".into())));
        assert_eq!(from_stdin.as_deref(), Some("<stdin>:3"));
        assert!(lines.last().unwrap().malformed.as_ref().unwrap().contains("unknown seat `p9`"));
    }
}
