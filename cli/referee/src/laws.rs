//! What an answer must be to be believed (MD-7).
//!
//! Types are checked as an answer is read; this file checks what types do not require. Messages are escaped as any input is.

use turnfold_core::any::{Choice, FoldError};
use turnfold_core::decode::DecodeError;
use turnfold_core::outcome::{Code, WhyIgnored};
use turnfold_core::picture::{Arrow, Block, Picture, TextLine};
use turnfold_core::targets::{TargetPart, Targets};
use turnfold_core::text::{Malformed, in_one_line};
use turnfold_core::{Answer, DueRoll, Json, MatchResult, QueryError, Rejected, Seat, SetupError, Verdict};
use turnfold_guest::message::{
    Bytes, Description, Folded, FoldedStep, Never, RuledCode, Started, StateStatus,
};

/// A broken law.
pub(crate) type Broken = String;

/// The rejections that all rulesets share.
const SHARED: [&str; 6] = ["malformed", "match_over", "roll_due", "no_roll_due", "wrong_seat", "bad_roll"];

/// How many dice fall at once.
const DICE_MAX: u32 = 10_000;

/// How long names are: of rulesets, codes, rules and purposes of rolls.
const NAME_BYTES_MAX: usize = 64;

/// A part of an answer of a module.
pub(crate) trait Lawful {
    /// Checks it, and escapes the messages in it.
    fn check(&mut self, description: &Description) -> Result<(), Broken>;
}

impl<T: Lawful> Lawful for Vec<T> {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        self.iter_mut().try_for_each(|part| part.check(description))
    }
}

impl<T: Lawful> Lawful for Option<T> {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        self.iter_mut().try_for_each(|part| part.check(description))
    }
}

impl Lawful for Never {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        match *self {}
    }
}

/// Bytes are read by the module alone.
impl Lawful for Bytes {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        Ok(())
    }
}

/// A seat is checked as it is read.
impl Lawful for Seat {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        Ok(())
    }
}

/// A text that is no message: a command, or a document of TOML.
impl Lawful for String {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        plain(self, "\n\t")
    }
}

impl Lawful for Description {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        ruleset_name(&self.name)?;
        self.summary = in_one_line(&self.summary);
        for text in [&self.example, &self.rulebook, &self.mail_terms] {
            plain(text, "\n\t")?;
        }
        self.ignored.iter().chain(&self.rejected).try_for_each(check_ruled)
    }
}

/// Requires a name of a ruleset.
pub(crate) fn ruleset_name(name: &str) -> Result<(), Broken> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && name.len() <= NAME_BYTES_MAX;
    if is_name { Ok(()) } else { Err(format!("its name is {name:?}, expected lowercase letters and digits")) }
}

fn check_ruled(ruled: &RuledCode) -> Result<(), Broken> {
    snake_case(&ruled.code)?;
    ruled.rules.iter().try_for_each(|id| rule_id(id))
}

/// Requires an id of a rule.
pub(crate) fn rule_id(id: &str) -> Result<(), Broken> {
    let is_in = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=NAME_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_in) {
        return Ok(());
    }
    Err(format!("{id:?} is no id of a rule, such as `CT-7`"))
}

impl Lawful for Started {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        self.status.check(description)
    }
}

impl Lawful for StateStatus {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        check_players(&self.players)?;
        self.result.check(description)?;
        self.due.check(description)
    }
}

fn check_players(players: &[Seat]) -> Result<(), Broken> {
    let in_order = players.windows(2).all(|pair| pair.first() < pair.last());
    if in_order && !players.contains(&Seat::Host) {
        return Ok(());
    }
    Err("players are listed out of order, twice, or with the host".into())
}

impl Lawful for MatchResult {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        self.reason = self.reason.take().map(|reason| in_one_line(&reason));
        Ok(())
    }
}

impl Lawful for DueRoll {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        due_roll(self)
    }
}

/// Requires a roll that can be made.
pub(crate) fn due_roll(due: &DueRoll) -> Result<(), Broken> {
    snake_case(&due.purpose)?;
    if due.low > due.high || !(1..=DICE_MAX).contains(&due.count) {
        return Err(format!("a roll of {} values in {}..={} is due", due.count, due.low, due.high));
    }
    Ok(())
}

impl Lawful for Verdict {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        let Self::Ignored(WhyIgnored { code, text }) = self else { return Ok(()) };
        *text = text.take().map(|text| in_one_line(&text).into());
        declared(code, &description.ignored, &[])
    }
}

impl Lawful for Rejected {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        self.message = in_one_line(&self.message);
        declared(&self.code, &description.rejected, &SHARED)
    }
}

/// Requires a code to be one of those that the description declares.
fn declared(code: &Code, declared: &[RuledCode], shared: &[&str]) -> Result<(), Broken> {
    let word = code.as_str();
    if shared.contains(&word) || declared.iter().any(|known| known.code == word) {
        return Ok(());
    }
    Err(format!("it does not declare the code `{}`", in_one_line(word)))
}

impl Lawful for Malformed {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        self.0 = in_one_line(&self.0);
        Ok(())
    }
}

impl Lawful for DecodeError {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        if let Self::Unreadable(message) = self {
            *message = in_one_line(message);
        }
        Ok(())
    }
}

impl Lawful for SetupError {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        match self {
            Self::Text { message, .. } | Self::Bytes(message) => *message = in_one_line(message),
            Self::Value { field, message } => {
                *field = in_one_line(field);
                *message = in_one_line(message);
            }
        }
        Ok(())
    }
}

impl Lawful for QueryError {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        match self {
            Self::Unknown { ruleset, found, known } => {
                for text in [ruleset, found, known] {
                    *text = in_one_line(text);
                }
            }
            Self::Arguments(message) => *message = in_one_line(message),
        }
        Ok(())
    }
}

impl Lawful for Answer {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        self.text = in_one_line(&self.text);
        self.json.check(description)
    }
}

/// A document that others can read: no deeper than they allow, and on one line.
impl Lawful for Json {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        serde_json::from_str::<serde_json::Value>(self)
            .map_err(|error| format!("a document that cannot be read: {error}"))?;
        let (mut quoted, mut escaped) = (false, false);
        for byte in self.bytes() {
            if !quoted && byte.is_ascii_whitespace() {
                return Err("a document with white space between its parts".into());
            }
            quoted ^= byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
        }
        Ok(())
    }
}

impl Lawful for Choice {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        command(&self.command)
    }
}

impl Lawful for Targets {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        for part in &mut self.parts {
            if let TargetPart::Word(word) | TargetPart::Piece { piece: word } = part {
                *word = in_one_line(word);
            }
        }
        Ok(())
    }
}

impl Lawful for Folded {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        self.steps.check(description)?;
        self.status.check(description)?;
        match &mut self.error {
            Some(FoldError::Malformed { message, .. }) => *message = in_one_line(message),
            Some(FoldError::Rejected { rejected, .. }) => rejected.check(description)?,
            Some(FoldError::Undecodable { cause, .. }) => cause.check(description)?,
            _ => (),
        }
        Ok(())
    }
}

impl Lawful for FoldedStep {
    fn check(&mut self, description: &Description) -> Result<(), Broken> {
        command(&self.command)?;
        self.stand_in.as_deref().map_or(Ok(()), command)?;
        self.verdict.check(description)?;
        self.effects_json.check(description)?;
        check_players(&self.players)?;
        self.result.check(description)
    }
}

impl Lawful for Picture {
    fn check(&mut self, _: &Description) -> Result<(), Broken> {
        picture(self)
    }
}

/// Requires a picture that shows nothing off its boards, and escapes its texts.
pub(crate) fn picture(picture: &mut Picture) -> Result<(), Broken> {
    picture.blocks.iter_mut().try_for_each(|block| match block {
        Block::Hexes(hexes) => {
            hexes.cells.iter_mut().for_each(|cell| escape([&mut cell.label, &mut cell.mark]));
            let is_on = |hex| hexes.board.contains(hex);
            hexes.targets.iter_mut().for_each(|(_, name)| escape([name]));
            let targets = hexes.targets.iter().all(|(hex, _)| is_on(*hex));
            on_board(targets && hexes.cells.iter().all(|cell| is_on(cell.at)) && all_on(&hexes.arrows, is_on))
        }
        Block::Grid(grid) => {
            for cell in &mut grid.cells {
                escape([&mut cell.mark]);
                cell.piece.iter_mut().for_each(|piece| {
                    escape([&mut piece.glyph, &mut piece.letter, &mut piece.name]);
                });
            }
            let is_on = |square| grid.board.contains(square);
            on_board(grid.cells.iter().all(|cell| is_on(cell.at)) && all_on(&grid.arrows, is_on))
        }
        Block::Rows(rows) => {
            for row in rows {
                escape_line(&mut row.label);
                escape([&mut row.target]);
                for piece in &mut row.pieces {
                    escape([&mut piece.text, &mut piece.mark, &mut piece.target]);
                }
            }
            Ok(())
        }
        Block::Bars(bars) => {
            for bar in bars {
                escape_line(&mut bar.label);
                escape([&mut bar.target]);
                bar.chips.iter_mut().for_each(|chip| escape([&mut chip.text, &mut chip.target]));
            }
            Ok(())
        }
        Block::Lines(lines) => {
            lines.iter_mut().for_each(escape_line);
            Ok(())
        }
    })
}

fn escape<const N: usize>(texts: [&mut String; N]) {
    for text in texts {
        *text = in_one_line(text);
    }
}

fn escape_line(line: &mut TextLine) {
    line.spans.iter_mut().for_each(|span| escape([&mut span.text]));
}

fn all_on<P: Copy>(arrows: &[Arrow<P>], is_on: impl Fn(P) -> bool) -> bool {
    arrows.iter().all(|arrow| arrow.path.len() >= 2 && arrow.path.iter().all(|place| is_on(*place)))
}

fn on_board(is_on: bool) -> Result<(), Broken> {
    if is_on { Ok(()) } else { Err("a picture shows something off its board".into()) }
}

/// Requires the canonical text of a command: one line.
pub(crate) fn command(text: &str) -> Result<(), Broken> {
    if text.is_empty() { Err("a command without text".into()) } else { plain(text, "") }
}

pub(crate) fn snake_case(name: &str) -> Result<(), Broken> {
    let is_in = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_in) {
        return Ok(());
    }
    Err(format!("the name {:?} is not in snake_case", name.chars().take(NAME_BYTES_MAX).collect::<String>()))
}

/// Requires a text without control characters but these.
pub(crate) fn plain(text: &str, allowed: &str) -> Result<(), Broken> {
    let control = text.chars().find(|character| character.is_control() && !allowed.contains(*character));
    control
        .map_or(Ok(()), |found| Err(format!("a text with the control character {}", found.escape_unicode())))
}
