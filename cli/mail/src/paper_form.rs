//! The mail form of papers: text that survives quoting, wrapping and other changes that mailers make (PM-6, PM-7), and
//! words of players in any language in the alphabet of papers (PM-67).
//!
//! A paper is printable ASCII without `=` and `|`. Any other character, and `%` itself, is written as the bytes of its
//! UTF-8, each as `%` and two hex digits. A word that is too long for a mail is cut, and `%-` at the end of a piece
//! joins the next one. The desk sees ordinary words.

use std::fmt::Write as _;

use turnfold_core::paper::{FIRST_LINE, KEYWORDS, PaperContent, PaperLine, SignedPaper, is_control};
use turnfold_core::text::Malformed;
use turnfold_core::trust::{KeyName, SignedNote};

/// The most characters of a line (PM-6).
const WIDTH: usize = 72;
const SIGNATURE_CUT: usize = 46;
const END: &str = "#turnfold end";
const MORE: &str = "more";
const SIG: &str = "sig";

/// A signed paper and the name of the key that signed it, as a mail carries them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailedPaper {
    /// The paper.
    pub signed: SignedPaper,
    /// The name that stands above the signature.
    pub name: KeyName,
}

/// A paper in a mail, or what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPaper {
    /// The line of the mail on which it begins, from 1.
    pub line: usize,
    /// The paper, or what is wrong with it.
    pub paper: Result<MailedPaper, Malformed>,
}

impl MailedPaper {
    /// Writes the paper for a mail: lines of at most 72 characters that no mailer has a reason to change (PM-6).
    ///
    /// # Errors
    /// [`Malformed`] naming a command that cannot be mailed.
    pub fn write(&self) -> Result<String, Malformed> {
        let paper = self.signed.paper();
        if let PaperContent::Order(order) = paper.content() {
            for play in order.plays() {
                play.require_mailable()?;
            }
        }
        let mut mail = String::new();
        for line in paper.to_string().lines() {
            fold(line, &mut mail);
        }
        let signature = self.signed.signature().to_string();
        let (first, second) = signature.split_at_checked(SIGNATURE_CUT).unwrap_or((&signature, ""));
        for value in [self.name.as_str(), first, second] {
            fold(&format!("{SIG}: {value}"), &mut mail);
        }
        fold(END, &mut mail);
        Ok(mail)
    }

    /// Reads a paper from a signed note (PM-4).
    ///
    /// # Errors
    /// [`Malformed`] for other texts, and for a note with more than one signature.
    pub fn read_note(text: &str) -> Result<Self, Malformed> {
        let note = SignedNote::read(text.as_bytes())?;
        let [signature] = note.signatures() else {
            return Err(Malformed("expected one signature below the paper".into()));
        };
        let line = signature.to_string();
        let mut words = line.trim_end_matches('=').split(' ').skip(1);
        let name = words.next().unwrap_or_default();
        let signature = words.next().unwrap_or_default();
        let signed = SignedPaper::new(note.text().parse()?, signature.parse()?);
        Ok(Self { signed, name: name.parse()? })
    }

    /// Finds the papers in a mail, in order, and ignores the text around them (PM-7).
    #[must_use]
    pub fn find(mail: &[u8]) -> Vec<FoundPaper> {
        let text = String::from_utf8_lossy(mail);
        let unended = Malformed(format!("expected `{END}` at the end of the paper, found none"));
        let mut found = Vec::new();
        let mut open: Option<(usize, Fields)> = None;
        for (index, line) in text.trim_start_matches('\u{feff}').split('\n').enumerate() {
            match cleaned(line).as_str() {
                FIRST_LINE => {
                    if let Some((line, _)) = open.replace((index + 1, Fields::default())) {
                        found.push(FoundPaper { line, paper: Err(unended.clone()) });
                    }
                }
                END => {
                    if let Some((line, fields)) = open.take() {
                        found.push(FoundPaper { line, paper: fields.read() });
                    }
                }
                line => {
                    if let Some((_, fields)) = &mut open {
                        fields.add(line);
                    }
                }
            }
        }
        if let Some((line, _)) = open {
            found.push(FoundPaper { line, paper: Err(unended) });
        }
        found
    }
}

/// Writes a line, cut at spaces if it is too long. Every word is short enough to follow `more: `.
fn fold(line: &str, mail: &mut String) {
    let mut rest = line;
    let mut begin = "";
    while let Some((head, tail)) = cut(rest, WIDTH - begin.len()) {
        writeln!(mail, "{begin}{head}").expect("writing to a string cannot fail");
        (rest, begin) = (tail, "more: ");
    }
    writeln!(mail, "{begin}{rest}").expect("writing to a string cannot fail");
}

fn cut(line: &str, room: usize) -> Option<(&str, &str)> {
    if line.len() <= room {
        return None;
    }
    let space = line.get(..=room)?.rfind(' ')?;
    Some((line.get(..space)?, line.get(space + 1..)?))
}

/// Removes what mailers add to a line (PM-7).
fn cleaned(line: &str) -> String {
    let plain = line.replace('\r', "").replace(['\u{a0}', '\u{202f}'], " ");
    let bare = plain.trim_start_matches(['>', ' ', '\t']).trim_end_matches([' ', '\t']);
    let mut words: Vec<&str> = bare.split(' ').collect();
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

#[derive(Default)]
struct Fields(Vec<Field>);

struct Field {
    keyword: String,
    value: String,
}

impl Fields {
    fn add(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let keyword = first.strip_suffix(':').map(str::to_ascii_lowercase);
        match (keyword.as_deref(), self.0.last_mut()) {
            (Some(MORE), Some(last)) => last.join(rest),
            (Some(keyword), _) if keyword == SIG || KEYWORDS.contains(&keyword) => {
                self.0.push(Field { keyword: keyword.into(), value: rest.into() });
            }
            (_, Some(last)) => last.join(line),
            // Malformed; reading the paper reports it.
            (_, None) => self.0.push(Field { keyword: line.into(), value: String::new() }),
        }
    }

    fn read(self) -> Result<MailedPaper, Malformed> {
        let first_sig = self.0.iter().position(|field| field.keyword == SIG).unwrap_or(self.0.len());
        let (lines, signatures) = self.0.split_at_checked(first_sig).unwrap_or((&self.0, &[]));
        let mut text = format!("{FIRST_LINE}\n");
        for Field { keyword, value } in lines {
            writeln!(text, "{keyword}: {value}").expect("writing to a string cannot fail");
        }
        if let Some(Field { keyword, .. }) = signatures.iter().find(|field| field.keyword != SIG) {
            return Err(Malformed::expected("nothing but `sig: …` behind the first of them", keyword));
        }
        let Some((Field { value: name, .. }, signature)) = signatures.split_first() else {
            return Err(Malformed("expected `sig: …` with name and signature, found none".into()));
        };
        let name = name.parse()?;
        let signature: String = signature.iter().map(|field| field.value.replace(' ', "")).collect();
        let signed = SignedPaper::new(text.parse()?, signature.parse()?);
        Ok(MailedPaper { signed, name })
    }
}

impl Field {
    fn join(&mut self, more: &str) {
        if !self.value.is_empty() && !more.is_empty() {
            self.value.push(' ');
        }
        self.value.push_str(more);
    }
}

const PIECE_MAX: usize = 60;

/// Encodes a line of words for a paper, with at most `most` characters in the paper.
///
/// # Errors
/// A sentence if there are no words, too many, or a control character, which could change how the rest of a letter is
/// shown.
pub fn press_line(words: &str, most: usize) -> Result<PaperLine, String> {
    if let Some(sign) = words.chars().find(|sign| is_control(*sign)) {
        return Err(format!("Words may have no control characters, found U+{:04X}.", u32::from(sign)));
    }
    let written: Vec<String> = words.split_whitespace().map(word).collect();
    let line = written.join(" ");
    if line.is_empty() || line.len() > most {
        return Err(format!("Expected 1 to {most} characters of words, found {}.", line.len()));
    }
    line.parse().map_err(|error: Malformed| error.0)
}

fn word(word: &str) -> String {
    let mut pieces = vec![String::new()];
    let last = word.chars().count().saturating_sub(1);
    for (place, sign) in word.chars().enumerate() {
        // A keyword of a paper ends with a colon.
        let is_end = place == last && sign == ':';
        let is_plain = sign.is_ascii_graphic() && !matches!(sign, '=' | '|' | '%') && !is_end;
        let written = if is_plain { sign.to_string() } else { escaped(sign) };
        let is_full = pieces.last().is_none_or(|piece| piece.len() + written.len() > PIECE_MAX);
        if is_full {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            // No word of a paper begins with `#` or `>`, and a piece is a word.
            let is_mark = piece.is_empty() && matches!(sign, '#' | '>');
            piece.push_str(&if is_mark { escaped(sign) } else { written });
        }
    }
    pieces.join(&format!("{} ", PaperLine::JOIN))
}

/// Encodes the name of a player for a paper (PM-94), and replaces characters that have a meaning in a record.
pub(super) fn name_line(name: &str) -> Result<PaperLine, String> {
    const MOST: usize = 64;
    let mut plain = String::new();
    for sign in name.chars() {
        plain.push(match sign {
            '|' | '\\' => '/',
            ';' | ':' => ',',
            '=' => '-',
            '"' | '\u{201c}' | '\u{201d}' | '`' => '\'',
            '[' | '{' | '<' => '(',
            ']' | '}' | '>' => ')',
            sign if sign.is_ascii_punctuation() && !" .,'()_&+/-".contains(sign) => ' ',
            sign => sign,
        });
    }
    let length = plain.trim().chars().count();
    if length == 0 || length > MOST {
        return Err(format!("Expected a name of 1 to {MOST} characters, found {length}."));
    }
    press_line(&plain, MOST * 16)
}

fn escaped(sign: char) -> String {
    let mut escaped = String::new();
    for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
        write!(escaped, "%{byte:02X}").expect("writing to a string cannot fail");
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_67_words_of_any_language_go_through_a_paper_unchanged() {
        for (words, written) in [
            ("shall we?", "shall we?"),
            ("Gr\u{fc}\u{df}e", "Gr%C3%BC%C3%9Fe"),
            ("a = b | 100%", "a %3D b %7C 100%25"),
            ("> seat: #1", "%3E seat%3A %231"),
            ("\u{65e5}\u{672c}", "%E6%97%A5%E6%9C%AC"),
        ] {
            let line = press_line(words, 2000).unwrap();
            assert_eq!((line.as_str(), line.words().as_str()), (written, words));
            line.require_mailable().unwrap();
        }
        for words in ["\u{416}".repeat(200), format!("{}#{}", "x".repeat(60), "y".repeat(200))] {
            let line = press_line(&words, 4000).unwrap();
            line.require_mailable().unwrap();
            assert_eq!(line.words(), words);
        }
        assert_eq!(
            press_line("one\n\u{a0} two", 20).map(|line| line.to_string()),
            Err("Words may have no control characters, found U+000A.".into())
        );
        for words in ["", " ", "\u{1b}[31m", "\u{202e}abc", "too long"] {
            assert!(press_line(words, 7).is_err(), "{words:?}");
        }
    }

    #[test]
    fn pm_67_a_false_paper_shows_no_control_characters() {
        for (written, text) in [
            ("%1B[31m", "\u{fffd}[31m"),
            ("a%0D%0Ab", "a\u{fffd}\u{fffd}b"),
            ("%FF", "\u{fffd}"),
            ("100% %4", "100% %4"),
        ] {
            assert_eq!(written.parse::<PaperLine>().unwrap().words(), text);
        }
    }
}
