//! Names of matches and branches.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::{Malformed, stored_as_text};

/// The name of a branch: `[a-z0-9][a-z0-9._-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

stored_as_text!(BranchName);

impl BranchName {
    /// Returns the branch that every match has.
    #[must_use]
    pub fn main() -> Self {
        Self(String::from("main"))
    }

    /// Returns `true` if this is the branch that every match has.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }

    /// Returns the key by which branches are sorted: `main` first, then the others by name.
    #[must_use]
    pub fn main_first(&self) -> (bool, &Self) {
        (!self.is_main(), self)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl FromStr for BranchName {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if is_name(text) {
            return Ok(Self(text.into()));
        }
        Err(Malformed::expected(
            "a branch name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit",
            text,
        ))
    }
}

/// Returns `true` for text that can name a match or a branch: `[a-z0-9][a-z0-9._-]{0,63}`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 64
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|byte| plain(byte) || b"._-".contains(&byte))
}
