//! The rulesets of a program: the rulesets of this crate, and any others it brings. Adding a game here adds one line.

use alloc::vec::Vec;

use crate::any::{AnyRules, erase};
use crate::rules::channel::Channel;
use crate::rules::cycletap::Cycletap;
use crate::rules::desk::Desk;
use crate::rules::hexcapture::Hexcapture;
use crate::rules::initiative::Initiative;
use crate::rules::lifecycle::Lifecycle;

/// Every ruleset of this crate, in the order of their names.
pub static RULESETS: &[&dyn AnyRules] = &[
    erase::<Channel>(),
    erase::<Cycletap>(),
    erase::<Desk>(),
    erase::<Hexcapture>(),
    erase::<Initiative>(),
    erase::<Lifecycle>(),
];

/// Finds a ruleset of this crate by name; a program that may know others asks its [`Registry`].
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyRules> {
    RULESETS.iter().copied().find(|rules| rules.name() == name)
}

/// The rulesets that a program knows, in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    rulesets: Vec<&'static dyn AnyRules>,
}

impl Registry {
    /// Returns a registry of the rulesets of this crate; [`Registry::default`] is one of none.
    #[must_use]
    pub fn standard() -> Self {
        Self { rulesets: RULESETS.to_vec() }
    }

    /// Adds a ruleset; one that has its name already makes room for it.
    #[must_use]
    pub fn with(mut self, rules: &'static dyn AnyRules) -> Self {
        match self.rulesets.binary_search_by_key(&rules.name(), |known| known.name()) {
            Ok(index) => _ = self.rulesets.get_mut(index).map(|known| *known = rules),
            Err(index) => self.rulesets.insert(index, rules),
        }
        self
    }

    /// Finds a ruleset by name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static dyn AnyRules> {
        self.iter().find(|rules| rules.name() == name)
    }

    /// Returns the rulesets in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn AnyRules> {
        self.rulesets.iter().copied()
    }
}
