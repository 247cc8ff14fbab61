//! How mail programs put the letters to a seat into one thread (PM-52).

use turnfold_core::rules::desk::Setup;

use super::desk_history::DeskHistory;
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
    pub(super) fn of(
        desk: &DeskHistory,
        name: LetterName,
        earlier: impl IntoIterator<Item = LetterName>,
    ) -> Self {
        let earlier = earlier.into_iter().map(|name| message_id(desk, name));
        Self { id: message_id(desk, name), references: earlier.collect() }
    }

    /// Returns the header lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.id.is_empty() {
            lines.push(format!("Message-ID: {}", self.id));
        }
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

/// Returns the `Message-ID` of a letter: made of the match, the size of the desk, the seat and the link of the position of
/// the turn. So it never changes, and after a restored backup a letter over another position has another one (PM-102).
fn message_id(desk: &DeskHistory, name: LetterName) -> String {
    message_id_of(desk, &name.to_string()).unwrap_or_default()
}

/// Returns the `Message-ID` of the letter in a file of this name; `None` for a letter that the desk is too short for.
pub(super) fn message_id_of(desk: &DeskHistory, file_name: &str) -> Option<String> {
    let terms = desk.terms();
    let size: u64 = file_name.split('-').next()?.parse().ok().filter(|size| *size <= desk.size())?;
    let position = desk.positions().take_while(|position| position.seq < size).last();
    let link = position.map(|position| format!(".{:.8}", position.link)).unwrap_or_default();
    let id = match_digits(terms);
    Some(format!("<{id}.{}{link}@{}>", file_name.trim_end_matches(".eml"), domain(&terms.host)))
}

/// Returns `true` if this is the `Message-ID` of a letter of the match.
pub(super) fn is_letter_of(terms: &Setup, id: &str) -> bool {
    is_letter_of_some_match(id) && terms.match_id.get(..MATCH_DIGITS) == id.get(1..=MATCH_DIGITS)
}

/// Returns `true` if this is the `Message-ID` of a letter of any match, of this host or another.
pub(super) fn is_letter_of_some_match(id: &str) -> bool {
    let Some((of_match, rest)) = id.strip_prefix('<').and_then(|id| id.split_once('.')) else { return false };
    let size = rest.split('-').next().unwrap_or_default();
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    of_match.len() == MATCH_DIGITS && is_number(of_match) && size.len() >= 8 && is_number(size)
}

/// Returns the digits of the match with which each `Message-ID` of it begins.
pub(super) fn match_digits(terms: &Setup) -> &str {
    terms.match_id.get(..MATCH_DIGITS).unwrap_or(&terms.match_id)
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
