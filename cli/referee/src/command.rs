//! Commands of a referee's game: a line of text, or a roll of the host (RF-9).

use turnfold_core::decode::{DecodeError, decode_strictly};
use turnfold_core::text::number;
use turnfold_core::{CommandSource, FoldError, Logged, Malformed, Seat};

use crate::held::sent_bytes;
use crate::json::{JsonNode, sent_text};

pub(crate) type ReadCommand = fn(&str) -> Result<LoggedCommand, Malformed>;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LoggedCommand {
    pub(crate) text: String,
    pub(crate) roll: Option<Vec<i32>>,
    /// The move and what was recorded with it, in a recording (RF-18).
    pub(crate) recorded: Option<(String, JsonNode)>,
    /// The bytes instead of the text, if only the referee can read them (RF-10).
    pub(crate) encoded: Option<Vec<u8>>,
}

impl LoggedCommand {
    /// Reads a command as people write it. Outer and double blanks are dropped.
    pub(crate) fn read(text: &str) -> Result<Self, Malformed> {
        let text = without_blanks(text)?;
        let mut words = text.split(' ');
        let mut roll = None;
        // Rolls of every game are written this way (RF-12).
        if words.next() == Some("roll") {
            let values = words.map(number).collect::<Result<Vec<i32>, _>>()?;
            if values.is_empty() {
                return Err(Malformed("expected the values of a roll, such as `roll 3 4`".into()));
            }
            roll = Some(values);
        }
        Ok(Self { text, roll, recorded: None, encoded: None })
    }

    pub(crate) fn of_log(logged: &Logged<'_>, read: ReadCommand) -> Result<Self, FoldError> {
        let seq = logged.seq;
        match logged.command {
            CommandSource::Text(text) => {
                read(text).map_err(|malformed| FoldError::Malformed { seq, message: malformed.0 })
            }
            CommandSource::Bytes(bytes) => {
                Self::decode(bytes, read).map_err(|cause| FoldError::Undecodable { seq, cause })
            }
        }
    }

    /// Reads a command's bytes, the postcard form of its text.
    pub(crate) fn decode(bytes: &[u8], read: ReadCommand) -> Result<Self, DecodeError> {
        let text: String = decode_strictly(bytes)?;
        match read(&text) {
            Ok(command) if command.text == text => Ok(command),
            Ok(_) => Err(DecodeError::Unreadable("a command with blanks that none has".into())),
            Err(malformed) => Err(DecodeError::Unreadable(malformed.0)),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        // A string always encodes.
        postcard::to_allocvec(&self.text).unwrap_or_default()
    }

    pub(crate) fn as_sent(&self, seat: Seat) -> String {
        if let Some(bytes) = &self.encoded {
            return format!("{{\"seat\":\"{seat}\",\"bytes\":{}}}", sent_bytes(bytes));
        }
        if let Some(values) = &self.roll {
            return format!("{{\"roll\":{values:?}}}");
        }
        format!("{{\"seat\":\"{seat}\",\"command\":{}}}", sent_text(&self.text))
    }
}

pub(crate) fn is_plain(text: &str) -> bool {
    without_blanks(text).is_ok_and(|plain| plain == text)
}

/// Returns the text without outer and double blanks, outside of quotes, if it can be a command.
fn without_blanks(text: &str) -> Result<String, Malformed> {
    let mut command = String::new();
    let mut is_quoted = false;
    let mut is_escaped = false;
    for character in text.trim_matches(' ').chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            return Err(Malformed(format!("a command with the character {}", character.escape_unicode())));
        }
        if character == ' ' && !is_quoted && command.ends_with(' ') {
            continue;
        }
        is_quoted ^= character == '"' && !is_escaped;
        is_escaped = is_quoted && character == '\\' && !is_escaped;
        command.push(character);
        // Both have a meaning in a line of a replay file.
        if !is_quoted && (command.ends_with(" =>") || command.ends_with(" #")) {
            return Err(Malformed("a command with ` =>` or ` #` outside of quotes".into()));
        }
    }
    if is_quoted {
        return Err(Malformed("a command with a quote that is not closed".into()));
    }
    if command.is_empty() {
        return Err(Malformed("expected a command".into()));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rf_9_a_command_is_one_line_without_surplus_blanks() {
        let text = |text: &str| LoggedCommand::read(text).map(|command| command.text).map_err(|why| why.0);
        assert_eq!(text("  strike   bob "), Ok("strike bob".into()));
        assert_eq!(text("say \"a  => #b\""), Ok("say \"a  => #b\"".into()));
        for wrong in
            ["", "  ", "a\nb", "a\u{2028}b", "a => b", "a #b", "say \"x", "roll", "roll x", "roll 03"]
        {
            assert!(text(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(LoggedCommand::read("roll 3 -4").unwrap().roll, Some(vec![3, -4]));
        assert_eq!(LoggedCommand::read("rollDice 3").unwrap().roll, None);
    }
}
