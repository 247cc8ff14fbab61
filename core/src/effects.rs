//! The effects of an entry as text, one after the other in one string.

use core::fmt::{self, Display, Write};

use alloc::string::String;

/// What a command did, or as much of it as a viewer may know: one text for each effect, such as `moved unit=a to=1,2`.
///
/// An effect is one line, so that all of them stand in one string with a line feed between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    lines: String,
}

/// What separates effects in the text of an outcome.
const SEPARATOR: &str = "; ";

impl Effects {
    /// Writes effects as text.
    pub(crate) fn of(effects: impl Iterator<Item = impl Display>) -> Self {
        let mut lines = String::new();
        for effect in effects {
            lines.push_str(if lines.is_empty() { "" } else { "\n" });
            write!(lines, "{effect}").expect("writing to a string cannot fail");
        }
        Self { lines }
    }

    /// Reads one effect or more, joined by `; `, or returns `None` if the text is not that.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut lines = String::with_capacity(text.len());
        let mut rest = Some(text);
        while let Some(text) = rest {
            let (effect, after) = split_first(text)?;
            if !is_effect(effect) {
                return None;
            }
            lines.push_str(if lines.is_empty() { "" } else { "\n" });
            lines.push_str(effect);
            rest = after;
        }
        Some(Self { lines })
    }

    /// Returns the text of each effect, in order of happening.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.lines()
    }

    /// Returns `true` if there is no effect.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Writes the effects joined by `; `.
impl Display for Effects {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, effect) in self.iter().enumerate() {
            out.write_str(if index == 0 { "" } else { SEPARATOR })?;
            out.write_str(effect)?;
        }
        Ok(())
    }
}

/// Splits text at the first separator that is not within double quotes, or returns `None` if a quote is not closed or
/// the text is not one line.
fn split_first(text: &str) -> Option<(&str, Option<&str>)> {
    let (mut quoted, mut escaped) = (false, false);
    for (index, byte) in text.bytes().enumerate() {
        if byte.is_ascii_control() {
            return None;
        }
        quoted ^= byte == b'"' && !escaped;
        escaped = quoted && byte == b'\\' && !escaped;
        if byte == b';' && !quoted {
            let (effect, rest) = text.split_at(index);
            if let Some(after) = rest.strip_prefix(SEPARATOR) {
                return Some((effect, Some(after)));
            }
        }
    }
    (!quoted).then_some((text, None))
}

/// Returns `true` if the text begins with a name, and not with a word that begins another outcome.
fn is_effect(text: &str) -> bool {
    let name = text.split(' ').next().unwrap_or_default();
    !name.is_empty() && !["applied", "ignored", "rejected"].contains(&name)
}
