//! Conditions on views, written `PATH OP VALUE`, such as `/pools/p1/available < 0`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A condition on a view. It is false where the path leads nowhere, unless it asks for `!=`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicate {
    /// A JSON pointer (RFC 6901) into the view.
    path: String,
    comparison: Comparison,
    /// A JSON value; a bare word is the string.
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Longer signs first, so that `<=` is not read as `<`.
    const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::LessOrEqual, Self::GreaterOrEqual, Self::Less, Self::Greater];

    const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Predicate {
    /// Tells whether the condition holds in a view.
    pub(crate) fn holds(&self, view: &Value) -> bool {
        let Some(found) = view.pointer(&self.path) else {
            return self.comparison == Comparison::NotEqual;
        };
        let order = order(found, &self.value);
        match self.comparison {
            Comparison::Equal => *found == self.value,
            Comparison::NotEqual => *found != self.value,
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Compares two numbers or two strings; nothing else has an order.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            // Beyond i64 only what is not negative has a place in JSON integers.
            _ => left.as_u64().zip(right.as_u64()).map(|(left, right)| left.cmp(&right)),
        },
    }
}

/// Requires a JSON pointer: empty, or beginning with a slash.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    if path.is_empty() || path.starts_with('/') {
        return Ok(());
    }
    Err(format!("expected a path into the view such as `/turn` or `/units/0/at`, found `{path}`"))
}

impl FromStr for Predicate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = |comparison: Comparison| {
            let (path, value) = text.split_once(comparison.sign())?;
            Some((path.trim(), comparison, value.trim()))
        };
        let Some((path, comparison, value)) = Comparison::ALL.into_iter().find_map(split) else {
            return Err(format!("expected `PATH OP VALUE` with ==, !=, <, <=, > or >=, found `{text}`"));
        };
        check_path(path)?;
        if value.is_empty() {
            return Err(format!("expected a value after `{}` in `{text}`", comparison.sign()));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
        Ok(Self { path: path.into(), comparison, value })
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.path, self.comparison.sign(), self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_read_and_hold_or_not() {
        let view =
            json!({"turn": 3, "phase": "end", "units": [{"at": [0, 3], "alive": false}], "winner": null});
        for (text, holds) in [
            ("/turn == 3", true),
            ("/turn>2", true),
            ("/turn <= 2", false),
            ("/phase == end", true),
            ("/phase != \"end\"", false),
            ("/units/0/at == [0,3]", true),
            ("/units/0/alive == false", true),
            ("/winner == null", true),
            ("/winner < 1", false),
            ("/units/7/alive == false", false),
            ("/units/7/alive != false", true),
        ] {
            assert_eq!(text.parse::<Predicate>().unwrap().holds(&view), holds, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in ["", "/turn", "turn == 3", "/turn ==", "/turn ~ 3"] {
            assert!(text.parse::<Predicate>().is_err(), "{text}");
        }
    }
}
