//! Letters as files that any mailer sends, and the words of their text (PM-29).

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use turnfold_core::Seat;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::State;

use super::post_folder::MailAddress;

/// The most columns of the text (PM-29).
const COLUMNS: usize = 72;
/// The columns of an attachment's base64.
const BASE64_COLUMNS: usize = 76;

/// A letter with one attachment. Its bytes follow from these fields alone.
#[derive(Clone, Copy, Debug)]
pub struct Letter<'a> {
    /// The address; without one the line `To:` is missing.
    pub to: Option<&'a MailAddress>,
    /// The subject.
    pub subject: &'a str,
    /// The date: the desk's clock, which is the same on every machine.
    pub date: Option<DeskTime>,
    /// The text. Long lines are broken, and other characters are replaced by US-ASCII.
    pub text: &'a str,
    /// The name of the attachment: letters, digits, `.`, `_` and `-`.
    pub file_name: &'a str,
    /// The attachment.
    pub attached: &'a [u8],
}

/// What a letter says.
pub(super) struct LetterText {
    pub(super) subject: String,
    pub(super) text: String,
}

impl Letter<'_> {
    /// Writes it in the format of RFC 5322 and MIME, with CRLF.
    ///
    /// # Panics
    /// Never: a desk's time ends before the times that can be written.
    #[must_use]
    pub fn to_eml(&self) -> String {
        let text = plain(self.text);
        let boundary = format!("turnfold-{:.32}", blake3::hash(text.as_bytes()).to_hex().as_str());
        let mut lines = Vec::new();
        if let Some(to) = self.to {
            lines.push(format!("To: {to}"));
        }
        lines.push(subject_line(self.subject));
        if let Some(date) = self.date.and_then(rfc_date) {
            lines.push(format!("Date: {date}"));
        }
        lines.extend([
            "MIME-Version: 1.0".into(),
            "Content-Type: multipart/mixed;".into(),
            format!(" boundary=\"{boundary}\""),
            String::new(),
            format!("--{boundary}"),
            "Content-Type: text/plain; charset=us-ascii".into(),
            "Content-Transfer-Encoding: 7bit".into(),
            String::new(),
        ]);
        lines.extend(text.lines().map(unmistakable));
        lines.extend([
            format!("--{boundary}"),
            "Content-Type: application/octet-stream".into(),
            "Content-Transfer-Encoding: base64".into(),
            "Content-Disposition: attachment;".into(),
            format!(" filename=\"{}\"", self.file_name.replace(|kept| !is_of_file_name(kept), "_")),
            String::new(),
        ]);
        lines.extend(base64_lines(self.attached));
        lines.push(format!("--{boundary}--"));
        lines.iter().fold(String::new(), |mut eml, line| {
            write!(eml, "{line}\r\n").expect("writing to a string cannot fail");
            eml
        })
    }
}

/// Returns the header line with the subject.
pub(super) fn subject_line(subject: &str) -> String {
    format!("Subject: {}", plain(subject).replace('\n', " ").trim())
}

fn is_of_file_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

fn rfc_date(time: DeskTime) -> Option<String> {
    let time = Timestamp::from_second(i64::try_from(time.unix_seconds()).ok()?).ok()?;
    rfc2822::DateTimePrinter::new().timestamp_to_string(&time).ok()
}

/// Returns a line that no program mistakes for the end of the letter or the beginning of another.
fn unmistakable(line: &str) -> String {
    let is_mistakable = line.starts_with('.') || line.starts_with("From ");
    format!("{}{line}", if is_mistakable { " " } else { "" })
}

fn base64_lines(bytes: &[u8]) -> impl Iterator<Item = String> {
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    let lines: Vec<String> = encoded
        .as_bytes()
        .chunks(BASE64_COLUMNS)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    lines.into_iter()
}

/// Returns a text in US-ASCII, of lines of at most 72 columns.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let ascii: String = line.chars().map(sign).collect();
        broken(ascii.trim_end()).for_each(|line| {
            writeln!(out, "{line}").expect("writing to a string cannot fail");
        });
    }
    out
}

/// Returns the US-ASCII for a character.
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
        _ => "?".into(),
    }
}

/// Breaks a line at its spaces. The rest is indented, and a word that is longer than a line is cut.
fn broken(line: &str) -> impl Iterator<Item = String> {
    let (mut rest, mut begin, mut lines) = (line, "", Vec::new());
    loop {
        let room = COLUMNS - begin.len();
        if rest.len() <= room {
            lines.push(format!("{begin}{rest}"));
            return lines.into_iter();
        }
        let indent = rest.len() - rest.trim_start().len();
        let space = rest.get(..=room).and_then(|head| head.rfind(' ')).filter(|space| *space > indent);
        let (head, tail) = rest.split_at(space.unwrap_or(room));
        lines.push(format!("{begin}{}", head.trim_end()));
        (rest, begin) = (tail.trim_start(), "  ");
    }
}

/// Writes a time for people.
pub(super) fn time(time: DeskTime) -> String {
    let seconds = i64::try_from(time.unix_seconds()).ok();
    let at = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    at.map_or_else(|| time.to_string(), |at| at.strftime("%a %-d %b %Y, %H:%M UTC").to_string())
}

/// Writes a seat for one reader, who is `you`.
pub(super) fn seat(seat: Seat, reader: Seat) -> String {
    if seat == reader { "you".into() } else { seat.name().into() }
}

/// Writes seats with ` and ` before the last.
pub(super) fn seats(seats: &[Seat], reader: Seat) -> String {
    let names: Vec<_> = seats.iter().map(|name| seat(*name, reader)).collect();
    match names.split_last() {
        None => "no one".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// Writes the first line of a letter.
pub(super) fn salutation(state: &State, reader: Seat) -> String {
    let name = state.name_of(reader).unwrap_or("player");
    format!("Dear {name},")
}

/// The text of a letter: paragraphs with an empty line between them.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Adds words, broken into lines.
    pub(super) fn paragraph(&mut self, words: &str) {
        self.gap();
        self.fill("", words);
    }

    /// Adds a heading.
    pub(super) fn heading(&mut self, words: &str) {
        self.gap();
        self.line(words);
        self.line(&"-".repeat(words.len()));
    }

    /// Adds a list.
    pub(super) fn items(&mut self, items: &[String]) {
        self.gap();
        for words in items {
            self.item(words);
        }
    }

    /// Adds an item of a list.
    pub(super) fn item(&mut self, words: &str) {
        self.fill("  * ", words);
    }

    /// Adds lines as they are, each indented.
    pub(super) fn block<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        self.gap();
        for line in lines {
            let indent = if line.is_empty() { "" } else { "    " };
            self.line(&format!("{indent}{line}"));
        }
    }

    /// Adds a line as it is.
    pub(super) fn line(&mut self, line: &str) {
        writeln!(self.0, "{}", line.trim_end()).expect("writing to a string cannot fail");
    }

    /// Adds an empty line, unless there is one or nothing yet.
    pub(super) fn gap(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with("\n\n") {
            self.0.push('\n');
        }
    }

    /// Adds words behind a mark, with the following lines as far to the right.
    pub(super) fn fill(&mut self, mark: &str, words: &str) {
        self.fill_with(mark, words.split(' '));
    }

    /// Adds unbroken pieces behind a mark, with the following lines as far to the right.
    pub(super) fn fill_with<'a>(&mut self, mark: &str, pieces: impl IntoIterator<Item = &'a str>) {
        let mut line = mark.to_owned();
        let indent = " ".repeat(mark.len());
        let mut is_fresh = true;
        for word in pieces {
            if !is_fresh && line.len() + 1 + word.len() > COLUMNS {
                self.line(&line);
                line.clone_from(&indent);
                is_fresh = true;
            }
            if !is_fresh {
                line.push(' ');
            }
            line.push_str(word);
            is_fresh = false;
        }
        self.line(&line);
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
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
}
