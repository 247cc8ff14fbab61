//! Finds the entries that change a field of the view, or whether a condition holds.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use crate::compare::Difference;
use crate::error::ReplayError;
use crate::history::entry::Record;
use crate::search::condition::{Condition, Survey};
use crate::viewer::seat_history::SeatHistory;

/// What to watch from entry to entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Blamed {
    /// The field at a path.
    Field(String),
    /// Whether a condition holds.
    Condition(Condition),
}

impl FromStr for Blamed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_condition = !text.starts_with('/') && text.contains('/') || text.contains(['=', '<', '>']);
        match text.parse() {
            Ok(condition) => Ok(Self::Condition(condition)),
            Err(cause) if is_condition => Err(cause),
            Err(_) => Condition::check_path(text).map(|()| Self::Field(text.into())),
        }
    }
}

impl fmt::Display for Blamed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => out.write_str(path),
            Self::Condition(condition) => condition.fmt(out),
        }
    }
}

impl Blamed {
    fn value(&self, view: &dyn Fn(&str) -> Option<Value>, survey: &mut Survey) -> Option<Value> {
        match self {
            Self::Field(path) => view(path),
            Self::Condition(condition) => Some(condition.ask(view, survey).into()),
        }
    }
}

/// An entry that changed a field, or whether a condition holds.
#[derive(Debug, Serialize)]
pub struct FieldChange {
    /// The entry.
    #[serde(flatten)]
    pub record: Record,
    /// The field's value before and after, or whether the condition held.
    #[serde(flatten)]
    pub difference: Difference,
}

/// Passes each entry that changes the field, or whether the condition holds, to `observe`, in order. Returns `true` if
/// any view has the field; always `true` for a condition.
///
/// # Errors
/// [`ReplayError`] for a viewer without a view, if the history cannot be folded, and for a condition that makes no
/// sense in any of its views.
pub fn blame(
    seat_history: &SeatHistory,
    blamed: &Blamed,
    observe: &mut dyn FnMut(FieldChange),
) -> Result<bool, ReplayError> {
    let start = seat_history.start()?;
    let mut survey = Survey::default();
    seat_history.viewer().require_view(start.as_ref())?;
    let mut value = blamed.value(&|path| seat_history.viewer().field(start.as_ref(), path), &mut survey);
    let mut found = value.is_some();
    seat_history.fold(&mut |seen| {
        let new = blamed.value(&|path| seen.field(path), &mut survey);
        found |= new.is_some();
        if new != value {
            let old = std::mem::replace(&mut value, new.clone());
            let difference = Difference { path: blamed.to_string(), old, new };
            observe(FieldChange { record: seen.record(), difference });
        }
    })?;
    survey.check()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::example::random_play;
    use crate::viewer::Viewer;

    type Change = (u64, Option<Value>, Option<Value>);

    fn document(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    /// Compares whole documents; returns whether any has the field, and its changes.
    fn blame_plainly(seat_history: &SeatHistory, viewer: Viewer, path: &str) -> (bool, Vec<Change>) {
        let field = |view: &str| document(view).pointer(path).cloned();
        let mut value = field(&viewer.view_json(seat_history.start().unwrap().as_ref()));
        let (mut found, mut changes) = (value.is_some(), Vec::new());
        let folded = seat_history.fold(&mut |seen| {
            let new = field(&viewer.step_view(seen.step));
            found |= new.is_some();
            if new != value {
                changes.push((seen.seq(), std::mem::replace(&mut value, new.clone()), new));
            }
        });
        folded.unwrap();
        (found, changes)
    }

    /// Returns the paths to everything in a document.
    fn paths(document: &Value) -> Vec<String> {
        let mut paths = vec![String::new()];
        let mut at = 0;
        while let Some(path) = paths.get(at).cloned() {
            at += 1;
            match document.pointer(&path) {
                Some(Value::Object(fields)) => {
                    paths.extend(fields.keys().map(|name| format!("{path}/{name}")));
                }
                Some(Value::Array(elements)) => {
                    paths.extend((0..elements.len()).map(|index| format!("{path}/{index}")));
                }
                _ => {}
            }
        }
        paths
    }

    #[test]
    fn blame_is_what_comparing_whole_documents_finds_on_every_ruleset_for_every_eyes() {
        let mut changes = 0;
        for viewer in ["host", "p1", "p2"].map(|seat| seat.parse::<Viewer>().unwrap()) {
            for history in random_play(5, 60) {
                let seat_history = SeatHistory::of(viewer, history).unwrap();
                let end = document(&viewer.view_json(seat_history.state().unwrap().as_ref()));
                let paths = paths(&end);
                let some = paths.iter().map(String::as_str).step_by(paths.len().div_ceil(12));
                for path in some.chain(["", "/ruleset", "/nowhere", "/units/0", "no path"]) {
                    let mut observed = Vec::new();
                    let field = Blamed::Field(path.into());
                    let found = blame(&seat_history, &field, &mut |FieldChange { record, difference }| {
                        assert_eq!(difference.path, path);
                        observed.push((record.seq.unwrap(), difference.old, difference.new));
                    });
                    changes += observed.len();
                    let plain = blame_plainly(&seat_history, viewer, path);
                    assert_eq!((found.unwrap(), observed), plain, "{} {viewer} {path}", seat_history.name());
                }
            }
        }
        assert!(changes > 1_000, "{changes} changes");
    }

    #[test]
    fn a_path_is_a_field_and_a_comparison_a_condition() {
        for (text, is_condition) in [
            ("", false),
            ("/turn", false),
            ("/units/0/at", false),
            ("/turn == 3", true),
            ("count(/units/*) < 2", true),
            ("!(/turn >= 3 || /phase == end)", true),
        ] {
            let blamed: Blamed = text.parse().unwrap();
            assert_eq!(matches!(blamed, Blamed::Condition(_)), is_condition, "{text}");
            assert_eq!(blamed.to_string().parse(), Ok(blamed), "{text}");
        }
        for text in ["turn", "/turn ==", "(/turn == 3", "count(/units/*)", "!/turn"] {
            assert!(text.parse::<Blamed>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_condition_changes_where_looking_at_each_view_finds_that_it_does() {
        let mut changes = 0;
        for (history, condition) in random_play(5, 60).into_iter().zip(std::iter::repeat("/turn > 1")) {
            let (condition, mut expected): (Condition, _) = (condition.parse().unwrap(), Vec::new());
            let viewer: Viewer = "p1".parse().unwrap();
            let seat_history = SeatHistory::of(viewer, history).unwrap();
            let holds = |view: &str| condition.holds_in(&|path| document(view).pointer(path).cloned());
            let mut held = holds(&viewer.view_json(seat_history.start().unwrap().as_ref()));
            let folded = seat_history.fold(&mut |seen| {
                let now = holds(&viewer.step_view(seen.step));
                if now != held {
                    expected.push((seen.seq(), Some(Value::Bool(held)), Some(Value::Bool(now))));
                }
                held = now;
            });
            folded.unwrap();
            let mut observed = Vec::new();
            let blamed = Blamed::Condition(condition.clone());
            let found = blame(&seat_history, &blamed, &mut |FieldChange { record, difference }| {
                observed.push((record.seq.unwrap(), difference.old, difference.new));
            });
            // Games without turns have no such field.
            if found.is_ok() {
                assert_eq!(observed, expected, "{}", seat_history.name());
                changes += observed.len();
            }
        }
        assert!(changes > 2, "{changes} changes");
    }
}
