//! Letters as files that any mail program can send (PM-29).

use jiff::fmt::rfc2822;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::Setup;

use super::desk_history::DeskHistory;
use super::letter_words::{COLUMNS, timestamp};
use super::outbox::LetterName;
use super::post_folder::Route;

const BASE64_COLUMNS: usize = 76;

/// A letter with attachments. Its bytes follow from these fields alone.
#[derive(Clone, Copy, Debug)]
pub struct Letter<'a> {
    /// The addresses.
    pub route: Route<'a>,
    /// The subject.
    pub subject: &'a str,
    /// The date: the desk's clock, which is the same on every machine.
    pub date: Option<DeskTime>,
    /// Its place among the letters to the seat.
    pub thread: &'a Thread,
    /// The text. Long lines are broken, and typographic signs are replaced by US-ASCII.
    pub text: &'a str,
    /// The attachments.
    pub attached: &'a [Attachment<'a>],
}

/// A file that goes with a letter.
#[derive(Clone, Copy, Debug)]
pub struct Attachment<'a> {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub file_name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it is a text in UTF-8.
    pub is_text: bool,
}

impl Letter<'_> {
    /// Writes the letter in the format of RFC 5322 and MIME, with CRLF.
    #[must_use]
    pub fn to_eml(&self) -> String {
        let text = plain(self.text);
        let boundary = format!("turnfold-{:.32}", blake3::hash(text.as_bytes()).to_hex().as_str());
        let mut lines = Vec::new();
        for (name, value) in self.route.lines() {
            lines.push(format!("{name}: {value}"));
        }
        lines.push(subject_line(self.subject));
        if let Some(date) = self.date.and_then(timestamp)
            && let Ok(date) = rfc2822::DateTimePrinter::new().timestamp_to_string(&date)
        {
            lines.push(format!("Date: {date}"));
        }
        lines.extend(self.thread.lines());
        lines.extend([
            // Keeps notices of absence from answering (RFC 3834).
            "Auto-Submitted: auto-generated".into(),
            "MIME-Version: 1.0".into(),
            "Content-Type: multipart/mixed;".into(),
            format!(" boundary=\"{boundary}\""),
            String::new(),
            format!("--{boundary}"),
        ]);
        lines.extend(text_part(&text));
        for Attachment { file_name, bytes, is_text } in self.attached {
            let content_type =
                if *is_text { "text/plain; charset=utf-8" } else { "application/octet-stream" };
            lines.extend([
                format!("--{boundary}"),
                format!("Content-Type: {content_type}"),
                "Content-Transfer-Encoding: base64".into(),
                "Content-Disposition: attachment;".into(),
                format!(" filename=\"{}\"", file_name.replace(|kept| !is_of_file_name(kept), "_")),
                String::new(),
            ]);
            lines.extend(base64_lines(bytes));
        }
        lines.push(format!("--{boundary}--"));
        lines.join("\r\n") + "\r\n"
    }
}

fn text_part(text: &str) -> Vec<String> {
    // PM-67: players may write in any language.
    let (charset, encoding) = if text.is_ascii() { ("us-ascii", "7bit") } else { ("utf-8", "base64") };
    let mut lines = vec![
        format!("Content-Type: text/plain; charset={charset}"),
        format!("Content-Transfer-Encoding: {encoding}"),
        String::new(),
    ];
    if text.is_ascii() {
        lines.extend(text.lines().map(unmistakable));
    } else {
        lines.extend(base64_lines(text.replace('\n', "\r\n").as_bytes()));
    }
    lines
}

pub(super) fn subject_line(subject: &str) -> String {
    let line = plain(subject).replace('\n', " ").replace(|sign: char| !sign.is_ascii(), "?");
    format!("Subject: {}", line.trim())
}

fn is_of_file_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

fn unmistakable(line: &str) -> String {
    let is_mistakable = line.starts_with('.') || line.starts_with("From ");
    format!("{}{line}", if is_mistakable { " " } else { "" })
}

fn base64_lines(bytes: &[u8]) -> Vec<String> {
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    let lines = encoded.as_bytes().chunks(BASE64_COLUMNS);
    lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let ascii: String = line.chars().map(sign).collect();
        for line in broken(ascii.trim_end()) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// Returns a sign in US-ASCII, or `?` if it may be missing in fonts; letters of other scripts stay (PM-67).
fn sign(character: char) -> String {
    match character {
        ' '..='~' => character.to_string(),
        '\t' | '\u{a0}' => " ".into(),
        '\u{2013}' | '\u{2014}' | '\u{2212}' => "-".into(),
        '\u{2018}' | '\u{2019}' => "'".into(),
        '\u{201c}' | '\u{201d}' => "\"".into(),
        '\u{2026}' => "...".into(),
        '\u{2192}' => "->".into(),
        character if character.is_control() => String::new(),
        // Signs, arrows and drawings that a font may lack or show wider.
        '\u{80}'..='\u{bf}' | '\u{d7}' | '\u{f7}' | '\u{2000}'..='\u{2bff}' => "?".into(),
        _ => character.to_string(),
    }
}

/// Breaks a line at its spaces. The rest is indented, and a word that is longer than a line is cut.
fn broken(line: &str) -> Vec<String> {
    let mut rest = line;
    let mut begin = "";
    let mut lines = Vec::new();
    loop {
        let room = COLUMNS - begin.len();
        if rest.len() <= room {
            lines.push(format!("{begin}{rest}"));
            return lines;
        }
        let indent = rest.len() - rest.trim_start().len();
        let mut cut = rest.floor_char_boundary(room);
        let (head, tail) = rest.split_at(cut);
        if !tail.starts_with(' ')
            && let Some(space) = head.rfind(' ')
            && space > indent
        {
            cut = space;
        }
        let (head, tail) = rest.split_at(cut);
        lines.push(format!("{begin}{}", head.trim_end()));
        (rest, begin) = (tail.trim_start(), "  ");
    }
}

const NO_DOMAIN: &str = "turnfold.invalid";
const MATCH_DIGITS: usize = 16;

/// The place of a letter in a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its `Message-ID`.
    pub id: String,
    /// The `Message-ID`s of the mails that it follows. It answers the last.
    pub references: Vec<String>,
}

impl Thread {
    pub(super) fn of(
        desk: &DeskHistory,
        name: LetterName,
        earlier: impl IntoIterator<Item = LetterName>,
    ) -> Self {
        let mut references = Vec::new();
        for earlier in earlier {
            references.push(message_id_of(desk, &earlier.to_string()).unwrap_or_default());
        }
        Self { id: message_id_of(desk, &name.to_string()).unwrap_or_default(), references }
    }

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

/// Returns the `Message-ID` of a letter, made from the match, the size of the desk, the seat and the link of the turn's
/// position. So it never changes, and a letter about another position after a restored backup has another one (PM-102).
///
/// `None` if the desk is shorter than the letter requires; `file_name` is the name of the letter's file.
pub(super) fn message_id_of(desk: &DeskHistory, file_name: &str) -> Option<String> {
    let terms = desk.terms();
    let size: u64 = file_name.split('-').next()?.parse().ok()?;
    if size > desk.size() {
        return None;
    }
    let link = match desk.positions().rfind(|position| position.seq < size) {
        Some(position) => format!(".{:.8}", position.link),
        None => String::new(),
    };
    let id = match_digits(terms);
    Some(format!("<{id}.{}{link}@{}>", file_name.trim_end_matches(".eml"), domain(&terms.host)))
}

pub(super) fn is_letter_of(terms: &Setup, id: &str) -> bool {
    is_letter_of_some_match(id) && terms.match_id.get(..MATCH_DIGITS) == id.get(1..=MATCH_DIGITS)
}

pub(super) fn is_letter_of_some_match(id: &str) -> bool {
    let Some((of_match, rest)) = id.strip_prefix('<').and_then(|id| id.split_once('.')) else { return false };
    let size = rest.split('-').next().unwrap_or_default();
    let are_numbers = of_match.bytes().chain(size.bytes()).all(|byte| byte.is_ascii_hexdigit());
    of_match.len() == MATCH_DIGITS && size.len() >= 8 && are_numbers
}

pub(super) fn match_digits(terms: &Setup) -> &str {
    terms.match_id.get(..MATCH_DIGITS).unwrap_or(&terms.match_id)
}

fn domain(host: &str) -> &str {
    let name = host.split(['+', '/']).next().unwrap_or_default();
    let is_domain = name.contains('.')
        && name.split('.').all(|label| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
    if is_domain { name } else { NO_DOMAIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let plain = plain(text);
        assert_eq!(plain.lines().collect::<Vec<_>>(), expected);
        assert!(
            plain.is_ascii() && plain.lines().all(|line| line.len() <= COLUMNS && line.trim_end() == line)
        );
    }

    #[test]
    fn pm_29_a_text_is_us_ascii_of_72_columns() {
        check("", &[]);
        check(
            "a\n\n  b \u{2014} \u{201c}c\u{201d}\u{2026} d \u{2192} e\tf\u{7}\n",
            &["a", "", "  b - \"c\"... d -> e f"],
        );
        let words = "word ".repeat(20);
        check(&words, &["word ".repeat(14).trim_end(), &format!("  {}", "word ".repeat(6).trim_end())]);
        let long = "x".repeat(150);
        check(&long, &[&long[..72], &format!("  {}", &long[..70]), "  xxxxxxxx"]);
        let indented = format!("    {long}");
        check(&indented, &[&indented[..72], &format!("  {}", &long[..70]), &format!("  {}", &long[..12])]);
    }

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
