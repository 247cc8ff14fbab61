//! Pictures of the board, as characters and as SVG.

mod svg;
mod text;

pub(crate) use svg::svg;
pub(crate) use text::text;

use std::borrow::Cow;

/// Escapes control characters, which could rewrite what a terminal shows.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            escaped.extend(character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}
