//! Mails as mail programs write them, with headers, parts and encodings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::mailer_changes::mailers::{crlf, quoted_printable};

/// A paper and its sender.
pub(in crate::mail) struct Written {
    /// The paper as `mail write` prints it.
    pub(in crate::mail) paper: String,
    /// The sender's address and name.
    pub(in crate::mail) from: &'static str,
    pub(in crate::mail) name: &'static str,
    /// The number of the mail in the corpus.
    pub(in crate::mail) index: usize,
}

/// A part of a mail.
pub(super) struct Part {
    head: String,
    body: Vec<u8>,
}

/// The encoding of a part.
#[derive(Clone, Copy)]
pub(super) enum Encoding {
    /// Unchanged.
    Plain,
    Quoted,
    Base64,
}

pub(super) use Encoding::{Base64, Plain, Quoted};

fn encoded(encoding: Encoding, bytes: &[u8]) -> (&'static str, Vec<u8>) {
    match encoding {
        Plain if bytes.is_ascii() => ("7bit", bytes.to_vec()),
        Plain => ("8bit", bytes.to_vec()),
        Quoted => {
            let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            ("quoted-printable", crlf(&quoted_printable(&text)).into_bytes())
        }
        Base64 => {
            let text = STANDARD.encode(bytes);
            let lines = text.as_bytes().chunks(76).map(|line| [line, b"\r\n"].concat());
            ("base64", lines.collect::<Vec<_>>().concat())
        }
    }
}

/// Returns a part with any bytes.
pub(super) fn part(content_type: &str, encoding: Encoding, bytes: &[u8]) -> Part {
    let (name, body) = encoded(encoding, bytes);
    Part { head: format!("Content-Type: {content_type}\r\nContent-Transfer-Encoding: {name}\r\n"), body }
}

/// Returns a part with plain text.
pub(super) fn text(parameters: &str, encoding: Encoding, words: &str) -> Part {
    part(&format!("text/plain; {parameters}"), encoding, crlf(words).as_bytes())
}

pub(super) fn html(encoding: Encoding, words: &str) -> Part {
    part("text/html; charset=\"utf-8\"", encoding, crlf(words).as_bytes())
}

/// Returns an attached file.
pub(super) fn file(content_type: &str, name: &str, encoding: Encoding, bytes: &[u8]) -> Part {
    let Part { head, body } = part(&format!("{content_type}; name=\"{name}\""), encoding, bytes);
    Part { head: format!("{head}Content-Disposition: attachment; filename=\"{name}\"\r\n"), body }
}

/// Returns a part that contains parts.
pub(super) fn parts(kind: &str, boundary: &str, parts: &[Part]) -> Part {
    let mut body = b"This is a multi-part message in MIME format.\r\n".to_vec();
    for Part { head, body: inner } in parts {
        body.extend(format!("--{boundary}\r\n{head}\r\n").into_bytes());
        body.extend(inner);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").into_bytes());
    Part { head: format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n"), body }
}

pub(super) fn alternative(boundary: &str, plain: Part, html: Part) -> Part {
    parts("alternative", boundary, &[plain, html])
}

/// Returns the whole mail, with the header lines of a mail program.
pub(super) fn mail(of: &Written, agent: &str, part: &Part) -> Vec<u8> {
    let Written { from, name, index, .. } = of;
    let received = "Received: from mx.example.net by mail.example.org; Tue, 1 Dec 2026 19:02:11 +0100\r\n";
    let head = format!(
        "Return-Path: <{from}>\r\n{received}From: {name} <{from}>\r\nTo: games@example.org\r\n\
         Subject: Re: [duel] turn 1: your order, please\r\nDate: Tue, 1 Dec 2026 19:02:09 +0100\r\n\
         Message-ID: <mail-{index:02}@mx.example.net>\r\n{}MIME-Version: 1.0\r\n",
        crlf(agent)
    );
    [head.as_bytes(), part.head.as_bytes(), b"\r\n", &part.body].concat()
}

/// Returns lines of HTML, each in an element.
pub(super) fn each_in(tag: &str, text: &str) -> String {
    let name = tag.split(' ').next().unwrap();
    let lines = text.lines().map(|line| if line.is_empty() { "<br>" } else { line });
    lines.flat_map(|line| ["<", tag, ">", line, "</", name, ">\n"]).collect()
}

pub(super) fn broken_lines(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("<br>\n")
}

pub(super) fn utf_16(text: &str, write: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{}", crlf(text)).encode_utf16().flat_map(write).collect()
}

/// Encodes a text with one byte for each of these characters.
pub(super) fn bytes_of(text: &str, table: &[(char, u8)]) -> Vec<u8> {
    let byte = |character| table.iter().find(|(from, _)| *from == character).map(|(_, byte)| *byte);
    crlf(text).chars().map(|character| byte(character).unwrap_or(character as u8)).collect()
}
