//! The effects of an entry as text, in one string.
//!
//! Rulesets write this text by `Display`, besides the JSON that they derive. A serde serializer could write it from the
//! same parts, but would be as long as the five implementations it replaced. The laws compare text and JSON.

use core::fmt::{self, Display, Write};
use core::iter;

use alloc::borrow::Cow;
use alloc::string::String;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a command did, or as much of it as a viewer may know: one text for each effect, such as `moved unit=a to=1,2`.
///
/// `Display` joins them by `; `, and they are stored in this form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    joined: String,
}

const SEPARATOR: &str = "; ";

/// The effects of most entries are shorter, so that their string need not grow.
const MOST_BYTES: usize = 64;

impl Effects {
    pub(crate) fn of(effects: impl Iterator<Item = impl Display>) -> Self {
        let mut joined = String::with_capacity(MOST_BYTES);
        for effect in effects {
            joined.push_str(if joined.is_empty() { "" } else { SEPARATOR });
            write!(joined, "{effect}").expect("writing to a string cannot fail");
        }
        Self { joined }
    }

    /// Reads one effect or more, joined by `; `; `None` for any other text.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut rest = Some(text);
        while let Some(text) = rest {
            let (effect, after) = split_first(text)?;
            if !is_effect(effect) {
                return None;
            }
            rest = after;
        }
        Some(Self { joined: text.into() })
    }

    /// Returns the text of each effect, in order of happening.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut rest = Some(self.joined.as_str()).filter(|joined| !joined.is_empty());
        iter::from_fn(move || {
            let text = rest.take()?;
            let (effect, after) = split_first(text).unwrap_or((text, None));
            rest = after;
            Some(effect)
        })
    }

    /// Returns `true` if there is no effect.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }
}

/// Writes the effects joined by `; `.
impl Display for Effects {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.joined)
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.joined)
    }
}

/// Reads the text of effects; an empty one has none.
impl<'de> Deserialize<'de> for Effects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let read = if text.is_empty() { Some(Self::default()) } else { Self::read(&text) };
        read.ok_or_else(|| D::Error::custom("expected effects joined by `; `"))
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
