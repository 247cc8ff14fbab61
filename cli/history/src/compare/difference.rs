//! The difference of two views, field by field.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::text::printable;

/// A field in which two views differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The field's path, a JSON pointer.
    pub path: String,
    /// The field's value in the first view; absent if only the second has the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old: Option<Value>,
    /// The field's value in the second view; absent if only the first has the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let old = side_text(self.old.as_ref());
        let new = side_text(self.new.as_ref());
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(out, "{} {} → {}", printable(path), printable(&old), printable(&new))
    }
}

pub(super) fn side_text(value: Option<&Value>) -> String {
    match value {
        Some(value) => value.to_string(),
        None => "(none)".into(),
    }
}

impl Difference {
    /// Returns the fields in which two views differ, in the order of the views.
    ///
    /// Objects are compared by key. A short array of scalars, such as a hex, is one field; so are arrays of scalars of
    /// which one is empty. Arrays of objects that all have an `id` are matched by it. The path then has the index in the
    /// second view, or the index in the first for an object that only the first has. All other arrays are compared by
    /// index, as are objects that share an id or changed their order, because matching would hide that.
    #[must_use]
    pub fn between(old: &Value, new: &Value) -> Vec<Self> {
        let mut comparison = FieldComparison { path: String::new(), found: Vec::new() };
        comparison.values(Some(old), Some(new));
        comparison.found
    }
}

struct FieldComparison {
    path: String,
    found: Vec<Difference>,
}

impl FieldComparison {
    fn values(&mut self, old: Option<&Value>, new: Option<&Value>) {
        if old == new {
            return;
        }
        match (old, new) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => self.objects(old, new),
            (Some(Value::Array(old)), Some(Value::Array(new))) if !is_one_field(old, new) => {
                self.arrays(old, new);
            }
            _ => {
                let path = self.path.clone();
                self.found.push(Difference { path, old: old.cloned(), new: new.cloned() });
            }
        }
    }

    fn objects(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for (key, value) in old {
            self.under(key, Some(value), new.get(key));
        }
        for (key, value) in new {
            if !old.contains_key(key) {
                self.under(key, None, Some(value));
            }
        }
    }

    fn arrays(&mut self, old: &[Value], new: &[Value]) {
        if let (Some(old_indexes), Some(new_indexes)) = (indexes_by_id(old), indexes_by_id(new))
            && old.iter().filter_map(|value| new_indexes.get(&id_of(value)?)).is_sorted()
        {
            for (index, value) in old.iter().enumerate() {
                let new_index = id_of(value).and_then(|id| new_indexes.get(&id).copied());
                let other = new_index.and_then(|index| new.get(index));
                self.under(&new_index.unwrap_or(index).to_string(), Some(value), other);
            }
            for (index, value) in new.iter().enumerate() {
                if id_of(value).is_some_and(|id| !old_indexes.contains_key(&id)) {
                    self.under(&index.to_string(), None, Some(value));
                }
            }
            return;
        }
        for index in 0..old.len().max(new.len()) {
            self.under(&index.to_string(), old.get(index), new.get(index));
        }
    }

    fn under(&mut self, key: &str, old: Option<&Value>, new: Option<&Value>) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&key.replace('~', "~0").replace('/', "~1"));
        self.values(old, new);
        self.path.truncate(length);
    }
}

/// The most elements of a non-empty array that is one field: a hex has two coordinates or three.
const FIELD_ELEMENTS_MAX: usize = 3;

/// Returns `true` if two arrays are one field, such as a hex, rather than lists. A long list, such as the squares of a
/// board, is compared by element, because a single difference would hide which element changed.
fn is_one_field(old: &[Value], new: &[Value]) -> bool {
    let is_short = old.len().max(new.len()) <= FIELD_ELEMENTS_MAX;
    is_flat(old) && is_flat(new) && (is_short || old.is_empty() || new.is_empty())
}

fn is_flat(array: &[Value]) -> bool {
    array.iter().all(|value| !value.is_array() && !value.is_object())
}

fn id_of(value: &Value) -> Option<String> {
    let id = value.get("id")?;
    if id.is_string() || id.is_number() { Some(id.to_string()) } else { None }
}

fn indexes_by_id(array: &[Value]) -> Option<BTreeMap<String, usize>> {
    let mut indexes = BTreeMap::new();
    for (index, value) in array.iter().enumerate() {
        if indexes.insert(id_of(value)?, index).is_some() {
            return None;
        }
    }
    Some(indexes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(old: &Value, new: &Value, expected: &[&str]) {
        let found: Vec<_> = Difference::between(old, new).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn fields_are_named_in_the_order_of_the_view() {
        let old = json!({"turn": 1, "pools": {"p1": {"available": 4}}, "a/b~c": null, "gone": 1});
        let new = json!({"turn": 2, "pools": {"p1": {"available": 3}}, "a/b~c": "x", "come": [1]});
        check(
            &old,
            &new,
            &[
                "/turn 1 → 2",
                "/pools/p1/available 4 → 3",
                r#"/a~1b~0c null → "x""#,
                "/gone 1 → (none)",
                "/come (none) → [1]",
            ],
        );
    }

    #[test]
    fn short_arrays_of_scalars_are_one_field_and_other_arrays_go_by_index() {
        let old = json!({"at": [0, 3], "moved": [], "blocked": [[0, 1], [0, 2]]});
        let new = json!({"at": [1, 3], "moved": ["a1"], "blocked": [[0, 1], [5, 5], [6, 6]]});
        let expected = [
            "/at [0,3] → [1,3]",
            r#"/moved [] → ["a1"]"#,
            "/blocked/1 [0,2] → [5,5]",
            "/blocked/2 (none) → [6,6]",
        ];
        check(&old, &new, &expected);
    }

    #[test]
    fn a_place_of_a_long_array_of_scalars_is_a_field() {
        let squares = vec![json!("."); 42];
        let mut after = squares.clone();
        after[38] = json!("x");
        check(&json!({"squares": squares}), &json!({"squares": after}), &[r#"/squares/38 "." → "x""#]);
        check(&json!([1, 2, 3]), &json!([1, 2, 3, 4]), &["/3 (none) → 4"]);
        check(&json!([1, 2, 3, 4]), &json!([1, 2, 5]), &["/2 3 → 5", "/3 4 → (none)"]);
        check(&json!([1, 2, 3, 4]), &json!([]), &["/ [1,2,3,4] → []"]);
    }

    #[test]
    fn objects_with_ids_are_matched_by_id() {
        let old = json!([{"id": "a", "hp": 1}, {"id": "b", "hp": 2}, {"id": "c", "hp": 3}]);
        let new = json!([{"id": "b", "hp": 2}, {"id": "c", "hp": 1}, {"id": "d"}]);
        let expected = [r#"/0 {"id":"a","hp":1} → (none)"#, "/1/hp 3 → 1", r#"/2 (none) → {"id":"d"}"#];
        check(&old, &new, &expected);
    }

    #[test]
    fn a_new_order_is_a_difference() {
        let old = json!([{"id": "a"}, {"id": "b"}]);
        check(&old, &json!([{"id": "b"}, {"id": "a"}]), &[r#"/0/id "a" → "b""#, r#"/1/id "b" → "a""#]);
        check(&old, &json!([{"id": "a"}, {"id": "a"}]), &[r#"/1/id "b" → "a""#]);
    }
}
