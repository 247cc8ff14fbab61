//! Paths into views, and what a view has where a path leads nowhere.

use std::fmt;

use serde_json::Value;

use crate::search::condition::Condition;
use crate::text::counted;

const NAMES_MAX: usize = 16;

/// The similarity from which a name is suggested in place of another. It is clap's limit, too.
const LIKENESS_MIN: f64 = 0.7;

impl Condition {
    /// Requires a JSON pointer: empty, or beginning with a slash.
    ///
    /// # Errors
    /// A message with what was expected and found.
    pub fn check_path(path: &str) -> Result<(), String> {
        if path.is_empty() || path.starts_with('/') {
            return Ok(());
        }
        Err(format!("expected a path into the view such as `/turn` or `/units/0/at`, found `{path}`"))
    }
}

/// The point at which a path into a view leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The longest part of the path that leads to a value; empty is the whole view.
    found: String,
    there: There,
    /// The path with its next step replaced by a similar name, if there is one.
    meant: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum There {
    Fields(Vec<String>),
    Elements(usize),
    /// A value without parts.
    Scalar,
}

impl Lost {
    pub(crate) fn in_view(path: &str, view: &Value) -> Self {
        let mut found = "";
        let mut value = view;
        for (end, _) in path.match_indices('/') {
            let prefix = path.get(..end).unwrap_or_default();
            if let Some(further) = view.pointer(prefix) {
                found = prefix;
                value = further;
            }
        }
        let rest = path.get(found.len()..).unwrap_or_default().trim_start_matches('/');
        let (step, after) = rest.split_once('/').unwrap_or((rest, ""));
        let mut meant = None;
        let there = match value {
            Value::Object(fields) => {
                if let Some(name) = name_like(fields.keys().map(String::as_str), step) {
                    let long = format!("{found}/{name}/{after}");
                    let is_there = view.pointer(&long).is_some();
                    meant = Some(if is_there { long } else { format!("{found}/{name}") });
                }
                There::Fields(fields.keys().cloned().collect())
            }
            Value::Array(elements) => There::Elements(elements.len()),
            _ => There::Scalar,
        };
        Self { found: found.into(), there, meant }
    }

    pub(crate) fn is_as_far_as(&self, other: &Self) -> bool {
        self.found.len() >= other.found.len()
    }

    pub(crate) fn meant(&self) -> Option<&str> {
        self.meant.as_deref()
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

impl fmt::Display for Lost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            out.write_str("the view")?;
        } else {
            write!(out, "`{}`", self.found)?;
        }
        match &self.there {
            There::Fields(names) if names.is_empty() => out.write_str(" has no fields"),
            There::Fields(names) => {
                let listed: Vec<_> = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
                write!(out, " has {}", listed.join(", "))?;
                match names.len().saturating_sub(NAMES_MAX) {
                    0 => Ok(()),
                    more => write!(out, " and {more} more"),
                }
            }
            There::Elements(0) => out.write_str(" is empty"),
            There::Elements(count) => {
                write!(out, " has {}, from 0 on", counted(*count as u64, "element", "elements"))
            }
            There::Scalar => out.write_str(" has no parts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, expected: &str, meant: Option<&str>) {
        let view = json!({"turn": 3, "units": [{"id": "a", "at": [0, 3]}], "moved": [], "pools": {}});
        let lost = Lost::in_view(path, &view);
        assert_eq!((lost.to_string().as_str(), lost.meant()), (expected, meant), "{path}");
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
