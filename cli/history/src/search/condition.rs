//! Conditions on views, such as `/turn >= 3 && count(/units/*/alive == true) < 2`.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::search::path::Lost;

use self::node::Node;

use comparison::{ViewComparison, is_comparable, kind};

mod comparison;
mod decimal;
mod grammar;
mod node;

/// A condition on a view: comparisons joined by `&&`, `||` and `!`. If the path of a comparison leads nowhere, the
/// comparison is false; but `!=` is true if the path has no `*`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    root: Node,
}

fn path_note(value: Option<&Value>) -> &'static str {
    match value {
        Some(Value::String(text)) if text.starts_with('/') => {
            "; what stands at the right is a value, and no path is read there"
        }
        _ => "",
    }
}

/// A condition that makes no sense in the views that were examined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// The condition compares values of two kinds.
    #[error(
        "`{comparison}` compares {} with {}, as `{}` is `{}`{}",
        kind(found), comparison.compared_with().map_or("nothing", kind), comparison.path(), shortened(found),
        path_note(comparison.compared_with())
    )]
    OtherKind {
        /// The comparison.
        comparison: Box<ViewComparison>,
        /// The value in a view.
        found: Value,
    },
    /// The condition has a field that no view has.
    #[error("`{path}` is nowhere in the view, after any entry: {lost}")]
    NoField {
        /// The path to the field.
        path: String,
        /// How far the path leads, and what may have been meant.
        lost: Lost,
    },
}

impl ConditionError {
    pub(crate) fn advice(&self) -> Option<String> {
        match self {
            Self::OtherKind { found, .. } => Some(hint(found).into()),
            Self::NoField { lost, .. } => lost.meant().map(|meant| format!("did you mean `{meant}`?")),
        }
    }
}

/// What the views examined so far show about a condition: whether its comparisons make sense.
#[derive(Debug, Default)]
pub struct Survey {
    /// One for each comparison, in order.
    comparisons: Vec<SurveyedComparison>,
}

#[derive(Debug, Default)]
struct SurveyedComparison {
    /// Whether some view has a value of a kind that can be compared.
    is_comparable: bool,
    /// A value of another kind.
    other_kind: Option<Value>,
    /// The farthest that the path leads in any view without such a field.
    lost: Option<Lost>,
}

const VALUE_CHARACTERS_MAX: usize = 60;

impl Survey {
    /// Adds what other views show about the same condition.
    pub fn merge(&mut self, other: Self) {
        if self.comparisons.is_empty() {
            self.comparisons = other.comparisons;
            return;
        }
        for (shown, other) in self.comparisons.iter_mut().zip(other.comparisons) {
            shown.is_comparable |= other.is_comparable;
            shown.other_kind = shown.other_kind.take().or(other.other_kind);
            if let Some(lost) = other.lost
                && shown.lost.as_ref().is_none_or(|known| !known.is_as_far_as(&lost))
            {
                shown.lost = Some(lost);
            }
        }
    }

    pub(crate) fn is_comparable(&self) -> bool {
        !self.comparisons.is_empty() && self.comparisons.iter().all(|shown| shown.is_comparable)
    }
}

impl SurveyedComparison {
    fn take_in(
        &mut self,
        comparison: &ViewComparison,
        found: &[Value],
        view: &dyn Fn(&str) -> Option<Value>,
    ) {
        if self.is_comparable {
            return;
        }
        let with = comparison.compared_with();
        for value in found {
            if with.is_none_or(|with| is_comparable(value, with)) {
                self.is_comparable = true;
                return;
            }
        }
        if let Some(value) = found.first() {
            self.other_kind = Some(value.clone());
            return;
        }
        let whole = view("").unwrap_or_default();
        let lost = Lost::in_view(&comparison.first_path(&whole), &whole);
        if self.lost.as_ref().is_none_or(|known| lost.is_as_far_as(known)) {
            self.lost = Some(lost);
        }
    }
}

impl Condition {
    /// Returns `true` if the condition holds in a view, and adds what the view shows to the survey. `view` returns the
    /// value at a path.
    pub fn ask(&self, view: &dyn Fn(&str) -> Option<Value>, survey: &mut Survey) -> bool {
        let mut number = 0;
        self.root.holds(&mut |comparison| {
            let found = comparison.found(view);
            if survey.comparisons.len() == number {
                survey.comparisons.push(SurveyedComparison::default());
            }
            if let Some(shown) = survey.comparisons.get_mut(number) {
                shown.take_in(comparison, &found, view);
            }
            number += 1;
            comparison.holds(&found)
        })
    }

    /// Requires that each comparison could be made in some view.
    ///
    /// # Errors
    /// [`ConditionError`] with what the views have instead.
    pub fn check(&self, survey: &Survey) -> Result<(), ConditionError> {
        let mut shown = survey.comparisons.iter();
        let mut result = Ok(());
        self.root.holds(&mut |comparison| {
            if let (Some(shown), Ok(())) = (shown.next(), &result) {
                result = check(comparison, shown);
            }
            false
        });
        result
    }

    pub(crate) fn holds_in(&self, view: &dyn Fn(&str) -> Option<Value>) -> bool {
        self.root.holds(&mut |comparison| comparison.holds(&comparison.found(view)))
    }
}

fn check(comparison: &ViewComparison, shown: &SurveyedComparison) -> Result<(), ConditionError> {
    let SurveyedComparison { is_comparable: false, other_kind, lost } = shown else { return Ok(()) };
    match (other_kind, lost) {
        (Some(found), _) => {
            Err(ConditionError::OtherKind { comparison: Box::new(comparison.clone()), found: found.clone() })
        }
        (None, Some(lost)) => {
            Err(ConditionError::NoField { path: comparison.path().into(), lost: lost.clone() })
        }
        (None, None) => Ok(()),
    }
}

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
        grammar::parse(text).map(|root| Self { root })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn view() -> Value {
        json!({
            "turn": 3, "phase": "end", "winner": null,
            "units": [{"at": [0, 3], "alive": false}, {"at": [1, 0], "alive": true}, {"alive": true}],
            "pools": {"p1": {"left": 2}, "p2": {"left": 0}}, "none": [],
        })
    }

    fn holds(text: &str) -> bool {
        let (condition, view) = (text.parse::<Condition>().unwrap(), view());
        let of_view = |path: &str| view.pointer(path).cloned();
        let holds = condition.ask(&of_view, &mut Survey::default());
        assert_eq!(condition.holds_in(&of_view), holds, "{text}");
        let again: Condition = condition.to_string().parse().unwrap();
        assert_eq!(again, condition, "{text}");
        holds
    }

    #[test]
    fn conditions_are_read_and_hold_or_not() {
        for (text, expected) in [
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
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn decimals_are_compared_exactly() {
        let view = json!({"share": 0.1, "large": 18_446_744_073_709_551_615_u64, "tiny": 1e-9, "at": [0.5, 2], "whole": 3.0});
        for (text, expected) in [
            ("/share == 0.1", true),
            ("/share == 0.10", true),
            ("/share == 1e-1", true),
            ("/share < 0.25", true),
            ("/share > 0.1", false),
            ("/share >= 0.1", true),
            ("/share > 0", true),
            ("/share < 1", true),
            ("/share != 0.30000000000000004", true),
            ("/share < 0.1234567890123456", true),
            ("/share == 007", false),
            ("/share != 67.32478057022546", true),
            ("/large > 0.5", true),
            ("/large == 18446744073709551615", true),
            ("/large > 1.5e19", true),
            ("/tiny < 0.00000001", true),
            ("/tiny > -0.5", true),
            ("/at == [0.5,2]", true),
            ("/at == [0.5,2.0]", true),
            ("/whole == 3", true),
            ("/whole <= 3", true),
            ("count(/at/* < 1.5) == 1", true),
            ("count(/at/*) > 1.5", true),
        ] {
            let condition = text.parse::<Condition>().unwrap();
            assert_eq!(condition.holds_in(&|path| view.pointer(path).cloned()), expected, "{text}");
            let again: Condition = condition.to_string().parse().unwrap();
            assert_eq!(again, condition, "{text}");
        }
    }

    #[test]
    fn conditions_are_joined() {
        for (text, expected) in [
            ("/turn == 3 && /phase == end", true),
            ("/turn == 3&&/phase==other", false),
            ("/turn == 4 || /phase == end", true),
            // `&&` binds more strongly than `||`.
            ("/turn == 3 || /turn == 4 && /turn == 5", true),
            ("(/turn == 3 || /turn == 4) && /turn == 5", false),
            ("!/turn == 4", true),
            ("!(/turn == 3 && /phase == end)", false),
            ("!!/turn == 3", true),
            ("/phase == \"a && b\" || /turn == 3", true),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn a_star_stands_for_any_element_or_field() {
        for (text, expected) in [
            ("/units/*/at == [1,0]", true),
            ("/units/*/at == [9,9]", false),
            ("/units/*/alive != true", true),
            ("/pools/*/left == 0", true),
            ("/pools/*/* > 1", true),
            ("/none/* != 1", false),
            ("count(/units/*) == 3", true),
            ("count(/units/*/at) == 2", true),
            ("count( /units/*/alive == true ) >= 2 && /turn == 3", true),
            ("count(/none/*) == 0", true),
            ("count(/units) == 1", true),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    fn error_of(text: &str) -> String {
        let (condition, mut survey) = (text.parse::<Condition>().unwrap(), Survey::default());
        for view in [view(), json!({"turn": 1})] {
            condition.ask(&|path| view.pointer(path).cloned(), &mut survey);
        }
        condition.check(&survey).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_path_at_the_right_is_said_to_be_a_value() {
        let kinds = error_of("/units == /pools");
        assert!(
            kinds.ends_with("; what stands at the right is a value, and no path is read there"),
            "{kinds}"
        );
    }

    #[test]
    fn a_comparison_that_makes_no_sense_in_any_view_is_named() {
        assert_eq!(error_of("/turn == 1 || /units/*/alive == true"), "");
        let lost = error_of("/turn == 1 || /units/0/x == 1");
        assert!(lost.ends_with("entry: `/units/0` has `at`, `alive`"), "{lost}");
        let lost = error_of("count(/units/*/alvie == true) > 1");
        assert!(lost.starts_with("`/units/*/alvie` is nowhere") && lost.ends_with("`at`, `alive`"), "{lost}");
        assert!(error_of("/pools/*/leftt == 1").ends_with("`/pools/p1` has `left`"));
        assert!(error_of("/none/*/x == 1").ends_with("`/none` is empty"));
        let kinds = error_of("/turn == 1 && !/phase == 7");
        assert_eq!(kinds, "`/phase == 7` compares a string with a number, as `/phase` is `\"end\"`");
    }

    #[test]
    fn what_is_no_condition_is_refused_with_a_caret() {
        for (text, expected) in [
            ("", "`^`"),
            ("/turn", "expected ==, !=, <, <=, > or >= at the caret: `/turn^`"),
            ("turn == 3", "`^turn == 3`"),
            ("/turn ==", "expected a value at the caret: `/turn ==^`"),
            ("/turn ~ 3", "`/turn ^~ 3`"),
            ("/turn = 3", "`/turn ^= 3`"),
            ("/turn === 3", "`/turn ==^= 3`"),
            ("/turn =~ 3", "`/turn ^=~ 3`"),
            ("/turn <> 3", "`/turn <^> 3`"),
            ("/turn == 3 &&", "`/turn == 3 &&^`"),
            ("/turn == 3 & /turn == 4", "`/turn == 3 & /turn ^== 4`"),
            ("/phase == end and /turn == 3", "`/phase == end and /turn ^== 3`"),
            ("/turn && /phase == end", "`/turn ^&& /phase == end`"),
            ("(/turn == 3", "expected `)` at the caret: `(/turn == 3^`"),
            ("/turn == 3)", "expected `&&`, `||` or the end at the caret: `/turn == 3^)`"),
            ("count(/units/*) == x", "a comparison with a number at the caret: `count(/units/*) ^== x`"),
            ("count(/units/* > 3", "expected `)` at the caret: `count(/units/* > 3^`"),
            ("count == 3", "`^count == 3`"),
            (
                "/turn == 99999999999999999999",
                "expected a number of at most 17 digits at the caret: `/turn == ^9999",
            ),
            ("/turn == 0.1000000000000000000001", "a number of at most 17 digits"),
            ("/units/0/at == [0, 0.1000000000000000000001]", "a number of at most 17 digits"),
            ("/turn == 1e999", "a number of at most 17 digits"),
            ("/turn < null", "expected a number or a string after `<`, found null"),
            ("/turn >= [1]", "expected a number or a string after `>=`, found an array"),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!("(".repeat(100_000).parse::<Condition>().unwrap_err().contains("less deeply"));
        assert!("!".repeat(100_000).parse::<Condition>().unwrap_err().contains("less deeply"));
    }
}
