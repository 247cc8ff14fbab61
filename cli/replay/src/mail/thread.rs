//! How mail programs put the letters to a seat into one thread (PM-52).

use turnfold_core::rules::desk::Setup;

use super::outbox::LetterName;

/// The domain of a `Message-ID` where the name of the host's key begins with none.
const NO_DOMAIN: &str = "turnfold.invalid";
/// How many digits of the match id a `Message-ID` has.
const MATCH_DIGITS: usize = 16;

/// The place of a letter among others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its `Message-ID`.
    pub id: String,
    /// The mails that it follows, each by its `Message-ID`. It answers the last.
    pub references: Vec<String>,
}

impl Thread {
    /// Returns the place of a letter that follows other letters to its seat. A letter that is written again has the same.
    pub(super) fn of(terms: &Setup, name: LetterName, earlier: impl IntoIterator<Item = LetterName>) -> Self {
        let earlier = earlier.into_iter().map(|name| message_id(terms, name));
        Self { id: message_id(terms, name), references: earlier.collect() }
    }

    /// Returns the header lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Message-ID: {}", self.id)];
        if let Some(last) = self.references.last() {
            lines.push(format!("In-Reply-To: {last}"));
            let mut name = "References:";
            for id in &self.references {
                lines.push(format!("{name} {id}"));
                name = "";
            }
        }
        lines
    }
}

/// Returns the `Message-ID` of a letter: made of the match, the size of the desk and the seat, so it never changes.
fn message_id(terms: &Setup, name: LetterName) -> String {
    let (name, id) = (name.to_string(), terms.match_id.get(..MATCH_DIGITS).unwrap_or(&terms.match_id));
    format!("<{id}.{}@{}>", name.trim_end_matches(".eml"), domain(&terms.host))
}

/// Returns the domain that the name of a host's key begins with, as in `games.example/ann`.
fn domain(host: &str) -> &str {
    let name = host.split(['+', '/']).next().unwrap_or_default();
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if name.contains('.') && name.split('.').all(is_label) { name } else { NO_DOMAIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_52_a_message_id_has_the_domain_of_the_host_if_its_key_names_one() {
        for (host, expected) in [
            ("games.example/ann+f74b7821+AQ", "games.example"),
            ("ann.example+f74b7821+AQ", "ann.example"),
            ("ann+f74b7821+AQ", NO_DOMAIN),
            ("a..b/ann+f74b7821+AQ", NO_DOMAIN),
            ("a>b.example+f74b7821+AQ", NO_DOMAIN),
        ] {
            assert_eq!(domain(host), expected, "{host}");
        }
    }
}
