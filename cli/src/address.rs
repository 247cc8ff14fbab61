//! The address of a store: a directory, a database, or a service.

use std::env;
use std::ffi::OsString;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[cfg(feature = "postgres")]
pub(crate) use turnfold_store::FleetAddress;

use crate::remote::origin::SafeOrigin;

/// Without databases, there is no value of this type.
#[cfg(not(feature = "postgres"))]
pub(crate) type FleetAddress = std::convert::Infallible;

/// The directory of the store by default.
pub(crate) const DEFAULT_DIR: &str = ".turnfold";

/// The value of `--store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreAddress {
    /// The directory of a store.
    Dir(PathBuf),
    /// A database that holds the store.
    #[cfg(feature = "postgres")]
    Fleet(Box<FleetAddress>),
    /// A service that has the store.
    Service(SafeOrigin),
}

impl StoreAddress {
    /// Reads a URL, which has a scheme, or else a directory. Fails for a URL that this build does not support.
    pub(crate) fn read(value: OsString) -> Result<Self, String> {
        match value.to_str() {
            #[cfg(feature = "postgres")]
            Some(text) if is_database(text) => read_fleet(text).map(|address| Self::Fleet(Box::new(address))),
            #[cfg(not(feature = "postgres"))]
            Some(text) if is_database(text) => Err(left_out("postgres")),
            Some(text) if is_url(text) => SafeOrigin::read(text).map(Self::Service),
            _ => Ok(Self::Dir(value.into())),
        }
    }
}

/// The store that is used if the user names none.
pub(crate) struct Nearest {
    pub(crate) found: Option<StoreAddress>,
    /// The store in a directory above that belongs to another user, so it is not used.
    pub(crate) passed_over: Option<PathBuf>,
}

impl StoreAddress {
    /// Finds the store in the current directory or in the nearest one above it, as git does. A store above that belongs
    /// to another user is not used.
    pub(crate) fn nearest() -> Nearest {
        let here = PathBuf::from(DEFAULT_DIR);
        if here.exists() {
            return Nearest { found: Some(Self::Dir(here)), passed_over: None };
        }
        let current = env::current_dir().unwrap_or_default();
        let mut above = current.ancestors().skip(1).map(|dir| dir.join(DEFAULT_DIR));
        match above.find(|dir| dir.is_dir()) {
            Some(dir) if is_own(&dir) => Nearest { found: Some(Self::Dir(dir)), passed_over: None },
            passed_over => Nearest { found: None, passed_over },
        }
    }

    /// Returns the name of the store in messages. A database is not named, because its address may contain a password.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Dir(dir) => dir.display().to_string(),
            #[cfg(feature = "postgres")]
            Self::Fleet(_) => "the database".into(),
            Self::Service(origin) => origin.to_string(),
        }
    }
}

/// Returns `true` if a directory belongs to the user of this process.
fn is_own(dir: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(dir).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    fs::metadata(dir).is_ok()
}

/// Returns the message about a feature that this build lacks.
#[cfg(not(all(feature = "modules", feature = "postgres", feature = "stepper")))]
pub(crate) fn left_out(feature: &str) -> String {
    format!("this build was made without its feature `{feature}`")
}

/// Returns `true` for the URL of a database.
pub(crate) fn is_database(text: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
}

/// Reads the URL of a database. The password is in the URL or in the variable `PGPASSWORD`.
#[cfg(feature = "postgres")]
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
}
