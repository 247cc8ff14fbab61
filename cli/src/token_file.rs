//! Files in which a token stands, on a line of its own. No message shows what is in one.

use std::path::Path;

use turnfold_replay::input;
use turnfold_serve::{AccessToken, TokenKind};

use crate::failure::Failure;
use crate::limits::TOKEN;
use crate::output::printable;

/// Reads the token of a file; `None` if something else stands in it.
pub(crate) fn read(path: &Path) -> Result<Option<(AccessToken, TokenKind)>, Failure> {
    require_path(path)?;
    let bytes = input::read_file(path, &TOKEN).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| AccessToken::parse(text.trim_end())))
}

/// Refuses a token in place of the name of a file, without repeating it.
pub(crate) fn require_path(path: &Path) -> Result<(), Failure> {
    if path.to_str().and_then(AccessToken::parse).is_some() {
        return Err(Failure::usage("expected a file in which the token stands, not the token itself")
            .hint("others on this machine see what commands are given"));
    }
    Ok(())
}

/// Returns the name of a file as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}
