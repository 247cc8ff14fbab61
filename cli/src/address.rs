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

pub(crate) const DEFAULT_DIR: &str = ".turnfold";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreAddress {
    Dir(PathBuf),
    #[cfg(feature = "postgres")]
    Fleet(Box<FleetAddress>),
    Service(SafeOrigin),
}

pub(crate) struct Nearest {
    pub(crate) found: Option<StoreAddress>,
    /// The store in a directory above that belongs to another user, so it is not used.
    pub(crate) passed_over: Option<PathBuf>,
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
    /// to another user is not used.
    pub(crate) fn nearest() -> Nearest {
        let here = PathBuf::from(DEFAULT_DIR);
        if here.exists() {
            return Nearest { found: Some(Self::Dir(here)), passed_over: None };
        }
        for above in env::current_dir().unwrap_or_default().ancestors().skip(1) {
            let dir = above.join(DEFAULT_DIR);
            if !dir.is_dir() {
                continue;
            }
            if is_own(&dir) {
                return Nearest { found: Some(Self::Dir(dir)), passed_over: None };
            }
            return Nearest { found: None, passed_over: Some(dir) };
        }
        Nearest { found: None, passed_over: None }
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
