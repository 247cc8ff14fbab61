//! Who may vouch for the certificates of services.

use std::env;
use std::path::{Path, PathBuf};

use turnfold_replay::input;
use ureq::tls::{PemItem, RootCerts, parse_pem};

use crate::failure::Failure;
use crate::limits::AUTHORITIES;
use crate::output::printable;

/// The variable that names a file of the certificates of authorities, as for other programs.
const VARIABLE: &str = "SSL_CERT_FILE";

/// Returns the trusted authorities: from the file that `SSL_CERT_FILE` names, else the ones that browsers trust.
pub(crate) fn trusted() -> Result<RootCerts, Failure> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    named.map_or(Ok(RootCerts::WebPki), |path| read(&path))
}

fn read(path: &Path) -> Result<RootCerts, Failure> {
    let unusable = |what: String| Failure::usage(format!("`{VARIABLE}`: {what}"));
    let bytes = input::read_file(path, &AUTHORITIES).map_err(|error| unusable(error.to_string()))?;
    let items = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    let shown = printable(&path.display().to_string()).into_owned();
    let certificates: Vec<_> =
        items.collect::<Result<_, _>>().map_err(|error| unusable(format!("`{shown}`: {error}")))?;
    if certificates.is_empty() {
        return Err(unusable(format!("expected a certificate in `{shown}`, as PEM")));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
