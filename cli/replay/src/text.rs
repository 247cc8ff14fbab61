//! Text for people: what a piece of it means, and what of it may be shown.

use std::borrow::Cow;
use std::fmt;

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Of little weight.
    Faint,
    /// A heading or a name.
    Strong,
    /// Good news, or the new side of a difference.
    New,
    /// Bad news, or the old side of a difference.
    Old,
    /// Something to look at twice.
    Odd,
}

/// Returns `true` if a character could rewrite, reorder or break what a terminal shows: controls, marks of writing
/// direction, line separators, and characters that are none.
#[must_use]
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
}

/// Escapes the characters that could rewrite what a terminal shows.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |escaped, character| escaped.extend(character.escape_unicode()))
}

/// Escapes the characters of a text that are unprintable.
#[must_use]
pub fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unprintable(character) { escape(&mut escaped, character) } else { escaped.push(character) }
    }
    Cow::Owned(escaped)
}

/// Writes a count with its noun.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A line of text in pieces, each with its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledLine(pub Vec<(Tone, String)>);

impl StyledLine {
    pub(crate) fn of(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![(tone, text.into())])
    }

    pub(crate) fn then(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((tone, text.into()));
        self
    }
}

/// Writes the text, with what is unprintable escaped.
impl fmt::Display for StyledLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(_, text)| out.write_str(&printable(text)))
    }
}

/// The longest line of an error, with what stands before its message.
const ERROR_CHARACTERS_MAX: usize = 500;

/// How many characters at the end of a line that is too long stay: the next step stands there.
const ENDING_CHARACTERS: usize = 180;

/// Leaves out the middle of a text of more than so many characters, which is what it quotes.
#[must_use]
pub fn shortened(text: &str, characters_max: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= characters_max {
        return Cow::Borrowed(text);
    }
    let beginning = text.chars().take(characters_max.saturating_sub(ENDING_CHARACTERS + 1));
    let ending = text.chars().skip(count - ENDING_CHARACTERS);
    Cow::Owned(beginning.chain(['…']).chain(ending).collect())
}

/// Makes a message printable, and short enough for the line of an error that begins with `before`.
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
}
