//! An entry printed: a line like those of replay files, or a JSON line.

use turnfold_replay::record::{Became, Record};

use crate::failure::Failure;
use crate::output::{Output, Tone, paint};

/// Prints the record in the output's format.
pub(crate) fn print(record: &Record, output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        output.json(&record.to_json()?)?;
    } else {
        output.line(to_text(record))?;
    }
    Ok(())
}

fn to_text(record: &Record) -> String {
    let seat = record.seat.map(|seat| format!("{seat} ")).unwrap_or_default();
    let arrow = paint(Tone::Faint, "=>");
    if let Became::Rejected(rejected) = &record.became {
        let (command, outcome) = (record.command.escape_debug(), paint(Tone::Old, &record.outcome));
        let place = record.place.as_ref().map(|place| paint(Tone::Faint, format_args!(" at {place}")));
        let message = &rejected.message;
        return format!("! {seat}{command} {arrow} {outcome} ({message}){}", place.unwrap_or_default());
    }
    let seq = record.seq.unwrap_or_default();
    let command = paint(Tone::Strong, &record.command);
    let tone = if record.became == Became::Applied { Tone::Plain } else { Tone::Odd };
    let outcome = paint(tone, &record.outcome);
    let hash = record.state_hash.map(|hash| paint(Tone::Faint, format_args!(" #{hash:.16}")));
    format!("{seq} {seat}{command} {arrow} {outcome}{}", hash.unwrap_or_default())
}
