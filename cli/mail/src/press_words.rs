//! Encodes words of players in any language in the alphabet of papers (PM-67).
//!
//! A paper is printable ASCII without `=` and `|`. Any other character, and `%` itself, is written as the bytes of its
//! UTF-8, each as `%` and two hex digits. A word that is too long for a mail is cut, and `%-` at the end of a piece
//! joins the next one. The desk sees ordinary words.

use std::fmt::Write as _;

use turnfold_core::paper::{PaperLine, is_control};

/// The longest piece of a word, without the join.
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
    line.parse().map_err(|error: turnfold_core::Malformed| error.0)
}

/// Encodes a word in pieces that survive a mail.
fn word(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_graphic() && !matches!(sign, '=' | '|' | '%');
    let mut pieces = vec![String::new()];
    let last = word.chars().count().saturating_sub(1);
    for (place, sign) in word.chars().enumerate() {
        // A keyword of a paper ends with a colon.
        let is_end = place == last && sign == ':';
        let written = if is_plain(sign) && !is_end { sign.to_string() } else { escaped(sign) };
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
///
/// # Errors
/// As for [`press_line`].
pub(super) fn name_line(name: &str) -> Result<PaperLine, String> {
    const MOST: usize = 64;
    let sign = |sign: char| match sign {
        '|' | '\\' => '/',
        ';' | ':' => ',',
        '=' => '-',
        '"' | '\u{201c}' | '\u{201d}' | '`' => '\'',
        '[' | '{' | '<' => '(',
        ']' | '}' | '>' => ')',
        sign if sign.is_ascii_punctuation() && !" .,'()_&+/-".contains(sign) => ' ',
        sign => sign,
    };
    let name: String = name.chars().map(sign).collect();
    let length = name.trim().chars().count();
    if length == 0 || length > MOST {
        return Err(format!("Expected a name of 1 to {MOST} characters, found {length}."));
    }
    press_line(&name, MOST * 16)
}

fn escaped(sign: char) -> String {
    sign.encode_utf8(&mut [0; 4]).bytes().fold(String::new(), |mut escaped, byte| {
        write!(escaped, "%{byte:02X}").expect("writing to a string cannot fail");
        escaped
    })
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
