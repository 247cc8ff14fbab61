//! Names of matches, players and grants, and keys that make an append repeatable.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
pub use turnfold_core::BranchName;
use turnfold_core::names::is_name;
use turnfold_core::{Malformed, Seat};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The name of a match: `[a-z0-9][a-z0-9._-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MatchName(String);

/// A client's key of an append, which makes a repeated append harmless: 1 to 128 printable ASCII characters without
/// spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IdempotencyKey(String);

/// The name of a player in a match: 1 to 32 visible characters of any script, with single spaces between words. It must
/// not be the name of a seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlayerName(String);

/// A host's label for a grant: 0 to 64 characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GrantLabel(String);

/// The text of a note: 1 to 500 characters, at least one of them visible. Line feeds are the only control characters
/// allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoteText(String);

impl MatchName {
    const EXPECTED: &'static str =
        "a match name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit";
    const IS_VALID: fn(&str) -> bool = is_name;
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

impl PlayerName {
    const EXPECTED: &'static str =
        "a name of 1 to 32 visible characters with single spaces between words, which names no seat";
    const IS_VALID: fn(&str) -> bool = is_player_name;
}

impl NoteText {
    const EXPECTED: &'static str =
        "a note of 1 to 500 characters, at least one of them visible, without controls but line feeds";
    const IS_VALID: fn(&str) -> bool = is_note;
}

/// The most characters of a note.
const NOTE_MAX: usize = 500;

fn is_note(text: &str) -> bool {
    let mut has_visible = false;
    for sign in text.chars() {
        if sign != '\n' && (sign.is_control() || is_unseen(sign)) {
            return false;
        }
        has_visible |= is_visible(sign);
    }
    has_visible && text.chars().count() <= NOTE_MAX
}

const PLAYER_NAME_MAX: usize = 32;

/// Names that only the service and its viewers may have, besides the seats `p1` and so on.
const NOT_PLAYERS: [&str; 4] = ["host", "spectator", "admin", "turnfold"];

fn is_player_name(text: &str) -> bool {
    let is_spaced = text.split(' ').all(|word| !word.is_empty());
    let is_plain = text.chars().all(|sign| sign == ' ' || is_visible(sign));
    if !is_spaced || !is_plain || text.chars().count() > PLAYER_NAME_MAX {
        return false;
    }
    let compared = compared(text);
    // A combining mark at the start would change the character before the name.
    let begins_with_mark = text.chars().next().is_none_or(is_combining_mark);
    let is_seat = compared.parse::<Seat>().is_ok() || NOT_PLAYERS.contains(&compared.as_str());
    !begins_with_mark && !is_seat && !compared.is_empty()
}

fn is_visible(sign: char) -> bool {
    !is_unseen(sign) && !sign.is_whitespace()
}

/// Returns `true` for characters that are invisible, or that change how the text around them is shown. Joiners and
/// variation selectors are allowed, because scripts and emoji need them.
fn is_unseen(sign: char) -> bool {
    let is_private = matches!(u32::from(sign), 0xe000..=0xf8ff | 0xe_0000..);
    sign.is_control()
        || is_private
        || matches!(
            u32::from(sign),
            0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b | 0x200e..=0x200f
                | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800 | 0x3164 | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        )
}

/// Returns the form of a name that is compared with others: without case, spaces, joiners and variation selectors, in
/// one Unicode normalization.
pub(crate) fn compared(name: &str) -> String {
    let plain = name.nfkc().filter(|sign| {
        let is_joiner = matches!(u32::from(*sign), 0x200c..=0x200d | 0xfe00..=0xfe0f);
        !is_joiner && !sign.is_whitespace()
    });
    plain.flat_map(char::to_lowercase).nfkc().collect()
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
            type Error = Malformed;

            fn try_from(found: String) -> Result<Self, Malformed> {
                if (Self::IS_VALID)(&found) {
                    Ok(Self(found))
                } else {
                    Err(Malformed::expected(Self::EXPECTED, &found))
                }
            }
        }

        impl FromStr for $name {
            type Err = Malformed;

            fn from_str(text: &str) -> Result<Self, Malformed> {
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

checked_text!(MatchName, IdempotencyKey, PlayerName, GrantLabel, NoteText);

impl From<PlayerName> for GrantLabel {
    fn from(name: PlayerName) -> Self {
        Self(name.0)
    }
}

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
    fn players_have_visible_names_that_no_seat_has() {
        for name in
            ["A", "Ann Lee", "Ana\u{301}", "李雷", "نیما\u{200c}پور", "👩\u{200d}🚀", "p17", &"é".repeat(32)]
        {
            assert!(name.parse::<PlayerName>().is_ok(), "{name}");
        }
        for name in [
            "",
            " Ann",
            "Ann ",
            "Ann  Lee",
            "Ann\nLee",
            "Ann\u{a0}Lee",
            "\u{301}a",
            "\u{200d}",
            "A\u{202e}b",
            "A\u{200b}b",
            "A\u{e0041}",
            "p1",
            "P 1",
            "HOST",
            "ｐ１",
            &"x".repeat(33),
        ] {
            assert!(name.parse::<PlayerName>().is_err(), "{name:?}");
        }
    }

    #[test]
    fn names_that_look_alike_are_compared_as_one() {
        for (one, other) in [
            ("Ann Lee", "annlee"),
            ("Ana\u{301}", "Aná"),
            ("Ａｎｎ", "ann"),
            ("a\u{200d}b", "AB"),
            ("Ⅳ", "iv"),
        ] {
            assert_eq!(compared(one), compared(other), "{one}");
        }
        assert_ne!(compared("Ann"), compared("Anna"));
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
        // A service prefixes a key of up to 120 characters with the seat.
        let all: String = ('!'..='~').cycle().take(120).collect();
        assert!(format!("host/{all}").parse::<IdempotencyKey>().is_ok());
        for key in ["", "a b", "é", "\u{7f}", &"x".repeat(129)] {
            assert!(key.parse::<IdempotencyKey>().is_err(), "{key}");
        }
    }
}
