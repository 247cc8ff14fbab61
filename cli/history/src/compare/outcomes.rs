//! Compares two outcomes, effect by effect.

use similar::{ChangeTag, TextDiff};

use crate::compare::divergence::Claim;
use crate::text::{Line, added, counted, dim, plain, removed};

const CONTEXT: usize = 3;

impl Claim {
    /// Returns the comparison with another claim, one effect a line. Equal effects far from a difference are only
    /// counted.
    #[must_use]
    pub fn changes(&self, actual: &Self) -> Vec<Line> {
        let expected = self.parts();
        let actual = actual.parts();
        let old: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        let new: Vec<&str> = actual.iter().map(AsRef::as_ref).collect();
        let diff = TextDiff::from_slices(&old, &new);
        let mut lines = Vec::new();
        let mut shown = 0;
        for group in diff.grouped_ops(CONTEXT) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            lines.extend(unchanged(first.old_range().start - shown));
            shown = last.old_range().end;
            for op in &group {
                for change in diff.iter_changes(op) {
                    let line = match change.tag() {
                        ChangeTag::Delete => removed(format_args!("- {}", change.value())),
                        ChangeTag::Insert => added(format_args!("+ {}", change.value())),
                        ChangeTag::Equal => plain(format_args!("  {}", change.value())),
                    };
                    lines.push(line.into());
                }
            }
        }
        lines.extend(unchanged(old.len() - shown));
        lines
    }
}

fn unchanged(count: usize) -> Option<Line> {
    if count == 0 {
        return None;
    }
    let counted = counted(count as u64, "equal effect", "equal effects");
    Some(dim(format_args!("  … {counted}")).into())
}

pub(crate) fn added_claim(actual: &Claim) -> Vec<Line> {
    actual.parts().iter().map(|effect| added(format_args!("+ {effect}")).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, actual: &str, lines: &[&str]) {
        let claim = |text: &str| Claim::Outcome(text.parse().unwrap());
        let shown: Vec<_> = claim(expected).changes(&claim(actual)).iter().map(ToString::to_string).collect();
        assert_eq!(shown, lines);
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
