//! Entries and rejected commands, as `play`, `log` and other verbs print them.

use serde::Serialize;
use turnfold_core::{AnyState, DueRoll, Outcome, Seat};
use turnfold_history::text::{Line, TextSpan, Tone, dim, plain, removed, strong, time, warning};
use turnfold_history::{LoggedRecord, Record};

/// Returns the line of an entry or of a rejected command.
#[must_use]
pub fn record(record: &Record) -> Line {
    record_after("", record)
}

/// Returns the line of an entry, after the text `before`, or of a rejected command, which has no text before it.
pub(crate) fn record_after(before: &str, record: &Record) -> Line {
    if matches!(record.outcome, Outcome::Rejected(_)) {
        return rejection(record, None);
    }
    let mut line = Line::default();
    if !before.is_empty() {
        line.push_word(dim(before));
    }
    line.push_word(plain(record.seq.unwrap_or_default().to_string()));
    if let Some(seat) = record.seat {
        line.push_word(plain(seat.name()));
    }
    line.push_word(strong(&record.command));
    line.push_word(dim("=>"));
    let mut effects = record.outcome.effects().peekable();
    if effects.peek().is_none() {
        let tone = if matches!(record.outcome, Outcome::Ignored(_)) { Tone::Warning } else { Tone::Plain };
        line.push_word(TextSpan::new(tone, &record.outcome));
    }
    while let Some(effect) = effects.next() {
        let end = if effects.peek().is_some() { ";" } else { "" };
        line.push_word(plain(format!("{effect}{end}")));
    }
    if let Some(hash) = record.state_hash {
        line.push_word(dim(format!("#{hash:.16}")));
    }
    if let Some(recorded) = &record.recorded {
        line.push_word(warning(recorded_mark(recorded)));
    }
    line
}

/// Returns the mark of an entry whose source records another outcome.
#[must_use]
pub fn recorded_mark(recorded: &str) -> String {
    format!("[recorded: {recorded}]")
}

/// Returns the line of a rejected command, and its place in a script.
#[must_use]
pub fn rejection(record: &Record, place: Option<&str>) -> Line {
    let seat = record.seat.map(Seat::name);
    let outcome = record.outcome.to_string();
    let mut line = rejected_line(seat, &record.command, &outcome, record.message.as_deref());
    if let Some(place) = place {
        line.push_word(dim(format!("at {place}")));
    }
    line
}

/// Returns the line of a rejected command that is known only as text.
#[must_use]
pub fn rejected_line(seat: Option<&str>, command: &str, outcome: &str, message: Option<&str>) -> Line {
    let mut line = Line::default();
    line.push_word(plain("!"));
    if let Some(seat) = seat {
        line.push_word(plain(seat));
    }
    line.push_word(plain(command.escape_debug().to_string()));
    line.push_word(dim("=>"));
    line.push_word(removed(outcome));
    line.push_word(plain(format!("({})", message.unwrap_or_default())));
    line
}

/// Returns the line of an entry of a log: its time if `with_time`, its link if it has one, then the entry.
#[must_use]
pub fn logged(entry: &LoggedRecord, with_time: bool) -> Line {
    let mut before = Vec::new();
    if with_time {
        before.push(time(entry.recorded_at_ms));
    }
    if let Some(link) = entry.link {
        before.push(format!("{link:.16}"));
    }
    record_after(&before.join(" "), &entry.record)
}

/// The output of `play` without commands and without a due roll to make. Its JSON form is that of `play --format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NothingPlayed {
    played: u64,
    due_roll: Option<DueRoll>,
}

impl NothingPlayed {
    /// Reports that nothing was played in this state.
    #[must_use]
    pub fn in_state(state: &dyn AnyState) -> Self {
        Self { played: 0, due_roll: state.due_roll() }
    }

    /// Returns its line.
    #[must_use]
    pub fn line(&self) -> Line {
        match &self.due_roll {
            Some(due) => format!("nothing played; a roll is due: {due}").into(),
            None => "nothing played and no roll is due".into(),
        }
    }
}
