//! What every verb needs: the store or service, by its address, the output, the rulesets.

use std::ffi::OsString;
use std::net::IpAddr;
use std::ops::Deref;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;
use std::{env, fmt, fs};

use turnfold_core::registry::NoRules;
use turnfold_core::{Digest, Registry};
use turnfold_history::input::{Limits, input_name};
use turnfold_history::tfl::{Replay, replay_bytes};
use turnfold_history::{ReplayError, Revision, Sources, recorded_rules};
use turnfold_proof::bundle::BundledName;
use turnfold_referee::ModuleFolders;
#[cfg(feature = "postgres")]
pub(crate) use turnfold_store::FleetAddress;
use turnfold_store::{MatchName, Store, StoreOptions, StoreReader};
use ureq::http::Uri;

use crate::advice::without_rules;
use crate::client::Client;
use crate::failure::{DamagedStore, Failure, Result, not_own};
use crate::files;
use crate::output::{Output, warn};
use crate::remote;
use crate::sources::Bundles;
use crate::stderr::progress;

pub(crate) struct Context {
    pub(crate) workspace: Workspace,
    pub(crate) output: Output,
    /// How many times `-v` was given.
    pub(crate) verbose: u8,
}

impl Deref for Context {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

/// The store or service, the rulesets and the bundles. Threads share it.
pub(crate) struct Workspace {
    pub(crate) store: StoreAddress,
    /// The file with the token for a service.
    pub(crate) token: Option<PathBuf>,
    /// The rulesets, with modules and referees.
    pub(crate) registry: Registry,
    pub(crate) modules: Arc<ModuleFolders>,
    /// The files that the referees' commands name.
    pub(crate) referee_paths: Vec<PathBuf>,
    /// The store in a directory above that is not used, because it belongs to another user.
    pub(crate) passed_over: Option<PathBuf>,
    /// The values of the verb's positional arguments.
    pub(crate) named: Vec<String>,
    /// Keeps the bundle that was read last.
    pub(crate) bundles: Bundles,
    /// The open store, for a verb that reads several sources; `None` to open it each time.
    reader: Option<OnceLock<StoreReader>>,
    /// The client of the service, which keeps its connections.
    pub(crate) client: OnceLock<Client>,
}

impl Workspace {
    pub(crate) fn new(
        store: StoreAddress,
        token: Option<PathBuf>,
        registry: Registry,
        modules: ModuleFolders,
    ) -> Result<Self> {
        let is_service = matches!(store, StoreAddress::Service(_));
        if token.is_some() && !is_service {
            return Err(Failure::usage("`--token` is for a service").hint("name it with `--store URL`"));
        }
        let modules = Arc::new(modules);
        let registry = registry.with_modules(modules.clone());
        Ok(Self {
            store,
            token,
            registry,
            modules,
            referee_paths: Vec::new(),
            passed_over: None,
            named: Vec::new(),
            bundles: Bundles::default(),
            reader: None,
            client: OnceLock::new(),
        })
    }

    /// Keeps the store open from its first read to the end, for a verb that only reads it, but often.
    pub(crate) fn keep_reader(&mut self) {
        self.reader.get_or_insert_default();
    }

    pub(crate) fn store_dir(&self) -> Result<&Path> {
        match &self.store {
            StoreAddress::Dir(dir) => Ok(dir),
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(_) => Err(Failure::usage("the database server does that")),
            StoreAddress::Service(origin) => Err(unserved(origin).into()),
        }
    }

    pub(crate) fn fleet(&self) -> Option<&FleetAddress> {
        match &self.store {
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => Some(address),
            _ => None,
        }
    }

    pub(crate) fn damaged_store(&self) -> DamagedStore {
        if self.fleet().is_some() { DamagedStore::Database } else { DamagedStore::Dir }
    }

    pub(crate) fn open_store(&self) -> Result<Store> {
        Ok(match &self.store {
            StoreAddress::Dir(dir) => StoreOptions::new().observe(&mut building()).open(dir)?,
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => Store::open_fleet(address)?,
            StoreAddress::Service(origin) => return Err(unserved(origin).into()),
        })
    }

    pub(crate) fn open_or_create_store(&self) -> Result<Store> {
        if let Some(store) = &self.passed_over {
            warn(&not_own(store));
        }
        Ok(match &self.store {
            StoreAddress::Dir(dir) => StoreOptions::new().create().observe(&mut building()).open(dir)?,
            #[cfg(feature = "postgres")]
            StoreAddress::Fleet(address) => Store::open_or_create_fleet(address)?,
            StoreAddress::Service(origin) => return Err(unserved(origin).into()),
        })
    }

    /// Requires that this build has the rules of these matches. `what` names the command in the error.
    pub(crate) fn require_rules(&self, what: &str, store: &StoreReader, names: &[MatchName]) -> Result<()> {
        for match_name in names {
            let genesis = store.genesis(match_name)?;
            let ruleset = &genesis.ruleset;
            let version = genesis.ruleset_version;
            if let Err(cause) = recorded_rules(&genesis, &self.registry) {
                let known = match cause {
                    NoRules::OtherVersion { known, .. } => Some(known),
                    NoRules::Unknown { .. } => None,
                    cause => {
                        return Err(ReplayError::NoRules(Some(match_name.clone()), Box::new(cause)).into());
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

/// Shows the progress of building an index, which may take long (ST-15).
fn building() -> impl FnMut(u64, u64) {
    let mut bar = None;
    move |done, all| {
        let show = || progress(all, "building the index {bar:30} {pos}/{len} commits {eta}");
        bar.get_or_insert_with(show).set_position(done);
    }
}

fn unserved(origin: &SafeOrigin) -> ReplayError {
    ReplayError::Unusable(format!("this needs the store itself, and `{origin}` is a service"))
}

impl Sources for Workspace {
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
            StoreAddress::Service(origin) => return Err(unserved(origin)),
        };
        Ok(match &self.reader {
            Some(reader) => reader.get_or_init(|| opened).clone(),
            None => opened,
        })
    }

    fn fetch(&self, revision: &Revision) -> Result<Option<Replay>, ReplayError> {
        let fetched = match self.service() {
            Ok(None) => return Ok(None),
            Ok(Some(client)) => remote::fetch(client, revision, &self.registry),
            Err(failure) => Err(failure),
        };
        fetched.map(Some).map_err(|failure| ReplayError::Fetch(Box::new(failure)))
    }

    /// Reads a replay file, a match of a bundle, or standard input for `-`. A file with only what a seat may know is
    /// accepted.
    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError> {
        if let Some(name) = BundledName::of(path) {
            return self.bundles.replay(&name, &self.registry);
        }
        let bytes = replay_bytes(path, files::read_input_or_stdin(path, &Limits::REPLAY)?)?;
        Ok(Replay::read_also_seen(&input_name(path), &bytes, &self.registry)?)
    }

    fn build(&self) -> Option<Digest> {
        build_identity()
    }
}

/// Identifies this build by the length and modification time of its executable. Changed rules without a new version
/// must not continue from states that the old rules computed.
pub(crate) fn build_identity() -> Option<Digest> {
    let executable = fs::metadata(env::current_exe().ok()?).ok()?;
    let written = executable.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 build");
    hasher.update(&executable.len().to_le_bytes());
    hasher.update(&written.as_nanos().to_le_bytes());
    Some(hasher.finalize().into())
}

/// Without databases, there is no value of this type.
#[cfg(not(feature = "postgres"))]
pub(crate) type FleetAddress = std::convert::Infallible;

pub(crate) const DEFAULT_DIR: &str = ".turnfold";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreAddress {
    Dir(PathBuf),
    #[cfg(feature = "postgres")]
    Fleet(Box<FleetAddress>),
    Service(SafeOrigin),
}

impl StoreAddress {
    /// Reads a URL, which has a scheme, or else a directory. Fails for a URL that this build does not support.
    pub(crate) fn read(value: OsString) -> Result<Self, String> {
        match value.to_str() {
            // The password is in the URL or in the variable.
            #[cfg(feature = "postgres")]
            Some(text) if is_database(text) => {
                let password = env::var("PGPASSWORD").ok();
                match FleetAddress::read(text, password.as_deref()) {
                    Ok(address) => Ok(Self::Fleet(Box::new(address))),
                    Err(error) => Err(error.to_string()),
                }
            }

            #[cfg(not(feature = "postgres"))]
            Some(text) if is_database(text) => Err(left_out("postgres")),
            Some(text) if is_url(text) => SafeOrigin::read(text).map(Self::Service),
            _ => Ok(Self::Dir(value.into())),
        }
    }

    /// Finds the store in the current directory or in the nearest one above it, as git does. A store above that belongs
    /// to another user is not used; it is returned as the error.
    pub(crate) fn nearest() -> Result<Self, Option<PathBuf>> {
        let here = PathBuf::from(DEFAULT_DIR);
        if here.exists() {
            return Ok(Self::Dir(here));
        }
        for above in env::current_dir().unwrap_or_default().ancestors().skip(1) {
            let dir = above.join(DEFAULT_DIR);
            if dir.is_dir() {
                return if is_own(&dir) { Ok(Self::Dir(dir)) } else { Err(Some(dir)) };
            }
        }
        Err(None)
    }

    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Dir(dir) => dir.display().to_string(),
            // The address of a database may contain a password.
            #[cfg(feature = "postgres")]
            Self::Fleet(_) => "the database".into(),
            Self::Service(origin) => origin.to_string(),
        }
    }
}

fn is_own(dir: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(dir).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    fs::metadata(dir).is_ok()
}

pub(crate) fn left_out(feature: &str) -> String {
    format!("this build was made without its feature `{feature}`")
}

pub(crate) fn is_database(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn is_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once("://") else { return false };
    !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// An origin with TLS or on this machine, because a token must not be sent in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SafeOrigin(String);

impl SafeOrigin {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let origin = read_origin(text.strip_suffix('/').unwrap_or(text))?;
        let expected = "expected a host and, if need be, `:` and a port";
        let uri: Uri = origin.parse().map_err(|_| expected)?;
        let host = uri.host().unwrap_or_default();
        let rest =
            uri.authority().and_then(|authority| authority.as_str().strip_prefix(host)).ok_or(expected)?;
        let port = rest.strip_prefix(':').and_then(|port| port.parse::<u16>().ok());
        if !rest.is_empty() && port.is_none() {
            return Err(expected.into());
        }
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        let is_here = host == "localhost" || address.is_ok_and(|address: IpAddr| address.is_loopback());
        let origin = Self(origin);
        if origin.has_tls() || is_here {
            return Ok(origin);
        }
        Err("a token is sent by `https` only, and by `http` within this machine".into())
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl fmt::Display for SafeOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

pub(crate) fn read_origin(text: &str) -> Result<String, String> {
    if let Some(host) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    {
        return Ok(text.into());
    }
    Err("expected an origin such as `https://play.example`, with nothing behind the host and its port".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_scheme_is_no_directory() {
        for dir in [".turnfold", "/srv/store", "c:/store", "./http://x", "https:/x", "://"] {
            assert_eq!(StoreAddress::read(dir.into()), Ok(StoreAddress::Dir(dir.into())));
        }
        for url in ["postgres://db.example", "http://a.example", "ftp://a.example"] {
            assert!(StoreAddress::read(url.into()).is_err());
        }
    }

    #[test]
    fn a_url_whose_part_was_left_out_names_the_feature() {
        let service = StoreAddress::read("https://a.example/".into());
        assert!(matches!(service, Ok(StoreAddress::Service(_))));
        let database = StoreAddress::read("postgres://u@db.example/games".into());
        #[cfg(feature = "postgres")]
        assert!(matches!(database, Ok(StoreAddress::Fleet(_))));
        #[cfg(not(feature = "postgres"))]
        assert!(database.is_err_and(|message| message.contains("`postgres`")));
    }

    #[test]
    fn tokens_are_sent_with_tls_or_within_this_machine() {
        for text in [
            "https://play.example",
            "https://play.example:8443/",
            "http://127.0.0.1:8017",
            "http://127.1.2.3",
            "http://[::1]:8017",
            "http://localhost:8017/",
        ] {
            assert!(SafeOrigin::read(text).is_ok(), "{text}");
        }
        for text in [
            "http://play.example",
            "http://127.0.0.1.example",
            "http://127.0.0.1@play.example",
            "http://localhost.example",
            "http://192.168.0.1:8017",
            "http://[::2]",
            "https://play.example/path",
            "https://play.example/#i=x",
            "https://play.example?x",
            "https://user:word@play.example",
            "https://play.example:port",
            "https://",
            "ftp://play.example",
        ] {
            assert!(SafeOrigin::read(text).is_err(), "{text}");
        }
    }
}
