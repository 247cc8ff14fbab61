//! Reads replay files strictly: there is one way to write everything, and errors report the place and what was
//! expected.

use std::path::Path;

use turnfold_core::text::number;
use turnfold_core::{Digest, Outcome, Registry, Seat};

use super::canonical::HeaderMark;
use super::file::{Closing, FENCE, FIRST_LINE, Replay, ReplayLine, TflError};
use super::header::{self, Header, SeenBy, Versions};
use super::lines::{Marks, SourceLine, SourceLines, quoted};
use crate::history::entry::{Attempt, LogEntry, ShortHash, is_hex_digit};
use crate::input::{Limits, is_page};

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
    let mut lines = SourceLines { file, rest: text, number: 0 };
    first_line(&mut lines)?;
    let header = header(&mut lines, registry, versions)?;
    let mut replay = Replay { file: file.into(), header, lines: Vec::new(), closing: None };
    let mut body = Body::after(&replay.header);
    while let Some(line) = lines.next()? {
        replay.lines.extend(body.read(&line)?);
    }
    replay.closing = body.closing;
    Ok(replay)
}

pub(super) struct Body {
    view: Option<SeenBy>,
    /// The number of the last entry.
    pub(super) count: u64,
    pub(super) closing: Option<Closing>,
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
    check_line_ends(file, text)?;
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

/// Refuses a file in which every line ends in CR LF, as git writes it with `core.autocrlf`, and explains how to fix it.
fn check_line_ends(file: &str, text: &str) -> Result<(), TflError> {
    if !text.starts_with(FIRST_WORDS) || !text.split_inclusive('\n').all(|line| line.ends_with("\r\n")) {
        return Ok(());
    }
    let column = text.find('\r').unwrap_or_default() + 1;
    Err(TflError::new(file, (1, column), CR_LF))
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
        if text.len() > Limits::HEADER_BYTES_MAX {
            return Err(
                line.error(0, format!("expected at most {} bytes in a header", Limits::HEADER_BYTES_MAX))
            );
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
    let mut entry = LogEntry::new(seq, seat, command);
    if let Some(arrow) = marks.arrow {
        entry.outcome = Some(marks.outcome(line, arrow)?);
    }
    if let Some(hash) = marks.hash {
        let at = hash + " #".len();
        let digits = hex::<{ ShortHash::DIGITS }>(line, at, line.text.len())?;
        entry.hash = Some(digits.parse().map_err(|error| line.error(at, error))?);
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
    if let Some(arrow) = marks.arrow {
        let (at, text) = marks.outcome_text(line, arrow)?;
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
    let (state, at) = digest(line, exactly(line, next, "state")?)?;
    let (log, at) = digest(line, exactly(line, at, "log")?)?;
    let at = exactly(line, at, "header")?;
    let (word, next) = line.word(at);
    let digits = hex::<{ HeaderMark::DIGITS }>(line, at, at + word.len())?;
    let header = digits.parse().map_err(|error| line.error(at, error))?;
    if next <= line.text.len() {
        return Err(line.expected(next - 1, "the end of the line", line.slice(next - 1, line.text.len())));
    }
    Ok(Closing { count, state, log, header })
}

fn exactly(line: &SourceLine<'_>, at: usize, what: &str) -> Result<usize, TflError> {
    let (word, next) = line.word(at);
    if word == what { Ok(next) } else { Err(line.expected(at, &format!("`{what}`"), word)) }
}

fn digest(line: &SourceLine<'_>, at: usize) -> Result<(Digest, usize), TflError> {
    let (word, next) = line.word(at);
    let digits = hex::<64>(line, at, at + word.len())?;
    let digest = digits.parse().map_err(|_| line.expected(at, "64 lowercase hex digits", word))?;
    Ok((digest, next))
}

fn read_seat(line: &SourceLine<'_>, at: usize) -> Result<(Seat, usize), TflError> {
    let (word, next) = line.word(at);
    let seat = word.parse().map_err(|_| line.expected(at, "a seat, `p1` to `p16` or `host`", word))?;
    Ok((seat, next))
}

fn is_code(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn hex<'a, const N: usize>(line: &SourceLine<'a>, start: usize, end: usize) -> Result<&'a str, TflError> {
    let digits = line.slice(start, end);
    let wrong = digits.bytes().position(|byte| !is_hex_digit(byte));
    match wrong {
        None if digits.len() == N => Ok(digits),
        Some(place) if place < N => {
            let at = start + place;
            Err(line.expected(at, &format!("{N} lowercase hex digits"), line.slice(at, end)))
        }
        _ => {
            let found = format!("expected {N} lowercase hex digits, found {}", digits.len());
            Err(line.error(start, found))
        }
    }
}

#[cfg(test)]
mod tests;
