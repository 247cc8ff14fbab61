//! The modules of a bundle: the ones its matches need, and the rules loaded from them (MD-10).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use turnfold_core::registry::ModuleSource;
use turnfold_core::{AnyRules, Digest, Registry};
use turnfold_history::fault::catch;
use turnfold_history::history::recorded_rules;
use turnfold_store::{Genesis, MatchName, StoreError, StoreReader};

use super::outline::{BundleOutline, BundledModule};

/// A module that some match needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NeededModule {
    /// The ruleset.
    pub ruleset: String,
    /// Its version.
    pub version: u32,
    /// The digest of the file.
    pub module: Digest,
}

impl NeededModule {
    fn of(genesis: &Genesis) -> Option<Self> {
        let ruleset = genesis.ruleset.clone();
        let version = genesis.ruleset_version;
        // MD-9: a module recorded for a match counts like a pin.
        genesis.only_module().map(|module| Self { ruleset, version, module: *module })
    }

    /// Lists the modules that these matches need, each once.
    ///
    /// # Errors
    /// [`StoreError`] for an unknown match, and for damage.
    pub fn of_matches(store: &StoreReader, names: &[MatchName]) -> Result<BTreeSet<Self>, StoreError> {
        let needed = names.iter().map(|name| Ok(Self::of(&store.genesis(name)?)));
        needed.filter_map(Result::transpose).collect()
    }

    /// Lists the modules that the matches of a store need, each once.
    ///
    /// # Errors
    /// [`StoreError`] for damage.
    pub fn of_all(store: &StoreReader) -> Result<BTreeSet<Self>, StoreError> {
        let needed = store.matches_after(None)?.map(|info| Ok(Self::of(&info?.genesis)));
        needed.filter_map(Result::transpose).collect()
    }

    /// Returns its file, if this program finds it.
    #[must_use]
    pub fn file(&self, registry: &Registry) -> Option<BundledModule> {
        let file = registry.modules()?.file(&self.module)?;
        Some(BundledModule::of(file)).filter(|found| found.digest() == self.module)
    }
}

impl fmt::Display for NeededModule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.ruleset, self.version, self.module)
    }
}

/// The rules for checking a bundle: those of this program, and the modules in the bundle.
pub struct BundleRules {
    /// All of these rules.
    pub registry: Registry,
    /// Why modules of the bundle could not be loaded.
    pub(crate) unusable: Vec<String>,
    /// The modules that only the bundle has.
    pub(crate) brought: BTreeSet<Digest>,
}

impl BundleRules {
    /// Loads the modules that a match of the bundle needs and this program lacks. They are used for this bundle only; other
    /// modules in it are ignored.
    #[must_use]
    pub fn of(outline: &BundleOutline, registry: &Registry) -> Self {
        let mut rules = Self { registry: registry.clone(), unusable: Vec::new(), brought: BTreeSet::new() };
        let Some(source) = registry.modules() else { return rules };
        let pinned: BTreeSet<&Digest> =
            outline.matches.iter().filter_map(|bundled| bundled.genesis.only_module()).collect();
        // A match without a pin names its ruleset, and only a loaded module says which ruleset it is.
        let is_unknown =
            |genesis: &Genesis| genesis.only_module().is_none() && recorded_rules(genesis, registry).is_err();
        let some_unknown = outline.matches.iter().any(|bundled| is_unknown(&bundled.genesis));
        let mut loaded = Vec::new();
        for module in outline.modules.iter().filter(|module| source.by_digest(&module.digest()).is_none()) {
            let is_pinned = pinned.contains(&module.digest());
            if !is_pinned && !some_unknown {
                continue;
            }
            match catch(|| source.load(module.file())) {
                Ok(Ok(rules)) => loaded.push(rules),
                Ok(Err(cause)) if is_pinned => {
                    rules.unusable.push(format!("module {:.16}: {cause}", module.digest()));
                }
                Err(fault) if is_pinned => rules.unusable.push(fault.to_string()),
                _ => {}
            }
        }
        rules.brought = loaded.iter().filter_map(|rules| rules.module()).collect();
        if !loaded.is_empty() {
            let both = BundleModules { loaded, source: Arc::clone(source) };
            rules.registry = registry.clone().with_modules(Arc::new(both));
        }
        rules
    }

    /// Returns the modules of a bundle that fold its matches.
    pub(crate) fn used<'a>(&self, outline: &'a BundleOutline) -> Vec<(&'a BundledModule, Arc<dyn AnyRules>)> {
        let rules = outline
            .matches
            .iter()
            .filter_map(|bundled| recorded_rules(&bundled.genesis, &self.registry).ok());
        let rules: Vec<_> = rules.collect();
        let used = outline.modules.iter().filter_map(|module| {
            let rules = rules.iter().find(|rules| rules.module() == Some(module.digest()))?;
            Some((module, Arc::clone(rules)))
        });
        used.collect()
    }
}

/// The modules of a bundle, next to those that the program finds.
#[derive(Debug)]
struct BundleModules {
    loaded: Vec<Arc<dyn AnyRules>>,
    source: Arc<dyn ModuleSource>,
}

impl ModuleSource for BundleModules {
    fn by_digest(&self, digest: &Digest) -> Option<Arc<dyn AnyRules>> {
        let loaded = self.loaded.iter().find(|rules| rules.module().as_ref() == Some(digest));
        loaded.cloned().or_else(|| self.source.by_digest(digest))
    }

    fn by_name(&self, name: &str) -> Vec<Arc<dyn AnyRules>> {
        // The program's own module of a version takes precedence.
        let mut all = self.source.by_name(name);
        let own: BTreeSet<u32> = all.iter().map(|rules| rules.version()).collect();
        let loaded = self.loaded.iter().filter(|rules| rules.name() == name);
        all.extend(loaded.filter(|rules| !own.contains(&rules.version())).cloned());
        all
    }

    fn is_refused(&self, module: &Digest) -> bool {
        self.source.is_refused(module)
    }
}
