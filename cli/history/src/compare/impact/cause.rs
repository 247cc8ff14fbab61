//! Groups of differences: what logs with a similar first difference have in common.

use turnfold_core::Outcome;

use crate::compare::difference::Difference;
use crate::compare::divergence::{Claim, Divergence, DivergenceKind};

/// Returns the name of a difference's group, such as `applied → ignored not_adjacent`. `field` is the first one that
/// the entry changes.
pub(super) fn group(divergence: &Divergence, field: Option<&Difference>) -> String {
    match (divergence.kind, &divergence.recorded, &divergence.computed) {
        (DivergenceKind::WrongRoll, ..) => "the seed gives another roll".into(),
        (DivergenceKind::Attempt, Some(old), new) => format!("attempt {old} → {new}"),
        (DivergenceKind::View, ..) => {
            let changed = field.map_or_else(|| "the view".into(), |field| pattern(&field.path));
            format!("same outcomes, another view: {changed}")
        }
        (DivergenceKind::ClosingState, ..) => "same outcomes, another state at the end".into(),
        (DivergenceKind::StateHash, ..) => {
            let changed =
                field.map_or_else(|| "nothing that the view shows".into(), |field| pattern(&field.path));
            format!("same outcomes, other states from an entry on that changes {changed}")
        }
        (_, Some(Claim::Outcome(Outcome::Applied(_))), Claim::Outcome(Outcome::Applied(_))) => {
            effect(divergence)
        }
        (_, old, new) => {
            format!("{} → {}", old.as_ref().map_or_else(|| "accepted".into(), side), side(new))
        }
    }
}

/// Returns a claim without its effects.
fn side(claim: &Claim) -> String {
    match claim {
        Claim::Outcome(Outcome::Applied(_)) => "applied".into(),
        other => other.short(),
    }
}

/// Returns the group for the first effect in which two outcomes differ.
fn effect(divergence: &Divergence) -> String {
    let parts = |claim: &Claim| claim.parts().iter().map(ToString::to_string).collect::<Vec<_>>();
    let old = divergence.recorded.as_ref().map(parts).unwrap_or_default();
    let new = parts(&divergence.computed);
    let name = |effect: &String| effect.split(' ').next().unwrap_or_default().to_string();
    let index = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    effect_group(old.get(index).map(name).as_deref(), new.get(index).map(name).as_deref())
}

/// Returns the group for the names of the first effects that differ.
pub(super) fn effect_group(old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) if old == new => format!("effect {old} differs"),
        (Some(old), Some(new)) => format!("effect {old} → {new}"),
        (Some(old), None) => format!("effect {old} is gone"),
        (None, Some(new)) => format!("effect {new} is new"),
        (None, None) => "effects differ".into(),
    }
}

/// Returns a path with `*` in place of numbers, so that the same field of different units gives one group.
fn pattern(path: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = path.split('/').map(|part| if is_number(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
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
        assert_eq!(pattern("/units/12/mp"), "/units/*/mp");
        assert_eq!(pattern(""), "");
    }
}
