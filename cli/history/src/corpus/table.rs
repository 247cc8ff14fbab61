//! Turns histories into rows of tables: one for each match, entry or effect, or the fields of the view after each
//! entry.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;
use turnfold_core::Outcome;

use crate::ViewedEntry;
use crate::error::ReplayError;
use crate::text::{first_word, printable_json};
use crate::viewer::seat_history::SeatHistory;

/// What a row of a table describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A match.
    Matches,
    /// An entry.
    Entries,
    /// An effect of an entry.
    Effects,
    /// The setup or an entry, with the values at these paths in the view after it.
    Fields(Vec<String>),
}

/// The values of a row and the names of their columns, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow(Vec<(Cow<'static, str>, Value)>);

const MATCH: [&str; 13] = [
    "source",
    "ruleset",
    "version",
    "title",
    "seats",
    "entries",
    "turn",
    "over",
    "winner",
    "result",
    "first_at_ms",
    "last_at_ms",
    "state_hash",
];

const ENTRY: [&str; 10] = [
    "source",
    "seq",
    "seat",
    "command",
    "command_name",
    "outcome",
    "reason",
    "effect_count",
    "state_hash",
    "recorded_at_ms",
];

const EFFECT: [&str; 4] = ["source", "seq", "effect_number", "effect"];

const FIELD: [&str; 2] = ["source", "seq"];

impl TableKind {
    /// Returns the columns. Rows of effects have more: the fields of each effect.
    #[must_use]
    pub fn columns(&self) -> Vec<Cow<'static, str>> {
        let names: &[&'static str] = match self {
            Self::Matches => &MATCH,
            Self::Entries => &ENTRY,
            Self::Effects => &EFFECT,
            Self::Fields(_) => &FIELD,
        };
        let mut columns: Vec<_> = names.iter().map(|name| Cow::from(*name)).collect();
        if let Self::Fields(paths) = self {
            columns.extend(paths.iter().cloned().map(Cow::from));
        }
        columns
    }

    /// Passes the rows of a history to `take`, with no more than its viewer may know. Returns the paths of
    /// [`Fields`](Self::Fields) that some view has, or the columns that only rows of effects have.
    ///
    /// # Errors
    /// [`ReplayError`] if the history cannot be folded, and for fields of a viewer without a view.
    pub fn rows(
        &self,
        seat_history: &SeatHistory,
        take: &mut dyn FnMut(TableRow),
    ) -> Result<Vec<Cow<'static, str>>, ReplayError> {
        let source = seat_history.name().up_to(None).to_string();
        let mut found = Vec::new();
        match self {
            Self::Matches => take(match_row(source, seat_history)?),
            Self::Entries => {
                seat_history.fold(&mut |seen| take(entry_row(&source, seen)))?;
            }
            Self::Effects => {
                seat_history.fold(&mut |seen| effect_rows(&source, seen, &mut found, take))?;
            }
            Self::Fields(paths) => {
                let start = seat_history.start()?;
                let viewer = seat_history.viewer();
                viewer.require_view(start.as_ref())?;
                take(field_row(&source, 0, paths, &mut found, &|path| viewer.field(start.as_ref(), path)));
                seat_history.fold(&mut |seen| {
                    take(field_row(&source, seen.seq(), paths, &mut found, &|path| seen.field(path)));
                })?;
            }
        }
        Ok(found)
    }
}

fn field_row(
    source: &str,
    seq: u64,
    paths: &[String],
    found: &mut Vec<Cow<'static, str>>,
    field: &dyn Fn(&str) -> Option<Value>,
) -> TableRow {
    let mut row = TableRow::new(&FIELD, [source.into(), seq.into()]);
    for path in paths {
        let value = field(path);
        let column = Cow::from(path.clone());
        if value.is_some() && !found.contains(&column) {
            found.push(column.clone());
        }
        row.0.push((column, value.unwrap_or_default()));
    }
    row
}

fn match_row(source: String, seat_history: &SeatHistory) -> Result<TableRow, ReplayError> {
    let mut first_at_ms = None;
    let mut last_at_ms = None;
    let end = seat_history.fold(&mut |seen| {
        last_at_ms = seen.recorded_at_ms();
        first_at_ms = earlier(first_at_ms, last_at_ms);
    })?;
    let standing = seat_history.standing_in(end.as_ref())?;
    let seats = joined(seat_history.start()?.players());
    let winner = standing.result.as_ref().map(|result| joined(&result.winners));
    let rules = seat_history.rules();
    let values: [Value; 13] = [
        source.into(),
        rules.name().into(),
        rules.version().into(),
        seat_history.title().into(),
        seats.into(),
        seat_history.head().into(),
        standing.turn_number.into(),
        standing.result.is_some().into(),
        winner.filter(|winner| !winner.is_empty()).into(),
        standing.result.map(|result| result.to_string()).into(),
        first_at_ms.into(),
        last_at_ms.into(),
        seat_history.viewer().state_hash(end.as_ref()).map(|hash| hash.to_string()).into(),
    ];
    Ok(TableRow::new(&MATCH, values))
}

/// Returns the time of the first of some entries. A clock can go back. No entry is newer than a later one, so the
/// earliest time counts as the first.
pub(super) fn earlier(first_at_ms: Option<i64>, at_ms: Option<i64>) -> Option<i64> {
    match (first_at_ms, at_ms) {
        (Some(first), Some(at)) => Some(first.min(at)),
        (_, at_ms) => at_ms,
    }
}

fn joined(seats: &[impl ToString]) -> String {
    seats.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn entry_row(source: &str, seen: &mut ViewedEntry<'_>) -> TableRow {
    let command = seen.command();
    let outcome = seen.outcome();
    let values: [Value; 10] = [
        source.into(),
        seen.seq().into(),
        seen.seat().to_string().into(),
        command.as_str().into(),
        first_word(&command).into(),
        outcome.kind().into(),
        outcome.code().into(),
        outcome.effects().count().into(),
        seen.viewer.step_hash(seen.step).map(|hash| hash.to_string()).into(),
        seen.recorded_at_ms().into(),
    ];
    TableRow::new(&ENTRY, values)
}

/// Passes the rows of an entry's effects to `take`. A field with the name of another column becomes `effect.NAME`.
fn effect_rows(
    source: &str,
    seen: &mut ViewedEntry<'_>,
    found: &mut Vec<Cow<'static, str>>,
    take: &mut dyn FnMut(TableRow),
) {
    let effects: Vec<serde_json::Map<String, Value>> = match seen.outcome() {
        Outcome::Applied(_) => serde_json::from_str(&seen.step().effects_json()).unwrap_or_default(),
        _ => return,
    };
    for (number, effect) in (1_u64..).zip(effects) {
        let name = effect.get("effect").cloned().unwrap_or_default();
        let mut row = TableRow::new(&EFFECT, [source.into(), seen.seq().into(), number.into(), name]);
        for (field, value) in effect {
            if field == "effect" {
                continue;
            }
            let is_taken = EFFECT.contains(&field.as_str());
            let column = Cow::from(if is_taken { format!("effect.{field}") } else { field });
            if !found.contains(&column) {
                found.push(column.clone());
            }
            row.0.push((column, value));
        }
        take(row);
    }
}

impl TableRow {
    /// Appends values to `out` as a line of CSV after RFC 4180, but with only a line feed at its end. Text is quoted if
    /// necessary, numbers and booleans are plain, lists and objects are JSON, and null is empty.
    pub fn write_csv_values<'a>(values: impl IntoIterator<Item = &'a Value>, out: &mut String) {
        for (index, value) in values.into_iter().enumerate() {
            begin_cell(index, out);
            match value {
                Value::Null => {}
                Value::String(text) => write_csv_text(text, out),
                Value::Bool(_) | Value::Number(_) => {
                    let _ = write!(out, "{value}");
                }
                Value::Array(_) | Value::Object(_) => write_csv_text(&value.to_string(), out),
            }
        }
        out.push('\n');
    }

    /// Appends the names of columns to `out` as a line of CSV.
    pub fn write_csv_header(columns: &[Cow<'static, str>], out: &mut String) {
        let names: Vec<Value> = columns.iter().map(|column| Value::from(&**column)).collect();
        Self::write_csv_values(&names, out);
    }

    fn new<const N: usize>(columns: &[&'static str; N], values: [Value; N]) -> Self {
        let mut row = Self::default();
        for (column, value) in columns.iter().zip(values) {
            row.0.push(((*column).into(), value));
        }
        row
    }

    /// Appends the row to `out` as a line of JSON.
    pub fn write_json(&self, out: &mut String) {
        out.push('{');
        for (index, (column, value)) in self.0.iter().enumerate() {
            begin_cell(index, out);
            let name = Value::from(&**column).to_string();
            let _ = write!(out, "{}:{}", printable_json(&name), printable_json(&value.to_string()));
        }
        out.push_str("}\n");
    }

    /// Appends the row to `out` as a line of CSV.
    pub fn write_csv(&self, out: &mut String) {
        Self::write_csv_values(self.0.iter().map(|(_, value)| value), out);
    }
}

fn begin_cell(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

/// Appends a text. An empty text is quoted, because an empty cell is null.
fn write_csv_text(text: &str, out: &mut String) {
    let is_plain = !text.is_empty() && !text.contains(['"', ',', '\r', '\n']) && text.trim() == text;
    if is_plain {
        out.push_str(text);
        return;
    }
    out.push('"');
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expected: &str) {
        let mut line = String::new();
        TableRow::write_csv_values([value, &Value::Null], &mut line);
        assert_eq!(line, format!("{expected},\n"), "{value}");
    }

    #[test]
    fn csv_quotes_what_needs_quotes() {
        check(&json!("plain text"), "plain text");
        check(&json!("a,b"), "\"a,b\"");
        check(&json!("a \"b\""), "\"a \"\"b\"\"\"");
        check(&json!("two\nlines\r"), "\"two\nlines\r\"");
        check(&json!(""), "\"\"");
        check(&json!(" edge"), "\" edge\"");
        check(&Value::Null, "");
        check(&json!(-7), "-7");
        check(&json!(0.125), "0.125");
        check(&json!(true), "true");
        check(&json!([1, 2]), "\"[1,2]\"");
        check(&json!({"a": "b"}), "\"{\"\"a\"\":\"\"b\"\"}\"");
    }
}
