//! Two outcomes compared, effect by effect.

use std::borrow::Cow;

use similar::{ChangeTag, TextDiff};
use turnfold_core::Outcome;

use crate::compare::divergence::{Claim, parts};
use crate::render::text::{Line, added, dim, plain, removed};

/// How many equal effects are shown before and after those that differ.
const CONTEXT: usize = 3;

/// Compares two outcomes, one effect a line; equal effects far from any that differ are counted only.
pub(crate) fn changed_lines(expected: &Outcome, actual: &Outcome) -> Vec<Line> {
    compared(&parts(expected), &parts(actual))
}

/// Compares two claims as [`changed_lines`] compares outcomes.
pub(crate) fn changed_claims(expected: &Claim, actual: &Claim) -> Vec<Line> {
    compared(&expected.parts(), &actual.parts())
}

fn compared(expected: &[Cow<'_, str>], actual: &[Cow<'_, str>]) -> Vec<Line> {
    let (expected, actual) = (slices(expected), slices(actual));
    let diff = TextDiff::from_slices(&expected, &actual);
    let mut lines = Vec::new();
    let mut shown = 0;
    let unchanged = |count: usize| {
        (count > 0).then(|| {
            let effects = if count == 1 { "effect" } else { "effects" };
            Line::from(dim(format_args!("  … {count} equal {effects}")))
        })
    };
    for group in diff.grouped_ops(CONTEXT) {
        let start = group.first().map_or(shown, |op| op.old_range().start);
        lines.extend(unchanged(start - shown));
        shown = group.last().map_or(start, |op| op.old_range().end);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = match change.tag() {
                ChangeTag::Delete => removed(format_args!("- {}", change.value())),
                ChangeTag::Insert => added(format_args!("+ {}", change.value())),
                ChangeTag::Equal => plain(format_args!("  {}", change.value())),
            };
            lines.push(line.into());
        }
    }
    lines.extend(unchanged(expected.len() - shown));
    lines
}

fn slices<'a>(parts: &'a [Cow<'_, str>]) -> Vec<&'a str> {
    parts.iter().map(AsRef::as_ref).collect()
}

/// Returns an outcome where there was none, one effect a line.
pub(crate) fn added_lines(actual: &Outcome) -> Vec<Line> {
    parts(actual).iter().map(|effect| added(format_args!("+ {effect}")).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, actual: &str, lines: &[&str]) {
        let (expected, actual) = (expected.parse().unwrap(), actual.parse().unwrap());
        let shown: Vec<_> = changed_lines(&expected, &actual).iter().map(ToString::to_string).collect();
        assert_eq!(shown, lines);
    }

    #[test]
    fn effects_are_compared_one_by_one() {
        check("a; b; c", "a; x; c", &["  a", "- b", "+ x", "  c"]);
        check("ignored b", "a; c", &["- ignored b", "+ a", "+ c"]);
    }

    #[test]
    fn quoted_text_is_not_split() {
        check(r#"flash text="a; \"b; c"; d"#, "d", &[r#"- flash text="a; \"b; c""#, "  d"]);
    }

    #[test]
    fn effects_far_from_a_difference_are_counted() {
        check(
            "1; 2; 3; 4; 5; x; 6; 7; 8; 9",
            "1; 2; 3; 4; 5; y; 6; 7; 8; 9",
            &[
                "  … 2 equal effects",
                "  3",
                "  4",
                "  5",
                "- x",
                "+ y",
                "  6",
                "  7",
                "  8",
                "  … 1 equal effect",
            ],
        );
    }
}
