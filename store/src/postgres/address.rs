//! The address of a store on PostgreSQL (FL-1): the URL parameters that the driver does not know, and how a server
//! proves its identity.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// How long a host may take to accept a connection, or an open connection may be silent, before it counts as dead
/// (FL-21).
const DEAD_AFTER: Duration = Duration::from_secs(10);

const USUAL_PORT: u16 = 5432;

/// The address of a store on PostgreSQL: `postgres://USER@HOST[,HOST…]/DB?schema=turnfold`.
#[derive(Clone)]
pub struct FleetAddress {
    pub(super) config: Config,
    pub(super) schema: String,
    pub(super) tls: Tls,
    /// Whether to accept a server that may lose acknowledged writes.
    pub(super) may_lose: bool,
    /// The maximum number of connections for reading and for all changes except appends.
    pub(super) readers: usize,
    /// The maximum number of connections for appends.
    pub(super) writers: usize,
    shown: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    /// The server does not prove its identity; the connection has no TLS.
    Disabled,
    /// The server has a certificate signed by a root in this file, or by one of the system's roots.
    Verified(Option<PathBuf>),
}

/// A URL that is not a valid address of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAFleetAddress(String);

impl FleetAddress {
    /// Parses a URL. `password` is used only if the URL contains none.
    ///
    /// # Errors
    /// Returns [`NotAFleetAddress`] if the URL or one of its parameters is invalid. Its text never contains the
    /// password.
    pub fn read(url: &str, password: Option<&str>) -> Result<Self, NotAFleetAddress> {
        let wrong = |reason: String| NotAFleetAddress(format!("unusable address of a database: {reason}"));
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut own = Own::default();
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !own.take(name, value).map_err(wrong)? {
                rest.push(pair);
            }
        }
        let known = [base, "?", &rest.join("&")].concat();
        let known = known.strip_suffix('?').unwrap_or(&known);
        // The driver's error may repeat parts of the URL, including the password.
        let unreadable =
            "expected `postgres://USER@HOST/DB?schema=NAME`, with `%2F` for each `/` of a socket's folder";
        let mut config = Config::from_str(known).map_err(|_| wrong(unreadable.to_owned()))?;
        if config.get_hosts().is_empty() || config.get_user().is_none() || config.get_dbname().is_none() {
            return Err(wrong("expected a user, a host and a database".to_owned()));
        }
        if let Some(password) = password.filter(|_| config.get_password().is_none()) {
            config.password(password);
        }
        let is_near = config.get_hosts().iter().all(is_near);
        let tls = own.tls(is_near).map_err(wrong)?;
        config
            .application_name("turnfold")
            .connect_timeout(DEAD_AFTER)
            .tcp_user_timeout(DEAD_AFTER)
            .keepalives_idle(DEAD_AFTER)
            .keepalives_interval(Duration::from_secs(2))
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .ssl_mode(if tls == Tls::Disabled { SslMode::Disable } else { SslMode::Require });
        let shown = shown(&config, &own.schema);
        let Own { schema, may_lose, readers, writers, .. } = own;
        Ok(Self { config, schema, tls, may_lose, readers, writers, shown })
    }
}

impl fmt::Display for FleetAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.shown)
    }
}

impl fmt::Debug for FleetAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "FleetAddress({self})")
    }
}

impl PartialEq for FleetAddress {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown && self.tls == other.tls
    }
}

impl Eq for FleetAddress {}

/// The parameters of a URL that the driver does not know.
struct Own {
    schema: String,
    sslmode: Option<String>,
    sslrootcert: Option<PathBuf>,
    may_lose: bool,
    readers: usize,
    writers: usize,
}

impl Default for Own {
    fn default() -> Self {
        let schema = "turnfold".to_owned();
        Self { schema, sslmode: None, sslrootcert: None, may_lose: false, readers: 8, writers: 4 }
    }
}

impl Own {
    /// Stores a parameter and returns `true`, or returns `false` if the driver must interpret it.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "schema" if is_schema(value) => value.clone_into(&mut self.schema),
            "schema" => {
                return Err(format!(
                    "expected a schema of 1 to 63 characters a-z, 0-9 or `_`, not beginning with a digit, found `{}`",
                    value.escape_debug()
                ));
            }
            "sslmode" => self.sslmode = Some(value.to_owned()),
            "sslrootcert" => self.sslrootcert = Some(value.replace("%2F", "/").replace("%2f", "/").into()),
            "durable" if ["yes", "no"].contains(&value) => self.may_lose = value == "no",
            "durable" => return Err("`durable` is `yes` or `no`".to_owned()),
            "connections" => {
                let split = value.split_once('+').or_else(|| value.split_once("%2B"));
                if let Some((writers, readers)) = split
                    && let Some(writers) = connections(writers)
                    && let Some(readers) = connections(readers)
                {
                    self.writers = writers;
                    self.readers = readers;
                } else {
                    return Err("`connections` is WRITERS+READERS, each 1 to 64, as in `4+8`".to_owned());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn tls(&self, is_near: bool) -> Result<Tls, String> {
        match self.sslmode.as_deref() {
            Some("disable") => Ok(Tls::Disabled),
            None if is_near && self.sslrootcert.is_none() => Ok(Tls::Disabled),
            None | Some("verify-full") => Ok(Tls::Verified(self.sslrootcert.clone())),
            Some(other) => Err(format!(
                "`sslmode={}` proves nothing about the server; it is `verify-full` or `disable`",
                other.escape_debug()
            )),
        }
    }
}

fn connections(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| (1..=64).contains(count))
}

fn is_schema(text: &str) -> bool {
    let is_known =
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    is_known && (1..=63).contains(&text.len()) && !text.starts_with(|first: char| first.is_ascii_digit())
}

fn is_near(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Returns an address without its password (FL-1) and without the default port.
fn shown(config: &Config, schema: &str) -> String {
    let ports = config.get_ports();
    let mut hosts = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let name = match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        hosts.push(match ports.get(index).or(ports.first()) {
            Some(&port) if port != USUAL_PORT => format!("{name}:{port}"),
            _ => name,
        });
    }
    let user = config.get_user().unwrap_or_default();
    let db = config.get_dbname().unwrap_or_default();
    format!("postgres://{user}@{}/{db}?schema={schema}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> FleetAddress {
        FleetAddress::read(url, Some("hidden")).unwrap()
    }

    #[test]
    fn what_the_driver_does_not_know_is_read_before_it_and_no_password_is_shown() {
        let address =
            read("postgres://u:hidden@db.example:5433,b.example/games?schema=s_1&connections=2%2B3");
        assert_eq!(address.to_string(), "postgres://u@db.example:5433,b.example/games?schema=s_1");
        assert_eq!((address.writers, address.readers), (2, 3));
        assert_eq!(address.tls, Tls::Verified(None));
        assert!(!format!("{address:?}").contains("hidden"));
        assert_eq!(read("postgres://u@h/d").config.get_password(), Some(b"hidden".as_slice()));
        for near in ["localhost", "127.0.0.1", "%2Ftmp%2Fx"] {
            assert_eq!(read(&format!("postgresql://u@{near}/d")).tls, Tls::Disabled, "{near}");
        }
        let file = Tls::Verified(Some("/etc/ca.pem".into()));
        assert_eq!(read("postgres://u@localhost/d?sslrootcert=/etc/ca.pem").tls, file);
        assert_eq!(read("postgres://u@h/d?sslmode=disable").tls, Tls::Disabled);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_without_the_password() {
        for url in [
            "postgres://u:hidden@h/d?sslmode=require",
            "postgres://u:hidden@h/d?sslmode=prefer",
            "postgres://u:hidden@h/d?schema=A",
            "postgres://u:hidden@h/d?schema=1a",
            "postgres://u:hidden@h/d?schema=",
            "postgres://u:hidden@h/d?durable=maybe",
            "postgres://u:hidden@h/d?connections=0+1",
            "postgres://u:hidden@h/d?what=ever",
            "postgres://u:hidden@h",
            "postgres://h/d",
        ] {
            let error = FleetAddress::read(url, None).unwrap_err().to_string();
            assert!(error.starts_with("unusable address of a database: "), "{error}");
            assert!(!error.contains("hidden"), "{error}");
        }
    }
}
