//! An entry printed: a line like those of replay files, or a JSON line.

use turnfold_core::Outcome;
use turnfold_replay::Record;

use crate::failure::Failure;
use crate::output::{Output, Tone, paint};

/// Stands before the lines of an entry after its first.
const INDENT: &str = "    ";

/// Prints a record in the output's format.
pub(crate) fn print(record: &Record, output: &mut Output) -> Result<(), Failure> {
    print_after("", record, output)
}

/// Prints a record; text begins with what stands `before` an entry on its line.
pub(crate) fn print_after(before: &str, record: &Record, output: &mut Output) -> Result<(), Failure> {
    if matches!(record.outcome, Outcome::Rejected(_)) {
        return print_rejected(record, None, output);
    }
    if output.is_json() {
        output.json(record)?;
        return Ok(());
    }
    let width = output.width();
    for line in entry_lines(before, record, width) {
        output.line(line)?;
    }
    Ok(())
}

/// Prints the record of a rejected command; text says where in a script it stands.
pub(crate) fn print_rejected(
    record: &Record,
    place: Option<&str>,
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        output.json(record)?;
    } else {
        output.line(rejected_line(record, place))?;
    }
    Ok(())
}

fn rejected_line(record: &Record, place: Option<&str>) -> String {
    let seat = record.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
    let (command, arrow) = (record.command.escape_debug(), paint(Tone::Faint, "=>"));
    let outcome = paint(Tone::Old, &record.outcome);
    let message = record.message.as_deref().unwrap_or_default();
    let place = place.map(|place| paint(Tone::Faint, format_args!(" at {place}"))).unwrap_or_default();
    format!("! {seat}{command} {arrow} {outcome} ({message}){place}")
}

/// Returns an entry in one line, or folded between its effects to the width of a terminal.
fn entry_lines(before: &str, record: &Record, width: Option<usize>) -> Vec<String> {
    let seq = record.seq.unwrap_or_default().to_string();
    let mut lines = FoldedLines { lines: Vec::new(), column: 0, width };
    if !before.is_empty() {
        lines.push(Tone::Faint, before);
    }
    lines.push(Tone::Plain, &seq);
    if let Some(seat) = record.seat {
        lines.push(Tone::Plain, seat.name());
    }
    lines.push(Tone::Strong, &record.command);
    lines.push(Tone::Faint, "=>");
    let mut effects = record.outcome.effects().peekable();
    if effects.peek().is_none() {
        let tone = if matches!(record.outcome, Outcome::Ignored(_)) { Tone::Odd } else { Tone::Plain };
        lines.push(tone, &record.outcome.to_string());
    }
    while let Some(effect) = effects.next() {
        let end = if effects.peek().is_some() { ";" } else { "" };
        lines.push(Tone::Plain, &format!("{effect}{end}"));
    }
    if let Some(hash) = record.state_hash {
        lines.push(Tone::Faint, &format!("#{hash:.16}"));
    }
    lines.lines
}

/// Pieces joined by spaces; one that would not fit into the width begins a line.
struct FoldedLines {
    lines: Vec<String>,
    /// How many characters the last line shows.
    column: usize,
    width: Option<usize>,
}

impl FoldedLines {
    fn push(&mut self, tone: Tone, piece: &str) {
        let length = piece.chars().count();
        let painted = if tone == Tone::Plain { piece.to_owned() } else { paint(tone, piece) };
        let fits = self.width.is_none_or(|width| self.column + 1 + length <= width);
        match self.lines.last_mut() {
            Some(line) if fits => {
                *line += " ";
                *line += &painted;
                self.column += 1 + length;
            }
            last => {
                let indent = if last.is_some() { INDENT } else { "" };
                self.column = indent.len() + length;
                self.lines.push(format!("{indent}{painted}"));
            }
        }
    }
}
