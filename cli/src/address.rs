//! Where the store is: in a directory, in a database, or behind a service, which has an origin.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use turnfold_store::FleetAddress;
use ureq::http::Uri;

/// The value of `--store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreAddress {
    /// The directory of a store.
    Dir(PathBuf),
    /// A database that holds the store.
    Fleet(Box<FleetAddress>),
    /// A service that has the store.
    Service(SafeOrigin),
}

impl StoreAddress {
    /// Reads a URL, which has a scheme, or else a directory.
    pub(crate) fn read(value: OsString) -> Result<Self, String> {
        match value.to_str() {
            Some(text) if FleetAddress::is_meant(text) => {
                read_fleet(text).map(|address| Self::Fleet(Box::new(address)))
            }
            Some(text) if is_url(text) => SafeOrigin::read(text).map(Self::Service),
            _ => Ok(Self::Dir(value.into())),
        }
    }
}

/// Reads the URL of a database; the password is in it or in `PGPASSWORD`.
pub(crate) fn read_fleet(url: &str) -> Result<FleetAddress, String> {
    let password = std::env::var("PGPASSWORD").ok();
    FleetAddress::read(url, password.as_deref()).map_err(|error| error.to_string())
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Reads an origin.
pub(crate) fn read_origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_host = |host: &str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    };
    if host.is_some_and(is_host) {
        return Ok(text.into());
    }
    Err("expected an origin such as `https://play.example`, with nothing behind the host and its port".into())
}

/// The origin of a service to which tokens may be sent: with TLS, or on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SafeOrigin(String);

impl SafeOrigin {
    /// Reads an origin, which one slash may follow.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let origin = read_origin(text.strip_suffix('/').unwrap_or(text))?;
        let uri: Uri =
            origin.parse().map_err(|_| "expected a host and, if need be, `:` and a port".to_owned())?;
        let host = uri.host().unwrap_or_default();
        let port = uri.authority().and_then(|authority| authority.as_str().strip_prefix(host));
        if !port.is_some_and(|port| port.is_empty() || is_port(port)) {
            return Err("expected a host and, if need be, `:` and a port".into());
        }
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        let is_here = host == "localhost" || address.is_ok_and(|address: IpAddr| address.is_loopback());
        let origin = Self(origin);
        if origin.has_tls() || is_here {
            return Ok(origin);
        }
        Err("a token is sent by `https` only, and by `http` within this machine".into())
    }

    /// Returns `true` if what is sent there is encrypted.
    pub(crate) fn has_tls(&self) -> bool {
        self.0.starts_with("https://")
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

impl fmt::Display for SafeOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_scheme_is_no_directory() {
        for dir in [".turnfold", "/srv/store", "c:/store", "./http://x", "https:/x", "://"] {
            assert_eq!(StoreAddress::read(dir.into()), Ok(StoreAddress::Dir(dir.into())));
        }
        assert!(matches!(StoreAddress::read("https://a.example/".into()), Ok(StoreAddress::Service(_))));
        let fleet = StoreAddress::read("postgres://u@db.example/games".into());
        assert!(matches!(fleet, Ok(StoreAddress::Fleet(_))));
        assert!(StoreAddress::read("postgres://db.example".into()).is_err());
        assert!(StoreAddress::read("http://a.example".into()).is_err());
        assert!(StoreAddress::read("ftp://a.example".into()).is_err());
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
