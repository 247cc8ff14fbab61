//! `turnfold serve`: serves the store over HTTP. Its options come from the command line and from the file of
//! `--config`.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turnfold_core::Digest;
use turnfold_mail::{Maildir, addresses_in};
use turnfold_proof::signing::Signers;
use turnfold_serve::{
    AccessToken, HostedMail, Notifying, Options, Outside, Reload, ServeError, Settings, TokenKind, serve,
};

use crate::context::{Context, build_identity, read_origin};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::Line;
use crate::stderr::{self, LogFormat};
use crate::{clock, files, program, random, signals};

/// Serve the store over HTTP, for players at their own computers
///
/// Prints its address and answers until it is interrupted. Creates the store if there is none. No other process can open a
/// store directory at the same time; a store in a database may be served by many processes with the same admin token. Anyone
/// with the admin token can create matches, invite players and read everything; the token is printed to stderr unless it is
/// stored in a file.
///
/// With `--key`, hosts the matches by mail whose desk has that key: accepts papers at `POST /v1/matches/MATCH/papers`, executes turns when they are ready or their deadline has passed, rolls recorded dice by the operating
/// system, and writes letters to the outbox of a store directory. With `--origin`, each letter has a link to a page on which its
/// reader plays by clicks.
///
/// With `--notify`, players who asked for it on the page are called when their turn has lasted a while and no page of theirs is
/// open: the command gets one JSON object on its standard input, and is tried again while it fails.
///
/// SIGHUP reads the admin token and the rates of requests again, from their files; everything else needs a new start.
///
/// Speaks HTTP/1.1 without TLS. To serve others, put a proxy in front of it that terminates TLS, declare it with
/// `--behind-proxy`, and give its public address with `--origin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold serve\n  \
    turnfold serve --behind-proxy --origin https://play.example --admin-token admin.token --listen 0.0.0.0:8017\n  \
    turnfold serve --key ann.key\n  turnfold serve --config /etc/turnfold/serve.toml --check-config")]
pub(crate) struct Args {
    /// Read options from this TOML file, by their names without dashes in front; options here win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print the options that would be used, and do not serve
    #[arg(long)]
    check_config: bool,

    #[command(flatten)]
    options: ServeOptions,
}

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
struct ServeOptions {
    /// Where to listen; port 0 is any [default: 127.0.0.1:8017]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,

    /// A proxy in front of it terminates TLS
    #[arg(long, help_heading = OTHERS)]
    behind_proxy: bool,

    /// Public address, such as `https://play.example` [default: the address it listens on]
    #[arg(long, help_heading = OTHERS, value_name = "URL", value_parser = read_origin)]
    origin: Option<String>,

    /// File with the admin token, created if missing [default: a new token at each start]
    #[arg(long, help_heading = OTHERS, value_name = "FILE")]
    admin_token: Option<PathBuf>,

    /// Let pages of another origin use it; may be repeated
    #[arg(long, help_heading = OTHERS, value_name = "ORIGIN", value_parser = read_origin)]
    cors: Vec<String>,

    /// Serve metrics at `/metrics` on a separate address
    #[arg(long, help_heading = OTHERS, value_name = "ADDR")]
    metrics: Option<SocketAddr>,

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
    key: Option<PathBuf>,

    /// Take the mails that wait in this Maildir, for every match by mail that the key hosts
    #[arg(long, value_name = "DIR", requires = "key")]
    maildir: Option<PathBuf>,

    /// Send each letter of these matches by this shell command, such as `sendmail -t`
    #[arg(long, value_name = "COMMAND", requires = "key")]
    send: Option<String>,

    /// Call players on their turns by this shell command, which gets a JSON object
    #[arg(long, help_heading = OTHERS, value_name = "COMMAND")]
    notify: Option<String>,

    /// How many seconds a turn lasts before its player is called [default: 60]
    #[arg(long, help_heading = OTHERS, value_name = "SECONDS", requires = "notify")]
    notify_after: Option<u32>,

    /// File that has who is called, and for which turns [default: in the store]
    #[arg(long, help_heading = OTHERS, value_name = "FILE", requires = "notify")]
    notify_memory: Option<PathBuf>,

    /// How many MiB open branches may take in memory [default: 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(0..=CACHE_MAX))]
    cache: Option<u64>,
}

impl ServeOptions {
    fn with_file(self, path: Option<&Path>) -> Result<Self> {
        let file = match path {
            Some(path) => read_config(path)?,
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

    fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(LISTEN)
    }

    /// Returns the settings that may change while the service runs. `admin` is the hash of the admin token.
    fn settings(&self, admin: Digest) -> Settings {
        Settings {
            admin,
            seat_rate: self.seat_rate.unwrap_or(SEAT_RATE),
            spectator_rate: self.spectator_rate.unwrap_or(SPECTATOR_RATE),
        }
    }

    fn fixed(&self) -> Self {
        Self { admin_token: None, seat_rate: None, spectator_rate: None, ..self.clone() }
    }

    fn lines(&self) -> Vec<Line> {
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let options = args.options.clone().with_file(args.config.as_deref())?;
    require_proxy(&options)?;
    if context.fleet().is_some() && options.admin_token.is_none() {
        return Err(Failure::usage("to serve a store in a database, add `--admin-token FILE`")
            .hint("all processes that serve it need the same token"));
    }
    if args.check_config {
        return context.output.answer(&options, || options.lines());
    }
    stderr::log(context.verbose, options.log_format.unwrap_or_default());
    let outside = outside()?;
    let token = match &options.admin_token {
        Some(path) => token_in(path, &outside)?,
        None => AccessToken::generate(TokenKind::Admin, &outside).map_err(Failure::trouble)?,
    };
    let admin = token.hash();
    let read_again =
        || settings_again(args, &options, admin, &outside).map_err(|failure| failure.to_string());
    let is_in_files = args.config.is_some() || options.admin_token.is_some();
    let reload: Option<Reload<'_>> = if is_in_files { Some(&read_again) } else { None };
    let mail = match &options.key {
        Some(key) => Some(hosted_mail(key, &options, context)?),
        None => None,
    };
    let notifying = notifying(&options, context)?;
    let files_max = allow_many_connections();
    let service = Options {
        listen: options.listen(),
        origin: options.origin.clone(),
        cors: options.cors.clone(),
        store_dir: context.store_dir().ok().map(Path::to_path_buf),
        cache_bytes: options.cache.unwrap_or(CACHE) << 20,
        files_max,
        behind_proxy: options.behind_proxy,
        settings: options.settings(admin),
        metrics: options.metrics,
        mail,
        notifying,
    };
    let store = context.open_or_create_store()?;
    signals::leave_asking(reload.is_some());
    let registry = context.registry.clone();
    // A token that no file keeps is printed.
    let shown = if options.admin_token.is_none() { Some(token.expose()) } else { None };
    let output = &mut context.output;
    let mut announce = |address: SocketAddr| {
        let origin = options.origin.clone().unwrap_or_else(|| format!("http://{address}"));
        if let Some(token) = shown
            && !output.is_json()
        {
            writeln!(io::stderr(), "admin token: {token}")?;
        }
        let listening = json!({ "address": address, "origin": origin, "admin_token": shown });
        output.show(&listening, || vec![format!("http://{address}").into()])?;
        output.flush()?;
        note_ready();
        Ok(())
    };
    match serve(store, registry, outside, &service, &mut announce, reload) {
        Ok(()) => Ok(ExitStatus::Yes),
        Err(ServeError::Store(error)) => Err(error.into()),
        Err(error @ ServeError::Listen { .. }) => Err(Failure::usage(error.to_string())),
        Err(error) => Err(Failure::trouble(error.to_string())),
    }
}

fn notifying(options: &ServeOptions, context: &Context) -> Result<Option<Notifying>> {
    let Some(command) = options.notify.clone() else { return Ok(None) };
    let memory = match (&options.notify_memory, context.store_dir()) {
        (Some(memory), _) => memory.clone(),
        (None, Ok(dir)) => dir.join("calls.json"),
        (None, Err(_)) => {
            return Err(Failure::usage(
                "to call players of a store in a database, add `--notify-memory FILE`",
            )
            .hint("one of the processes that serve it calls players"));
        }
    };
    let after = Duration::from_secs(options.notify_after.unwrap_or(NOTIFY_AFTER).into());
    Ok(Some(Notifying { command, after, memory }))
}

/// Notifies systemd that the service is ready, if it started this process with `Type=notify`.
fn note_ready() {
    #[cfg(unix)]
    if let Some(path) = std::env::var_os("NOTIFY_SOCKET") {
        use std::os::unix::net::UnixDatagram;
        let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to(b"READY=1", &path));
        if let Err(error) = sent {
            tracing::warn!(%error, "systemd does not know that the service is ready");
        }
    }
}

fn settings_again(args: &Args, started: &ServeOptions, admin: Digest, outside: &Outside) -> Result<Settings> {
    let options = args.options.clone().with_file(args.config.as_deref())?;
    if options.fixed() != started.fixed() {
        tracing::warn!("some of the changed options need a new start of the service");
    }
    let admin = match &options.admin_token {
        Some(path) => token_in(path, outside)?.hash(),
        None => admin,
    };
    Ok(options.settings(admin))
}

/// Raises the limit of open files to the system's maximum, because each connection takes one, and returns the new
/// limit.
fn allow_many_connections() -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
            tracing::info!(%error, "the limit of open files stays as it is");
        }
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    }

    #[cfg(not(unix))]
    u64::MAX
}

/// Requires TLS, a known address and a lasting token for a service that others can reach (SV-1).
fn require_proxy(options: &ServeOptions) -> Result<()> {
    if options.listen().ip().is_loopback() {
        return Ok(());
    }
    let mut missing = Vec::new();
    if !options.behind_proxy {
        missing.push("`--behind-proxy`");
    }
    if options.origin.is_none() {
        missing.push("`--origin`");
    }
    if options.admin_token.is_none() {
        missing.push("`--admin-token`");
    }
    if missing.is_empty() {
        return Ok(());
    }
    let message =
        format!("to listen on `{}`, which others can reach, add {}", options.listen(), missing.join(" and "));
    Err(Failure::usage(message).hint("it does not speak TLS, so a proxy must"))
}

/// Opens the host's key. Letters are kept next to the store; with a database, there is no folder for them.
fn hosted_mail(key: &Path, options: &ServeOptions, context: &Context) -> Result<HostedMail> {
    let signers = Arc::new(Signers::open(&[key.to_path_buf()])?);
    let mut letters = None;
    if context.fleet().is_none() {
        let folder = context.store_dir()?;
        addresses_in(folder)?;
        letters = Some(folder.to_path_buf());
    }
    if let Some(folder) = &options.maildir {
        Maildir::open(folder)?;
    }
    let pages = options.origin.clone();
    let maildir = options.maildir.clone();
    let send = options.send.clone();
    Ok(HostedMail { signers, letters, pages, maildir, send, program: program::name() })
}

pub(crate) fn outside() -> Result<Outside> {
    // Fails early if the clock cannot be used; afterwards it will not go back before 1970.
    clock::now_ms()?;
    Ok(Outside {
        now_ms: || clock::now_ms().unwrap_or(0),
        fill_random: |bytes| random::fill(bytes).map_err(|failure| failure.to_string()),
        roll: random::roll,
        build: build_identity(),
    })
}

/// Reads the admin token from its file, or creates both (SV-26).
fn token_in(path: &Path, outside: &Outside) -> Result<AccessToken> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::require_no_token(path)?;
            let token = AccessToken::generate(TokenKind::Admin, outside).map_err(Failure::trouble)?;
            files::write_token(path, &token)?;
            Ok(token)
        }
        Err(error) => Err(Failure::file("read", path, &error)),
        Ok(_) => match files::read_token(path)? {
            Some((token, TokenKind::Admin)) => Ok(token),
            _ => Err(Failure::usage(format!("`{}` holds no admin token", files::shown(path)))
                .hint("name a file that does not exist, to create one")),
        },
    }
}

/// Reads a configuration file. Addresses are checked like options, and paths are relative to the folder of the file.
fn read_config(path: &Path) -> Result<ServeOptions> {
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
