//! Turns the parts of a mail into lines that a paper can be read from: decodes bytes and charsets, reads HTML as text,
//! and joins flowed lines (PM-50).
//!
//! mail-parser reads most parts. It gives up on a body with the footer of a list server, drops the last bytes of base64
//! without padding, and without its tables silently replaces the characters of charsets such as GB 2312. Such bodies
//! are read here.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::html::add_html_token;
use mail_parser::{Message, MessagePart, MimeHeaders};
use serde::Deserialize;

/// The words that identify text written by mail programs, in lower case (PM-90, PM-93). The file explains each list.
#[derive(Deserialize)]
pub(super) struct ProgramWords {
    pub(super) absences: Vec<String>,
    pub(super) absent: Vec<String>,
    pub(super) bounces: Vec<String>,
    pub(super) delays: Vec<String>,
    pub(super) wrote: Vec<String>,
    pub(super) from: Vec<String>,
    pub(super) subject: Vec<String>,
    pub(super) footers: Vec<String>,
    pub(super) reasons: Vec<Reason>,
}

#[derive(Deserialize)]
pub(super) struct Reason {
    pub(super) why: String,
    pub(super) signs: Vec<String>,
}

pub(super) static PROGRAM_WORDS: LazyLock<ProgramWords> = LazyLock::new(|| {
    toml::from_str(include_str!("program_words.toml")).expect("the file is read by the tests, too")
});

const HIDDEN: &str = "script style template title";
const BLOCKS: &str = "address blockquote br center div dd dl dt h1 h2 h3 hr li ol p pre table td tr ul";
const SIGNED: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
pub(super) const ENCRYPTED: &str = "-----BEGIN PGP MESSAGE-----";
const ENTITY_MAX: usize = 32;

pub(super) fn text_of_html(html: &str) -> String {
    // It has the same length, so offsets in it are offsets in the HTML.
    let lower = html.to_ascii_lowercase();
    let mut text = HtmlText::default();
    let mut at = 0;
    while let Some((shown, behind)) = html.get(at..).and_then(|rest| rest.split_once('<')) {
        text.add(shown);
        at = html.len() - behind.len();
        if behind.starts_with("!--") {
            at = (find_from(&lower, at, "-->") + 3).min(html.len());
        } else if behind.starts_with(|first: char| first.is_ascii_alphabetic() || "/!?".contains(first)) {
            let end = (find_from(&lower, at, ">") + 1).min(html.len());
            let tag = lower.get(at..end).unwrap_or_default();
            at = end;
            let name = tag.trim_start_matches('/');
            let name = name.split(|end: char| !end.is_ascii_alphanumeric()).next().unwrap_or_default();
            if HIDDEN.split(' ').any(|hidden| hidden == name) && !tag.starts_with('/') {
                at = find_from(&lower, at, &format!("</{name}"));
            } else {
                text.tag(name, tag.starts_with('/'));
            }
        } else {
            text.add("<");
        }
    }
    text.add(html.get(at..).unwrap_or_default());
    text.end_line();
    text.lines
}

fn find_from(text: &str, at: usize, pattern: &str) -> usize {
    let Some(rest) = text.get(at..) else { return text.len() };
    if let Some(found) = rest.find(pattern) { at + found } else { text.len() }
}

#[derive(Default)]
struct HtmlText {
    lines: String,
    line: String,
    is_spaced: bool,
    quotes: usize,
    is_preformatted: bool,
}

impl HtmlText {
    fn add(&mut self, text: &str) {
        for character in with_entities(text).chars() {
            match character {
                '\n' if self.is_preformatted => self.end_line(),
                ' ' | '\t' | '\r' | '\n' => self.is_spaced = true,
                character => {
                    if std::mem::take(&mut self.is_spaced) && !self.line.is_empty() {
                        self.line.push(' ');
                    }
                    self.line.push(character);
                }
            }
        }
    }

    fn tag(&mut self, name: &str, is_end: bool) {
        if !BLOCKS.split(' ').any(|block| block == name) {
            return;
        }
        if !self.line.is_empty() || name == "br" {
            self.end_line();
        }
        if name == "blockquote" {
            self.lines.push('\n');
        }
        match (name, is_end) {
            ("blockquote", false) => self.quotes = self.quotes.saturating_add(1).min(9),
            ("blockquote", true) => self.quotes = self.quotes.saturating_sub(1),
            ("pre", _) => self.is_preformatted = !is_end,
            _ => {}
        }
    }

    fn end_line(&mut self) {
        self.lines.push_str(&"> ".repeat(self.quotes));
        self.lines.push_str(&std::mem::take(&mut self.line));
        self.lines.push('\n');
        self.is_spaced = false;
    }
}

fn with_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        rest = behind;
        // It looks no further than the longest name reaches, because a mail may consist of a million `&`.
        let signs = behind.bytes().take(ENTITY_MAX + 1);
        let length = signs.take_while(|sign| sign.is_ascii_alphanumeric() || *sign == b'#').count();
        if (1..=ENTITY_MAX).contains(&length)
            && let Some((name, tail)) = behind.split_at_checked(length)
            && let Some(tail) = tail.strip_prefix(';')
        {
            add_html_token(&mut out, format!("&{name};").as_bytes(), false);
            rest = tail;
        } else {
            out.push('&');
        }
    }
    out.push_str(rest);
    out.into()
}

/// Joins the lines that `format=flowed` (RFC 3676) has broken. `deletes` is its `DelSp`: the space before a break is
/// removed, too.
pub(super) fn unflowed(text: &str, deletes: bool) -> String {
    let mut out = String::new();
    // The number of quote marks of a line that continues.
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let bare = line.trim_start_matches('>');
        let quotes = line.len() - bare.len();
        let words = bare.strip_prefix(' ').unwrap_or(bare);
        let is_signature = words == "-- ";
        if open.is_some() && (open != Some(quotes) || is_signature) {
            out.push('\n');
            open = None;
        }
        if open.is_none() {
            out.push_str(&"> ".repeat(quotes));
        }
        if words.ends_with(' ') && !is_signature {
            out.push_str(if deletes { words.strip_suffix(' ').unwrap_or(words) } else { words });
            open = Some(quotes);
        } else {
            out.push_str(words);
            out.push('\n');
            open = None;
        }
    }
    out
}

/// Empties the lines that `OpenPGP` writes around a signed text, and removes the dashes that it writes before lines of
/// the text (RFC 9580, 7.2).
pub(super) fn without_signature(text: &str) -> Cow<'_, str> {
    let Some((before, framed)) = text.split_once(SIGNED) else { return text.into() };
    let mut out = before.to_owned();
    let mut is_head = true;
    let mut is_signature = false;
    for line in framed.split_inclusive('\n') {
        is_signature |= line.starts_with("-----BEGIN PGP SIGNATURE-----");
        if is_head || is_signature {
            // The first line is the rest of the mark itself. After it, an empty line ends the head.
            is_head &= out.len() == before.len() || !line.trim().is_empty();
            is_signature &= !line.starts_with("-----END PGP SIGNATURE-----");
            out.push('\n');
        } else {
            out.push_str(line.strip_prefix("- ").unwrap_or(line));
        }
    }
    out.into()
}

/// Reads bytes as text: by their byte order mark, as UTF-16 if every second byte is zero, otherwise as UTF-8. In all
/// other encodings that mail programs use, the characters of a paper are the same bytes as in UTF-8.
pub(super) fn text_of_bytes(bytes: &[u8]) -> String {
    match bytes {
        [0xff, 0xfe, rest @ ..] => text_of_units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => text_of_units(rest, u16::from_be_bytes),
        [first, 0, third, 0, ..] if *first != 0 && *third != 0 => text_of_units(bytes, u16::from_le_bytes),
        [0, second, 0, fourth, ..] if *second != 0 && *fourth != 0 => {
            text_of_units(bytes, u16::from_be_bytes)
        }
        _ => String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned(),
    }
}

fn text_of_units(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let mut units = Vec::new();
    for pair in bytes.as_chunks::<2>().0 {
        units.push(read(*pair));
    }
    String::from_utf16_lossy(&units)
}

pub(super) const UNDECODED: char = '\u{fffd}';

const DIGITS: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) fn part_text(message: &Message<'_>, part: &MessagePart<'_>, parsed: &str) -> String {
    let charset = attribute(part, "charset").trim();
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim();
    let is_base64 = encoding.eq_ignore_ascii_case("base64");
    if !is_base64 && !part.is_encoding_problem && !is_unknown_to_parser(charset) {
        return parsed.to_owned();
    }
    let Some(raw) = raw_bytes(message, part) else { return parsed.to_owned() };
    if is_base64 {
        let Base64Body { bytes, is_cut, footer } = Base64Body::read(raw);
        let mut text = decoded(&bytes, charset);
        if is_cut {
            text.push(UNDECODED);
        }
        if !footer.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&String::from_utf8_lossy(footer));
        }
        return text;
    }
    if encoding.eq_ignore_ascii_case("quoted-printable") {
        return decoded(&quoted_printable(raw), charset);
    }
    decoded(raw, charset)
}

pub(super) fn attached_bytes(message: &Message<'_>, part: &MessagePart<'_>, parsed: &[u8]) -> Vec<u8> {
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim();
    match raw_bytes(message, part) {
        Some(raw) if encoding.eq_ignore_ascii_case("base64") => Base64Body::read(raw).bytes,
        _ => parsed.to_vec(),
    }
}

pub(super) fn attribute<'a>(part: &'a MessagePart<'_>, name: &str) -> &'a str {
    part.content_type().and_then(|content_type| content_type.attribute(name)).unwrap_or_default()
}

fn raw_bytes<'a>(message: &'a Message<'_>, part: &MessagePart<'_>) -> Option<&'a [u8]> {
    let start = usize::try_from(part.offset_body).ok()?;
    let end = usize::try_from(part.offset_end).ok()?;
    message.raw_message.get(start..end)
}

fn is_unknown_to_parser(charset: &str) -> bool {
    if charset.is_empty() {
        return false;
    }
    match Encoding::for_label(charset.as_bytes()) {
        Some(table) => !table.is_single_byte() && table != UTF_8 && table != UTF_16LE && table != UTF_16BE,
        None => charset_decoder(charset.as_bytes()).is_none(),
    }
}

/// Decodes bytes. A line that does not fit its charset contains [`UNDECODED`], and the other lines are not affected.
fn decoded(bytes: &[u8], charset: &str) -> String {
    if charset.is_empty() {
        return text_of_bytes(bytes);
    }
    if !is_unknown_to_parser(charset) {
        return match charset_decoder(charset.as_bytes()) {
            Some(decode) => decode(bytes),
            None => String::from_utf8_lossy(bytes).into_owned(),
        };
    }
    let table = Encoding::for_label(charset.as_bytes()).filter(|table| *table != REPLACEMENT);
    let mut text = String::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match table {
            Some(table) => text.push_str(&table.decode_without_bom_handling(line).0),
            // The excluded signs switch between alphabets in some charsets.
            None if line.is_ascii() && !line.iter().any(|byte| b"\x0e\x0f\x1b~".contains(byte)) => {
                text.push_str(&String::from_utf8_lossy(line));
            }
            None => {
                for byte in line.trim_ascii_end() {
                    let is_known = byte.is_ascii_graphic() || *byte == b' ';
                    text.push(if is_known { char::from(*byte) } else { UNDECODED });
                }
                text.push(UNDECODED);
                text.push('\n');
            }
        }
    }
    text
}

struct Base64Body<'a> {
    bytes: Vec<u8>,
    is_cut: bool,
    footer: &'a [u8],
}

impl<'a> Base64Body<'a> {
    fn read(raw: &'a [u8]) -> Self {
        let mut digits = Vec::new();
        let mut footer: &[u8] = &[];
        let mut at = 0;
        let mut is_padded = false;
        for line in raw.split_inclusive(|byte| *byte == b'\n') {
            let start = at;
            at += line.len();
            let line = line.trim_ascii();
            let bare = line.strip_suffix(b"=").unwrap_or(line);
            let bare = bare.strip_suffix(b"=").unwrap_or(bare);
            let is_digits = bare.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte));
            // After an incomplete group of four digits the body is over.
            let is_over = is_padded || digits.len() % 4 != 0;
            if !line.is_empty() && (!is_digits || is_over) {
                footer = raw.get(start..).unwrap_or_default();
                break;
            }
            digits.extend_from_slice(bare);
            is_padded |= bare.len() < line.len();
        }
        let is_cut = digits.len() % 4 == 1;
        if is_cut {
            digits.pop();
        }
        Self { bytes: DIGITS.decode(&digits).unwrap_or_default(), is_cut, footer }
    }
}

fn quoted_printable(raw: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = raw;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'=' {
            bytes.push(*first);
            continue;
        }
        let mut parts = rest.splitn(2, |byte| *byte == b'\n');
        if let Some((pair, behind)) = rest.split_first_chunk::<2>()
            && pair.iter().all(u8::is_ascii_hexdigit)
            && let Ok(pair) = str::from_utf8(pair)
            && let Ok(byte) = u8::from_str_radix(pair, 16)
        {
            bytes.push(byte);
            rest = behind;
        } else if let Some(blank) = parts.next()
            && blank.trim_ascii().is_empty()
            && let Some(behind) = parts.next()
        {
            rest = behind;
        } else {
            bytes.push(b'=');
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_50_html_is_read_as_the_lines_that_it_shows() {
        for (html, lines) in [
            ("a<br>b<BR/>\r\n c  d", "a\nb\nc d\n"),
            ("<style>p { x }</style><p class=MsoNormal>a <o:p></o:p></p>\n<p>b</p>", "a\nb\n\n"),
            ("<div>x</div><blockquote type=\"cite\">y<div>z</div></blockquote>", "x\n\n> y\n> z\n\n\n"),
            ("<pre>a  b\nc</pre>", "a b\nc\n\n"),
            ("1 &lt; 2&#43;3 &amp;&nbsp;&bogus; & x < y", "1 < 2+3 &\u{a0}&bogus; & x < y\n"),
            ("a<!-- <p> -->b", "ab\n"),
            ("<p", "\n"),
            ("<style>", "\n"),
            ("&", "&\n"),
            ("<", "<\n"),
        ] {
            assert_eq!(text_of_html(html), lines, "{html}");
        }
    }

    #[test]
    fn pm_50_flowed_lines_are_joined_within_their_quotation() {
        assert_eq!(
            unflowed("code abc \ndef\nmove 1,2\n-- \nAnn", false),
            "code abc def\nmove 1,2\n-- \nAnn\n"
        );
        assert_eq!(unflowed(">a \n>b\n> c \nd", false), "> a b\n> c \nd\n");
        assert_eq!(unflowed("a  \n b", true), "a b\n");
        assert_eq!(unflowed(" From here", false), "From here\n");
    }

    #[test]
    fn pm_50_a_text_is_read_without_the_signature_around_it() {
        let framed = "a\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- -- \nb\n-----BEGIN PGP SIGNATURE-----\n\nx\n\
                      -----END PGP SIGNATURE-----\nc\n";
        assert_eq!(without_signature(framed), "a\n\n\n\n-- \nb\n\n\n\n\nc\n");
        assert_eq!(without_signature("-----BEGIN PGP SIGNED MESSAGE-----"), "");
        assert_eq!(without_signature("- a\n"), "- a\n");
    }

    #[test]
    fn pm_50_bytes_are_read_by_their_byte_order() {
        let units =
            |text: &str, write: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(write).collect::<Vec<_>>();
        for bytes in [
            b"play: stand".to_vec(),
            b"\xef\xbb\xbfplay: stand".to_vec(),
            units("\u{feff}play: stand", u16::to_le_bytes),
            units("\u{feff}play: stand", u16::to_be_bytes),
            units("play: stand", u16::to_le_bytes),
            units("play: stand", u16::to_be_bytes),
        ] {
            assert_eq!(text_of_bytes(&bytes), "play: stand", "{bytes:?}");
        }
        assert_eq!(text_of_bytes(b""), "");
        assert_eq!(text_of_bytes(b"gr\xfc\xdfe"), "gr\u{fffd}\u{fffd}e");
    }

    #[test]
    fn pm_50_base64_is_read_without_padding_and_before_a_footer() {
        for (raw, text, footer) in [
            ("Y2xpY2sgMCwtMTA=\r\n", "click 0,-10", ""),
            ("Y2xpY2sgMCwtMTA\r\n", "click 0,-10", ""),
            ("Y2xpY2sg\nMCwt\nMTA\n", "click 0,-10", ""),
            ("Y2xpY2sgMCwtMTA=\n\n____\nOur list\n", "click 0,-10", "____\nOur list\n"),
            ("Y2xpY2sgMCwtMTA\nList\n", "click 0,-10", "List\n"),
            ("Y2xpY2sgMCwt\n-- \nOur list", "click 0,-", "-- \nOur list"),
        ] {
            let body = Base64Body::read(raw.as_bytes());
            assert_eq!((body.bytes.as_slice(), body.is_cut), (text.as_bytes(), false), "{raw}");
            assert_eq!(body.footer, footer.as_bytes(), "{raw}");
        }
        assert!(Base64Body::read(b"Y2xpY2sgMCwtM\n").is_cut);
    }

    #[test]
    fn pm_50_quoted_printable_is_read_as_far_as_it_is_written_so() {
        assert_eq!(
            quoted_printable(b"a=3Db= \r\nc =C3=A4\r\n====\r\n=zz"),
            "a=bc \u{e4}\r\n===".bytes().chain(*b"=zz").collect::<Vec<u8>>()
        );
    }

    #[test]
    fn pm_50_a_line_that_its_charset_does_not_have_is_marked() {
        for (bytes, charset, text) in [
            (
                b"press all: \xc4\xe3\xba\xc3\nswitch".as_slice(),
                "gb2312",
                "press all: \u{4f60}\u{597d}\nswitch",
            ),
            (b"\xa7\x41\xa6\x6e", "Big5", "\u{4f60}\u{597d}"),
            (b"\xb0\xa1", "EUC-KR", "\u{ac00}"),
            (b"\x82\xa0", "Shift_JIS", "\u{3042}"),
            (b"\x1b$B$\"\x1b(B\nmove 1,2\n", "ISO-2022-JP", "\u{3042}\nmove 1,2\n"),
            (b"a\xff\xff\nmove 1,2", "gb2312", "a\u{fffd}\u{fffd}\nmove 1,2"),
            (b"\x1b$)C\nmove 1,2", "ISO-2022-KR", "\u{fffd}$)C\u{fffd}\nmove 1,2"),
            (b"\xe4\nmove 1,2", "x-klingon", "\u{fffd}\u{fffd}\nmove 1,2"),
        ] {
            assert_eq!(decoded(bytes, charset), text, "{charset}");
        }
    }
}
