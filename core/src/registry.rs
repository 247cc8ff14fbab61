//! The rulesets of this build. Adding a game adds one line here.

use crate::any::{AnyRules, erase};
use crate::rules::cycletap::Cycletap;
use crate::rules::initiative::Initiative;

/// Every ruleset, in the order of their names.
pub static RULESETS: &[&dyn AnyRules] = &[&erase::<Cycletap>(), &erase::<Initiative>()];

/// Finds a ruleset by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyRules> {
    RULESETS.iter().copied().find(|rules| rules.name() == name)
}
