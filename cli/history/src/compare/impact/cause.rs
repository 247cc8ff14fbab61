//! Groups of differences: what logs with a similar first difference have in common.

use turnfold_core::Outcome;

use crate::compare::difference::Difference;
use crate::compare::divergence::{Claim, Divergence, DivergenceKind};
use crate::text::first_word;

/// Returns the name of a difference's group, such as `applied → ignored not_adjacent`. `field` is the first one that
/// the entry changes.
pub(super) fn group(divergence: &Divergence, field: Option<&Difference>) -> String {
    match (divergence.kind, &divergence.recorded, &divergence.computed) {
        (DivergenceKind::WrongRoll, ..) => "the seed gives another roll".into(),
        (DivergenceKind::Attempt, Some(old), new) => format!("attempt {old} → {new}"),
        (DivergenceKind::View, ..) => {
            let changed = field.map_or("the view".into(), pattern);
            format!("same outcomes, another view: {changed}")
        }
        (DivergenceKind::ClosingState, ..) => "same outcomes, another state at the end".into(),
        (DivergenceKind::StateHash, ..) => {
            let changed = field.map_or("nothing that the view shows".into(), pattern);
            format!("same outcomes, other states from an entry on that changes {changed}")
        }
        (_, Some(Claim::Outcome(Outcome::Applied(_))), Claim::Outcome(Outcome::Applied(_))) => {
            // The first effect in which two outcomes differ.
            let [old, new] = divergence.changed_parts();
            effect_group(old.as_deref().map(first_word), new.as_deref().map(first_word))
        }
        (_, None, new) => format!("accepted → {}", side(new)),
        (_, Some(old), new) => format!("{} → {}", side(old), side(new)),
    }
}

fn side(claim: &Claim) -> String {
    match claim {
        Claim::Outcome(Outcome::Applied(_)) => "applied".into(),
        other => other.short(),
    }
}

pub(super) fn effect_group(old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) if old == new => format!("effect {old} differs"),
        (Some(old), Some(new)) => format!("effect {old} → {new}"),
        (Some(old), None) => format!("effect {old} is gone"),
        (None, Some(new)) => format!("effect {new} is new"),
        (None, None) => "effects differ".into(),
    }
}

/// Returns the path of a field with `*` in place of numbers, so that the same field of different units gives one group.
fn pattern(field: &Difference) -> String {
    let mut names = Vec::new();
    for name in field.path.split('/') {
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        names.push(if is_number { "*" } else { name });
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use turnfold_core::{Rejected, Seat};

    use super::*;
    use crate::history::entry::LogEntry;

    fn check(old: Option<&str>, new: Claim, kind: DivergenceKind, expected: &str, code: Option<&str>) {
        let old = old.map(|old| Claim::Outcome(old.parse().unwrap()));
        let divergence = Divergence::new(&LogEntry::new(1, Seat::P1, "x"), kind, old, new);
        assert_eq!(group(&divergence, None), expected);
        assert_eq!(divergence.code(), code);
    }

    #[test]
    fn outcomes_are_grouped_by_what_turned_or_by_the_first_effect_that_differs() {
        for (old, new, group, reason) in [
            ("selected unit=a", "ignored no_unit", "applied → ignored no_unit", Some("no_unit")),
            ("ignored no_unit", "selected unit=a", "ignored no_unit → applied", Some("no_unit")),
            ("ignored a", "ignored b", "ignored a → ignored b", Some("b")),
            ("x at=1; moved to=1", "x at=1; moved to=2", "effect moved differs", None),
            ("moved to=1", "killed unit=a", "effect moved → killed", None),
            ("x; moved to=1", "x", "effect moved is gone", None),
            ("x", "x; moved to=1", "effect moved is new", None),
            ("flash text=\"a; b\"; y", "flash text=\"a; b\"; z", "effect y → z", None),
        ] {
            let new = Claim::Outcome(new.parse().unwrap());
            check(Some(old), new, DivergenceKind::Outcome, group, reason);
        }
        let rejection = |code| Claim::from(Rejected::new(code, "why"));
        let kind = DivergenceKind::Rejected;
        check(None, rejection("unit_busy"), kind, "accepted → rejected unit_busy", Some("unit_busy"));
        check(Some("ignored a"), rejection("b"), kind, "ignored a → rejected b", Some("b"));
    }

    #[test]
    fn fields_of_other_units_are_the_same_field() {
        let field = |path: &str| Difference { path: path.into(), old: None, new: None };
        assert_eq!(pattern(&field("/units/12/mp")), "/units/*/mp");
        assert_eq!(pattern(&field("")), "");
    }
}
