//! The rulesets of a program: which it has, and which one plays a match.

use core::fmt;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::any::{AnyRules, erase};
use crate::digest::Digest;
use crate::rules::Rules;
use crate::rules::accord::Accord;
use crate::rules::desk::Desk;

/// The most bytes of a module's file (MD-3).
pub const MODULE_BYTES_MAX: usize = 16 << 20;

/// Where a registry finds the modules that are not built in (MD-2). They are read on demand.
pub trait ModuleSource: fmt::Debug + Send + Sync {
    /// Returns the module of a digest, if it is there.
    fn by_digest(&self, digest: &Digest) -> Option<Arc<dyn AnyRules>>;

    /// Returns the modules of a ruleset in all versions, each digest once.
    fn by_name(&self, name: &str) -> Vec<Arc<dyn AnyRules>>;

    /// Returns the file of a module, if it is there (MD-10).
    fn file(&self, _digest: &Digest) -> Option<Vec<u8>> {
        None
    }

    /// Loads a module that came from elsewhere, by its file (MD-10).
    ///
    /// # Errors
    /// Why the file is not a module of this program, in one line.
    fn load(&self, _file: &[u8]) -> Result<Arc<dyn AnyRules>, String> {
        Err("this program runs no modules".into())
    }

    /// Returns `true` for a module that this program may not play, because the laws did not pass on it here (MD-7).
    fn is_refused(&self, _digest: &Digest) -> bool {
        false
    }
}

/// Where a registry finds the referees that a user named: programs that know the rules of a game (RF-3).
pub trait RefereeSource: fmt::Debug + Send + Sync {
    /// Returns the referees that were named for games, in order, without starting one.
    fn named(&self) -> Vec<NamedReferee>;

    /// Returns the referee of a ruleset, if one was named for it. This may start it.
    ///
    /// # Errors
    /// Why the referee cannot play, in one line.
    fn by_name(&self, name: &str) -> Result<Option<Arc<dyn AnyRules>>, String>;

    /// Asks the referees that checks distrust for their first answers again, some time after the first ones (RF-15). A
    /// difference is a [`Fault`](crate::Fault).
    fn settle(&self) {}
}

/// A referee that was named for a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedReferee {
    /// The name of the game.
    pub ruleset: String,
    /// The command, as one line.
    pub command: String,
}

/// The games that a program knows, by name and version: built-in ones, modules, and referees. The desk of a match by
/// mail and the accord of a match on a service are always there; they are neither games nor modules.
#[derive(Clone, Debug)]
pub struct Registry {
    /// By name, then version.
    games: Vec<Arc<dyn AnyRules>>,
    desk: Arc<dyn AnyRules>,
    accord: Arc<dyn AnyRules>,
    modules: Option<Arc<dyn ModuleSource>>,
    referees: Option<Arc<dyn RefereeSource>>,
}

/// A registry without games.
impl Default for Registry {
    fn default() -> Self {
        Self {
            games: Vec::new(),
            desk: erase::<Desk>(),
            accord: erase::<Accord>(),
            modules: None,
            referees: None,
        }
    }
}

/// Why the rules of a match are not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRules {
    /// No ruleset has the name.
    #[error("unknown ruleset `{}`", name.escape_debug())]
    Unknown {
        /// The name.
        name: String,
        /// The rulesets that are built in.
        known: Vec<String>,
    },
    /// Only other versions are available.
    #[error("ruleset `{name}` has version {recorded}, this build knows {known}")]
    OtherVersion {
        /// The ruleset.
        name: String,
        /// The version asked for.
        recorded: u32,
        /// The newest available version.
        known: u32,
    },
    /// The module that a match pins is not there.
    #[error("the module {module} of `{}` version {version} is missing", name.escape_debug())]
    NoModule {
        /// The ruleset.
        name: String,
        /// Its version.
        version: u32,
        /// The digest of the module.
        module: Digest,
    },
    /// The module has not passed the laws here, and this program requires that.
    #[error("the laws have not passed here on the module {module} of `{}` version {version}", name.escape_debug())]
    NotPassed {
        /// The ruleset.
        name: String,
        /// Its version.
        version: u32,
        /// The digest of the module.
        module: Digest,
    },
    /// A match without a pin, and two modules that could play it.
    #[error("two modules are `{name}` version {version}: {one} and {other}")]
    TwoModules {
        /// The ruleset.
        name: String,
        /// Its version.
        version: u32,
        /// The digest of the first module.
        one: Digest,
        /// The digest of the second.
        other: Digest,
    },
    /// The referee that was named for a ruleset cannot play it.
    #[error("the referee of `{}`: {why}", name.escape_debug())]
    NoReferee {
        /// The ruleset.
        name: String,
        /// What keeps it from playing, in one line.
        why: String,
    },
    /// A match without a pin, and both a module and a referee that could play it (RF-4).
    #[error("`{name}` version {version} is both the module {module} and the referee `{referee}`")]
    ModuleAndReferee {
        /// The ruleset.
        name: String,
        /// Its version.
        version: u32,
        /// The digest of the module.
        module: Digest,
        /// The command of the referee.
        referee: String,
    },
}

impl Registry {
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
    /// If that version is there, and for the names of desk and accord.
    #[must_use]
    pub fn with_version(self, rules: Arc<dyn AnyRules>) -> Self {
        let is_taken = is_no_game(rules.name()) || self.games.iter().any(|known| key(known) == key(&rules));
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

    /// Sets the source of modules, for rulesets that are not built in.
    #[must_use]
    pub fn with_modules(self, modules: Arc<dyn ModuleSource>) -> Self {
        Self { modules: Some(modules), ..self }
    }

    /// Returns the source of modules, for rulesets that are not built in.
    #[must_use]
    pub fn modules(&self) -> Option<&Arc<dyn ModuleSource>> {
        self.modules.as_ref()
    }

    /// Sets the source of referees, for rulesets that are not built in.
    #[must_use]
    pub fn with_referees(self, referees: Arc<dyn RefereeSource>) -> Self {
        Self { referees: Some(referees), ..self }
    }

    /// Removes the source of referees, for a comparison of built-in rules with a referee (RF-20).
    #[must_use]
    pub fn without_referees(self) -> Self {
        Self { referees: None, ..self }
    }

    /// Returns the source of referees.
    #[must_use]
    pub fn referees(&self) -> Option<&Arc<dyn RefereeSource>> {
        self.referees.as_ref()
    }

    /// Returns the referee that was named for a ruleset, and starts it.
    ///
    /// # Errors
    /// [`NoRules::NoReferee`] if it cannot play, and if the ruleset is built in (RF-4).
    pub fn referee(&self, name: &str) -> Result<Option<Arc<dyn AnyRules>>, NoRules> {
        let Some(referees) = &self.referees else { return Ok(None) };
        if is_no_game(name) {
            return Ok(None);
        }
        let found = referees.by_name(name).map_err(|why| NoRules::NoReferee { name: name.into(), why })?;
        // RF-4: a user who names a referee for a built-in game would believe that the referee was asked.
        if let Some(rules) = &found
            && self.find(name).is_some()
        {
            let referee = rules.referee().unwrap_or_default();
            let why = format!(
                "`{referee}` has the name of a ruleset that is built in; `game impact` compares the two"
            );
            return Err(NoRules::NoReferee { name: name.into(), why });
        }
        Ok(found)
    }

    /// Finds the newest version of a built-in ruleset by name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<dyn AnyRules>> {
        self.versions(name).last().cloned()
    }

    /// Finds the newest version of a ruleset by name: a built-in one, or else a module or a referee.
    ///
    /// # Errors
    /// [`NoRules::Unknown`] and [`NoRules::TwoModules`].
    pub fn newest(&self, name: &str) -> Result<Arc<dyn AnyRules>, NoRules> {
        let referee = self.referee(name)?;
        if let Some(rules) = self.find(name) {
            return Ok(rules);
        }
        let newest = self.modules_named(name).iter().chain(&referee).map(|rules| rules.version()).max();
        let newest = newest.ok_or_else(|| self.unknown(name))?;
        self.resolve(name, newest, None)
    }

    /// Finds the rules of a match (MD-1). With a pin, that module and nothing else counts. Without a pin it is the
    /// built-in version, or else the only module or referee of that name and version.
    ///
    /// # Errors
    /// [`NoRules`].
    pub fn resolve(
        &self,
        name: &str,
        version: u32,
        pin: Option<&Digest>,
    ) -> Result<Arc<dyn AnyRules>, NoRules> {
        if let Some(pin) = pin {
            let own = self.games.iter().find(|rules| rules.module().as_ref() == Some(pin)).cloned();
            return match own.or_else(|| self.modules.as_ref()?.by_digest(pin)) {
                Some(rules) if key(&rules) == (name, version) && !is_no_game(name) => self.passed(rules),
                _ => Err(NoRules::NoModule { name: name.into(), version, module: *pin }),
            };
        }
        let referee = self.referee(name)?;
        if let Some(rules) = self.versions(name).find(|rules| rules.version() == version) {
            return Ok(rules.clone());
        }
        let modules = self.modules_named(name);
        let mut same = modules.iter().chain(&referee).filter(|rules| rules.version() == version);
        match (same.next(), same.next()) {
            (Some(rules), None) => self.passed(rules.clone()),
            (Some(one), Some(other)) if let (Some(one), Some(other)) = (one.module(), other.module()) => {
                Err(NoRules::TwoModules { name: name.into(), version, one, other })
            }
            (Some(one), Some(other))
                if let (Some(module), Some(referee)) = (one.module(), other.referee()) =>
            {
                Err(NoRules::ModuleAndReferee { name: name.into(), version, module, referee })
            }
            _ => {
                let all = self.versions(name).chain(&modules).chain(&referee).map(|rules| rules.version());
                Err(match all.max() {
                    Some(known) => NoRules::OtherVersion { name: name.into(), recorded: version, known },
                    None => self.unknown(name),
                })
            }
        }
    }

    /// Refuses a module that has not passed the laws, if that is required.
    fn passed(&self, rules: Arc<dyn AnyRules>) -> Result<Arc<dyn AnyRules>, NoRules> {
        match (rules.module(), &self.modules) {
            (Some(module), Some(modules)) if modules.is_refused(&module) => {
                Err(NoRules::NotPassed { name: rules.name().into(), version: rules.version(), module })
            }
            _ => Ok(rules),
        }
    }

    fn unknown(&self, name: &str) -> NoRules {
        NoRules::Unknown { name: name.into(), known: self.iter().map(|rules| rules.name().into()).collect() }
    }

    fn modules_named(&self, name: &str) -> Vec<Arc<dyn AnyRules>> {
        match &self.modules {
            Some(modules) if !is_no_game(name) => modules.by_name(name),
            _ => Vec::new(),
        }
    }

    fn versions(&self, name: &str) -> impl Iterator<Item = &Arc<dyn AnyRules>> {
        self.games.iter().chain([&self.desk, &self.accord]).filter(move |rules| rules.name() == name)
    }

    /// Returns all versions of the built-in games, in order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn AnyRules>> {
        self.games.iter()
    }

    /// Returns the newest version of each built-in game, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyRules>> {
        self.games.chunk_by(|one, next| one.name() == next.name()).filter_map(|versions| versions.last())
    }
}

/// Returns `true` for the names of desk and accord.
fn is_no_game(name: &str) -> bool {
    [Desk::NAME, Accord::NAME].contains(&name)
}

fn key(rules: &Arc<dyn AnyRules>) -> (&str, u32) {
    (rules.name(), rules.version())
}
