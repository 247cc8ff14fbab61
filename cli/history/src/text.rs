//! Text for people: pieces of text with a meaning, and escapes for what must not be shown.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use jiff::Timestamp;
use serde::Serialize;

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Less important.
    Dim,
    /// A heading or a name.
    Strong,
    /// Good news, or the new side of a difference.
    Added,
    /// Bad news, or the old side of a difference.
    Removed,
    /// Something that needs attention.
    Warning,
}

/// Returns `true` if a character could rewrite, reorder or break what a terminal shows: controls, marks of writing
/// direction, line separators and noncharacters.
pub(crate) fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
}

/// Escapes the characters that could rewrite what a terminal shows, as in `\u{1b}`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |escaped, character| escaped.extend(character.escape_unicode()))
}

pub(crate) fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unprintable(character) { escape(&mut escaped, character) } else { escaped.push(character) }
    }
    Cow::Owned(escaped)
}

pub(crate) fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

pub(crate) fn quoted_list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns a count with its noun.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns a time in UTC for people; `-` if there is none, as in a replay file.
#[must_use]
pub fn time(at_ms: Option<i64>) -> String {
    match at_ms.map(Timestamp::from_millisecond) {
        Some(Ok(timestamp)) => timestamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        _ => "-".into(),
    }
}

/// Escapes characters that JSON allows but a terminal should not see. The document means the same.
pub(crate) fn printable_json(json: &str) -> Cow<'_, str> {
    escaped(json, |escaped, character| {
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            write!(escaped, "\\u{unit:04x}").expect("writing to a string cannot fail");
        }
    })
}

/// Returns a document as one line of JSON without a line feed, as every verb prints it.
///
/// # Errors
/// As for [`serde_json::to_string`].
pub fn json_line(document: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    Ok(printable_json(&serde_json::to_string(document)?).into_owned())
}

/// A piece of a line, with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSpan {
    /// The meaning.
    pub tone: Tone,
    /// The text, not yet escaped.
    pub text: String,
    /// Whether a space comes before it, at which a narrow screen may break the line.
    pub is_word: bool,
}

/// Returns a piece without special meaning.
#[must_use]
pub fn plain(text: impl Display) -> TextSpan {
    TextSpan::new(Tone::Plain, text)
}

/// Returns a less important piece.
#[must_use]
pub fn dim(text: impl Display) -> TextSpan {
    TextSpan::new(Tone::Dim, text)
}

/// Returns a heading or a name.
#[must_use]
pub fn strong(text: impl Display) -> TextSpan {
    TextSpan::new(Tone::Strong, text)
}

/// Returns a piece that is good news, or new.
#[must_use]
pub fn added(text: impl Display) -> TextSpan {
    TextSpan::new(Tone::Added, text)
}

/// Returns a piece that is bad news, or old.
#[must_use]
pub fn removed(text: impl Display) -> TextSpan {
    TextSpan::new(Tone::Removed, text)
}

/// Returns a piece that needs attention.
#[must_use]
pub fn warning(text: impl Display) -> TextSpan {
    TextSpan::new(Tone::Warning, text)
}

impl TextSpan {
    /// Returns a piece of text.
    #[must_use]
    pub fn new(tone: Tone, text: impl Display) -> Self {
        Self { tone, text: text.to_string(), is_word: false }
    }
}

/// A line of text in pieces: verbs print it, pages show it and services send it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(pub Vec<TextSpan>);

impl Line {
    /// Adds a piece, or the pieces of another line, right after the last.
    #[must_use]
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Adds a word: a space separates it from the last piece, if there is one.
    pub fn push_word(&mut self, span: TextSpan) {
        self.0.push(TextSpan { is_word: !self.0.is_empty(), ..span });
    }
}

impl<const N: usize> From<[TextSpan; N]> for Line {
    fn from(spans: [TextSpan; N]) -> Self {
        Self(spans.into())
    }
}

impl From<TextSpan> for Line {
    fn from(span: TextSpan) -> Self {
        [span].into()
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        plain(text).into()
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        plain(text).into()
    }
}

/// Writes the text with unprintable characters escaped.
impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for TextSpan { text, is_word, .. } in &self.0 {
            let space = if *is_word { " " } else { "" };
            write!(out, "{space}{}", printable(text))?;
        }
        Ok(())
    }
}

/// The longest line of an error, in characters, including what comes before the message.
const ERROR_CHARACTERS_MAX: usize = 500;

/// How many characters at the end of a long message are kept, because the next step is there.
const ENDING_CHARACTERS: usize = 180;

/// Removes the middle of a text that is too long, because that is where it quotes input.
#[must_use]
pub fn shortened(text: &str, characters_max: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= characters_max {
        return Cow::Borrowed(text);
    }
    let beginning: String = text.chars().take(characters_max.saturating_sub(ENDING_CHARACTERS + 1)).collect();
    let ending: String = text.chars().skip(count - ENDING_CHARACTERS).collect();
    Cow::Owned(format!("{beginning}…{ending}"))
}

/// Returns a message, printable and short enough for the line of an error that begins with `before`.
#[must_use]
pub fn error_text(before: &str, message: &str) -> String {
    shortened(&printable(message), ERROR_CHARACTERS_MAX - before.len()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_keeps_its_beginning_and_its_end() {
        let max = ERROR_CHARACTERS_MAX;
        let line = |quoted: usize| format!("unknown `{}`; name another", "ä".repeat(quoted));
        let fits = line(max - line(0).chars().count());
        assert_eq!(shortened(&fits, max), fits);
        for quoted in [fits.chars().count(), 4_000_000] {
            let text = line(quoted);
            let cut = shortened(&text, max);
            assert_eq!(cut.chars().count(), max);
            assert!(
                cut.starts_with("unknown `ää") && cut.contains("ä…ä") && cut.ends_with("ä`; name another")
            );
        }
    }

    #[test]
    fn json_is_escaped_and_means_the_same() {
        let hostile = "\u{1b}]0;x\u{7} \u{9b}31m \r\n \u{7f} \u{202e} \u{fdd3}";
        let line = json_line(hostile).unwrap();
        assert!(!line.contains(is_unprintable), "{line}");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), hostile);
    }
}
