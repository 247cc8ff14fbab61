//! An entry printed: a line like those of replay files, or a JSON line.

use turnfold_core::Outcome;
use turnfold_replay::record::Record;

use crate::failure::Failure;
use crate::output::{Output, Tone, paint};

/// Prints a record in the output's format.
pub(crate) fn print(record: &Record, output: &mut Output) -> Result<(), Failure> {
    print_from(record, None, output)
}

/// Prints a record; text says where in a script a rejected command stands.
pub(crate) fn print_from(record: &Record, place: Option<&str>, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        output.json(&record.to_json())?;
    } else {
        output.line(to_text(record, place))?;
    }
    Ok(())
}

fn to_text(record: &Record, place: Option<&str>) -> String {
    let seat = record.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
    let arrow = paint(Tone::Faint, "=>");
    let tone = match &record.outcome {
        Outcome::Rejected(_) => {
            let (command, outcome) = (record.command.escape_debug(), paint(Tone::Old, &record.outcome));
            let place =
                place.map(|place| paint(Tone::Faint, format_args!(" at {place}"))).unwrap_or_default();
            let message = record.message.as_deref().unwrap_or_default();
            return format!("! {seat}{command} {arrow} {outcome} ({message}){place}");
        }
        Outcome::Ignored(_) => Tone::Odd,
        Outcome::Applied(_) => Tone::Plain,
    };
    let seq = record.seq.unwrap_or_default();
    let (command, outcome) = (paint(Tone::Strong, &record.command), paint(tone, &record.outcome));
    let hash = record.state_hash.map(|hash| paint(Tone::Faint, format_args!(" #{hash:.16}")));
    format!("{seq} {seat}{command} {arrow} {outcome}{}", hash.unwrap_or_default())
}
