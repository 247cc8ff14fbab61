//! Options of `serve`, from the command line and from the file that `--config` names.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Args;
use crate::failure::Failure;
use crate::files;
use crate::remote::origin::read_origin;

const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8017);
const CACHE_MIB: u64 = 256;
pub(super) const CACHE_MIB_MAX: u64 = 1_000_000;

/// A file of options. Their names are those of the command line; paths begin at the folder of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ConfigFile {
    listen: Option<SocketAddr>,
    behind_proxy: bool,
    origin: Option<String>,
    admin_token: Option<PathBuf>,
    cors: Vec<String>,
    metrics: Option<SocketAddr>,
    key: Option<PathBuf>,
    cache: Option<u64>,
}

/// The options that hold. `--check-config` prints them.
#[derive(Debug, Serialize)]
pub(super) struct Settings {
    pub(super) listen: SocketAddr,
    pub(super) behind_proxy: bool,
    pub(super) origin: Option<String>,
    pub(super) admin_token: Option<PathBuf>,
    pub(super) cors: Vec<String>,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) key: Option<PathBuf>,
    /// In MiB.
    pub(super) cache: u64,
}

impl Settings {
    /// Puts the options of the command line before those of the file, and both before the defaults.
    pub(super) fn of(args: &Args) -> Result<Self, Failure> {
        let file = args.config.as_deref().map_or_else(|| Ok(ConfigFile::default()), read)?;
        let folder = args.config.as_deref().and_then(Path::parent).unwrap_or_else(|| Path::new(""));
        let in_folder = |path: &Option<PathBuf>| path.as_ref().map(|path| folder.join(path));
        Ok(Self {
            listen: args.listen.or(file.listen).unwrap_or(LISTEN),
            behind_proxy: args.behind_proxy || file.behind_proxy,
            origin: args.origin.clone().or(file.origin),
            admin_token: args.admin_token.clone().or_else(|| in_folder(&file.admin_token)),
            cors: if args.cors.is_empty() { file.cors } else { args.cors.clone() },
            metrics: args.metrics.or(file.metrics),
            key: args.key.clone().or_else(|| in_folder(&file.key)),
            cache: args.cache.or(file.cache).unwrap_or(CACHE_MIB),
        })
    }

    /// The options as a file has them.
    pub(super) fn lines(&self) -> Vec<String> {
        let Value::Object(options) = json!(self) else { return Vec::new() };
        let is_given = |value: &Value| !value.is_null() && *value != json!([]);
        let options = options.iter().filter(|(_, value)| is_given(value));
        options.map(|(name, value)| format!("{} = {value}", name.replace('_', "-"))).collect()
    }
}

/// Reads a file, and the addresses in it as the command line does.
fn read(path: &Path) -> Result<ConfigFile, Failure> {
    let shown = files::shown(path);
    let text = fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    let mut file: ConfigFile = toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        let message = error.message().lines().next().unwrap_or_default();
        Failure::usage(format!("`{shown}`, line {line}: {message}"))
            .hint("`turnfold serve --help` lists the options; in a file, their names have no dashes in front")
    })?;
    for url in file.origin.iter_mut().chain(&mut file.cors) {
        *url = read_origin(url).map_err(|error| Failure::usage(format!("`{shown}`, `{url}`: {error}")))?;
    }
    if file.cache.is_some_and(|cache| cache > CACHE_MIB_MAX) {
        return Err(Failure::usage(format!("`{shown}`: `cache` is at most {CACHE_MIB_MAX} MiB")));
    }
    Ok(file)
}
