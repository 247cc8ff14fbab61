//! Where the store is: in a directory, in a database, or behind a service.

use std::ffi::OsString;
use std::path::PathBuf;

use turnfold_store::FleetAddress;

use crate::origin::SafeOrigin;

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
}
