//! Reads replay files strictly: there is one way to write everything, and errors report the place and what was
//! expected.

use std::path::Path;

use turnfold_core::text::number;
use turnfold_core::{Digest, Outcome, Registry, Seat};

use super::canonical::HeaderMark;
use super::error::TflError;
use super::file::{Closing, FENCE, FIRST_LINE, Replay, ReplayLine};
use super::header::{self, Header, SeenBy, Versions};
use super::lines::{SourceLine, SourceLines, quoted};
use super::marks::Marks;
use crate::error::limits::HEADER_BYTES_MAX;
use crate::history::entry::{Attempt, LogEntry, ShortHash};
use crate::history::revision::is_page;
use crate::program;

/// The start of the first line in any version of the format.
pub(crate) const FIRST_WORDS: &str = "turnfold replay ";

/// The message for a file that an editor or git converted for Windows.
const CR_LF: &str = "expected lines that end in LF, found CR LF throughout; remove each CR, for example with \
    `sed -i 's/\\r$//' FILE`; if git adds them, put `*.tfl text eol=lf` into `.gitattributes` and check the file out again";

/// Reads a replay file that conceals nothing.
///
/// # Errors
/// [`TflError`] with line and column of the first thing that is wrong.
pub fn read(file: &str, bytes: &[u8], registry: &Registry) -> Result<Replay, TflError> {
    read_under(file, bytes, registry, Versions::Own)?.whole()
}

/// Reads a replay file, also one for one seat.
///
/// # Errors
/// As for [`read`].
pub fn read_also_seen(file: &str, bytes: &[u8], registry: &Registry) -> Result<Replay, TflError> {
    read_under(file, bytes, registry, Versions::Own)
}

/// Reads a replay file of any version of its ruleset. Its state hashes may differ from those of this build.
///
/// # Errors
/// As for [`read`].
pub fn read_any_version(file: &str, bytes: &[u8], registry: &Registry) -> Result<Replay, TflError> {
    read_under(file, bytes, registry, Versions::Any)?.whole()
}

fn read_under(file: &str, bytes: &[u8], registry: &Registry, versions: Versions) -> Result<Replay, TflError> {
    let text = decode(file, bytes)?;
    read_text(file, text, registry, versions).map_err(|error| unresolved_merge(file, text).unwrap_or(error))
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

/// The state of reading the lines after a header.
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
    let text = str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).and_then(|valid| str::from_utf8(valid).ok());
        let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
        let message = format!("expected UTF-8 text, found byte 0x{byte:02x}");
        TflError::new(file, header::position(before.unwrap_or_default()), message)
    })?;
    if text.starts_with('\u{feff}') {
        return Err(TflError::new(file, (1, 1), format!("expected `{FIRST_LINE}`, found a byte order mark")));
    }
    check_line_ends(file, text)?;
    Ok(text)
}

/// Returns the error for a file with the markers of an unresolved merge, if it has any.
fn unresolved_merge(file: &str, text: &str) -> Option<TflError> {
    let is_marker = |line: &str| {
        let rest =
            ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().find_map(|sign| line.strip_prefix(sign));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let (number, line) = (1..).zip(text.lines()).find(|(_, line)| is_marker(line))?;
    let message =
        format!("this is an unresolved merge: found {}; resolve it, then check the file", quoted(line));
    Some(TflError::new(file, (number, 1), message))
}

/// Refuses a file in which every line ends in CR LF, as git writes it with `core.autocrlf`, and explains how to fix it.
fn check_line_ends(file: &str, text: &str) -> Result<(), TflError> {
    let mut lines = text.split_inclusive('\n').peekable();
    let is_replay = text.starts_with(FIRST_WORDS) && lines.peek().is_some();
    if !is_replay || !lines.all(|line| line.ends_with("\r\n")) {
        return Ok(());
    }
    let column = text.find('\r').unwrap_or_default() + 1;
    Err(TflError::new(file, (1, column), CR_LF))
}

fn first_line(lines: &mut SourceLines<'_>) -> Result<(), TflError> {
    let file = lines.file;
    let expected = |found: &str| {
        let message = format!("expected `{FIRST_LINE}`, found {}", quoted(found));
        TflError::new(file, (1, 1), message)
    };
    // That a file is no replay is reported before anything else that is wrong with it.
    if !lines.rest.starts_with(FIRST_WORDS) {
        return Err(expected(lines.rest.lines().next().unwrap_or_default()));
    }
    let Some(line) = lines.next()? else { return Err(expected("")) };
    if line.text == FIRST_LINE {
        return Ok(());
    }
    match line.text.strip_prefix(FIRST_WORDS) {
        Some(version) if version.parse::<u64>().is_ok() => {
            let what = format!("`{FIRST_LINE}`, the one format that this build reads");
            Err(line.expected(16, &what, version))
        }
        _ => Err(expected(line.text)),
    }
}

fn header(lines: &mut SourceLines<'_>, registry: &Registry, versions: Versions) -> Result<Header, TflError> {
    let missing = |lines: &SourceLines<'_>, what: &str| {
        TflError::new(
            lines.file,
            (lines.number + 1, 1),
            format!("expected {what}, found the end of the file"),
        )
    };
    let fence = lines.next()?.ok_or_else(|| missing(lines, "`+++` before the header"))?;
    if fence.text != FENCE {
        return Err(fence.expected(0, "`+++` before the header", fence.text));
    }
    let mut text = String::new();
    loop {
        let line = lines.next()?.ok_or_else(|| missing(lines, "`+++` after the header"))?;
        if line.text == FENCE {
            break;
        }
        text.push_str(line.text);
        text.push('\n');
        if text.len() > HEADER_BYTES_MAX {
            return Err(line.error(0, format!("expected at most {HEADER_BYTES_MAX} bytes in a header")));
        }
    }
    Header::read(lines.file, text, registry, versions)
}

/// Reads `SEQ SEAT COMMAND[ => OUTCOME][ #HASH]`.
fn entry(line: &SourceLine<'_>, seq: u64) -> Result<LogEntry, TflError> {
    let (word, at) = line.word(0);
    if number(word) != Ok(seq) {
        return Err(line.expected(0, &format!("entry number {seq}"), word));
    }
    let (seat, at) = read_seat(line, at)?;
    let marks = Marks::find(line, at)?;
    let command = line.slice(at, marks.arrow.or(marks.hash).unwrap_or(line.text.len()));
    if command.is_empty() {
        return Err(line.expected(at, "a command", line.slice(at, line.text.len())));
    }
    let outcome = marks.arrow.map(|arrow| marks.outcome(line, arrow)).transpose()?;
    let hash = marks.hash.map(|at| short_hash(line, at + " #".len())).transpose()?;
    Ok(LogEntry { outcome, hash, ..LogEntry::new(seq, seat, command) })
}

/// Reads `! SEAT COMMAND[ => rejected CODE]`.
fn attempt(line: &SourceLine<'_>) -> Result<Attempt, TflError> {
    let (word, at) = line.word(0);
    if word != "!" {
        return Err(line.expected(1, "a space after `!`", word.get(1..).unwrap_or_default()));
    }
    let (seat, at) = read_seat(line, at)?;
    let marks = Marks::find(line, at)?;
    if let Some(hash) = marks.hash {
        return Err(line.expected(
            hash + 1,
            "no hash, an attempt has none",
            line.slice(hash + 1, line.text.len()),
        ));
    }
    let command = line.slice(at, marks.arrow.unwrap_or(line.text.len()));
    if command.is_empty() {
        return Err(line.expected(at, "a command", line.slice(at, line.text.len())));
    }
    let outcome = marks.arrow.map(|arrow| {
        let (at, text) = marks.outcome_text(line, arrow)?;
        match text.parse() {
            Ok(Outcome::Rejected(code)) if is_code(code.as_str()) => Ok(Outcome::Rejected(code)),
            _ => Err(line.expected(at, "`rejected CODE`", text)),
        }
    });
    Ok(Attempt { seat, command: command.into(), outcome: outcome.transpose()? })
}

/// Reads `= COUNT state HASH log HASH header MARK`.
fn closing(line: &SourceLine<'_>, count: u64) -> Result<Closing, TflError> {
    let exactly = |at: usize, what: &str| match line.word(at) {
        (word, next) if word == what => Ok(next),
        (word, _) => Err(line.expected(at, &format!("`{what}`"), word)),
    };
    let digest = |at: usize| -> Result<(Digest, usize), TflError> {
        let (word, next) = line.word(at);
        let digits = hex::<64>(line, at, at + word.len())?;
        digits
            .parse()
            .map(|digest| (digest, next))
            .map_err(|_| line.expected(at, "64 lowercase hex digits", word))
    };
    let at = exactly(0, "=")?;
    let (word, next) = line.word(at);
    let found = number(word);
    if found != Ok(count) {
        let is_short = found.is_ok_and(|found| found > count);
        let advice = if is_short {
            "; are some of them lost?".into()
        } else if is_page(Path::new(line.file)) {
            String::new()
        } else {
            format!(" (delete the line and run `{} bless` if they are right)", program::name())
        };
        let what = format!("{count}, the number of entries above{advice}");
        return Err(line.expected(at, &what, word));
    }
    let (state, at) = digest(exactly(next, "state")?)?;
    let (log, at) = digest(exactly(at, "log")?)?;
    let at = exactly(at, "header")?;
    let (word, next) = line.word(at);
    let digits = hex::<{ HeaderMark::DIGITS }>(line, at, at + word.len())?;
    let header = digits.parse().map_err(|error| line.error(at, error))?;
    let at = next;
    if at <= line.text.len() {
        return Err(line.expected(at - 1, "the end of the line", line.slice(at - 1, line.text.len())));
    }
    Ok(Closing { count, state, log, header })
}

fn read_seat(line: &SourceLine<'_>, at: usize) -> Result<(Seat, usize), TflError> {
    let (word, next) = line.word(at);
    let seat = word.parse().map_err(|_| line.expected(at, "a seat, `p1` to `p16` or `host`", word))?;
    Ok((seat, next))
}

/// Reads the digits of a state hash to the end of the line.
fn short_hash(line: &SourceLine<'_>, start: usize) -> Result<ShortHash, TflError> {
    let digits = hex::<{ ShortHash::DIGITS }>(line, start, line.text.len())?;
    digits.parse().map_err(|error| line.error(start, error))
}

/// Returns `true` if a word can be the code of a rejection.
fn is_code(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Requires exactly `N` lowercase hex digits from `start` to `end`.
fn hex<'a, const N: usize>(line: &SourceLine<'a>, start: usize, end: usize) -> Result<&'a str, TflError> {
    let digits = line.slice(start, end);
    let wrong = digits.bytes().position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match wrong {
        None if digits.len() == N => Ok(digits),
        Some(place) if place < N => Err(line.expected(
            start + place,
            &format!("{N} lowercase hex digits"),
            line.slice(start + place, end),
        )),
        _ => {
            let found = format!("expected {N} lowercase hex digits, found {}", digits.len());
            Err(line.error(start, found))
        }
    }
}

#[cfg(test)]
mod tests;
