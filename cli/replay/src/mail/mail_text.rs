//! The text of a mail's parts: HTML, flowed lines and bytes of any encoding, as lines that a paper can be read from (PM-50).

use std::borrow::Cow;

use mail_parser::decoders::html::add_html_token;

/// HTML elements whose content is not shown.
const HIDDEN: [&str; 4] = ["script", "style", "template", "title"];
/// HTML elements that begin and end a line.
const BLOCKS: [&str; 20] = [
    "address",
    "blockquote",
    "br",
    "center",
    "div",
    "dd",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "table",
    "td",
    "tr",
    "ul",
];
/// Begins a text that `OpenPGP` signed, and one that it encrypted.
const SIGNED: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
pub(super) const ENCRYPTED: &str = "-----BEGIN PGP MESSAGE-----";
/// The most characters of the name of an HTML entity.
const ENTITY_MAX: usize = 32;

/// Returns the text that HTML shows, with `> ` before quoted lines.
pub(super) fn text_of_html(html: &str) -> String {
    // Of the same length, so places in it are places in the HTML.
    let lower = html.to_ascii_lowercase();
    let (mut text, mut at) = (HtmlText::default(), 0);
    while let Some((shown, behind)) = html.get(at..).and_then(|rest| rest.split_once('<')) {
        text.add(shown);
        at = html.len() - behind.len();
        let after = |end: &str| {
            let found = lower.get(at..).and_then(|rest| rest.find(end));
            found.map_or(html.len(), |found| at + found + end.len())
        };
        if behind.starts_with("!--") {
            at = after("-->");
        } else if behind.starts_with(|first: char| first.is_ascii_alphabetic() || "/!?".contains(first)) {
            let end = after(">");
            let tag = lower.get(at..end).unwrap_or_default();
            at = end;
            let name = tag.trim_start_matches('/');
            let name = name.split(|end: char| !end.is_ascii_alphanumeric()).next().unwrap_or_default();
            if HIDDEN.contains(&name) && !tag.starts_with('/') {
                let close = format!("</{name}");
                let found = lower.get(at..).and_then(|rest| rest.find(&close));
                at = found.map_or(html.len(), |found| at + found);
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

/// The lines of HTML while it is read.
#[derive(Default)]
struct HtmlText {
    lines: String,
    line: String,
    /// Whether a space comes before the next word.
    is_spaced: bool,
    /// How many `blockquote` elements are open.
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
        if !BLOCKS.contains(&name) {
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
        (0..self.quotes).for_each(|_| self.lines.push_str("> "));
        self.lines.push_str(&std::mem::take(&mut self.line));
        self.lines.push('\n');
        self.is_spaced = false;
    }
}

/// Replaces entities such as `&gt;` and `&#43;`.
fn with_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let end = behind.find(|end: char| !end.is_ascii_alphanumeric() && end != '#');
        match end.filter(|end| *end <= ENTITY_MAX).and_then(|end| behind.split_at_checked(end)) {
            Some((name, tail)) if !name.is_empty() && tail.starts_with(';') => {
                add_html_token(&mut out, format!("&{name};").as_bytes(), false);
                rest = tail.get(1..).unwrap_or_default();
            }
            _ => {
                out.push('&');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out.into()
}

/// Joins the lines that `format=flowed` (RFC 3676) has broken. `deletes` is its `DelSp`: the space before a break goes, too.
pub(super) fn unflowed(text: &str, deletes: bool) -> String {
    let mut out = String::new();
    // The quote marks of a line that goes on.
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let bare = line.trim_start_matches('>');
        let quotes = line.len() - bare.len();
        let words = bare.strip_prefix(' ').unwrap_or(bare);
        let is_signature = words == "-- ";
        if open.is_some_and(|open| open != quotes || is_signature) {
            out.push('\n');
            open = None;
        }
        if open.is_none() {
            (0..quotes).for_each(|_| out.push_str("> "));
        }
        let goes_on = words.ends_with(' ') && !is_signature;
        out.push_str(if goes_on && deletes { words.strip_suffix(' ').unwrap_or(words) } else { words });
        open = goes_on.then_some(quotes);
        if !goes_on {
            out.push('\n');
        }
    }
    out
}

/// Leaves the lines empty that `OpenPGP` writes around a signed text, and takes the dashes away that it writes before lines of the
/// text (RFC 9580, 7.2).
pub(super) fn without_signature(text: &str) -> Cow<'_, str> {
    let Some((before, framed)) = text.split_once(SIGNED) else { return text.into() };
    let (mut out, mut is_head, mut is_signature) = (before.to_owned(), true, false);
    for line in framed.split_inclusive('\n') {
        is_signature |= line.starts_with("-----BEGIN PGP SIGNATURE-----");
        if is_head || is_signature {
            // Behind the first line, which is the rest of the mark itself, an empty one ends the head.
            is_head &= out.len() == before.len() || !line.trim().is_empty();
            is_signature &= !line.starts_with("-----END PGP SIGNATURE-----");
            out.push('\n');
        } else {
            out.push_str(line.strip_prefix("- ").unwrap_or(line));
        }
    }
    out.into()
}

/// Reads bytes as text: by their byte order mark, as UTF-16 where every second byte is zero, else as UTF-8. In all other
/// encodings that mail programs use, the characters of a paper are the same bytes as in UTF-8.
pub(super) fn text_of_bytes(bytes: &[u8]) -> String {
    let pairs = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| read(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => pairs(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => pairs(rest, u16::from_be_bytes),
        [first, 0, third, 0, ..] if *first != 0 && *third != 0 => pairs(bytes, u16::from_le_bytes),
        [0, second, 0, fourth, ..] if *second != 0 && *fourth != 0 => pairs(bytes, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned(),
    }
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
}
