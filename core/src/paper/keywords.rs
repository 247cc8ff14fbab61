//! The words with which lines of papers and of mails begin (PM-4, PM-4a, PM-7).

/// The first line of a paper's text.
pub const FIRST_LINE: &str = "#turnfold paper 1";

/// The keywords of papers; `uses` and `of` are reserved (PM-4a). `if` is for orders ahead (PM-42).
pub const KEYWORDS: [&str; 22] = [
    "paper", "match", "seat", "number", "turn", "link", "seen", "nonce", "name", "key", "dice", "wait",
    "play", "digest", "offer", "to", "answer", "if", "uses", "of", "words", "until",
];

/// Returns `true` for the words, in any case, that begin a line of a mail when a colon follows (PM-7).
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().chain(&["more", "sig"]).any(|keyword| word.eq_ignore_ascii_case(keyword))
}
