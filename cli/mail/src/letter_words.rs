//! The words of a letter: names, times and paragraphs (PM-29).

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::offset_minutes;
use turnfold_core::{AnyState, DicePolicy, Seat, Step};
use turnfold_history::{Record, Viewer};

/// The most columns of the text (PM-29).
pub(super) const COLUMNS: usize = 72;

/// Finds a time zone of the terms (PM-112): empty for UTC, an offset such as `+02:00`, or a name in the bundled data.
pub(super) fn time_zone(zone: &str) -> Option<TimeZone> {
    if zone.is_empty() {
        return Some(TimeZone::UTC);
    }
    match offset_minutes(zone) {
        Some(ahead) => Some(TimeZone::fixed(Offset::from_seconds(ahead.saturating_mul(60)).ok()?)),
        None => TimeZone::get(zone).ok(),
    }
}

pub(super) fn timestamp(time: DeskTime) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(time.unix_seconds()).ok()?).ok()
}

pub(super) fn time(time: DeskTime, zone: &str) -> String {
    let Some(at) = timestamp(time) else { return time.to_string() };
    let at = at.to_zoned(time_zone(zone).unwrap_or(TimeZone::UTC));
    let ahead = at.offset().seconds() / 60;
    let short = at.strftime("%Z").to_string();
    // Some zones have no abbreviation but a number, such as `-03`.
    let is_offset = offset_minutes(zone).is_some();
    let name = if ahead == 0 && (zone.is_empty() || is_offset) {
        "UTC".into()
    } else if !is_offset && short.starts_with(|first: char| first.is_ascii_alphabetic()) {
        short
    } else {
        let sign = if ahead < 0 { '-' } else { '+' };
        format!("UTC{sign}{:02}:{:02}", ahead.abs() / 60, ahead.abs() % 60)
    };
    format!("{} {name}", at.strftime("%a %-d %b %Y, %H:%M"))
}

/// Reads a day, or a day and a time such as `2026-12-24 18:00`, in a time zone. A day means its midnight. A time that
/// occurs twice means the first; one that the clocks skip is moved forward by the skipped time.
pub(super) fn wall_clock(text: &str, zone: &str) -> Option<DeskTime> {
    let (day, hour) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    if hour.len() != 5 || hour.as_bytes().get(2) != Some(&b':') {
        return None;
    }
    let day: Date = day.parse().ok()?;
    let hour: Time = hour.parse().ok()?;
    let at = day.to_datetime(hour).to_zoned(time_zone(zone)?).ok()?;
    DeskTime::of_unix_seconds(u64::try_from(at.timestamp().as_second()).ok()?)
}

/// Writes seats for one reader, who is `you`, with ` and ` before the last.
pub(super) fn seats(seats: &[Seat], reader: Seat) -> String {
    let mut names = Vec::new();
    for seat in seats {
        names.push(if *seat == reader { "you" } else { seat.name() });
    }
    match names.as_slice() {
        [] => "no one".into(),
        [only] => (*only).into(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

pub(crate) fn seat_names<'a>(seats: impl IntoIterator<Item = &'a Seat>, between: &str) -> String {
    let mut names = Vec::new();
    for seat in seats {
        names.push(seat.name());
    }
    names.join(between)
}

pub(super) fn played(step: &dyn Step, reader: Seat) -> String {
    let mut words = format!("{}: {}.", step.seat().as_subject(reader.into()), step.command());
    for sentence in step.sentences(reader.into()) {
        if !sentence.is_empty() {
            words.extend([" ", &sentence]);
        }
    }
    words
}

pub(super) fn played_after(state: &dyn AnyState, records: &[Record], reader: Seat) -> Vec<String> {
    let log: Vec<_> = records.iter().filter_map(Record::logged).collect();
    let mut words = Vec::new();
    let folded =
        Viewer::of(reader).fold(state.fork().as_mut(), &log, &DicePolicy::Recorded, None, &mut |step| {
            if !step.concealed() {
                words.push(played(step, reader));
            }
        });
    if folded.is_ok() { words } else { Vec::new() }
}

#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    pub(super) fn paragraph(&mut self, words: &str) {
        self.gap();
        self.fill("", words);
    }

    pub(super) fn heading(&mut self, words: &str) {
        self.gap();
        self.line(words);
        self.line(&"-".repeat(words.len()));
    }

    pub(super) fn items(&mut self, items: &[String]) {
        self.gap();
        for words in items {
            self.item(words);
        }
    }

    pub(super) fn item(&mut self, words: &str) {
        self.fill("  * ", words);
    }

    pub(super) fn block<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        self.gap();
        for line in lines {
            let indent = if line.is_empty() { "" } else { "    " };
            self.line(&format!("{indent}{line}"));
        }
    }

    pub(super) fn command(&mut self, line: &str) {
        self.gap();
        self.fill("    ", line);
    }

    pub(super) fn line(&mut self, line: &str) {
        writeln!(self.0, "{}", line.trim_end()).expect("writing to a string cannot fail");
    }

    /// Adds an empty line, unless there is one or nothing yet.
    pub(super) fn gap(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with("\n\n") {
            self.0.push('\n');
        }
    }

    pub(super) fn fill(&mut self, mark: &str, words: &str) {
        self.fill_with(mark, words.split(' '));
    }

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

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_112_times_keep_the_wall_clock_over_a_change_to_summer_time() {
        for (at, zone, written) in [
            ("2027-03-27T17:00:00Z", "Europe/Berlin", "Sat 27 Mar 2027, 18:00 CET"),
            ("2027-03-28T16:00:00Z", "Europe/Berlin", "Sun 28 Mar 2027, 18:00 CEST"),
            ("2026-12-24T12:00:00Z", "Europe/London", "Thu 24 Dec 2026, 12:00 GMT"),
            ("2026-12-24T12:00:00Z", "America/Sao_Paulo", "Thu 24 Dec 2026, 09:00 UTC-03:00"),
            ("2026-12-24T12:00:00Z", "+05:30", "Thu 24 Dec 2026, 17:30 UTC+05:30"),
            ("2026-12-24T12:00:00Z", "", "Thu 24 Dec 2026, 12:00 UTC"),
            ("2026-12-24T12:00:00Z", "+00:00", "Thu 24 Dec 2026, 12:00 UTC"),
            ("2026-12-24T12:00:00Z", "Nowhere/None", "Thu 24 Dec 2026, 12:00 UTC"),
        ] {
            assert_eq!(time(at.parse().unwrap(), zone), written);
        }
        for (text, zone, read) in [
            ("2027-03-27 18:00", "Europe/Berlin", "2027-03-27T17:00:00Z"),
            ("2027-03-28 18:00", "Europe/Berlin", "2027-03-28T16:00:00Z"),
            ("2027-03-29", "Europe/Berlin", "2027-03-28T22:00:00Z"),
            // An hour that the clocks leave out, and one that comes twice.
            ("2027-03-28 02:30", "Europe/Berlin", "2027-03-28T01:30:00Z"),
            ("2027-10-31 02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"),
            ("2026-12-24", "-05:30", "2026-12-24T05:30:00Z"),
        ] {
            assert_eq!(wall_clock(text, zone).unwrap().to_string(), read, "{text} {zone}");
        }
        for text in ["24 December", "2026-12-24 6pm", "2026-12-24 18", "2026-02-30", ""] {
            assert_eq!(wall_clock(text, ""), None, "{text}");
        }
    }
}
