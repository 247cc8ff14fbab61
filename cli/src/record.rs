//! An entry printed: a line like those of replay files, or a JSON line.

use turnfold_core::Outcome;
use turnfold_replay::{LoggedRecord, Record, SpacedLine, StyledLine, Tone, render};

use crate::failure::Failure;
use crate::output::Output;

/// Stands before the lines of an entry after its first.
const INDENT: &str = "    ";

/// Prints a record in the output's format.
pub(crate) fn print(record: &Record, output: &mut Output) -> Result<(), Failure> {
    if matches!(record.outcome, Outcome::Rejected(_)) {
        return print_rejected(record, None, output);
    }
    if output.is_json() {
        output.json(record)?;
        return Ok(());
    }
    print_folded(render::record(record), output)
}

/// Prints an entry of a log in the output's format; text tells its time where that is wanted.
pub(crate) fn print_logged(
    entry: &LoggedRecord,
    with_time: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        output.json(entry)?;
        return Ok(());
    }
    print_folded(render::logged(entry, with_time), output)
}

/// Prints the record of a rejected command; text says where in a script it stands.
pub(crate) fn print_rejected(
    record: &Record,
    place: Option<&str>,
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        output.json(record)?;
        return Ok(());
    }
    output.styled(&StyledLine::from(render::rejection(record, place)))?;
    Ok(())
}

fn print_folded(line: SpacedLine, output: &mut Output) -> Result<(), Failure> {
    let width = output.width();
    folded(line, width).iter().try_for_each(|line| output.styled(line))?;
    Ok(())
}

/// Folds a line between its pieces to the width of a terminal: a piece that would not fit begins a line.
fn folded(line: SpacedLine, width: Option<usize>) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    // How many characters the last line shows.
    let mut column = 0;
    for (tone, piece) in line.0 {
        let length = piece.chars().count();
        let fits = width.is_none_or(|width| column + 1 + length <= width);
        match lines.last_mut() {
            Some(line) if fits => {
                line.0.extend([(Tone::Plain, " ".into()), (tone, piece)]);
                column += 1 + length;
            }
            last => {
                let indent = if last.is_some() { INDENT } else { "" };
                column = indent.len() + length;
                lines.push(StyledLine::of(Tone::Plain, indent).then(tone, piece));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> SpacedLine {
        let pieces = ["12", "p1", "tap\u{1b}[2J 1,2", "=>", "placed order=1 at=1,2;", "queued \u{fdd3}"];
        SpacedLine(pieces.map(|piece| (Tone::Warning, piece.to_string())).into())
    }

    #[test]
    fn where_no_terminal_is_a_line_is_printed_as_the_library_writes_it() {
        let expected = r"12 p1 tap\u{1b}[2J 1,2 => placed order=1 at=1,2; queued \u{fdd3}";
        let shown: Vec<_> = folded(line(), None).iter().map(ToString::to_string).collect();
        assert_eq!(shown, [expected]);
        assert_eq!(line().to_string(), expected);
        assert_eq!(StyledLine::from(line()).to_string(), expected);
    }

    #[test]
    fn a_terminal_folds_a_line_between_its_pieces() {
        let shown: Vec<_> = folded(line(), Some(24)).iter().map(ToString::to_string).collect();
        let expected = [r"12 p1 tap\u{1b}[2J 1,2 =>", "    placed order=1 at=1,2;", r"    queued \u{fdd3}"];
        assert_eq!(shown, expected);
    }
}
