//! Entries and rejected commands, as `play`, `log` and others print them.

use serde::Serialize;
use turnfold_core::{AnyState, DueRoll, Outcome, Seat};

use crate::record::{LoggedRecord, Record};
use crate::revision::Revision;
use crate::text::{SpacedLine, StyledLine, Tone, time};
use crate::viewer::Viewer;

/// Returns the line of an entry or of a rejected command.
#[must_use]
pub fn record(record: &Record) -> SpacedLine {
    record_after("", record)
}

/// Returns the line of an entry with what stands `before` it; a rejected command has nothing before it.
#[must_use]
pub fn record_after(before: &str, record: &Record) -> SpacedLine {
    if matches!(record.outcome, Outcome::Rejected(_)) {
        return rejection(record, None);
    }
    let mut line = SpacedLine::default();
    if !before.is_empty() {
        line.push(Tone::Dim, before);
    }
    line.push(Tone::Plain, record.seq.unwrap_or_default().to_string());
    if let Some(seat) = record.seat {
        line.push(Tone::Plain, seat.name());
    }
    line.push(Tone::Strong, &record.command);
    line.push(Tone::Dim, "=>");
    let mut effects = record.outcome.effects().peekable();
    if effects.peek().is_none() {
        let tone = if matches!(record.outcome, Outcome::Ignored(_)) { Tone::Warning } else { Tone::Plain };
        line.push(tone, record.outcome.to_string());
    }
    while let Some(effect) = effects.next() {
        let end = if effects.peek().is_some() { ";" } else { "" };
        line.push(Tone::Plain, format!("{effect}{end}"));
    }
    if let Some(hash) = record.state_hash {
        line.push(Tone::Dim, format!("#{hash:.16}"));
    }
    line
}

/// Returns the line of a rejected command, and where in a script it stands.
#[must_use]
pub fn rejection(record: &Record, place: Option<&str>) -> SpacedLine {
    let (seat, outcome) = (record.seat.map(Seat::name), record.outcome.to_string());
    let mut line = rejected_line(seat, &record.command, &outcome, record.message.as_deref());
    if let Some(place) = place {
        line.push(Tone::Dim, format!("at {place}"));
    }
    line
}

/// Returns the line of a rejected command of which only the words are known.
#[must_use]
pub fn rejected_line(seat: Option<&str>, command: &str, outcome: &str, message: Option<&str>) -> SpacedLine {
    let mut line = SpacedLine::default();
    line.push(Tone::Plain, "!");
    if let Some(seat) = seat {
        line.push(Tone::Plain, seat);
    }
    line.push(Tone::Plain, command.escape_debug().to_string());
    line.push(Tone::Dim, "=>");
    line.push(Tone::Removed, outcome);
    line.push(Tone::Plain, format!("({})", message.unwrap_or_default()));
    line
}

/// Returns the line of an entry of a log, after its time if `with_time` says so, and after its link if it has one.
#[must_use]
pub fn logged(entry: &LoggedRecord, with_time: bool) -> SpacedLine {
    let time = with_time.then(|| time(entry.recorded_at_ms));
    let link = entry.link.map(|link| format!("{link:.16}"));
    let before: Vec<_> = time.into_iter().chain(link).collect();
    record_after(&before.join(" "), &entry.record)
}

/// What `play` says when there was nothing to play. It serializes as what `play --format json` prints then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NothingPlayed {
    played: u64,
    due_roll: Option<DueRoll>,
}

impl NothingPlayed {
    /// Nothing was played in this state.
    #[must_use]
    pub fn in_state(state: &dyn AnyState) -> Self {
        Self { played: 0, due_roll: state.due_roll() }
    }

    /// Returns its line, which names the whole history and the viewer, if some were asked for.
    #[must_use]
    pub fn line(&self, whole: &Revision, asked: Option<Viewer>) -> StyledLine {
        let option = Viewer::as_option(asked);
        let text = match &self.due_roll {
            Some(due) => format!("nothing played; a roll is due: {due}"),
            None => format!("nothing played and no roll is due; see `turnfold legal {whole}{option}`"),
        };
        StyledLine::of(Tone::Plain, text)
    }
}
