//! Strict reading of command text: one way to write each value, shared by every ruleset.

use core::fmt::{self, Write};
use core::str::FromStr;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize, Serializer};

/// Text that is not a command of the ruleset. The message says what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Malformed {
    /// Returns an error that names what was expected and what was found.
    #[must_use]
    pub fn expected(what: &str, found: &str) -> Self {
        Self(format!("expected {what}, found `{}`", found.escape_debug()))
    }
}

/// Stores values of these types as their text, as `#[serde(try_from = "String", into = "String")]` requires.
macro_rules! stored_as_text {
    ($($name:ty),+) => {$(
        impl From<$name> for alloc::string::String {
            fn from(value: $name) -> Self {
                alloc::string::ToString::to_string(&value)
            }
        }

        impl TryFrom<alloc::string::String> for $name {
            type Error = crate::text::Malformed;

            fn try_from(text: alloc::string::String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    )+};
}

pub(crate) use stored_as_text;

/// Splits a command into its verb and the rest, at the first space.
#[must_use]
pub fn split_verb(text: &str) -> (&str, Option<&str>) {
    match text.split_once(' ') {
        Some((verb, rest)) => (verb, Some(rest)),
        None => (text, None),
    }
}

/// Reads a number in its canonical form: no `+`, no leading zeros, no `-0`.
///
/// # Errors
/// [`Malformed`] when `word` is anything else or outside the range of `N`.
pub fn number<N: FromStr>(word: &str) -> Result<N, Malformed> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_canonical = word == "0" || !digits.starts_with(['0', '+']);
    match word.parse() {
        Ok(number) if is_canonical => Ok(number),
        _ => Err(Malformed::expected("a number", word)),
    }
}

/// Reads a value that has just this text; `None` for every other spelling.
#[must_use]
pub fn canonical<T: FromStr + fmt::Display>(text: &str) -> Option<T> {
    text.parse::<T>().ok().filter(|value| value.to_string() == text)
}

/// Stores a value as its text, for types without serde: `#[serde(with = "turnfold_core::text::as_text")]`.
///
/// Only the text that `Display` writes is read back, so a value has one form in logs and hashes.
pub mod as_text {
    use core::fmt::Display;
    use core::str::FromStr;

    use alloc::format;
    use alloc::string::{String, ToString};
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes the text.
    ///
    /// # Errors
    /// The errors of the serializer.
    pub fn serialize<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads the text.
    ///
    /// # Errors
    /// An error for a text that is not the canonical text of a value, and the errors of the deserializer.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display> + Display,
        D: Deserializer<'de>,
    {
        let text = String::deserialize(deserializer)?;
        let value = text.parse::<T>().map_err(D::Error::custom)?;
        match value.to_string() {
            canonical if canonical == text => Ok(value),
            canonical => Err(D::Error::custom(format!("expected `{canonical}`, found `{text}`"))),
        }
    }
}

/// Writes text in double quotes on one line, escaping `"`, `\` and control characters.
///
/// `Debug` is not used, because its escapes may change with the Unicode tables of the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(out, "\\{character}")?,
                _ if character.is_control() => write!(out, "{}", character.escape_unicode())?,
                _ => out.write_char(character)?,
            }
        }
        out.write_char('"')
    }
}

/// Returns a message of another library on one line: line feeds become `, `, other control characters are escaped.
///
/// Such messages quote their input, which may contain anything.
#[must_use]
pub fn in_one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        match character {
            '\n' => line.push_str(", "),
            _ if character.is_control() => line.extend(character.escape_unicode()),
            _ => line.push(character),
        }
    }
    line
}

/// Writes a list as effects do: its items joined by `|`; nothing for an empty list.
#[derive(Clone, Copy, Debug)]
pub struct Joined<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for Joined<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            let bar = if index == 0 { "" } else { "|" };
            write!(out, "{bar}{item}")?;
        }
        Ok(())
    }
}

/// Writes a count with its noun, in words up to twelve: `one unit`, `two units`, `13 units`.
#[must_use]
pub fn counted_in_words(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number_word(count), if count == 1 { one } else { many })
}

/// Writes a number, as a word up to twelve.
#[must_use]
pub fn number_word(number: u64) -> Cow<'static, str> {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    match usize::try_from(number).ok().and_then(|number| WORDS.get(number)) {
        Some(word) => (*word).into(),
        None => number.to_string().into(),
    }
}

/// Writes words with a capital first letter.
#[must_use]
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Writes a list of words as sentences do: `p1, p2 and p3`.
#[must_use]
pub fn listed(words: &[String]) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// Writes items one after another, with `between` between them.
#[must_use]
pub fn joined_by(between: &str, items: impl IntoIterator<Item: fmt::Display>) -> String {
    let mut text = String::new();
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push_str(between);
        }
        let _ = write!(text, "{item}");
    }
    text
}

/// Writes a value that may be absent as effects do: `none` stands for what JSON writes as `null`.
#[derive(Clone, Copy, Debug)]
pub struct OrNone<T>(pub Option<T>);

impl<T: fmt::Display> fmt::Display for OrNone<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(out),
            None => out.write_str("none"),
        }
    }
}

/// The id of a unit, skill or status: `[a-z0-9_-]{1,32}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Id(String);

impl Id {
    /// Returns the id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

stored_as_text!(Id);

/// The text, without making another string of it: ids are part of states, which are hashed after every entry.
impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl FromStr for Id {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        if (1..=32).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(Malformed::expected("an id of 1 to 32 characters a-z, 0-9, `_` or `-`", text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling() {
        assert_eq!(number::<i32>("-12"), Ok(-12));
        for word in ["", "+1", "01", "-0", "1 ", " 1", "2147483648", "1.0", "x"] {
            assert!(number::<i32>(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_value_stored_as_text_has_one_form() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Stored(#[serde(with = "as_text")] core::net::Ipv6Addr);

        let stored = Stored("2001:db8::1".parse().unwrap());
        let bytes = postcard::to_allocvec(&stored).unwrap();
        assert_eq!(bytes.strip_prefix(&[11]), Some(b"2001:db8::1".as_slice()));
        assert_eq!(postcard::from_bytes(&bytes), Ok(stored));
        for text in ["\"2001:0db8::1\"", "\"\"", "\"x\"", "7"] {
            assert!(serde_json::from_str::<Stored>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn quoted_text_stays_on_its_line() {
        assert_eq!(Quoted("a \"b\" \\ \n — c").to_string(), r#""a \"b\" \\ \u{a} — c""#);
    }

    #[test]
    fn a_message_of_someone_else_stays_on_its_line() {
        assert_eq!(in_one_line("a\n\u{1b}[2J\tb\r — c"), r"a, \u{1b}[2J\u{9}b\u{d} — c");
    }

    #[test]
    fn lists_and_absent_values_have_one_spelling() {
        assert_eq!(format!("{}|{}", Joined(&[1, 2]), Joined::<u8>(&[])), "1|2|");
        assert_eq!(format!("{} {}", OrNone(Some(3)), OrNone::<u8>(None)), "3 none");
    }

    #[test]
    fn ids_are_short_and_plain() {
        assert!("a_b-9".parse::<Id>().is_ok());
        for word in ["", "A", "a b", "é", "a234567890123456789012345678901234"] {
            assert!(word.parse::<Id>().is_err(), "{word}");
        }
    }
}
