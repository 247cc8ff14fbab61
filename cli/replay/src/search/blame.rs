//! Blaming: the entries that change a field of the view.

use serde::Serialize;

use crate::compare::difference::Difference;
use crate::error::ReplayError;
use crate::history::record::Record;
use crate::viewer::seat_history::SeatHistory;

/// An entry that changed a field.
#[derive(Debug, Serialize)]
pub struct FieldChange {
    /// The entry.
    #[serde(flatten)]
    pub record: Record,
    /// The field before and after.
    #[serde(flatten)]
    pub difference: Difference,
}

/// Shows each entry that changes the field at a path, in order; returns `true` if any view has that field.
///
/// # Errors
/// What is wrong with the history.
pub fn blame(
    sight: &SeatHistory,
    path: &str,
    observe: &mut dyn FnMut(FieldChange),
) -> Result<bool, ReplayError> {
    let mut value = sight.field(sight.start()?.as_ref(), path);
    let mut found = value.is_some();
    sight.fold(&mut |seen| {
        let new = seen.field(path);
        found |= new.is_some();
        if new != value {
            let old = std::mem::replace(&mut value, new.clone());
            let difference = Difference { path: path.into(), old, new };
            observe(FieldChange { record: seen.record(), difference });
        }
    })?;
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
    fn blame_plainly(sight: &SeatHistory, viewer: Viewer, path: &str) -> (bool, Vec<Change>) {
        let field = |view: &str| document(view).pointer(path).cloned();
        let mut value = field(&viewer.view_json(sight.start().unwrap().as_ref()));
        let (mut found, mut changes) = (value.is_some(), Vec::new());
        let folded = sight.fold(&mut |seen| {
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
            for line in random_play(5, 60) {
                let sight = SeatHistory::of(viewer, line).unwrap();
                let end = document(&viewer.view_json(sight.state().unwrap().as_ref()));
                let paths = paths(&end);
                let some = paths.iter().map(String::as_str).step_by(paths.len().div_ceil(12));
                for path in some.chain(["", "/ruleset", "/nowhere", "/units/0", "no path"]) {
                    let mut observed = Vec::new();
                    let found = blame(&sight, path, &mut |FieldChange { record, difference }| {
                        assert_eq!(difference.path, path);
                        observed.push((record.seq.unwrap(), difference.old, difference.new));
                    });
                    changes += observed.len();
                    let plain = blame_plainly(&sight, viewer, path);
                    assert_eq!((found.unwrap(), observed), plain, "{} {viewer} {path}", sight.name());
                }
            }
        }
        assert!(changes > 1_000, "{changes} changes");
    }
}
