//! The words of a letter: names, times and paragraphs (PM-29).

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::Offset;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::State;
use turnfold_core::{AnyState, DicePolicy, Seat, Step};

use crate::history::record::Record;
use crate::viewer::Viewer;

/// The most columns of the text (PM-29).
pub(super) const COLUMNS: usize = 72;

/// Writes a time for people whose clocks are this many minutes ahead of UTC.
pub(super) fn time(time: DeskTime, zone: i32) -> String {
    let seconds = i64::try_from(time.unix_seconds()).ok();
    let offset = Offset::from_seconds(zone.saturating_mul(60)).ok();
    let at = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).zip(offset);
    let Some((at, offset)) = at else { return time.to_string() };
    let name = match zone {
        0 => "UTC".into(),
        zone => {
            let sign = if zone < 0 { '-' } else { '+' };
            format!("UTC{sign}{:02}:{:02}", zone.abs() / 60, zone.abs() % 60)
        }
    };
    format!("{} {name}", offset.to_datetime(at).strftime("%a %-d %b %Y, %H:%M"))
}

/// Writes a seat for one reader, who is `you`.
pub(super) fn seat(seat: Seat, reader: Seat) -> String {
    if seat == reader { "you".into() } else { seat.name().into() }
}

/// Writes seats with ` and ` before the last.
pub(super) fn seats(seats: &[Seat], reader: Seat) -> String {
    let names: Vec<_> = seats.iter().map(|name| seat(*name, reader)).collect();
    match names.split_last() {
        None => "no one".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// Writes an entry of the game for one reader.
pub(super) fn played(step: &dyn Step, reader: Seat) -> String {
    let by = step.seat().as_subject(reader.into());
    let sentences = step.sentences(reader.into()).into_iter().filter(|sentence| !sentence.is_empty());
    let words: Vec<_> = [format!("{by}: {}.", step.command())].into_iter().chain(sentences).collect();
    words.join(" ")
}

/// Writes what entries of the game do that follow a state, for one reader.
pub(super) fn played_after(state: &dyn AnyState, records: &[Record], reader: Seat) -> Vec<String> {
    let log: Vec<_> = records.iter().filter_map(Record::logged).collect();
    let mut words = Vec::new();
    let observe = &mut |step: &mut dyn Step| {
        if !step.concealed() {
            words.push(played(step, reader));
        }
    };
    let folded = Viewer::of(reader).fold(state.fork().as_mut(), &log, &DicePolicy::Recorded, observe);
    if folded.is_ok() { words } else { Vec::new() }
}

/// Writes the first line of a letter.
pub(super) fn salutation(state: &State, reader: Seat) -> String {
    let name = state.name_of(reader).unwrap_or("player");
    format!("Dear {name},")
}

/// The text of a letter: paragraphs with an empty line between them.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Adds words, broken into lines.
    pub(super) fn paragraph(&mut self, words: &str) {
        self.gap();
        self.fill("", words);
    }

    /// Adds a heading.
    pub(super) fn heading(&mut self, words: &str) {
        self.gap();
        self.line(words);
        self.line(&"-".repeat(words.len()));
    }

    /// Adds a list.
    pub(super) fn items(&mut self, items: &[String]) {
        self.gap();
        for words in items {
            self.item(words);
        }
    }

    /// Adds an item of a list.
    pub(super) fn item(&mut self, words: &str) {
        self.fill("  * ", words);
    }

    /// Adds lines as they are, each indented.
    pub(super) fn block<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        self.gap();
        for line in lines {
            let indent = if line.is_empty() { "" } else { "    " };
            self.line(&format!("{indent}{line}"));
        }
    }

    /// Adds a line to type, indented. Where it is too long, it goes on in further lines.
    pub(super) fn command(&mut self, line: &str) {
        self.gap();
        self.fill("    ", line);
    }

    /// Adds a line as it is.
    pub(super) fn line(&mut self, line: &str) {
        writeln!(self.0, "{}", line.trim_end()).expect("writing to a string cannot fail");
    }

    /// Adds an empty line, unless there is one or nothing yet.
    pub(super) fn gap(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with("\n\n") {
            self.0.push('\n');
        }
    }

    /// Adds words behind a mark, with the following lines as far to the right.
    pub(super) fn fill(&mut self, mark: &str, words: &str) {
        self.fill_with(mark, words.split(' '));
    }

    /// Adds unbroken pieces behind a mark, with the following lines as far to the right.
    pub(super) fn fill_with<'a>(&mut self, mark: &str, pieces: impl IntoIterator<Item = &'a str>) {
        let mut line = mark.to_owned();
        let indent = " ".repeat(mark.len());
        let mut is_fresh = true;
        for word in pieces {
            if !is_fresh && line.len() + 1 + word.len() > COLUMNS {
                self.line(&line);
                line.clone_from(&indent);
                is_fresh = true;
            }
            if !is_fresh {
                line.push(' ');
            }
            line.push_str(word);
            is_fresh = false;
        }
        self.line(&line);
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}
