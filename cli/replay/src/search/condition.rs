//! Conditions on views, written `PATH OP VALUE`, such as `/pools/p1/available < 0`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::search::path::{Lost, check_path};

/// A condition on a view. It is false where the path leads nowhere, unless it asks for `!=`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// A JSON pointer (RFC 6901) into the view.
    path: String,
    comparison: Comparison,
    /// A JSON value; a bare word is the string.
    value: Value,
}

/// A condition that makes no sense in the views that it was asked of.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// It compares values of two kinds.
    #[error(
        "`{condition}` compares {} with {}, as `{}` is `{}`",
        kind(found), kind(&condition.value), condition.path, shortened(found)
    )]
    OtherKind {
        /// The condition.
        condition: Box<Condition>,
        /// A value that a view has.
        found: Value,
    },
    /// It is on a field that no view has.
    #[error("`{path}` is nowhere in the view, after any entry: {lost}")]
    NoField {
        /// The path to the field.
        path: String,
        /// Where it leads, and what may have been meant.
        lost: Lost,
    },
}

impl ConditionError {
    /// Returns what to write instead, where that can be guessed.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::OtherKind { found, .. } => Some(hint(found).into()),
            Self::NoField { lost, .. } => lost.meant().map(|meant| format!("did you mean `{meant}`?")),
        }
    }
}

/// What the views looked at have shown of a condition: whether its question can be asked of them at all.
#[derive(Debug, Default)]
pub struct Survey {
    /// Some view has a value that the condition's can be compared with.
    is_comparable: bool,
    /// A value of another kind.
    other_kind: Option<Value>,
    /// The view in which the path leads furthest, where it leads to nothing.
    lost: Option<Lost>,
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

/// What stands between conditions or compares elsewhere, and is not supported.
const OPERATORS: [&str; 7] = ["&&", "||", "==", "!=", "<", ">", "="];

/// The most characters of a field's value that an error shows.
const VALUE_CHARACTERS_MAX: usize = 60;

impl Comparison {
    /// Longer signs first, so that `<=` is not read as `<`.
    const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::LessOrEqual, Self::GreaterOrEqual, Self::Less, Self::Greater];

    /// Returns `true` if it asks which of two values comes first.
    const fn is_of_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }

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

impl Survey {
    /// Returns `true` if the condition could be asked of a view.
    pub(crate) fn is_comparable(&self) -> bool {
        self.is_comparable
    }
}

impl Condition {
    /// Returns `true` if the condition holds in a view, and takes into the survey what the view shows of it; `view`
    /// returns what a path leads to.
    pub fn ask(&self, view: &dyn Fn(&str) -> Option<Value>, survey: &mut Survey) -> bool {
        let found = view(&self.path);
        match &found {
            Some(found) if is_comparable(found, &self.value) => survey.is_comparable = true,
            Some(found) => survey.other_kind = Some(found.clone()),
            None if survey.is_comparable => {}
            None => {
                let lost = Lost::in_view(&self.path, &view("").unwrap_or_default());
                if survey.lost.as_ref().is_none_or(|known| lost.is_as_far_as(known)) {
                    survey.lost = Some(lost);
                }
            }
        }
        self.holds(found.as_ref())
    }

    /// Requires that the condition's question could be asked of some of the views looked at.
    ///
    /// # Errors
    /// [`ConditionError`], which says what there is instead.
    pub fn check(&self, survey: &Survey) -> Result<(), ConditionError> {
        let Survey { is_comparable: false, other_kind, lost } = survey else { return Ok(()) };
        match (other_kind, lost) {
            (Some(found), _) => {
                Err(ConditionError::OtherKind { condition: Box::new(self.clone()), found: found.clone() })
            }
            (None, Some(lost)) => {
                Err(ConditionError::NoField { path: self.path.clone(), lost: lost.clone() })
            }
            (None, None) => Ok(()),
        }
    }

    /// Returns `true` if the condition holds in a view; `view` returns what a path leads to.
    pub(crate) fn holds_in(&self, view: impl FnOnce(&str) -> Option<Value>) -> bool {
        self.holds(view(&self.path).as_ref())
    }

    /// Returns `true` if the condition holds for what the path leads to.
    fn holds(&self, found: Option<&Value>) -> bool {
        let Some(found) = found else { return self.comparison == Comparison::NotEqual };
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

/// Returns the order of two numbers or two strings; nothing else has an order.
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

/// Returns `true` if two values are of one kind, or one of them is null, which any field may be for a while.
fn is_comparable(found: &Value, value: &Value) -> bool {
    found.is_null() || value.is_null() || kind(found) == kind(value)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns how a value of this kind is written.
fn hint(found: &Value) -> &'static str {
    match found {
        Value::String(_) => "write a string with quotes where it could be taken for a number, as in `\"7\"`",
        Value::Array(_) => {
            "write an array as JSON, as in `[0,3]`, or go on in the path to one of its elements"
        }
        Value::Object(_) => "go on in the path to one of its fields",
        Value::Number(_) => "write a number, as in `7`",
        Value::Bool(_) => "write `true` or `false`",
        Value::Null => "write `null`",
    }
}

/// Writes a value so that it fits into an error.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected `PATH OP VALUE` with ==, !=, <, <=, > or >=, found `{text}`");
        let at = text.find(is_sign).ok_or_else(expected)?;
        let (path, rest) = text.split_at(at);
        let (path, rest) = (path.trim(), rest.trim_end());
        let comparison = Comparison::ALL.into_iter().find(|comparison| rest.starts_with(comparison.sign()));
        let comparison = comparison.ok_or_else(expected)?;
        let sign = comparison.sign();
        check_path(path)?;
        if let Some(operator) = ["&&", "||"].into_iter().find(|operator| path.contains(operator)) {
            return Err(format!("expected one comparison, found `{operator}` in `{path}`"));
        }
        let value = rest.get(sign.len()..).unwrap_or_default().trim();
        if value.is_empty() {
            return Err(format!("expected a value after `{sign}` in `{text}`"));
        }
        let value = read_value(value)?;
        if comparison.is_of_order() && !(value.is_number() || value.is_string()) {
            return Err(format!("expected a number or a string after `{sign}`, found {}", kind(&value)));
        }
        Ok(Self { path: path.into(), comparison, value })
    }
}

/// Returns `true` if a character begins an operator.
fn is_sign(character: char) -> bool {
    "=!<>".contains(character)
}

/// Reads a JSON value, or a bare word. What could be meant as a second condition is no bare word.
fn read_value(text: &str) -> Result<Value, String> {
    let Ok(value) = serde_json::from_str(text) else {
        return match OPERATORS.into_iter().find(|operator| text.contains(operator)) {
            Some(operator) => Err(format!(
                "expected one comparison, found `{operator}` after its value; a string that holds it is written \
                 with quotes, as in `\"a {operator} b\"`"
            )),
            None => Ok(Value::String(text.into())),
        };
    };
    match value {
        Value::Number(number) if !(number.is_i64() || number.is_u64()) => {
            Err(format!("expected a whole number, found `{text}`; views hold no others"))
        }
        value => Ok(value),
    }
}

impl fmt::Display for Condition {
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
            ("/turn >= 3", true),
            ("/turn < 3", false),
            ("/phase == end", true),
            ("/phase != \"end\"", false),
            ("/units/0/at == [0,3]", true),
            ("/units/0/alive == false", true),
            ("/winner == null", true),
            ("/winner < 1", false),
            ("/units/7/alive == false", false),
            ("/units/7/alive != false", true),
            ("/phase < \"x == y\"", true),
            ("/phase == a b", false),
            ("/a~1b != 3", true),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.holds(view.pointer(&condition.path)), holds, "{text}");
        }
    }

    #[test]
    fn a_field_that_no_view_has_is_lost_where_some_view_leads_furthest() {
        let condition: Condition = "/units/0/x == 1".parse().unwrap();
        let mut survey = Survey::default();
        for view in [json!({"units": [{"id": "a"}]}), json!({"turn": 1})] {
            assert!(!condition.ask(&|path| view.pointer(path).cloned(), &mut survey));
        }
        let error = condition.check(&survey).unwrap_err().to_string();
        assert!(error.ends_with("`/units/0` has `id`"), "{error}");
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in [
            "",
            "/turn",
            "turn == 3",
            "/turn ==",
            "/turn ~ 3",
            "/turn = 3",
            "/turn === 3",
            "/turn =~ 3",
            "/turn <> 3",
            "/turn == 3 && /phase == end",
            "/phase == end || /turn == 3",
            "/phase == end and /turn == 3",
            "/turn && /phase == end",
            "/turn == 1.5",
            "/turn == 99999999999999999999",
            "/turn < null",
            "/turn >= [1]",
        ] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }
}
