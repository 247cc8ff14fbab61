//! The text of a part of a mail: the bytes that its encoding stands for, read in its charset (PM-50).
//!
//! mail-parser reads most parts. It gives up a body behind which a list server wrote a footer, it drops the last bytes of
//! base64 without padding, and without its tables it makes replacement signs of charsets such as GB 2312 unnoticed. Such
//! bodies are read here.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{Message, MessagePart, MimeHeaders};

use super::mail_text::text_of_bytes;

/// Stands for what could not be decoded.
pub(super) const UNDECODED: char = '\u{fffd}';

/// Base64 as it is, with padding or without.
const DIGITS: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns the text of a part that mail-parser read as `parsed`.
pub(super) fn part_text(message: &Message<'_>, part: &MessagePart<'_>, parsed: &str) -> String {
    let charset = charset_of(part);
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

/// Returns the bytes of an attachment.
pub(super) fn attached_bytes(message: &Message<'_>, part: &MessagePart<'_>, parsed: &[u8]) -> Vec<u8> {
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim();
    match raw_bytes(message, part) {
        Some(raw) if encoding.eq_ignore_ascii_case("base64") => Base64Body::read(raw).bytes,
        _ => parsed.to_vec(),
    }
}

/// Returns the charset that a part names.
pub(super) fn charset_of<'a>(part: &'a MessagePart<'_>) -> &'a str {
    part.content_type().and_then(|of| of.attribute("charset")).unwrap_or_default().trim()
}

fn raw_bytes<'a>(message: &'a Message<'_>, part: &MessagePart<'_>) -> Option<&'a [u8]> {
    let (start, end) = (usize::try_from(part.offset_body).ok()?, usize::try_from(part.offset_end).ok()?);
    message.raw_message.get(start..end)
}

/// Whether mail-parser has no table for a charset.
fn is_unknown_to_parser(charset: &str) -> bool {
    if charset.is_empty() {
        return false;
    }
    match Encoding::for_label(charset.as_bytes()) {
        Some(table) => !table.is_single_byte() && table != UTF_8 && table != UTF_16LE && table != UTF_16BE,
        None => charset_decoder(charset.as_bytes()).is_none(),
    }
}

/// Decodes bytes. A line that its charset does not have holds [`UNDECODED`], and does not cost the others.
fn decoded(bytes: &[u8], charset: &str) -> String {
    if charset.is_empty() {
        return text_of_bytes(bytes);
    }
    if !is_unknown_to_parser(charset) {
        let decode = charset_decoder(charset.as_bytes());
        return decode.map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), |decode| decode(bytes));
    }
    let table = Encoding::for_label(charset.as_bytes()).filter(|table| *table != REPLACEMENT);
    let mut text = String::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match table {
            Some(table) => text.push_str(&table.decode_without_bom_handling(line).0),
            // Signs of charsets that switch between alphabets.
            None if line.is_ascii() && !line.iter().any(|byte| b"\x0e\x0f\x1b~".contains(byte)) => {
                text.push_str(&String::from_utf8_lossy(line));
            }
            None => {
                let known = |byte: &u8| {
                    if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { UNDECODED }
                };
                text.extend(line.trim_ascii_end().iter().map(known));
                text.push(UNDECODED);
                text.push('\n');
            }
        }
    }
    text
}

/// A body in base64, with or without padding, and what someone wrote behind it.
struct Base64Body<'a> {
    bytes: Vec<u8>,
    /// Whether the last bytes are missing.
    is_cut: bool,
    footer: &'a [u8],
}

impl<'a> Base64Body<'a> {
    fn read(raw: &'a [u8]) -> Self {
        let (mut digits, mut footer): (Vec<u8>, &[u8]) = (Vec::new(), &[]);
        let (mut rest, mut is_padded) = (raw, false);
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
            let (line, behind) = rest.split_at(end);
            let line = line.trim_ascii();
            let bare = line.trim_ascii_end().strip_suffix(b"=").unwrap_or(line);
            let bare = bare.strip_suffix(b"=").unwrap_or(bare);
            let is_digits = bare.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte));
            // Behind an incomplete group of four there is no more of the body.
            let is_over = is_padded || digits.len() % 4 != 0;
            if !line.is_empty() && (!is_digits || is_over) {
                footer = rest;
                break;
            }
            digits.extend_from_slice(bare);
            is_padded |= bare.len() < line.len();
            rest = behind;
        }
        let is_cut = digits.len() % 4 == 1;
        if is_cut {
            digits.pop();
        }
        Self { bytes: DIGITS.decode(&digits).unwrap_or_default(), is_cut, footer }
    }
}

/// Decodes quoted-printable. What is not written so stays as it is.
fn quoted_printable(raw: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), raw);
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'=' {
            bytes.push(*first);
            continue;
        }
        let hex = rest.get(..2).and_then(|pair| str::from_utf8(pair).ok());
        let escaped = hex.filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let line_end = rest.iter().position(|byte| *byte == b'\n');
        let is_soft =
            line_end.is_some_and(|end| rest.get(..end).is_some_and(|blank| blank.trim_ascii().is_empty()));
        if let Some(byte) = escaped.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            bytes.push(byte);
            rest = rest.get(2..).unwrap_or_default();
        } else if let Some(end) = line_end.filter(|_| is_soft) {
            rest = rest.get(end + 1..).unwrap_or_default();
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
