//! In what the rules depart from a log, in a form by which many logs can be grouped.

use turnfold_core::{AnyState, Outcome};

use crate::difference::Difference;
use crate::outcomes::effects;
use crate::tfl::AttemptLine;

/// In what the rules depart from a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What logs of one group have in common, such as `applied → ignored not_adjacent`.
    pub group: String,
    /// The name of the reason or rejection, the new one where both sides have one.
    pub reason: Option<String>,
    /// What the log tells; absent where it tells nothing but a hash.
    pub old: Option<String>,
    /// What the rules say.
    pub new: Option<String>,
}

impl Cause {
    /// Another outcome of an entry that is accepted.
    pub(super) fn outcome(old: &str, new: &str) -> Self {
        let (old_side, new_side) = (side(old), side(new));
        let group = if old_side == "applied" && new_side == "applied" {
            effect(old, new)
        } else {
            format!("{old_side} → {new_side}")
        };
        Self::told(group, Some(old), new)
    }

    /// An entry that is not accepted any more.
    pub(super) fn rejected(old: Option<&String>, code: &str) -> Self {
        let new = format!("rejected {code}");
        let group = format!("{} → {new}", old.map_or("accepted", |old| side(old)));
        Self::told(group, old.map(String::as_str), &new)
    }

    /// A roll that is not the one of the seed.
    pub(super) fn roll(old: &[i32], new: &[i32]) -> Self {
        let told = |values: &[i32]| {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            format!("rolled {}", values.join(" "))
        };
        Self::told("the seed gives another roll".into(), Some(&told(old)), &told(new))
    }

    /// The verdict on an attempt, where it is another than the log tells.
    pub(super) fn of_attempt(attempt: &AttemptLine, state: &dyn AnyState) -> Option<Self> {
        let old = format!("rejected {}", attempt.code.as_ref()?);
        let new = Outcome::from(&state.judge(attempt.seat, &attempt.command)).to_string();
        (old != new).then(|| Self::told(format!("attempt {old} → {new}"), Some(&old), &new))
    }

    /// Another state after the same outcomes; `field` is the first that the entry changes.
    pub(super) fn state(field: Option<&Difference>) -> Self {
        let place = field.map_or_else(|| "nothing that the view shows".into(), |field| pattern(&field.path));
        let group = format!("same outcomes, other states from an entry on that changes {place}");
        Self { group, reason: None, old: None, new: None }
    }

    /// Another state at the end of a log that tells no hash before.
    pub(super) fn end() -> Self {
        let group = "same outcomes, another state at the end".into();
        Self { group, reason: None, old: None, new: None }
    }

    fn told(group: String, old: Option<&str>, new: &str) -> Self {
        let reason = reason(new).or_else(|| old.and_then(reason)).map(Into::into);
        Self { group, reason, old: old.map(Into::into), new: Some(new.into()) }
    }
}

/// Gives an outcome without its effects.
fn side(outcome: &str) -> &str {
    if reason(outcome).is_some() { outcome } else { "applied" }
}

/// Gives the name of the reason or rejection in an outcome.
fn reason(outcome: &str) -> Option<&str> {
    outcome.strip_prefix("ignored ").or_else(|| outcome.strip_prefix("rejected "))
}

/// Names the first effect in which two outcomes differ.
fn effect(old: &str, new: &str) -> String {
    let name = |effect: &&str| effect.split(' ').next().unwrap_or_default().to_string();
    let (old, new) = (effects(old), effects(new));
    let place = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    match (old.get(place).map(name), new.get(place).map(name)) {
        (Some(old), Some(new)) if old == new => format!("effect {old} differs"),
        (Some(old), Some(new)) => format!("effect {old} → {new}"),
        (Some(old), None) => format!("effect {old} is gone"),
        (None, Some(new)) => format!("effect {new} is new"),
        (None, None) => "effects differ".into(),
    }
}

/// Writes a path with stars in the place of numbers, so that the same field of other units is the same.
fn pattern(path: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = path.split('/').map(|part| if is_number(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let cause = Cause::outcome(old, new);
            assert_eq!((cause.group.as_str(), cause.reason.as_deref()), (group, reason), "{old} / {new}");
        }
        assert_eq!(Cause::rejected(None, "unit_busy").group, "accepted → rejected unit_busy");
        assert_eq!(Cause::rejected(Some(&"ignored a".into()), "b").group, "ignored a → rejected b");
    }

    #[test]
    fn fields_of_other_units_are_the_same_field() {
        assert_eq!(pattern("/units/12/mp"), "/units/*/mp");
        assert_eq!(pattern(""), "");
    }
}
