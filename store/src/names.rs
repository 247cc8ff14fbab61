//! Names: of matches, of branches, of grants, and keys that make an append repeatable.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Text that is no name or key; states what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found `{}`", found.escape_debug())]
pub struct NotAName {
    expected: &'static str,
    found: String,
}

/// The name of a match: `[a-z0-9][a-z0-9._-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MatchName(String);

/// The name of a branch: `[a-z0-9][a-z0-9._-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

/// What a client calls an append, so that repeating it does not do it twice: 1 to 128 printable ASCII characters
/// without spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IdempotencyKey(String);

/// What a host calls a grant: at most 64 characters, also none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GrantLabel(String);

impl MatchName {
    const EXPECTED: &'static str =
        "a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit";
    const IS_VALID: fn(&str) -> bool = is_name;
}

impl BranchName {
    const EXPECTED: &'static str =
        "a branch name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit";
    const IS_VALID: fn(&str) -> bool = is_name;

    /// Returns the branch that every match has.
    #[must_use]
    pub fn main() -> Self {
        Self("main".to_owned())
    }

    /// Returns `true` if this is the branch that every match has.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == "main"
    }

    /// Returns what branches are listed by: `main` first, then the others by name.
    #[must_use]
    pub fn main_first(&self) -> (bool, &Self) {
        (!self.is_main(), self)
    }
}

impl IdempotencyKey {
    const EXPECTED: &'static str = "a key of 1 to 128 printable ASCII characters without spaces";
    const IS_VALID: fn(&str) -> bool =
        |text| (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
}

impl GrantLabel {
    const EXPECTED: &'static str = "a label of at most 64 characters";
    const IS_VALID: fn(&str) -> bool = |text| text.chars().count() <= 64;
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let allowed = |byte: u8| plain(byte) || b"._-".contains(&byte);
    text.len() <= 64 && text.bytes().next().is_some_and(plain) && text.bytes().all(allowed)
}

macro_rules! checked_text {
    ($($name:ident),*) => {$(
        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.pad(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAName;

            fn try_from(found: String) -> Result<Self, NotAName> {
                if (Self::IS_VALID)(&found) {
                    Ok(Self(found))
                } else {
                    Err(NotAName { expected: Self::EXPECTED, found })
                }
            }
        }

        impl FromStr for $name {
            type Err = NotAName;

            fn from_str(text: &str) -> Result<Self, NotAName> {
                Self::try_from(text.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    )*};
}

checked_text!(MatchName, BranchName, IdempotencyKey, GrantLabel);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["a", "0", "a.b_c-d", &"x".repeat(64)] {
            assert_eq!(name.parse::<MatchName>().unwrap().to_string(), name);
            assert_eq!(name.parse::<BranchName>().unwrap().as_str(), name);
        }
        for name in ["", ".a", "-a", "_a", "A", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(name.parse::<MatchName>().is_err(), "{name}");
        }
        let error = "a\nb".parse::<BranchName>().unwrap_err().to_string();
        assert!(error.starts_with("expected a branch name") && error.ends_with(r"found `a\nb`"), "{error}");
    }

    #[test]
    fn labels_are_short_whatever_their_script() {
        for label in ["", "Ann, on her phone", &"é".repeat(64)] {
            assert_eq!(label.parse::<GrantLabel>().unwrap().as_str(), label);
        }
        assert!("x".repeat(65).parse::<GrantLabel>().is_err());
    }

    #[test]
    fn keys_are_printable_and_without_spaces() {
        assert!("Turn-7/client:3".parse::<IdempotencyKey>().is_ok());
        // A service puts the seat before a key of up to 120 characters.
        let all: String = ('!'..='~').cycle().take(120).collect();
        assert!(format!("host/{all}").parse::<IdempotencyKey>().is_ok());
        for key in ["", "a b", "é", "\u{7f}", &"x".repeat(129)] {
            assert!(key.parse::<IdempotencyKey>().is_err(), "{key}");
        }
    }
}
