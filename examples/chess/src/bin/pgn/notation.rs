//! The text of Portable Game Notation, taken apart: games with their tags and the words of their moves.
//!
//! Comments, variations and signs are skipped. A `{` comment ends at the first `}`, whatever is in it: braces do not nest
//! in it, brackets mean nothing, and a line of it may begin with `[`. A `;` comment is text to the end of its line, in a
//! variation, too.

use std::fmt::{self, Display, Formatter};

/// A game as it was written.
#[derive(Default)]
pub struct Game {
    /// The line that it begins in.
    pub line: usize,
    pub tags: Vec<Tag>,
    /// Move numbers, moves and signs, in order.
    pub words: Vec<Word>,
    /// The result behind the moves.
    pub result: Option<Word>,
    /// The comments behind the last move.
    pub last_comments: Vec<String>,
    /// What was skipped although it may have meant something.
    pub notes: Vec<Note>,
    /// Why the text could not be taken apart behind these words.
    pub fault: Option<Fault>,
}

impl Game {
    /// Returns the first tag of this name that has a value.
    pub fn tag(&self, name: &str) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.name.eq_ignore_ascii_case(name) && !tag.value.is_empty())
    }

    fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.words.is_empty() && self.result.is_none() && self.fault.is_none()
    }
}

pub struct Tag {
    pub name: String,
    pub value: String,
    pub line: usize,
}

pub struct Word {
    pub text: String,
    pub line: usize,
}

/// Something to say about a line.
pub struct Note {
    pub line: usize,
    pub text: String,
}

impl Display for Note {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.text)
    }
}

/// What is wrong with the text, and in which line.
pub struct Fault {
    pub line: usize,
    pub kind: FaultKind,
}

pub enum FaultKind {
    OpenComment,
    OpenVariation,
    /// A bracket that closes or opens nothing.
    Stray(char),
}

/// Returns the text of a file: UTF-8, or Latin-1 in lines that are no UTF-8, as the standard of 1994 has it.
pub fn decode(bytes: &[u8]) -> Result<String, &'static str> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("the file is UTF-16; save it as UTF-8");
    }
    let mut text = String::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match str::from_utf8(line) {
            Ok(line) => text.push_str(line),
            Err(_) => text.extend(line.iter().map(|byte| char::from(*byte))),
        }
    }
    Ok(text.replace("\r\n", "\n").replace('\r', "\n").replace('\u{feff}', ""))
}

/// Returns the games of a text, in order.
pub fn games(text: &str) -> Vec<Game> {
    let mut reader =
        Reader { rest: text, line: 1, is_line_start: true, game: Game::default(), games: vec![] };
    reader.read();
    reader.games
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    is_line_start: bool,
    game: Game,
    games: Vec<Game>,
}

impl Reader<'_> {
    fn read(&mut self) {
        // Where the open variations begin.
        let mut open: Vec<usize> = Vec::new();
        while let Some(first) = self.rest.chars().next() {
            let (line, is_line_start) = (self.line, self.is_line_start);
            let fault = match first {
                '%' if is_line_start => {
                    self.skip_line();
                    None
                }
                ';' => {
                    let comment = self.skip_line();
                    self.comment(&comment, &open);
                    None
                }
                '{' => match self.braces() {
                    Some(comment) => {
                        self.comment(&comment, &open);
                        None
                    }
                    None => Some(FaultKind::OpenComment),
                },
                '(' => {
                    self.skip(1);
                    open.push(line);
                    None
                }
                ')' => {
                    self.skip(1);
                    open.pop().is_none().then_some(FaultKind::Stray(')'))
                }
                '[' => self.bracket(is_line_start, &open),
                '}' | ']' if open.is_empty() => {
                    self.skip(1);
                    Some(FaultKind::Stray(first))
                }
                '$' => {
                    let digits = self.rest.len()
                        - self.rest[1..].trim_start_matches(|c: char| c.is_ascii_digit()).len();
                    self.skip(digits);
                    None
                }
                _ if first.is_whitespace() || "}]\"".contains(first) => {
                    self.skip(first.len_utf8());
                    None
                }
                _ => {
                    let text = self.word();
                    if open.is_empty() {
                        self.add(Word { text, line });
                    }
                    None
                }
            };
            if let Some(kind) = fault {
                let line = if matches!(kind, FaultKind::OpenVariation) { open[0] } else { line };
                self.give_up(Fault { line, kind });
                open.clear();
            }
        }
        if let Some(line) = open.first() {
            self.game.fault = Some(Fault { line: *line, kind: FaultKind::OpenVariation });
        }
        self.end_game();
    }

    /// Reads what begins with `[`: a tag, which may begin another game.
    fn bracket(&mut self, is_line_start: bool, open: &[usize]) -> Option<FaultKind> {
        let line = self.line;
        let has_moves = !self.game.words.is_empty();
        let Some((tag, length)) = tag(self.rest, line) else {
            if !open.is_empty() {
                self.skip(1);
                return None;
            }
            if has_moves {
                return Some(FaultKind::Stray('['));
            }
            let skipped = self.skip_line();
            let text = format!("`{}` is no tag; it is skipped", skipped.trim());
            self.game.notes.push(Note { line, text });
            return None;
        };
        if !open.is_empty() {
            if is_line_start {
                return Some(FaultKind::OpenVariation);
            }
            self.skip(length);
            return None;
        }
        let is_again = tag.name == "Event" && self.game.tag("Event").is_some();
        if has_moves || is_again {
            self.end_game();
        }
        self.begin(line);
        self.game.tags.push(tag);
        self.skip(length);
        None
    }

    fn add(&mut self, mut word: Word) {
        self.begin(word.line);
        if let Some(result) = result(&word.text) {
            word.text = result.to_owned();
            self.game.result = Some(word);
            self.end_game();
        } else {
            if word.text.contains(|c: char| c.is_ascii_alphabetic()) {
                self.game.last_comments.clear();
            }
            self.game.words.push(word);
        }
    }

    /// Keeps a comment of the game itself, without clocks and the like.
    fn comment(&mut self, text: &str, open: &[usize]) {
        if open.is_empty() {
            let mut text = text.to_owned();
            while let Some(start) = text.find("[%")
                && let Some(end) = text[start..].find(']')
            {
                text.replace_range(start..=start + end, "");
            }
            let words: Vec<&str> = text.split_whitespace().collect();
            self.game.last_comments.push(words.join(" "));
        }
    }

    fn begin(&mut self, line: usize) {
        if self.game.is_empty() {
            self.game.line = line;
        }
    }

    fn end_game(&mut self) {
        let game = std::mem::take(&mut self.game);
        if !game.is_empty() {
            self.games.push(game);
        }
    }

    /// Ends a game that cannot be read, and goes to the next one.
    fn give_up(&mut self, fault: Fault) {
        self.begin(fault.line);
        self.game.fault = Some(fault);
        self.end_game();
        while !(self.rest.is_empty() || self.is_line_start && self.rest.starts_with("[Event ")) {
            self.skip_line();
        }
    }

    /// Skips this many bytes.
    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.is_line_start = skipped.ends_with('\n');
        self.rest = rest;
    }

    /// Skips the rest of a line, and returns it without its first character.
    fn skip_line(&mut self) -> String {
        let end = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
        let line = self.rest[..end].chars().skip(1).collect();
        self.skip(end);
        line
    }

    /// Skips a comment in braces and returns its text. A comment that a game begins in was not closed.
    fn braces(&mut self) -> Option<String> {
        let end = self.rest.find('}')?;
        let text = self.rest[1..end].to_owned();
        if text.contains("\n[Event \"") {
            return None;
        }
        self.skip(end + 1);
        Some(text)
    }

    fn word(&mut self) -> String {
        if self.rest.starts_with('*') {
            self.skip(1);
            return "*".into();
        }
        let is_end = |c: char| c.is_whitespace() || "{}();[]$*\"".contains(c);
        let mut end = self.rest.find(is_end).unwrap_or(self.rest.len());
        // In `a8(Q)` the brackets hold the new piece.
        let is_promotion = |text: &str| {
            let mut inside = text.chars().take(3);
            inside.next() == Some('(')
                && inside.next().is_some_and(|c| "QRBNqrbn".contains(c))
                && inside.next() == Some(')')
        };
        if self.rest[..end].ends_with(['1', '8']) && is_promotion(&self.rest[end..]) {
            end += 3;
        }
        let word = self.rest[..end].to_owned();
        self.skip(end);
        word
    }
}

/// Reads a tag such as `[White "Morphy"]` and returns how long it is.
fn tag(text: &str, line: usize) -> Option<(Tag, usize)> {
    let inside = text.strip_prefix('[')?.trim_start_matches([' ', '\t']);
    let name_end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, rest) = inside.split_at(name_end);
    let mut rest = rest.trim_start_matches([' ', '\t']).strip_prefix('"')?;
    if name.is_empty() {
        return None;
    }
    let mut value = String::new();
    loop {
        let first = rest.chars().next().filter(|first| *first != '\n')?;
        rest = &rest[first.len_utf8()..];
        let escaped = rest.chars().next().filter(|next| first == '\\' && "\"\\".contains(*next));
        if let Some(next) = escaped {
            value.push(next);
            rest = &rest[1..];
        } else if first == '"' {
            // A quotation mark in a value, which should have been escaped, has no bracket behind it.
            if let Some(behind) = rest.trim_start_matches([' ', '\t']).strip_prefix(']') {
                let tag = Tag { name: name.into(), value: value.trim().into(), line };
                return Some((tag, text.len() - behind.len()));
            }
            value.push('"');
        } else {
            value.push(first);
        }
    }
}

/// Returns the result that a text stands for.
pub fn result(text: &str) -> Option<&'static str> {
    match text.replace(['–', '—', '−'], "-").replace('½', "1/2").as_str() {
        "1-0" => Some("1-0"),
        "0-1" => Some("0-1"),
        "1/2-1/2" | "1/2" => Some("1/2-1/2"),
        "*" => Some("*"),
        _ => None,
    }
}
