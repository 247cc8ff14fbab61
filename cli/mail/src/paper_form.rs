//! The mail form of papers: text that survives quoting, wrapping and other changes that mailers make (PM-6, PM-7).

use std::fmt::Write as _;

use turnfold_core::paper::{FIRST_LINE, KEYWORDS, PaperContent, PaperLine, SignedPaper};
use turnfold_core::text::Malformed;
use turnfold_core::trust::{KeyName, SignedNote};

/// The most characters of a line (PM-6).
const WIDTH: usize = 72;
/// The length of the first of the two lines with the signature.
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
            order.plays().iter().try_for_each(PaperLine::require_mailable)?;
        }
        let mut mail = String::new();
        paper.to_string().lines().for_each(|line| fold(line, &mut mail));
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
        let mut found = Vec::new();
        let mut open: Option<(usize, Fields)> = None;
        let mut take = |open: Option<(usize, Fields)>, is_ended: bool| {
            let Some((line, fields)) = open else { return };
            let unended = || Err(Malformed(format!("expected `{END}` at the end of the paper, found none")));
            found.push(FoundPaper { line, paper: if is_ended { fields.read() } else { unended() } });
        };
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').split('\n')) {
            match cleaned(line).as_str() {
                FIRST_LINE => take(open.replace((number, Fields::default())), false),
                END => take(open.take(), true),
                line => {
                    if let Some((_, fields)) = &mut open {
                        fields.add(line);
                    }
                }
            }
        }
        take(open, false);
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

/// Cuts a line of more than `room` characters at the last space that leaves at most `room` characters before it.
fn cut(line: &str, room: usize) -> Option<(&str, &str)> {
    if line.len() <= room {
        return None;
    }
    line.get(..=room).and_then(|begin| begin.rfind(' ')).and_then(|space| {
        let (head, tail) = line.split_at_checked(space)?;
        Some((head, tail.strip_prefix(' ')?))
    })
}

/// Removes what mailers add to a line (PM-7).
fn cleaned(line: &str) -> String {
    let plain = line.replace('\r', "").replace(['\u{a0}', '\u{202f}'], " ");
    let bare = plain.trim_start_matches(['>', ' ', '\t']).trim_end_matches([' ', '\t']);
    let words: Vec<&str> = bare.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The lines of a paper being read, with broken lines joined again.
#[derive(Default)]
struct Fields(Vec<Field>);

/// A line `KEYWORD: VALUE` of a paper.
struct Field {
    keyword: String,
    value: String,
}

impl Fields {
    /// Adds a line: a new field if it begins with a keyword, otherwise more of the field before.
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

    /// Restores the text that was signed, and reads it.
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
