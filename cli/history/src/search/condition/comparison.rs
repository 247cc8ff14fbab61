//! Compares values in a view with a given value.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use super::decimal::Decimal;

/// A comparison. With a `*` in its path, it holds if it holds for any of the values that the path matches.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewComparison {
    pub(super) subject: ComparedValue,
    pub(super) sign: Sign,
    /// The JSON value on the right; a bare word is a string.
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ComparedValue {
    /// The value at a path.
    Field(String),
    /// The number of values: of all that a path matches, or only of those for which a comparison holds.
    Count { path: String, only: Option<(Sign, Value)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Sign {
    /// Longer signs first, so that `<=` is not read as `<`.
    pub(super) const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::LessOrEqual, Self::GreaterOrEqual, Self::Less, Self::Greater];

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = order(left, right);
        match self {
            Self::Equal => is_same(left, right),
            Self::NotEqual => !is_same(left, right),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

impl ViewComparison {
    pub(super) fn path(&self) -> &str {
        match &self.subject {
            ComparedValue::Field(path) | ComparedValue::Count { path, .. } => path,
        }
    }

    /// Returns what the values at the path are compared with. A plain count compares them with nothing.
    pub(super) fn compared_with(&self) -> Option<&Value> {
        match &self.subject {
            ComparedValue::Field(_) => Some(&self.value),
            ComparedValue::Count { only: Some((_, value)), .. } => Some(value),
            ComparedValue::Count { only: None, .. } => None,
        }
    }

    pub(super) fn holds(&self, found: &[Value]) -> bool {
        match &self.subject {
            ComparedValue::Field(path) if found.is_empty() && split_at_star(path).1.is_none() => {
                self.sign == Sign::NotEqual
            }
            ComparedValue::Field(_) => found.iter().any(|found| self.sign.holds(found, &self.value)),
            ComparedValue::Count { only, .. } => {
                let mut count = 0_u64;
                for found in found {
                    if only.as_ref().is_none_or(|(sign, value)| sign.holds(found, value)) {
                        count += 1;
                    }
                }
                self.sign.holds(&count.into(), &self.value)
            }
        }
    }

    /// Returns the values in a view that the path matches.
    pub(super) fn found(&self, view: &dyn Fn(&str) -> Option<Value>) -> Vec<Value> {
        let (path, mut rest) = split_at_star(self.path());
        let mut found: Vec<Value> = view(path).into_iter().collect();
        while let Some(after_star) = rest {
            let (path, next) = split_at_star(after_star);
            let mut deeper = Vec::new();
            for value in &found {
                match value {
                    Value::Array(elements) => {
                        deeper.extend(elements.iter().filter_map(|element| element.pointer(path).cloned()));
                    }
                    Value::Object(fields) => {
                        deeper.extend(fields.values().filter_map(|field| field.pointer(path).cloned()));
                    }
                    _ => {}
                }
            }
            found = deeper;
            rest = next;
        }
        found
    }

    /// Returns why the comparison makes no sense in a view that has these values at its path. Most obstacles are never
    /// reported, so no message is built here.
    pub(super) fn obstacle_in(
        &self,
        found: &[Value],
        view: &dyn Fn(&str) -> Option<Value>,
    ) -> Option<Obstacle> {
        for value in found {
            if self.compared_with().is_none_or(|with| is_comparable(value, with)) {
                return None;
            }
        }
        if let Some(value) = found.first() {
            return Some(Obstacle::OtherKind(value.clone()));
        }
        let value = view("").unwrap_or_default();
        let reach = found_part(&self.first_path(&value), &value).0.len();
        Some(Obstacle::NoField { reach, view: value })
    }

    /// Returns the path with the first existing name in place of each `*`.
    pub(super) fn first_path(&self, view: &Value) -> String {
        let mut path = self.path().to_owned();
        while let (before, Some(after)) = split_at_star(&path) {
            let mut name = "0";
            if let Some(Value::Object(fields)) = view.pointer(before)
                && let Some(first) = fields.keys().next()
            {
                name = first;
            }
            path = format!("{before}/{name}{after}");
        }
        path
    }
}

/// Why a comparison makes no sense in a view.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// The path leads to this value, which is of another kind.
    OtherKind(Value),
    /// The path leads nowhere in this view; `reach` is the length of the part that leads to a value.
    NoField { reach: usize, view: Value },
}

impl Obstacle {
    /// Returns how far the path leads. A path to a value leads farther than any path to nothing.
    pub(super) fn reach(&self) -> usize {
        match self {
            Self::OtherKind(_) => usize::MAX,
            Self::NoField { reach, .. } => *reach,
        }
    }
}

/// Returns the longest part of a path that leads to a value, without the last step, and that value.
pub(super) fn found_part<'p, 'v>(path: &'p str, view: &'v Value) -> (&'p str, &'v Value) {
    let mut found = ("", view);
    for (end, _) in path.match_indices('/') {
        let part = path.get(..end).unwrap_or_default();
        if let Some(value) = view.pointer(part) {
            found = (part, value);
        }
    }
    found
}

/// Splits a path at its first step `*`, which is in neither part.
fn split_at_star(path: &str) -> (&str, Option<&str>) {
    for (at, star) in path.match_indices("/*") {
        let after = &path[at + star.len()..];
        if after.is_empty() || after.starts_with('/') {
            return (&path[..at], Some(after));
        }
    }
    (path, None)
}

/// Returns the order of two numbers or two strings; nothing else has an order.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => Some(Decimal::of(left).cmp(&Decimal::of(right))),
        _ => None,
    }
}

/// Returns `true` if two values are equal, where `1` equals `1.0`.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || Decimal::of(left) == Decimal::of(right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| is_same(value, other)))
        }
        _ => left == right,
    }
}

/// Returns `true` if two values are of one kind, or if one is null, because any field may be null at times.
fn is_comparable(found: &Value, value: &Value) -> bool {
    found.is_null() || value.is_null() || kind(found) == kind(value)
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl fmt::Display for ViewComparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            ComparedValue::Field(path) => out.write_str(path)?,
            ComparedValue::Count { path, only: None } => write!(out, "count({path})")?,
            ComparedValue::Count { path, only: Some((sign, value)) } => {
                write!(out, "count({path} {} {value})", sign.text())?;
            }
        }
        write!(out, " {} {}", self.sign.text(), self.value)
    }
}
