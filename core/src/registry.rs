//! The rulesets of a program: the rulesets of this crate, and any others it brings. Adding a game here adds one line.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::any::{AnyRules, erase};
use crate::rules::Rules;
use crate::rules::channel::Channel;
use crate::rules::cycletap::Cycletap;
use crate::rules::desk::Desk;
use crate::rules::hexcapture::Hexcapture;
use crate::rules::initiative::Initiative;
use crate::rules::lifecycle::Lifecycle;

/// Returns every ruleset of this crate, in the order of their names: the games, and the desk of a match by mail.
#[must_use]
pub fn rulesets() -> Vec<Arc<dyn AnyRules>> {
    Vec::from([
        erase::<Channel>(),
        erase::<Cycletap>(),
        erase::<Desk>(),
        erase::<Hexcapture>(),
        erase::<Initiative>(),
        erase::<Lifecycle>(),
    ])
}

/// Finds a ruleset of this crate by name; a program that may know others asks its [`Registry`].
#[must_use]
pub fn find(name: &str) -> Option<Arc<dyn AnyRules>> {
    rulesets().into_iter().find(|rules| rules.name() == name)
}

/// The games that a program knows, by name and version. The desk of a match by mail, which is no game, is always there.
#[derive(Clone, Debug)]
pub struct Registry {
    /// By name, then version.
    games: Vec<Arc<dyn AnyRules>>,
    desk: Arc<dyn AnyRules>,
}

/// A registry without games.
impl Default for Registry {
    fn default() -> Self {
        Self { games: Vec::new(), desk: erase::<Desk>() }
    }
}

impl Registry {
    /// Returns a registry of the games of this crate; [`Registry::default`] is one of none.
    #[must_use]
    pub fn standard() -> Self {
        let games = rulesets().into_iter().filter(|rules| rules.name() != Desk::NAME);
        Self { games: games.collect(), ..Self::default() }
    }

    /// Adds a game.
    ///
    /// # Panics
    /// If the name is taken: add another version with [`with_version`](Self::with_version), or a game that takes the
    /// place of another with [`replacing`](Self::replacing).
    #[must_use]
    pub fn with(self, rules: Arc<dyn AnyRules>) -> Self {
        assert!(self.find(rules.name()).is_none(), "the ruleset name `{}` is taken", rules.name());
        self.insert(rules)
    }

    /// Adds a version of a game (MD-1). Matches are played by the version that they were recorded under; new ones, by the
    /// newest.
    ///
    /// # Panics
    /// If that version is there, and for the name of the desk.
    #[must_use]
    pub fn with_version(self, rules: Arc<dyn AnyRules>) -> Self {
        let is_taken = rules.name() == Desk::NAME || self.games.contains(&rules);
        assert!(!is_taken, "version {} of the ruleset `{}` is taken", rules.version(), rules.name());
        self.insert(rules)
    }

    /// Adds a ruleset in place of all versions of its name; it may be another desk.
    #[must_use]
    pub fn replacing(mut self, rules: Arc<dyn AnyRules>) -> Self {
        if rules.name() == Desk::NAME {
            return Self { desk: rules, ..self };
        }
        self.games.retain(|known| known.name() != rules.name());
        self.insert(rules)
    }

    fn insert(mut self, rules: Arc<dyn AnyRules>) -> Self {
        let place = self.games.partition_point(|known| key(known) < key(&rules));
        self.games.insert(place, rules);
        self
    }

    /// Finds the newest version of a ruleset by name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<dyn AnyRules>> {
        self.versions(name).last().cloned()
    }

    /// Finds a ruleset by name and version; where that version is not there, the newest of its name, so that an error can
    /// name both.
    #[must_use]
    pub fn nearest(&self, name: &str, version: u32) -> Option<Arc<dyn AnyRules>> {
        let same = self.versions(name).find(|rules| rules.version() == version).cloned();
        same.or_else(|| self.find(name))
    }

    fn versions(&self, name: &str) -> impl Iterator<Item = &Arc<dyn AnyRules>> {
        self.games.iter().chain([&self.desk]).filter(move |rules| rules.name() == name)
    }

    /// Returns the games in order, of each the newest version.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyRules>> {
        self.games.chunk_by(|one, next| one.name() == next.name()).filter_map(|versions| versions.last())
    }
}

fn key(rules: &Arc<dyn AnyRules>) -> (&str, u32) {
    (rules.name(), rules.version())
}
