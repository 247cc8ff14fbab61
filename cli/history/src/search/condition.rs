//! Conditions on views, such as `/turn >= 3 && count(/units/*/alive == true) < 2`.

mod comparison;
mod decimal;
mod error;
mod grammar;

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use self::comparison::{Obstacle, ViewComparison};

pub use error::{ConditionError, name_like};

/// A condition on a view. If the path of a comparison leads nowhere, the comparison is false; but `!=` is true if the
/// path has no `*`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A comparison of values in the view holds.
    Compares(ViewComparison),
    /// The condition does not hold.
    Not(Box<Self>),
    /// All of the conditions hold.
    All(Vec<Self>),
    /// One of the conditions holds.
    Any(Vec<Self>),
}

/// What the views examined so far show about a condition: whether its comparisons make sense.
#[derive(Debug, Default)]
pub struct Survey {
    /// One for each comparison, in order.
    comparisons: Vec<Surveyed>,
}

#[derive(Debug)]
struct Surveyed {
    comparison: ViewComparison,
    /// Why it makes no sense in any of the views; `None` if it does in one.
    obstacle: Option<Obstacle>,
}

impl Survey {
    /// Requires that each comparison could be made in some view.
    ///
    /// # Errors
    /// [`ConditionError`] with what the views have instead.
    pub fn check(&self) -> Result<(), ConditionError> {
        for Surveyed { comparison, obstacle } in &self.comparisons {
            if let Some(obstacle) = obstacle {
                return Err(ConditionError::of(comparison, obstacle));
            }
        }
        Ok(())
    }

    /// Adds what other views show about the same condition.
    pub fn merge(&mut self, other: Self) {
        if self.comparisons.is_empty() {
            self.comparisons = other.comparisons;
            return;
        }
        for (known, new) in self.comparisons.iter_mut().zip(other.comparisons) {
            if let Some(obstacle) = &known.obstacle
                && new.obstacle.as_ref().is_none_or(|new| new.reach() > obstacle.reach())
            {
                known.obstacle = new.obstacle;
            }
        }
    }

    fn take_in(
        &mut self,
        number: usize,
        comparison: &ViewComparison,
        found: &[Value],
        view: &dyn Fn(&str) -> Option<Value>,
    ) {
        let Some(known) = self.comparisons.get_mut(number) else {
            let obstacle = comparison.obstacle_in(found, view);
            return self.comparisons.push(Surveyed { comparison: comparison.clone(), obstacle });
        };
        if let Some(obstacle) = &known.obstacle {
            let new = comparison.obstacle_in(found, view);
            if new.as_ref().is_none_or(|new| new.reach() >= obstacle.reach()) {
                known.obstacle = new;
            }
        }
    }

    pub(crate) fn is_comparable(&self) -> bool {
        !self.comparisons.is_empty() && self.comparisons.iter().all(|known| known.obstacle.is_none())
    }
}

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

    /// Returns `true` if the condition holds in a view, and adds what the view shows to the survey. `view` returns the
    /// value at a path.
    pub fn ask(&self, view: &dyn Fn(&str) -> Option<Value>, survey: &mut Survey) -> bool {
        let mut number = 0;
        self.holds(&mut |comparison| {
            let found = comparison.found(view);
            survey.take_in(number, comparison, &found, view);
            number += 1;
            comparison.holds(&found)
        })
    }

    /// Returns `true` if the condition holds in a view.
    pub(crate) fn holds_in(&self, view: &dyn Fn(&str) -> Option<Value>) -> bool {
        self.holds(&mut |comparison| comparison.holds(&comparison.found(view)))
    }

    /// Returns `true` if the condition holds. Every comparison is asked, in order, because the survey needs each one.
    fn holds(&self, ask: &mut dyn FnMut(&ViewComparison) -> bool) -> bool {
        match self {
            Self::Compares(comparison) => ask(comparison),
            Self::Not(condition) => !condition.holds(ask),
            Self::All(conditions) => {
                let mut holds = true;
                for condition in conditions {
                    holds &= condition.holds(ask);
                }
                holds
            }
            Self::Any(conditions) => {
                let mut holds = false;
                for condition in conditions {
                    holds |= condition.holds(ask);
                }
                holds
            }
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        grammar::parse(text)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compares(comparison) => comparison.fmt(out),
            Self::Not(condition) if matches!(**condition, Self::Not(_)) => write!(out, "!{condition}"),
            Self::Not(condition) => write!(out, "!({condition})"),
            Self::All(conditions) => write_joined(out, conditions, " && "),
            Self::Any(conditions) => write_joined(out, conditions, " || "),
        }
    }
}

/// Writes operands, with parentheses around one that joins others.
fn write_joined(out: &mut fmt::Formatter<'_>, operands: &[Condition], operator: &str) -> fmt::Result {
    for (index, operand) in operands.iter().enumerate() {
        if index > 0 {
            out.write_str(operator)?;
        }
        match operand {
            Condition::Compares(_) | Condition::Not(_) => write!(out, "{operand}")?,
            Condition::All(_) | Condition::Any(_) => write!(out, "({operand})")?,
        }
    }
    Ok(())
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
        survey.check().err().map(|error| error.to_string()).unwrap_or_default()
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
