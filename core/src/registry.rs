//! The rulesets of this build. Adding a game adds one line here.

use crate::any::{AnyRules, erase};
use crate::rules::channel::Channel;
use crate::rules::cycletap::Cycletap;
use crate::rules::hexcapture::Hexcapture;
use crate::rules::initiative::Initiative;
use crate::rules::lifecycle::Lifecycle;

/// Every ruleset, in the order of their names.
pub static RULESETS: &[&dyn AnyRules] = &[
    &erase::<Channel>(),
    &erase::<Cycletap>(),
    &erase::<Hexcapture>(),
    &erase::<Initiative>(),
    &erase::<Lifecycle>(),
];

/// Finds a ruleset by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyRules> {
    RULESETS.iter().copied().find(|rules| rules.name() == name)
}
