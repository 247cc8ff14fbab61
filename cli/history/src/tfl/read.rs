//! Reads replay files strictly: there is one way to write everything, and errors report the place and what was
//! expected.

use std::path::Path;
use std::str::FromStr;

use turnfold_core::text::number;
use turnfold_core::{Outcome, Registry, Seat};

use super::file::{ARROW, Closing, FENCE, FIRST_LINE, Replay, ReplayLine, TflError};
use super::header::{self, HEADER_LINE, Header, HeaderMark, SeenBy, Versions};
use crate::history::entry::{Attempt, LogEntry, ShortHash, is_hex_digit};
use crate::input::{Limits, is_page};
use crate::text::printable;

/// The start of the first line in any version of the format.
pub(crate) const FIRST_WORDS: &str = "turnfold replay ";

const CR_LF: &str = "expected lines that end in LF, found CR LF throughout; remove each CR, for example with \
    `sed -i 's/\\r$//' FILE`; if git adds them, put `*.tfl text eol=lf` into `.gitattributes` and check the file out again";

/// Reads a replay file that conceals nothing.
///
/// # Errors
/// [`TflError`] with line and column of the first thing that is wrong.
pub fn read(file: &str, bytes: &[u8], registry: &Registry) -> Result<Replay, TflError> {
    read_under(file, bytes, registry, Versions::Own)?.whole()
}

impl Replay {
    /// Reads a replay file, also one for one seat.
    ///
    /// # Errors
    /// As for [`read`](crate::tfl::read).
    pub fn read_also_seen(file: &str, bytes: &[u8], registry: &Registry) -> Result<Self, TflError> {
        read_under(file, bytes, registry, Versions::Own)
    }

    /// Reads a replay file of any version of its ruleset. Its state hashes may differ from those of this build.
    ///
    /// # Errors
    /// As for [`read`](crate::tfl::read).
    pub fn read_any_version(file: &str, bytes: &[u8], registry: &Registry) -> Result<Self, TflError> {
        read_under(file, bytes, registry, Versions::Any)?.whole()
    }
}

fn read_under(file: &str, bytes: &[u8], registry: &Registry, versions: Versions) -> Result<Replay, TflError> {
    let text = decode(file, bytes)?;
    match read_text(file, text, registry, versions) {
        Ok(replay) => Ok(replay),
        Err(error) => Err(unresolved_merge(file, text).unwrap_or(error)),
    }
}

fn read_text(file: &str, text: &str, registry: &Registry, versions: Versions) -> Result<Replay, TflError> {
    let mut source = SourceLines { file, rest: text, number: 0 };
    first_line(&mut source)?;
    let header = header(&mut source, registry, versions)?;
    let mut body = Body::after(&header);
    let mut lines = Vec::new();
    while let Some(line) = source.next()? {
        lines.extend(body.read(&line)?);
    }
    Ok(Replay { file: file.into(), header, lines, closing: body.closing })
}

/// What was read of the lines after the header.
pub(crate) struct Body {
    view: Option<SeenBy>,
    /// The number of the last entry.
    pub(super) count: u64,
    pub(crate) closing: Option<Closing>,
}

impl Body {
    pub(super) fn after(header: &Header) -> Self {
        Self { view: header.view, count: 0, closing: None }
    }

    /// Reads the next line. The closing line is kept and not returned.
    pub(super) fn read(&mut self, line: &SourceLine<'_>) -> Result<Option<ReplayLine>, TflError> {
        line.check_body()?;
        if self.closing.is_some() {
            return Err(line.expected(0, "the end of the file after the closing line", line.text));
        }
        Ok(Some(match line.text.bytes().next() {
            None => ReplayLine::Blank,
            Some(b'#') => ReplayLine::Comment(line.text.get(1..).unwrap_or_default().into()),
            Some(sign @ (b'!' | b'=')) if self.view.is_some() => {
                let what = if sign == b'!' { "attempt" } else { "closing line" };
                return Err(line.expected(0, &format!("no {what} next to `view`"), line.text));
            }
            Some(b'!') => ReplayLine::Attempt(attempt(line)?),
            Some(b'=') => {
                self.closing = Some(closing(line, self.count)?);
                return Ok(None);
            }
            Some(b'0'..=b'9') => {
                let entry = entry(line, self.count + 1)?;
                if let (Some(_), Some(hash)) = (self.view, entry.hash) {
                    let at = line.text.len() - ShortHash::DIGITS - 1;
                    return Err(line.expected(at, "no state hash next to `view`", &hash.to_string()));
                }
                self.count += 1;
                ReplayLine::Entry(entry)
            }
            Some(_) => {
                let kinds = "an entry `SEQ SEAT COMMAND`, an attempt `! SEAT COMMAND`, a comment `# …` \
                             or the closing line `= …`";
                return Err(line.expected(0, kinds, line.text));
            }
        }))
    }
}

fn decode<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, TflError> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let before = str::from_utf8(valid).unwrap_or_default();
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("expected UTF-8 text, found byte 0x{byte:02x}");
            return Err(TflError::new(file, header::position(before), message));
        }
    };
    if text.starts_with('\u{feff}') {
        return Err(TflError::new(file, (1, 1), format!("expected `{FIRST_LINE}`, found a byte order mark")));
    }
    // Git writes every line so with `core.autocrlf`.
    if text.starts_with(FIRST_WORDS) && text.split_inclusive('\n').all(|line| line.ends_with("\r\n")) {
        let column = text.find('\r').unwrap_or_default() + 1;
        return Err(TflError::new(file, (1, column), CR_LF));
    }
    Ok(text)
}

fn unresolved_merge(file: &str, text: &str) -> Option<TflError> {
    for (index, line) in text.lines().enumerate() {
        for sign in ["<<<<<<<", "|||||||", "=======", ">>>>>>>"] {
            if let Some(rest) = line.strip_prefix(sign)
                && (rest.is_empty() || rest.starts_with(' '))
            {
                let found = quoted(line);
                let message =
                    format!("this is an unresolved merge: found {found}; resolve it, then check the file");
                return Some(TflError::new(file, (index + 1, 1), message));
            }
        }
    }
    None
}

fn first_line(lines: &mut SourceLines<'_>) -> Result<(), TflError> {
    let mut found = lines.rest.lines().next().unwrap_or_default();
    // That a file is no replay is reported before anything else that is wrong with it.
    if lines.rest.starts_with(FIRST_WORDS)
        && let Some(line) = lines.next()?
    {
        if line.text == FIRST_LINE {
            return Ok(());
        }
        found = line.text;
        if let Some(version) = found.strip_prefix(FIRST_WORDS)
            && version.parse::<u64>().is_ok()
        {
            let what = format!("`{FIRST_LINE}`, the one format that this build reads");
            return Err(line.expected(16, &what, version));
        }
    }
    let message = format!("expected `{FIRST_LINE}`, found {}", quoted(found));
    Err(TflError::new(lines.file, (1, 1), message))
}

fn header(lines: &mut SourceLines<'_>, registry: &Registry, versions: Versions) -> Result<Header, TflError> {
    let fence = header_line(lines, "`+++` before the header")?;
    if fence.text != FENCE {
        return Err(fence.expected(0, "`+++` before the header", fence.text));
    }
    let mut text = String::new();
    loop {
        let line = header_line(lines, "`+++` after the header")?;
        if line.text == FENCE {
            break;
        }
        text.push_str(line.text);
        text.push('\n');
        let max = Limits::HEADER_BYTES_MAX;
        if text.len() > max {
            return Err(line.error(0, format!("expected at most {max} bytes in a header")));
        }
    }
    Header::read(lines.file, text, registry, versions)
}

fn header_line<'a>(lines: &mut SourceLines<'a>, what: &str) -> Result<SourceLine<'a>, TflError> {
    if let Some(line) = lines.next()? {
        return Ok(line);
    }
    let message = format!("expected {what}, found the end of the file");
    Err(TflError::new(lines.file, (lines.number + 1, 1), message))
}

/// Reads `SEQ SEAT COMMAND[ => OUTCOME][ #HASH]`.
fn entry(line: &SourceLine<'_>, seq: u64) -> Result<LogEntry, TflError> {
    let (word, at) = line.word(0);
    if number(word) != Ok(seq) {
        return Err(line.expected(0, &format!("entry number {seq}"), word));
    }
    let (seat, at) = read_seat(line, at)?;
    let marks = Marks::find(line, at)?;
    let command = read_command(line, at, marks.arrow.or(marks.hash))?;
    let mut entry = LogEntry::new(seq, seat, command.to_owned());
    if let Some((at, text)) = marks.outcome(line)? {
        let what = "effects, `applied`, `ignored CODE` or `rejected CODE`";
        entry.outcome = Some(text.parse().map_err(|_| line.expected(at, what, text))?);
    }
    if let Some(hash) = marks.hash {
        entry.hash = Some(read_hash(line, hash + " #".len(), line.text.len(), ShortHash::DIGITS)?);
    }
    Ok(entry)
}

/// Reads `! SEAT COMMAND[ => rejected CODE]`.
fn attempt(line: &SourceLine<'_>) -> Result<Attempt, TflError> {
    let (word, at) = line.word(0);
    if word != "!" {
        return Err(line.expected(1, "a space after `!`", word.get(1..).unwrap_or_default()));
    }
    let (seat, at) = read_seat(line, at)?;
    let marks = Marks::find(line, at)?;
    let end = line.text.len();
    if let Some(hash) = marks.hash {
        return Err(line.expected(hash + 1, "no hash, an attempt has none", line.slice(hash + 1, end)));
    }
    let command = read_command(line, at, marks.arrow)?;
    let mut outcome = None;
    if let Some((at, text)) = marks.outcome(line)? {
        match text.parse() {
            Ok(Outcome::Rejected(code)) if is_code(code.as_str()) => outcome = Some(Outcome::Rejected(code)),
            _ => return Err(line.expected(at, "`rejected CODE`", text)),
        }
    }
    Ok(Attempt { seat, command: command.into(), outcome })
}

fn read_command<'a>(line: &SourceLine<'a>, at: usize, mark: Option<usize>) -> Result<&'a str, TflError> {
    let end = line.text.len();
    let command = line.slice(at, mark.unwrap_or(end));
    if command.is_empty() {
        return Err(line.expected(at, "a command", line.slice(at, end)));
    }
    Ok(command)
}

/// Reads `= COUNT state HASH log HASH header MARK`.
fn closing(line: &SourceLine<'_>, count: u64) -> Result<Closing, TflError> {
    let at = exactly(line, 0, "=")?;
    let (word, next) = line.word(at);
    let found = number(word);
    if found != Ok(count) {
        let advice = if found.is_ok_and(|found| found > count) {
            "; are some of them lost?".into()
        } else if is_page(Path::new(line.file)) {
            String::new()
        } else {
            " (delete the line and bless the file if they are right)".into()
        };
        let what = format!("{count}, the number of entries above{advice}");
        return Err(line.expected(at, &what, word));
    }
    let (state, at) = read_named(line, next, "state", 64)?;
    let (log, at) = read_named(line, at, "log", 64)?;
    let (header, next) = read_named(line, at, "header", HeaderMark::DIGITS)?;
    if next <= line.text.len() {
        return Err(line.expected(next - 1, "the end of the line", line.slice(next - 1, line.text.len())));
    }
    Ok(Closing { count, state, log, header })
}

fn exactly(line: &SourceLine<'_>, at: usize, what: &str) -> Result<usize, TflError> {
    let (word, next) = line.word(at);
    if word == what { Ok(next) } else { Err(line.expected(at, &format!("`{what}`"), word)) }
}

/// Reads a word and the hash after it. Returns where the next word begins.
fn read_named<T: FromStr>(
    line: &SourceLine<'_>,
    at: usize,
    name: &str,
    digits: usize,
) -> Result<(T, usize), TflError> {
    let at = exactly(line, at, name)?;
    let (word, next) = line.word(at);
    Ok((read_hash(line, at, at + word.len(), digits)?, next))
}

fn read_hash<T: FromStr>(
    line: &SourceLine<'_>,
    start: usize,
    end: usize,
    digits: usize,
) -> Result<T, TflError> {
    let hash = line.slice(start, end);
    if let Some(place) = hash.bytes().position(|byte| !is_hex_digit(byte))
        && place < digits
    {
        let at = start + place;
        return Err(line.expected(at, &format!("{digits} lowercase hex digits"), line.slice(at, end)));
    }
    hash.parse().map_err(|_| {
        line.error(start, format!("expected {digits} lowercase hex digits, found {}", hash.len()))
    })
}

fn read_seat(line: &SourceLine<'_>, at: usize) -> Result<(Seat, usize), TflError> {
    let (word, next) = line.word(at);
    let seat = word.parse().map_err(|_| line.expected(at, "a seat, `p1` to `p16` or `host`", word))?;
    Ok((seat, next))
}

fn is_code(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

pub(super) struct SourceLines<'a> {
    pub(super) file: &'a str,
    pub(super) rest: &'a str,
    /// The number of the last line returned, from 1.
    pub(super) number: usize,
}

impl<'a> SourceLines<'a> {
    pub(super) fn next(&mut self) -> Result<Option<SourceLine<'a>>, TflError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let (text, rest) = match self.rest.split_once('\n') {
            Some((text, rest)) => (text, Some(rest)),
            None => (self.rest, None),
        };
        let line = SourceLine { file: self.file, number: self.number, text };
        // Nearly all lines are plain, and that check is faster.
        let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_plain {
            line.check_characters(self.number >= HEADER_LINE)?;
        }
        let Some(rest) = rest else {
            let message = "expected a line feed, found nothing; was the file cut short?";
            return Err(line.error(text.len(), message.into()));
        };
        self.rest = rest;
        Ok(Some(line))
    }
}

pub(super) struct SourceLine<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

impl<'a> SourceLine<'a> {
    fn check_characters(&self, with_tabs: bool) -> Result<(), TflError> {
        for (at, character) in self.text.char_indices() {
            if !character.is_control() || (character == '\t' && with_tabs) {
                continue;
            }
            let what = if character == '\r' { "a line end of LF alone" } else { "no control characters" };
            return Err(self.error(at, format!("expected {what}, found U+{:04X}", u32::from(character))));
        }
        Ok(())
    }

    fn check_body(&self) -> Result<(), TflError> {
        if let Some(at) = self.text.find('\t') {
            return Err(self.error(at, "expected no control characters, found U+0009".into()));
        }
        let max = Limits::COMMAND_BYTES_MAX;
        if self.text.len() > max {
            // Outcomes are not counted, because their length depends on the rules.
            let counted = self.text.find(ARROW).unwrap_or(self.text.len());
            if counted > max {
                let message = format!("expected at most {max} bytes before an outcome, found {counted}");
                return Err(self.error(0, message));
            }
        }
        let trimmed = self.text.trim_end_matches(' ').len();
        if trimmed < self.text.len() {
            return Err(self.error(trimmed, "expected the end of the line, found trailing spaces".into()));
        }
        Ok(())
    }

    /// Returns the word at `at` and the start of the next one, which is past the end for the last word.
    fn word(&self, at: usize) -> (&'a str, usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let word = rest.split(' ').next().unwrap_or_default();
        (word, at + word.len() + 1)
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn expected(&self, at: usize, what: &str, found: &str) -> TflError {
        let is_space = found.is_empty() && self.text.get(at..).is_some_and(|rest| rest.starts_with(' '));
        let found = if is_space { "a space".into() } else { quoted(found) };
        self.error(at, format!("expected {what}, found {found}"))
    }

    pub(super) fn error(&self, at: usize, message: String) -> TflError {
        let before = self.text.get(..at).unwrap_or(self.text);
        TflError::new(self.file, (self.number, before.chars().count() + 1), message)
    }
}

fn quoted(found: &str) -> String {
    const SHOWN_MAX: usize = 40;
    if found.is_empty() {
        return "nothing".into();
    }
    let shown: String = found.chars().take(SHOWN_MAX).collect();
    let dots = if shown.len() < found.len() { "…" } else { "" };
    format!("`{}{dots}`", printable(&shown))
}

/// Where the outcome and the hash of a line begin, at the space before their mark. Marks within double quotes do not
/// count.
#[derive(Default)]
struct Marks {
    arrow: Option<usize>,
    hash: Option<usize>,
}

impl Marks {
    /// Finds the marks after `from`. Requires single spaces and closed quotes on the way.
    fn find(line: &SourceLine<'_>, from: usize) -> Result<Self, TflError> {
        // If the command is missing, the space before it is also the one before a mark.
        let from = from.saturating_sub(1);
        let rest = line.slice(from, line.text.len());
        let mut marks = Self::default();
        let mut quote = None;
        let mut escaped = false;
        for (place, byte) in rest.bytes().enumerate() {
            match (byte, quote) {
                (b'"', None) => quote = Some(place),
                (b'"', Some(_)) if !escaped => quote = None,
                (b' ', None) => {
                    let here = rest.get(place..).unwrap_or_default();
                    if here.starts_with("  ") {
                        return Err(line.error(from + place + 1, "expected one space, found more".into()));
                    } else if marks.arrow.is_none() && marks.hash.is_none() && is_arrow(here) {
                        marks.arrow = Some(from + place);
                    } else if marks.hash.is_none() && here.starts_with(" #") {
                        marks.hash = Some(from + place);
                    }
                }
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        if let Some(place) = quote {
            let message = "expected a closing `\"`, found the end of the line";
            return Err(line.error(from + place, message.into()));
        }
        Ok(marks)
    }

    /// Returns the outcome and where it begins, if the line has one.
    fn outcome<'a>(&self, line: &SourceLine<'a>) -> Result<Option<(usize, &'a str)>, TflError> {
        let Some(arrow) = self.arrow else { return Ok(None) };
        let start = arrow + ARROW.len();
        match line.slice(start, self.hash.unwrap_or(line.text.len())).strip_prefix(' ') {
            Some(outcome) if !outcome.is_empty() => Ok(Some((start + 1, outcome))),
            _ => Err(line.expected(start, "an outcome after `=>`", line.slice(start, line.text.len()))),
        }
    }
}

/// Returns `true` if text begins with ` => `, or is ` =>` at the end of a line.
fn is_arrow(text: &str) -> bool {
    text.strip_prefix(ARROW).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests;
