//! The file that `serve --config` names, and the options that hold.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;
use crate::origin::read_origin;

pub(super) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8017);
pub(super) const CACHE_MIB: u64 = 256;
pub(super) const CACHE_MIB_MAX: u64 = 1_000_000;

/// A file of options, by their names on the command line. Paths begin at the folder of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ConfigFile {
    pub(super) listen: Option<SocketAddr>,
    pub(super) behind_proxy: bool,
    pub(super) origin: Option<String>,
    pub(super) admin_token: Option<PathBuf>,
    pub(super) cors: Vec<String>,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) key: Option<PathBuf>,
    pub(super) cache: Option<u64>,
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
    /// The options as a file has them.
    pub(super) fn lines(&self) -> Vec<String> {
        let Value::Object(options) = json!(self) else { return Vec::new() };
        let is_given = |value: &Value| !value.is_null() && *value != json!([]);
        let options = options.iter().filter(|(_, value)| is_given(value));
        options.map(|(name, value)| format!("{} = {value}", name.replace('_', "-"))).collect()
    }
}

/// Reads a file, and the addresses in it as the command line does.
pub(super) fn read(path: &Path) -> Result<ConfigFile, Failure> {
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
