//! What the words between the moves and the spellings of common programs stand for.

/// A word of the moves.
#[derive(Debug, PartialEq, Eq)]
pub enum Spelled {
    /// A number, a sign or a mark.
    Nothing,
    /// A null move, which passes.
    Null,
    /// A move, as far as possible in Standard Algebraic Notation.
    Move(String),
}

/// Marks behind a move, and those that stand alone: of its quality, of a check, and who is better.
const MARKS: &str = "!?+#=-/~±∓⩲⩱∞†‡";

/// Returns what a word stands for.
pub fn spelled(word: &str) -> Spelled {
    let text = word.replace(['–', '—', '−'], "-").replace([':', '×'], "x");
    let mut text = text.as_str();
    // `1.e4` and `2....Nc6` have the move behind the number.
    loop {
        let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(behind) = behind.strip_prefix('.') else { break };
        text = behind;
    }
    if matches!(text, "--" | "Z0" | "z0" | "0000" | "@@@@" | "null" | "pass") {
        return Spelled::Null;
    }
    if matches!(text, "N" | "TN" | "D" | "e.p." | "ep" | "e.p")
        || text.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Spelled::Nothing;
    }
    for suffix in ["e.p.", "e.p", "ep"] {
        text = text.strip_suffix(suffix).unwrap_or(text);
    }
    text = without_number(text).trim_end_matches(|c| MARKS.contains(c));
    if text.is_empty() {
        return Spelled::Nothing;
    }
    Spelled::Move(castling(text).map_or_else(|| pieces(text), str::to_owned))
}

/// Drops the number of the next move behind a move, as in `Nc63.`.
fn without_number(text: &str) -> &str {
    let bare = text.trim_end_matches('.');
    if bare.len() == text.len() {
        return text;
    }
    let move_end = bare.trim_end_matches(|c: char| c.is_ascii_digit()).len() + 1;
    bare.get(..move_end).unwrap_or(bare)
}

fn castling(text: &str) -> Option<&'static str> {
    match text.replace(['0', 'o'], "O").as_str() {
        "O-O" | "OO" => Some("O-O"),
        "O-O-O" | "OOO" => Some("O-O-O"),
        _ => None,
    }
}

/// Writes a move of a piece as the rules read it: `e2-e4` as `e2e4`, and `a8(Q)`, `a8/Q` and `a8q` as `a8=Q`.
fn pieces(text: &str) -> String {
    let mut text = text.replace(['-', '(', ')', '/', '='], "");
    let new = text.chars().last().filter(|last| "QRBNqrbn".contains(*last));
    if let Some(new) = new {
        text.pop();
        if text.ends_with(['1', '8']) {
            text.push('=');
        }
        text.push(new.to_ascii_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_common_programs_write_them() {
        for (word, expected) in [
            ("1.e4", "e4"),
            ("2....Nc6", "Nc6"),
            ("...e5", "e5"),
            ("Nc63.", "Nc6"),
            ("Nbd212.", "Nbd2"),
            ("e4.", "e4"),
            ("Qh4++", "Qh4"),
            ("d1h5+", "d1h5"),
            ("Bb5!?", "Bb5"),
            ("Nf3+-", "Nf3"),
            ("0-0", "O-O"),
            ("o-o-o+", "O-O-O"),
            ("O–O", "O-O"),
            ("e2-e4", "e2e4"),
            ("Ng1-f3", "Ng1f3"),
            ("e4:d5", "e4xd5"),
            ("exd6e.p.", "exd6"),
            ("exd6ep", "exd6"),
            ("a8(Q)", "a8=Q"),
            ("a8/N+", "a8=N"),
            ("a7xb8=q", "a7xb8=Q"),
            ("a7a8q", "a7a8=Q"),
            ("Rb1", "Rb1"),
        ] {
            assert_eq!(spelled(word), Spelled::Move(expected.into()), "{word}");
        }
        for word in ["1", "12.", "1...", "...", "+/-", "-+", "=", "±", "N", "!?", "e.p.", "#", "+"] {
            assert_eq!(spelled(word), Spelled::Nothing, "{word}");
        }
        for word in ["--", "Z0", "1...--", "0000", "null"] {
            assert_eq!(spelled(word), Spelled::Null, "{word}");
        }
    }
}
