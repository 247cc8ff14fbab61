//! What every verb has at hand.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use turnfold_core::registry::NoRules;
use turnfold_core::{Digest, Registry};
use turnfold_history::error::limits::REPLAY;
use turnfold_history::history::recorded_rules;
use turnfold_history::history::revision::input_name;
use turnfold_history::tfl::in_page::replay_bytes;
use turnfold_history::{Replay, ReplayError, Sources, tfl};
use turnfold_proof::bundle::BundledName;
use turnfold_referee::ModuleFolders;
use turnfold_store::{MatchName, Store, StoreReader};

use crate::address::{FleetAddress, StoreAddress};
use crate::advice::without_rules;
use crate::bundles::Bundles;
use crate::failure::{DamagedStore, Failure, not_own};
use crate::files;
use crate::output::{Output, warn};
#[cfg(feature = "serve")]
use crate::remote::origin::SafeOrigin;
use crate::stderr::progress;

/// The store to work on, where to print, the grammar of the command line and the rulesets.
pub(crate) struct Context {
    pub(crate) store: StoreAddress,
    /// The file with the token for a service.
    pub(crate) token: Option<PathBuf>,
    /// How much to print of what happens.
    pub(crate) verbose: u8,
    /// Standard output.
    pub(crate) output: Output,
    /// The whole command line, for completions and manual pages.
    pub(crate) grammar: fn() -> clap::Command,
    /// The rulesets there are.
    pub(crate) registry: Registry,
    /// Where modules lie.
    pub(crate) modules: Arc<ModuleFolders>,
    /// The files on which the named referees depend, as far as it is known.
    pub(crate) referee_paths: Vec<PathBuf>,
    /// The store above that is not used, because it belongs to another user.
    pub(crate) passed_over: Option<PathBuf>,
    /// What the arguments name.
    pub(crate) named: Vec<String>,
    /// The bundles that are read.
    pub(crate) bundles: Arc<Bundles>,
    /// The store as it is read for several sources, where it stays open between them.
    reader: Option<OnceLock<StoreReader>>,
}

impl Context {
    pub(crate) fn new(
        store: StoreAddress,
        token: Option<PathBuf>,
        output: Output,
        grammar: fn() -> clap::Command,
        registry: Registry,
        modules: ModuleFolders,
    ) -> Result<Self, Failure> {
        #[cfg(feature = "serve")]
        let is_service = matches!(store, StoreAddress::Service(_));
        #[cfg(not(feature = "serve"))]
        let is_service = false;
        if token.is_some() && !is_service {
            return Err(Failure::usage("`--token` is for a service").hint("name it with `--store URL`"));
        }
        let modules = Arc::new(modules);
        let registry = registry.with_modules(modules.clone());
        Ok(Self {
            store,
            token,
            verbose: 0,
            output,
            grammar,
            registry,
            modules,
            referee_paths: Vec::new(),
            passed_over: None,
            named: Vec::new(),
            bundles: Arc::default(),
            reader: None,
        })
    }

    /// Keeps the store open from when it is first read until the end, for a verb that only reads it, but often.
    pub(crate) fn keep_reader(&mut self) {
        self.reader.get_or_insert_default();
    }

    /// Returns the directory of the store, for what is about files. A database has none.
    pub(crate) fn store_dir(&self) -> Result<&Path, Failure> {
        match &self.store {
            StoreAddress::Dir(dir) => Ok(dir),
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(_) => Err(Failure::usage("the database server does that")),
            #[cfg(feature = "serve")]
            StoreAddress::Service(origin) => Err(unserved(origin).into()),
        }
    }

    /// Returns the database that holds the store, if one does.
    pub(crate) fn fleet(&self) -> Option<&FleetAddress> {
        match &self.store {
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => Some(address),
            _ => None,
        }
    }

    /// States where the store is, for what helps if it is damaged.
    pub(crate) fn damaged_store(&self) -> DamagedStore {
        if self.fleet().is_some() { DamagedStore::Database } else { DamagedStore::Dir }
    }

    /// Opens the store, which must exist, for writing.
    pub(crate) fn open_store(&self) -> Result<Store, Failure> {
        Ok(match &self.store {
            StoreAddress::Dir(dir) => Store::open_observed(dir, &mut building())?,
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => Store::open_fleet(address)?,
            #[cfg(feature = "serve")]
            StoreAddress::Service(origin) => return Err(unserved(origin).into()),
        })
    }

    /// Opens the store, making it where there is none.
    pub(crate) fn open_or_create_store(&self) -> Result<Store, Failure> {
        if let Some(store) = &self.passed_over {
            warn(&not_own(store));
        }
        Ok(match &self.store {
            StoreAddress::Dir(dir) => Store::open_or_create_observed(dir, &mut building())?,
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => Store::open_or_create_fleet(address)?,
            #[cfg(feature = "serve")]
            StoreAddress::Service(origin) => return Err(unserved(origin).into()),
        })
    }
}

impl Context {
    /// Refuses what needs the rules of matches, if this build does not have them.
    pub(crate) fn require_rules(
        &self,
        what: &str,
        store: &StoreReader,
        names: &[MatchName],
    ) -> Result<(), Failure> {
        for match_name in names {
            let genesis = store.genesis(match_name)?;
            let ruleset = &genesis.ruleset;
            let version = genesis.ruleset_version;
            if let Err(cause) = recorded_rules(&genesis, &self.registry) {
                let known = match cause {
                    NoRules::OtherVersion { known, .. } => Some(known),
                    NoRules::Unknown { .. } => None,
                    cause => {
                        let match_name = Some(match_name.clone());
                        return Err(ReplayError::NoModule { match_name, cause: Box::new(cause) }.into());
                    }
                };
                return Err(Failure::usage(format!(
                    "{what} needs the rules, and this build has no `{ruleset}` version {version}, under which match \
                     `{match_name}` was recorded"
                ))
                .hint(without_rules(match_name, version, known)));
            }
        }
        Ok(())
    }
}

/// Shows how far the index of a store is built, where that takes a while (ST-15).
fn building() -> impl FnMut(u64, u64) {
    let mut bar = None;
    move |done, all| {
        let show = || progress(all, "building the index {bar:30} {pos}/{len} commits {eta}");
        bar.get_or_insert_with(show).set_position(done);
    }
}

/// Reports that a service has no request for what was asked.
#[cfg(feature = "serve")]
fn unserved(origin: &SafeOrigin) -> ReplayError {
    ReplayError::Service(origin.to_string())
}

impl Sources for Context {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn read_store(&self) -> Result<StoreReader, ReplayError> {
        if let Some(reader) = self.reader.as_ref().and_then(OnceLock::get) {
            return Ok(reader.clone());
        }
        let opened = match &self.store {
            StoreAddress::Dir(dir) => StoreReader::open(dir)?,
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => StoreReader::open_fleet(address)?,
            #[cfg(feature = "serve")]
            StoreAddress::Service(origin) => return Err(unserved(origin)),
        };
        Ok(match &self.reader {
            Some(reader) => reader.get_or_init(|| opened).clone(),
            None => opened,
        })
    }

    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError> {
        read_replay(path, &self.registry, &self.bundles)
    }

    fn build(&self) -> Option<Digest> {
        build_identity()
    }
}

/// Reads a replay file, or standard input for `-`; also one that contains only what a seat may know, and a match of a
/// bundle.
pub(crate) fn read_replay(
    path: &Path,
    registry: &Registry,
    bundles: &Bundles,
) -> Result<Replay, ReplayError> {
    if let Some(name) = BundledName::of(path) {
        return bundles.replay(&name, registry);
    }
    let bytes = replay_bytes(path, files::read_input_or_stdin(path, &REPLAY)?)?;
    Ok(tfl::read_also_seen(&input_name(path), &bytes, registry)?)
}

/// Identifies this build, by its executable's size and time of writing: rules that were changed without a new
/// version must not go on from states that the old ones folded to.
pub(crate) fn build_identity() -> Option<Digest> {
    let executable = fs::metadata(env::current_exe().ok()?).ok()?;
    let written = executable.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 build");
    hasher.update(&executable.len().to_le_bytes());
    hasher.update(&written.as_nanos().to_le_bytes());
    Some(hasher.finalize().into())
}
