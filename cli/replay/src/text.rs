//! Text for people: what a piece of it means, and what of it may be shown.

use std::borrow::Cow;

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
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
}

/// Escapes the characters that could rewrite what a terminal shows.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |escaped, character| escaped.extend(character.escape_unicode()))
}

/// Escapes the characters of a text that are unprintable.
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
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
