//! The modules of a bundle: the ones its matches need, and the rules loaded from them (MD-10).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use turnfold_core::registry::ModuleSource;
use turnfold_core::{AnyRules, Digest, Registry};
use turnfold_history::{catch, recorded_rules};
use turnfold_store::{Genesis, MatchName, StoreError, StoreReader};

use super::outline::{BundleOutline, BundledMatch, BundledModule};

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
        // MD-9: a module recorded for a match counts like a pin.
        let module = *genesis.only_module()?;
        Some(Self { ruleset: genesis.ruleset.clone(), version: genesis.ruleset_version, module })
    }

    /// Lists the modules that these matches need, each once.
    ///
    /// # Errors
    /// [`StoreError`] for an unknown match, and for damage.
    pub fn of_matches(store: &StoreReader, names: &[MatchName]) -> Result<BTreeSet<Self>, StoreError> {
        let mut needed = BTreeSet::new();
        for name in names {
            needed.extend(Self::of(&store.genesis(name)?));
        }
        Ok(needed)
    }

    /// Lists the modules that the matches of a store need, each once.
    ///
    /// # Errors
    /// [`StoreError`] for damage.
    pub fn of_all(store: &StoreReader) -> Result<BTreeSet<Self>, StoreError> {
        let mut needed = BTreeSet::new();
        for info in store.matches_after(None)? {
            needed.extend(Self::of(&info?.genesis));
        }
        Ok(needed)
    }

    /// Returns its file, if this program finds it.
    #[must_use]
    pub fn file(&self, registry: &Registry) -> Option<BundledModule> {
        let found = BundledModule::of(registry.modules()?.file(&self.module)?);
        (found.digest() == self.module).then_some(found)
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
        let mut pinned: BTreeSet<&Digest> = BTreeSet::new();
        // A match without a pin names its ruleset, and only a loaded module says which ruleset it is.
        let mut some_unknown = false;
        for BundledMatch { genesis, .. } in &outline.matches {
            match genesis.only_module() {
                Some(module) => pinned.extend([module]),
                None => some_unknown = some_unknown || recorded_rules(genesis, registry).is_err(),
            }
        }
        let mut loaded = Vec::new();
        for module in &outline.modules {
            let is_pinned = pinned.contains(&module.digest());
            if source.by_digest(&module.digest()).is_some() || !is_pinned && !some_unknown {
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
        let mut all = Vec::new();
        for bundled in &outline.matches {
            all.extend(recorded_rules(&bundled.genesis, &self.registry));
        }
        let mut used = Vec::new();
        for module in &outline.modules {
            if let Some(rules) = all.iter().find(|rules| rules.module() == Some(module.digest())) {
                used.push((module, Arc::clone(rules)));
            }
        }
        used
    }
}

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
        for rules in &self.loaded {
            if rules.name() == name && !own.contains(&rules.version()) {
                all.push(Arc::clone(rules));
            }
        }
        all
    }

    fn is_refused(&self, module: &Digest) -> bool {
        self.source.is_refused(module)
    }
}
