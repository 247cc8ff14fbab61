//! Reads mails of any mail program: the sender, and the texts that may contain papers (PM-50).

use mail_parser::{DateTime, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use turnfold_core::Digest;
use turnfold_core::paper::DeskTime;

use super::mail_text::{
    ENCRYPTED, UNDECODED, attached_bytes, attribute, part_text, text_of_bytes, text_of_html, unflowed,
    without_signature,
};
use super::notices::Notice;
use super::paper_form::{FoundPaper, MailedPaper};
use super::post_folder::MailAddress;

/// Headers that identify a mail; a text that someone saved has none of them.
const HEADERS: &str =
    "content-type date delivered-to from message-id mime-version received return-path subject to";

/// Why the text of a mail cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A part of it is encrypted.
    Encrypted,
    /// It is signed in the form of S/MIME that also wraps the text into the file `smime.p7m`.
    Wrapped,
    /// A part of it is `winmail.dat`, in which Outlook hides formatted text and files (PM-65).
    RichText,
    /// The mail is too long to be read (PM-65).
    TooLong,
}

/// A mail that arrived, or a text that someone saved from one.
#[derive(Clone, Debug)]
pub struct ReceivedMail {
    /// The address of its sender.
    pub from: Option<MailAddress>,
    /// Its `Message-ID`, with angle brackets.
    pub(super) message_id: Option<String>,
    /// The `Message-ID`s of the mails that it follows, with angle brackets.
    pub follows: Vec<String>,
    pub(super) subject: String,
    /// When it was sent, by its own header.
    pub sent: Option<DeskTime>,
    /// When it arrived: by the last server that passed it on, or else by its file in a Maildir (PM-113).
    pub arrived: Option<DeskTime>,
    /// The report in it, if a program sent it by itself.
    pub notice: Option<Notice>,
    /// Why its text, or a part of it, cannot be read.
    pub obstacle: Option<Obstacle>,
    /// The texts in it, in order: of its parts, its text attachments, and the mails attached to it. `U+FFFD` replaces
    /// what could not be decoded.
    pub(super) texts: Vec<String>,
    /// The charset of the first text that could not be decoded completely.
    pub(super) undecoded: Option<String>,
    pub(super) digest: Digest,
}

impl ReceivedMail {
    /// Reads a mail. Bytes that do not begin with the header of a mail are read as one text.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut mail = Self {
            from: None,
            message_id: None,
            follows: Vec::new(),
            subject: String::new(),
            sent: None,
            arrived: None,
            notice: None,
            obstacle: None,
            texts: Vec::new(),
            undecoded: None,
            digest: Digest::new(blake3::derive_key("turnfold v1 received mail", bytes)),
        };
        let message = of_mailbox(bytes);
        if let Some(message) = message
            && let Some(read) = MessageParser::default().parse(message)
        {
            mail.from = read.from().and_then(|from| from.first()?.address()?.parse().ok());
            if let Some(id) = read.message_id()
                && is_message_id(id)
            {
                mail.message_id = Some(format!("<{id}>"));
            }
            for earlier in [read.in_reply_to(), read.references()] {
                for id in earlier.as_text_list().unwrap_or_default() {
                    mail.follows.push(format!("<{id}>"));
                }
            }
            mail.subject = read.subject().unwrap_or_default().into();
            mail.sent = read.date().and_then(time_of);
            // Each server adds its line above the earlier ones.
            mail.arrived = read.received_all().next().and_then(|received| time_of(&received.date?));
            mail.add(&read);
            mail.notice = Notice::of(&read, &mail.texts);
        }
        // If a mail was cut or a program broke its format, the lines of a paper may still be there.
        if !mail.texts.iter().any(|text| !MailedPaper::find(text.as_bytes()).is_empty()) {
            let whole = without_signature(&text_of_bytes(bytes)).into_owned();
            if message.is_none() || !MailedPaper::find(whole.as_bytes()).is_empty() {
                mail.texts.push(whole);
            }
        }
        mail
    }

    /// Reads the beginning of a mail that is too long, for its header.
    #[must_use]
    pub fn too_long(beginning: &[u8]) -> Self {
        Self { obstacle: Some(Obstacle::TooLong), texts: Vec::new(), ..Self::read(beginning) }
    }

    fn add(&mut self, message: &Message<'_>) {
        let mut messages = vec![message];
        let mut next = 0;
        while let Some(message) = messages.get(next).copied() {
            next += 1;
            for part in &message.parts {
                match &part.body {
                    PartType::Text(text) => {
                        let text = part_text(message, part, text);
                        self.note_undecoded(part, &text);
                        if text.contains(ENCRYPTED) {
                            self.obstacle = self.obstacle.or(Some(Obstacle::Encrypted));
                        }
                        self.texts.push(without_signature(&text_of(part, &text)).into_owned());
                    }
                    PartType::Html(html) => {
                        let html = part_text(message, part, html);
                        self.note_undecoded(part, &html);
                        self.texts.push(text_of_html(&html));
                    }
                    PartType::Binary(bytes) | PartType::InlineBinary(bytes) => {
                        self.obstacle = self.obstacle.or_else(|| obstacle(part));
                        let text = text_of_bytes(&attached_bytes(message, part, bytes));
                        if !MailedPaper::find(text.as_bytes()).is_empty() {
                            self.texts.push(text);
                        }
                    }
                    PartType::Message(attached) => messages.push(attached),
                    PartType::Multipart(_) => {}
                }
            }
        }
    }

    fn note_undecoded(&mut self, part: &MessagePart<'_>, text: &str) {
        if self.undecoded.is_none() && text.contains(UNDECODED) {
            let charset = attribute(part, "charset").trim();
            self.undecoded = Some(if charset.is_empty() { "UTF-8".into() } else { charset.into() });
        }
    }

    /// Finds the papers in it, each once. If it has several texts and a well-formed paper, malformed ones are dropped,
    /// because they may be the HTML form of the same paper.
    #[must_use]
    pub fn papers(&self) -> Vec<FoundPaper> {
        let mut all = Vec::<FoundPaper>::new();
        for text in &self.texts {
            let mut new = MailedPaper::find(text.as_bytes());
            new.retain(|found| !all.iter().any(|known| known.paper == found.paper));
            all.extend(new);
        }
        if self.texts.len() > 1 && all.iter().any(|found| found.paper.is_ok()) {
            all.retain(|found| found.paper.is_ok());
        }
        all
    }
}

fn of_mailbox(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_start();
    let bytes = match bytes.strip_prefix(b"From ") {
        Some(rest) => rest.get(rest.iter().position(|byte| *byte == b'\n')? + 1..)?,
        None => bytes,
    };
    let mut is_known = false;
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.is_empty() || line == b"\r" {
            break;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let name = line.get(..line.iter().position(|byte| *byte == b':')?)?;
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        is_known |= HEADERS.split(' ').any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    }
    if is_known { Some(bytes) } else { None }
}

fn text_of(part: &MessagePart<'_>, text: &str) -> String {
    if attribute(part, "format").eq_ignore_ascii_case("flowed") {
        return unflowed(text, attribute(part, "delsp").eq_ignore_ascii_case("yes"));
    }
    text.to_owned()
}

fn obstacle(part: &MessagePart<'_>) -> Option<Obstacle> {
    let mut subtype = String::new();
    if let Some(content_type) = part.content_type() {
        subtype = content_type.subtype().unwrap_or_default().to_ascii_lowercase();
    }
    let name = part.attachment_name().unwrap_or_default();
    if subtype.ends_with("pkcs7-mime") && attribute(part, "smime-type").eq_ignore_ascii_case("signed-data") {
        Some(Obstacle::Wrapped)
    } else if subtype.ends_with("pkcs7-mime") || subtype == "pgp-encrypted" {
        Some(Obstacle::Encrypted)
    } else if subtype.ends_with("ms-tnef") || name.eq_ignore_ascii_case("winmail.dat") {
        Some(Obstacle::RichText)
    } else {
        None
    }
}

fn time_of(date: &DateTime) -> Option<DeskTime> {
    DeskTime::of_unix_seconds(u64::try_from(date.to_timestamp()).ok()?)
}

fn is_message_id(id: &str) -> bool {
    (1..=250).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte))
}
