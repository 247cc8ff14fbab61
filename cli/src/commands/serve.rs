//! `turnfold serve`: the store over HTTP.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use turnfold_replay::mail::addresses_in;
use turnfold_replay::signing::Signers;
use turnfold_serve::{AccessToken, HostedMail, Options, Outside, ServeError, TokenKind, serve};

use crate::context::{Context, build_identity};
use crate::failure::{ExitStatus, Failure};
use crate::origin::read_origin;
use crate::{clock, files, random, signals};
use config::{CACHE_MIB_MAX, ConfigFile, Settings};

mod config;

/// The heading of the options that others need before they can play from afar.
const OTHERS: &str = "Options for running it for others";

/// Serve the store over HTTP, for players at their own computers
///
/// Prints its address and answers until it is interrupted. Creates the store if there is none. No other process can open a
/// store directory at the same time; a store in a database may be served by many processes with the same admin token. Anyone
/// with the admin token can create matches, invite players and read everything; the token is printed to stderr unless it is
/// stored in a file.
///
/// With `--key`, hosts the matches by mail whose desk has that key: accepts papers at `POST /v1/matches/MATCH/papers` (except
/// from new players), executes turns when they are ready or their deadline has passed, rolls recorded dice by the operating
/// system, and writes letters to the outbox of a store directory. With `--origin`, each letter has a link to a page on which its
/// reader plays by clicks.
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

    /// Host matches by mail with this key: accept papers over HTTP, and execute turns
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// How many MiB open branches may take in memory [default: 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(0..=CACHE_MIB_MAX))]
    cache: Option<u64>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let settings = settings(args)?;
    require_proxy(&settings)?;
    if context.fleet().is_some() && settings.admin_token.is_none() {
        return Err(Failure::usage("to serve a store in a database, add `--admin-token FILE`")
            .hint("all processes that serve it need the same token"));
    }
    if args.check_config {
        return context
            .output
            .answer(&json!(settings), || settings.lines().into_iter().map(Into::into).collect());
    }
    let outside = outside()?;
    let (token, is_new) = match &settings.admin_token {
        Some(path) => (token_in(path, &outside)?, false),
        None => (AccessToken::generate(TokenKind::Admin, &outside).map_err(Failure::trouble)?, true),
    };
    let mail =
        settings.key.as_deref().map(|key| hosted_mail(key, settings.origin.clone(), context)).transpose()?;
    let files_max = allow_many_connections();
    let options = Options {
        listen: settings.listen,
        origin: settings.origin.clone(),
        cors: settings.cors.clone(),
        cache_bytes: settings.cache << 20,
        files_max,
        behind_proxy: settings.behind_proxy,
        admin: token.hash(),
        metrics: settings.metrics,
        mail,
    };
    let store = context.open_or_create_store()?;
    signals::leave_asking();
    let registry = context.registry.clone();
    let shown = is_new.then(|| token.expose());
    let output = &mut context.output;
    let mut announce = |address: SocketAddr| {
        let origin = settings.origin.clone().unwrap_or_else(|| format!("http://{address}"));
        let listening = json!({ "address": address, "origin": origin, "admin_token": shown });
        let mut told = Ok(());
        output.show(&listening, || {
            told = shown.map_or(Ok(()), |token| writeln!(io::stderr(), "admin token: {token}"));
            vec![format!("http://{address}").into()]
        })?;
        told.and_then(|()| output.flush())
    };
    serve(store, registry, outside, &options, &mut announce).map_err(|error| match error {
        ServeError::Store(error) => Failure::from(error),
        error @ ServeError::Listen { .. } => Failure::usage(error.to_string()),
        error => Failure::trouble(error.to_string()),
    })?;
    Ok(ExitStatus::Yes)
}

/// Puts options of the command line before the file's, and both before the defaults.
fn settings(args: &Args) -> Result<Settings, Failure> {
    let file = args.config.as_deref().map_or_else(|| Ok(ConfigFile::default()), config::read)?;
    let folder = args.config.as_deref().and_then(Path::parent).unwrap_or_else(|| Path::new(""));
    let in_folder = |path: &Option<PathBuf>| path.as_ref().map(|path| folder.join(path));
    Ok(Settings {
        listen: args.listen.or(file.listen).unwrap_or(config::LISTEN),
        behind_proxy: args.behind_proxy || file.behind_proxy,
        origin: args.origin.clone().or(file.origin),
        admin_token: args.admin_token.clone().or_else(|| in_folder(&file.admin_token)),
        cors: if args.cors.is_empty() { file.cors } else { args.cors.clone() },
        metrics: args.metrics.or(file.metrics),
        key: args.key.clone().or_else(|| in_folder(&file.key)),
        cache: args.cache.or(file.cache).unwrap_or(config::CACHE_MIB),
    })
}

/// Raises the number of files that may be open as far as the system lets this process, and returns it: each connection is
/// one.
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

/// A service that others can reach needs TLS, a known address and a token that stays (SV-1).
fn require_proxy(settings: &Settings) -> Result<(), Failure> {
    if settings.listen.ip().is_loopback() {
        return Ok(());
    }
    let missing = [
        ("--behind-proxy", settings.behind_proxy),
        ("--origin", settings.origin.is_some()),
        ("--admin-token", settings.admin_token.is_some()),
    ];
    let missing: Vec<_> =
        missing.iter().filter(|(_, is_there)| !is_there).map(|(name, _)| format!("`{name}`")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message =
        format!("to listen on `{}`, which others can reach, add {}", settings.listen, missing.join(" and "));
    Err(Failure::usage(message).hint("it does not speak TLS, so a proxy must"))
}

/// Takes the host's key. The letters wait next to the store; a database has no folder for them.
fn hosted_mail(key: &Path, pages: Option<String>, context: &Context) -> Result<HostedMail, Failure> {
    let signers = Arc::new(Signers::open(&[key.to_path_buf()])?);
    let letters = if context.fleet().is_some() { None } else { Some(context.store_dir()?.to_path_buf()) };
    letters.as_deref().map_or(Ok(()), |folder| addresses_in(folder).map(|_| ()))?;
    Ok(HostedMail { signers, letters, pages })
}

/// The world as the service sees it.
pub(crate) fn outside() -> Result<Outside, Failure> {
    // The first look says whether the clock can be used; it does not go back before 1970 afterwards.
    clock::now_ms()?;
    Ok(Outside {
        now_ms: || clock::now_ms().unwrap_or(0),
        fill_random: |bytes| random::fill(bytes).map_err(|failure| failure.to_string()),
        roll: |due| random::roll(due).map_err(|failure| io::Error::other(failure.to_string())),
        build: build_identity(),
    })
}

/// Reads the admin's token from its file, or makes both (SV-26).
fn token_in(path: &Path, outside: &Outside) -> Result<AccessToken, Failure> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::require_no_token(path)?;
            let token = AccessToken::generate(TokenKind::Admin, outside).map_err(Failure::trouble)?;
            files::write_private(path, false, |file| Ok(writeln!(file, "{}", token.expose())?))?;
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
