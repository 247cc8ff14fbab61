//! Why a condition makes no sense in a view.

use serde_json::Value;

use super::comparison::{Obstacle, ViewComparison, found_part, kind};
use crate::text::{counted, quoted_list};

const NAMES_MAX: usize = 16;

/// The similarity from which a name is suggested in place of another. It is clap's limit, too.
const LIKENESS_MIN: f64 = 0.7;

const VALUE_CHARACTERS_MAX: usize = 60;

/// A condition that makes no sense in the views that were examined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConditionError {
    message: String,
    advice: Option<String>,
}

impl ConditionError {
    pub(super) fn of(comparison: &ViewComparison, obstacle: &Obstacle) -> Self {
        match obstacle {
            Obstacle::OtherKind(value) => Self::other_kind(comparison, value),
            Obstacle::NoField { view, .. } => {
                Self::no_field(comparison.path(), &comparison.first_path(view), view)
            }
        }
    }

    /// Returns the error for a comparison with a value of another kind in a view.
    fn other_kind(comparison: &ViewComparison, value: &Value) -> Self {
        let with = comparison.compared_with();
        let note = match with {
            Some(Value::String(text)) if text.starts_with('/') => {
                "; what stands at the right is a value, and no path is read there"
            }
            _ => "",
        };
        let mut shown = value.to_string();
        if let Some((end, _)) = shown.char_indices().nth(VALUE_CHARACTERS_MAX) {
            shown.truncate(end);
            shown.push('…');
        }
        let message = format!(
            "`{comparison}` compares {} with {}, as `{}` is `{shown}`{note}",
            kind(value),
            with.map_or("nothing", kind),
            comparison.path()
        );
        let advice = match value {
            Value::String(_) => {
                "write a string with quotes where it could be taken for a number, as in `\"7\"`"
            }
            Value::Array(_) => {
                "write an array as JSON, as in `[0,3]`, or go on in the path to one of its elements"
            }
            Value::Object(_) => "go on in the path to one of its fields",
            Value::Number(_) => "write a number, as in `7`",
            Value::Bool(_) => "write `true` or `false`",
            Value::Null => "write `null`",
        };
        Self { message, advice: Some(advice.into()) }
    }

    /// Returns the error for a path that leads nowhere in a view. `tried` is the path with a name for each `*`.
    fn no_field(path: &str, tried: &str, view: &Value) -> Self {
        let (found, value) = found_part(tried, view);
        let rest = tried.get(found.len()..).unwrap_or_default().trim_start_matches('/');
        let (step, after) = rest.split_once('/').unwrap_or((rest, ""));
        let mut advice = None;
        let there = match value {
            Value::Object(fields) if fields.is_empty() => "has no fields".into(),
            Value::Object(fields) => {
                if let Some(name) = name_like(fields.keys().map(String::as_str), step) {
                    let long = format!("{found}/{name}/{after}");
                    let is_there = view.pointer(&long).is_some();
                    let meant = if is_there { long } else { format!("{found}/{name}") };
                    advice = Some(format!("did you mean `{meant}`?"));
                }
                let names: Vec<String> = fields.keys().take(NAMES_MAX).cloned().collect();
                let listed = quoted_list(&names);
                match fields.len() - names.len() {
                    0 => format!("has {listed}"),
                    more => format!("has {listed} and {more} more"),
                }
            }
            Value::Array(elements) if elements.is_empty() => "is empty".into(),
            Value::Array(elements) => {
                format!("has {}, from 0 on", counted(elements.len() as u64, "element", "elements"))
            }
            _ => "has no parts".into(),
        };
        let place = if found.is_empty() { "the view".into() } else { format!("`{found}`") };
        let message = format!("`{path}` is nowhere in the view, after any entry: {place} {there}");
        Self { message, advice }
    }

    pub(crate) fn advice(&self) -> Option<String> {
        self.advice.clone()
    }
}

/// Returns the name most similar to another, if any is similar enough.
pub fn name_like<'a>(names: impl IntoIterator<Item = &'a str>, other: &str) -> Option<&'a str> {
    let mut best = None;
    let mut likeness_min = LIKENESS_MIN;
    for name in names {
        let likeness = strsim::jaro_winkler(name, other);
        if likeness >= likeness_min {
            best = Some(name);
            likeness_min = likeness;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, expected: &str, meant: Option<&str>) {
        let view = json!({"turn": 3, "units": [{"id": "a", "at": [0, 3]}], "moved": [], "pools": {}});
        let error = ConditionError::no_field(path, path, &view);
        let expected = format!("`{path}` is nowhere in the view, after any entry: {expected}");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.advice(), meant.map(|meant| format!("did you mean `{meant}`?")), "{path}");
    }

    #[test]
    fn a_lost_path_shows_where_it_is_lost_and_what_it_may_have_meant() {
        let all = "the view has `turn`, `units`, `moved`, `pools`";
        check("/unit/0/at", all, Some("/units/0/at"));
        check("/unit/7/at", all, Some("/units"));
        check("/trun", all, Some("/turn"));
        check("/winner", all, None);
        check("/units/1/at", "`/units` has 1 element, from 0 on", None);
        check("/units/a", "`/units` has 1 element, from 0 on", None);
        check("/units/0/att", "`/units/0` has `id`, `at`", Some("/units/0/at"));
        check("/moved/0", "`/moved` is empty", None);
        check("/turn/x", "`/turn` has no parts", None);
        check("/pools/p1", "`/pools` has no fields", None);
        check("/", all, None);
    }
}
