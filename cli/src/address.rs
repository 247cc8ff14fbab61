//! The address of a store: a directory, a database, or a service.

use std::ffi::OsString;
use std::net::IpAddr;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

#[cfg(feature = "postgres")]
pub(crate) use turnfold_store::FleetAddress;
use ureq::http::Uri;

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
        let rest = uri.authority().and_then(|authority| authority.as_str().strip_prefix(host)).unwrap_or(":");
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
