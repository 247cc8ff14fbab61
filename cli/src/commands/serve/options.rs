//! The options of `serve`, from the command line or from the file of `--config`.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turnfold_core::Digest;
use turnfold_serve::Settings;

use crate::failure::Failure;
use crate::files;
use crate::origin::read_origin;
use crate::output::Line;
use crate::stderr::LogFormat;

const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8017);
/// In MiB, like the maximum.
const CACHE: u64 = 256;
const CACHE_MAX: u64 = 1_000_000;
/// In requests a second, like the rate of spectators.
const SEAT_RATE: NonZeroU32 = NonZeroU32::new(50).unwrap();
const SPECTATOR_RATE: NonZeroU32 = NonZeroU32::new(500).unwrap();

/// In seconds.
const NOTIFY_AFTER: u32 = 60;

const OTHERS: &str = "Options for running it for others";

#[derive(Clone, Debug, Default, PartialEq, clap::Args, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all(deserialize = "kebab-case"))]
pub(super) struct ServeOptions {
    /// Where to listen; port 0 is any [default: 127.0.0.1:8017]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,

    /// A proxy in front of it terminates TLS
    #[arg(long, help_heading = OTHERS)]
    pub(super) behind_proxy: bool,

    /// Public address, such as `https://play.example` [default: the address it listens on]
    #[arg(long, help_heading = OTHERS, value_name = "URL", value_parser = read_origin)]
    pub(super) origin: Option<String>,

    /// File with the admin token, created if missing [default: a new token at each start]
    #[arg(long, help_heading = OTHERS, value_name = "FILE")]
    pub(super) admin_token: Option<PathBuf>,

    /// Let pages of another origin use it; may be repeated
    #[arg(long, help_heading = OTHERS, value_name = "ORIGIN", value_parser = read_origin)]
    pub(super) cors: Vec<String>,

    /// Serve metrics at `/metrics` on a separate address
    #[arg(long, help_heading = OTHERS, value_name = "ADDR")]
    pub(super) metrics: Option<SocketAddr>,

    /// Requests a second with one token of a seat; four times as many in a burst [default: 50]
    #[arg(long, help_heading = OTHERS, value_name = "N")]
    seat_rate: Option<NonZeroU32>,

    /// Requests a second with one token of a spectator; four times as many in a burst [default: 500]
    #[arg(long, help_heading = OTHERS, value_name = "N")]
    spectator_rate: Option<NonZeroU32>,

    /// Form of the log on stderr [default: text]
    #[arg(long, help_heading = OTHERS, value_enum, value_name = "FORM")]
    log_format: Option<LogFormat>,

    /// Host matches by mail with this key: accept papers over HTTP, and execute turns
    #[arg(long, value_name = "FILE")]
    pub(super) key: Option<PathBuf>,

    /// Take the mails that wait in this Maildir, for every match by mail that the key hosts
    #[arg(long, value_name = "DIR", requires = "key")]
    pub(super) maildir: Option<PathBuf>,

    /// Send each letter of these matches by this shell command, such as `sendmail -t`
    #[arg(long, value_name = "COMMAND", requires = "key")]
    pub(super) send: Option<String>,

    /// Call players on their turns by this shell command, which gets a JSON object
    #[arg(long, help_heading = OTHERS, value_name = "COMMAND")]
    pub(super) notify: Option<String>,

    /// How many seconds a turn lasts before its player is called [default: 60]
    #[arg(long, help_heading = OTHERS, value_name = "SECONDS", requires = "notify")]
    notify_after: Option<u32>,

    /// File that has who is called, and for which turns [default: in the store]
    #[arg(long, help_heading = OTHERS, value_name = "FILE", requires = "notify")]
    pub(super) notify_memory: Option<PathBuf>,

    /// How many MiB open branches may take in memory [default: 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(0..=CACHE_MAX))]
    cache: Option<u64>,
}

impl ServeOptions {
    pub(super) fn with_file(self, path: Option<&Path>) -> Result<Self, Failure> {
        let file = match path {
            Some(path) => read(path)?,
            None => Self::default(),
        };
        Ok(Self {
            listen: self.listen.or(file.listen).or(Some(LISTEN)),
            behind_proxy: self.behind_proxy || file.behind_proxy,
            origin: self.origin.or(file.origin),
            admin_token: self.admin_token.or(file.admin_token),
            cors: if self.cors.is_empty() { file.cors } else { self.cors },
            metrics: self.metrics.or(file.metrics),
            seat_rate: self.seat_rate.or(file.seat_rate).or(Some(SEAT_RATE)),
            spectator_rate: self.spectator_rate.or(file.spectator_rate).or(Some(SPECTATOR_RATE)),
            log_format: self.log_format.or(file.log_format).or(Some(LogFormat::Text)),
            key: self.key.or(file.key),
            maildir: self.maildir.or(file.maildir),
            send: self.send.or(file.send),
            notify: self.notify.or(file.notify),
            notify_after: self.notify_after.or(file.notify_after),
            notify_memory: self.notify_memory.or(file.notify_memory),
            cache: self.cache.or(file.cache).or(Some(CACHE)),
        })
    }

    pub(super) fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(LISTEN)
    }

    pub(super) fn cache_bytes(&self) -> u64 {
        self.cache.unwrap_or(CACHE) << 20
    }

    pub(super) fn notify_after(&self) -> Duration {
        Duration::from_secs(self.notify_after.unwrap_or(NOTIFY_AFTER).into())
    }

    pub(super) fn log_format(&self) -> LogFormat {
        self.log_format.unwrap_or_default()
    }

    /// Returns the settings that may change while the service runs. `admin` is the hash of the admin token.
    pub(super) fn settings(&self, admin: Digest) -> Settings {
        Settings {
            admin,
            seat_rate: self.seat_rate.unwrap_or(SEAT_RATE),
            spectator_rate: self.spectator_rate.unwrap_or(SPECTATOR_RATE),
        }
    }

    pub(super) fn fixed(&self) -> Self {
        Self { admin_token: None, seat_rate: None, spectator_rate: None, ..self.clone() }
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        let Value::Object(options) = json!(self) else { return Vec::new() };
        let mut lines = Vec::new();
        for (name, value) in options {
            if !value.is_null() && value != json!([]) {
                lines.push(format!("{} = {value}", name.replace('_', "-")).into());
            }
        }
        lines
    }
}

/// Reads a configuration file. Addresses are checked like options, and paths are relative to the folder of the file.
fn read(path: &Path) -> Result<ServeOptions, Failure> {
    let shown = files::shown(path);
    let text = fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    let mut options: ServeOptions = toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        let message = error.message().lines().next().unwrap_or_default();
        Failure::usage(format!("`{shown}`, line {line}: {message}"))
            .hint("`turnfold serve --help` lists the options; in a file, their names have no dashes in front")
    })?;
    for url in options.origin.iter_mut().chain(&mut options.cors) {
        *url = read_origin(url).map_err(|error| Failure::usage(format!("`{shown}`, `{url}`: {error}")))?;
    }
    if options.cache.is_some_and(|cache| cache > CACHE_MAX) {
        return Err(Failure::usage(format!("`{shown}`: `cache` is at most {CACHE_MAX} MiB")));
    }
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let files =
        [&mut options.admin_token, &mut options.key, &mut options.maildir, &mut options.notify_memory];
    for path in files.into_iter().flatten() {
        *path = folder.join(&*path);
    }
    Ok(options)
}
