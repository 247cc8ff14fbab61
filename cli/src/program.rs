//! The name of the program, as people type it, for hints, letters and manual pages.
//!
//! A program with its own game has its own name: `turnfold` does not know that game.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

const WRITTEN: &str = "turnfold";

static NAME: OnceLock<String> = OnceLock::new();

pub(crate) fn called_by(path: &OsStr) {
    let name = match Path::new(path).file_stem().and_then(OsStr::to_str) {
        Some(name) if !name.is_empty() => name,
        _ => WRITTEN,
    };
    NAME.get_or_init(|| name.into());
}

pub(crate) fn name() -> &'static str {
    NAME.get().map_or(WRITTEN, String::as_str)
}

pub(crate) fn is_renamed() -> bool {
    name() != WRITTEN
}

pub(crate) fn in_hint(hint: String) -> String {
    if is_renamed() { hint.replace("`turnfold ", &format!("`{} ", name())) } else { hint }
}

/// Returns a text with the name of this program in place of the word `turnfold`. Names such as `.turnfold` stay.
pub(crate) fn in_help(text: &str) -> Cow<'_, str> {
    if is_renamed() { renamed(text, name()).into() } else { text.into() }
}

/// Replaces the name where it is a word or the start of one, such as `turnfold-play.1`.
fn renamed(text: &str, name: &str) -> String {
    let mut parts = text.split(WRITTEN);
    let mut renamed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_word =
            !renamed.ends_with(|sign| is_joined(sign) || ".-".contains(sign)) && !part.starts_with(is_joined);
        renamed.push_str(if is_word { name } else { WRITTEN });
        renamed.push_str(part);
    }
    renamed
}

fn is_joined(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_replaced_where_it_is_a_word() {
        let text = "turnfold: `turnfold play`, turnfold-play.1, ../turnfold, .turnfold, old-turnfold, turnfold_store";
        let named = "nim: `nim play`, nim-play.1, ../nim, .turnfold, old-turnfold, turnfold_store";
        assert_eq!(renamed(text, "nim"), named);
        assert_eq!((name(), in_help(text), in_hint(text.into())), (WRITTEN, text.into(), text.into()));
    }
}
