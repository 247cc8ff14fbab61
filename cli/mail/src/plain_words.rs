//! Sorts the lines of a reply into commands of the game, words for the desk, and questions (PM-43).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::paper::{DeskTime, Ending, Offer, OrdersAhead, PaperContent, PaperLine, Press};
use turnfold_core::{AnyState, Malformed, Outcome, Seat, Verdict};
use turnfold_history::{History, SeatHistory, Viewer};
use turnfold_store::BranchName;

use super::game_turn::{GameTurn, OrderEnd, pairs};
use super::host::MailHost;
use super::letter_words::{played_after, wall_clock};
use super::mail_text::UNDECODED;
use super::paper_form::{name_line, press_line};
use super::plain_reply::{LineMeaning, is_dash};
use crate::error::MailError;

/// What a player without a key may ask. The answer is a letter; nothing is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlainQuestion {
    /// What the player may write.
    Help,
    /// The board.
    Board,
    /// The legal commands.
    Legal,
    /// Whom the match waits for.
    Who,
    /// The player's order of this turn, and the game after it (PM-105).
    Status,
}

/// The most lines of commands in a mail, twice as many as an order may have.
const LINES_MAX: usize = 1000;

/// The game at the position of the current turn, without anything that a seat may not know (PM-38).
pub(super) struct KnownPosition<'a> {
    state: Box<dyn AnyState>,
    seq: u64,
    seat: Seat,
    is_asked: bool,
    joins: bool,
    verbs: BTreeSet<String>,
    zone: &'a str,
    charset: &'a str,
}

impl<'a> KnownPosition<'a> {
    pub(super) fn of(
        host: &'a MailHost<'_>,
        (seat, turn): (Seat, u32),
        charset: &'a str,
    ) -> Result<Self, MailError> {
        let mut seq = 0;
        let mut branch = BranchName::main();
        let mut is_asked = false;
        if let Some(position) = host.desk.position() {
            seq = position.game_seq;
            branch.clone_from(&position.branch);
            is_asked = position.seats.contains(&seat);
        }
        let revision = host.game.revision(&branch).at(seq);
        let history = History::of_branch(&revision, host.store, host.registry)?;
        let state = SeatHistory::of(Viewer::of(seat), history)?.state()?;
        let mut verbs = BTreeSet::new();
        for command in state.legal(seat) {
            if let Some(verb) = command.split(' ').next() {
                verbs.insert(verb.to_owned());
            }
        }
        let zone = host.game.terms.zone_of(seat);
        Ok(Self { state, seq, seat, is_asked, joins: turn == 0, verbs, zone, charset })
    }

    fn read(&self, text: &str) -> Result<PaperLine, String> {
        let read = self.state.read(text).and_then(|command| command.parse());
        read.map_err(|error: Malformed| error.0)
    }

    /// Returns `true` if the seat is asked and the game would apply this command now. Otherwise a word that the game and the
    /// desk have in common is meant for the desk (PM-82).
    fn applies(&self, command: &PaperLine) -> bool {
        self.is_asked && matches!(self.state.judge(self.seat, command.as_str()), Ok(Verdict::Applied(())))
    }

    /// Builds the orders ahead of a seat, for turns and from lines of replies (PM-42, PM-123).
    pub(super) fn ahead(
        &self,
        plays: &[PaperLine],
        turns: BTreeMap<u32, Vec<PaperLine>>,
        lines: &[String],
    ) -> Result<OrdersAhead, String> {
        GameTurn::ahead(self.state.as_ref(), (self.seat, plays), turns, lines, |text| {
            [vec![text.to_owned()], spellings(text).concat()].concat()
        })
    }

    /// Returns why the game would refuse an order, or which of its commands would change nothing. Returns `None` while
    /// others have to play before the seat.
    pub(super) fn objection(&self, plays: &[PaperLine]) -> Option<String> {
        if !self.state.waits_for(self.seat) {
            return None;
        }
        let mut turn = GameTurn::without_dice(self.state.fork(), self.seq);
        match turn.order(self.seat, plays.iter().map(PaperLine::as_str)) {
            Ok(OrderEnd::Refused(rejected)) => Some(format!(
                "The game would refuse the order: {}. Nothing was taken; send the whole order again.",
                rejected.message
            )),
            Ok(OrderEnd::Carried { played, .. }) => {
                let idle = played.iter().position(|record| matches!(record.outcome, Outcome::Ignored(_)))?;
                let command = &played.get(idle)?.command;
                let sentences = played_after(self.state.as_ref(), played.get(..=idle)?, self.seat);
                let last = sentences.last().map_or("", String::as_str);
                let why = last.strip_prefix(&format!("You: {command}. ")).unwrap_or_default();
                Some(format!(
                    "`{command}` would change nothing. {why} Nothing was taken; send the whole order again."
                ))
            }
            // Commands after a roll cannot be tried.
            Err(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlainWords {
    pub(super) questions: Vec<PlainQuestion>,
    pub(super) contents: Vec<PaperContent>,
    /// Answers to offers: `true` to agree, and the number of the offer or digits of its digest.
    pub(super) answers: Vec<(bool, String)>,
    pub(super) takeback: Option<u32>,
    pub(super) plays: Vec<PaperLine>,
    pub(super) wait: bool,
    pub(super) ahead: Option<BTreeMap<u32, Vec<PaperLine>>>,
    /// The lines of replies as they were typed, without `if` (PM-123).
    pub(super) lines: Vec<String>,
    /// What cannot be read, in sentences. Nothing is taken then, because an order is taken whole or not at all.
    pub(super) faults: Vec<String>,
    /// Lines that are not taken, in sentences. They do not affect others, because they cannot be part of an order.
    pub(super) refused: Vec<String>,
}

const WORDS: [&str; 16] = [
    "help", "board", "legal", "who", "status", "wait", "if", "press", "absent", "offer", "agree", "decline",
    "draw", "takeback", "resign", "join",
];

impl PlainWords {
    /// Sorts lines. Each is read as typed or, if that fails, in other spellings that people use (PM-91).
    pub(super) fn of(lines: &[String], position: &KnownPosition<'_>) -> Self {
        let mut words = Self::default();
        if lines.len() > LINES_MAX {
            let fault = format!("Your mail has more than {LINES_MAX} lines of commands. Nothing was taken.");
            words.faults.push(fault);
            return words;
        }
        for line in lines {
            if line.contains(UNDECODED) {
                words.refused.push(format!(
                    "`{line}` could not be read in the charset `{}`, so this line was not taken. Write it again in UTF-8.",
                    position.charset
                ));
                continue;
            }
            match words.with(line, position) {
                Ok(with) => words = with,
                Err(fault) => words.faults.push(fault),
            }
        }
        words
    }

    /// Joins the words from several places of a mail. Two different orders are a fault that shows both, because a guess
    /// could be wrong.
    pub(super) fn joined(places: Vec<Self>) -> Self {
        let mut joined = Self::default();
        for words in places {
            let differs = !joined.plays.is_empty() && !words.plays.is_empty() && joined.plays != words.plays
                || joined.ahead.is_some() && words.ahead.is_some() && joined.ahead != words.ahead
                || !joined.lines.is_empty() && !words.lines.is_empty() && joined.lines != words.lines;
            if differs {
                joined.faults.push(format!(
                    "Your mail has two different orders: `{}` and `{}`. Nothing was taken; send the one that you mean.",
                    joined.order(),
                    words.order()
                ));
                continue;
            }
            joined.wait |= words.wait;
            if joined.plays.is_empty() {
                joined.plays = words.plays;
            }
            joined.ahead = joined.ahead.or(words.ahead);
            if joined.lines.is_empty() {
                joined.lines = words.lines;
            }
            for content in words.contents {
                if !joined.contents.contains(&content) {
                    joined.contents.push(content);
                }
            }
            for answer in words.answers {
                if !joined.answers.contains(&answer) {
                    joined.answers.push(answer);
                }
            }
            joined.takeback = joined.takeback.or(words.takeback);
            joined.questions.extend(words.questions);
            joined.faults.extend(words.faults);
            joined.refused.extend(words.refused);
        }
        joined.questions.sort_unstable();
        joined.questions.dedup();
        joined
    }

    fn order(&self) -> String {
        let mut words = Vec::new();
        for play in &self.plays {
            words.push(play.to_string());
        }
        for (turn, plays) in self.ahead.iter().flatten() {
            for play in plays {
                words.push(format!("turn {turn}: {play}"));
            }
        }
        for line in &self.lines {
            words.push(format!("if {line}"));
        }
        words.join("; ")
    }

    pub(super) fn reading(line: &str, position: &KnownPosition<'_>) -> LineMeaning {
        if let Ok(words) = Self::default().with(line, position)
            && words.refused.is_empty()
        {
            return LineMeaning::Command;
        }
        let count = line.split(' ').count();
        let first = first_word(&folded(line));
        let is_known = WORDS.contains(&first.as_str()) || position.verbs.contains(&first);
        let has_place = count <= 3 && line.bytes().any(|byte| byte.is_ascii_digit());
        if count <= 5 && is_known || has_place { LineMeaning::Attempt } else { LineMeaning::Words }
    }

    /// Returns these words with one more line, read as typed or in the first group of other spellings that can be read.
    /// If a group has different meanings, the only one that the game would apply counts. If there is none or more, it
    /// is a fault.
    fn with(&self, line: &str, position: &KnownPosition<'_>) -> Result<Self, String> {
        let fault = match self.with_spelling(line, position) {
            Ok(with) => return Ok(with),
            Err(fault) => fault,
        };
        for spellings in spellings(line) {
            let mut found: Vec<(String, Self)> = Vec::new();
            for spelling in spellings {
                if let Ok(with) = self.with_spelling(&spelling, position)
                    && !found.iter().any(|(_, other)| *other == with)
                {
                    found.push((spelling, with));
                }
            }
            if found.len() > 1 {
                let mut legal = found.clone();
                legal.retain(|(_, with)| position.objection(&with.plays).is_none());
                found = if legal.is_empty() { found } else { legal };
            }
            match found.as_slice() {
                [] => {}
                [(_, with)] => return Ok(with.clone()),
                [(one, _), (other, _), ..] => {
                    return Err(format!(
                        "`{line}` can mean `{one}` and `{other}`. Nothing was taken; write it as the game does, and send the whole order again."
                    ));
                }
            }
        }
        let mut parts: Vec<&str> = line.split(';').map(str::trim).collect();
        parts.retain(|part| !part.is_empty());
        if parts.len() < 2 {
            return Err(fault);
        }
        let mut with = self.clone();
        for part in parts {
            with = with.with(part, position)?;
        }
        Ok(with)
    }

    fn with_spelling(&self, spelling: &str, position: &KnownPosition<'_>) -> Result<Self, String> {
        let mut with = self.clone();
        with.take(spelling, position)?;
        Ok(with)
    }

    fn take(&mut self, line: &str, position: &KnownPosition<'_>) -> Result<(), String> {
        let KnownPosition { zone, joins, .. } = *position;
        let word = first_word(line);
        let rest = if let Some((_, rest)) = line.split_once(' ') { rest } else { "" };
        let game = if joins { Err(String::new()) } else { position.read(line) };
        let is_shared = matches!(word.as_str(), "agree" | "decline" | "draw" | "takeback" | "resign");
        let is_game = match &game {
            Ok(command) => !is_shared || position.applies(command),
            Err(_) => false,
        };
        match (word.as_str(), rest) {
            ("help", "") => self.questions.push(PlainQuestion::Help),
            ("board", "") => self.questions.push(PlainQuestion::Board),
            ("legal", "") => self.questions.push(PlainQuestion::Legal),
            ("who", "") => self.questions.push(PlainQuestion::Who),
            ("status", "") => self.questions.push(PlainQuestion::Status),
            ("join", name) if joins => {
                if matches!(name, "" | "NAME") {
                    return Err("Write your name behind `join`, in place of NAME.".into());
                }
                self.contents.push(PaperContent::Enter(name_line(name)?));
            }
            _ if joins => return Err(format!("`{line}` was not understood: `join NAME` takes the seat.")),
            _ if is_game => self.plays.extend(game),
            ("wait", "") => self.wait = true,
            ("if", rest) => self.ahead(rest, position)?,
            ("press", rest) => {
                if let Err(fault) = self.press(rest) {
                    self.refused.push(fault);
                }
            }
            ("absent", rest) => {
                let until = rest.strip_prefix("until ").unwrap_or(rest);
                self.contents.push(PaperContent::Absent(time(line, until, zone)?));
            }
            ("offer", rest) if rest.starts_with("extend ") => {
                let until = rest.trim_start_matches("extend ");
                self.contents.push(PaperContent::Offer(Offer::Extend(time(line, until, zone)?)));
            }
            ("offer", rest) => {
                let offer = rest.parse().map_err(|error: Malformed| sentence(line, &error.0))?;
                self.contents.push(PaperContent::Offer(offer));
            }
            // PM-82: names the offer by its number, or by nothing if only one is open.
            ("agree" | "decline", offer) => {
                let offer =
                    offer.strip_prefix("offer ").unwrap_or(offer).trim_start_matches('#').to_lowercase();
                if !offer.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(format!(
                        "`{line}` was not understood: write `{word}` and the number of the offer."
                    ));
                }
                self.answers.push((word == "agree", offer));
            }
            ("draw", "") => self.contents.push(PaperContent::Offer(Offer::End(Ending::Draw))),
            ("takeback", turn) => {
                let Ok(turn) = turn.strip_prefix("turn ").unwrap_or(turn).parse() else {
                    return Err(format!(
                        "`{line}` was not understood: write `takeback` and the number of a turn."
                    ));
                };
                self.takeback = Some(turn);
            }
            ("resign", "") => self.contents.push(PaperContent::Resign),
            _ if !position.state.waits_for(position.seat) => {
                return Err(format!("It is not your turn, so `{line}` was not taken."));
            }
            _ => return Err(sentence(line, &game.err().unwrap_or_default())),
        }
        Ok(())
    }

    /// Reads `turn 4: COMMAND; COMMAND` or `none` (PM-42), or `COMMAND then COMMAND` (PM-123).
    fn ahead(&mut self, rest: &str, position: &KnownPosition<'_>) -> Result<(), String> {
        if rest.eq_ignore_ascii_case("none") {
            self.ahead.get_or_insert_default();
            return Ok(());
        }
        // PM-123: prose can have these words, too. A command is short, and the game reads it or it names a place.
        let pairs = pairs(rest).unwrap_or_default();
        let mut are_commands = !pairs.is_empty();
        for text in pairs.iter().flat_map(|(on, answer)| [on, answer]) {
            let has_place = text.bytes().any(|byte| byte.is_ascii_digit()) || text.contains('-');
            are_commands &= text.split(' ').count() <= 3 && (has_place || position.read(text).is_ok());
        }
        if are_commands {
            self.lines.push(rest.to_owned());
            return Ok(());
        }
        let expected = format!(
            "`if {rest}` was not understood: write `if turn 4: COMMAND; COMMAND` or `if COMMAND then COMMAND`."
        );
        let Some((condition, commands)) = rest.split_once(':') else { return Err(expected) };
        let Some((word, turn)) = condition.split_once(' ') else { return Err(expected) };
        if !word.eq_ignore_ascii_case("turn") {
            return Err(expected);
        }
        let Ok(turn) = turn.trim().parse::<u32>() else { return Err(expected) };
        let turns = self.ahead.get_or_insert_default();
        for command in commands.split(';') {
            let command = command.trim();
            if !command.is_empty() {
                let play = position.read(command).map_err(|why| sentence(command, &why))?;
                turns.entry(turn).or_default().push(play);
            }
        }
        if turns.contains_key(&turn) { Ok(()) } else { Err(expected) }
    }

    /// PM-41: reads `p1: WORDS`, `p1,p3: WORDS` or `all: WORDS`. Successive lines to the same readers are one message.
    fn press(&mut self, rest: &str) -> Result<(), String> {
        let expected =
            format!("`press {rest}` was not understood: write `press p1: WORDS` or `press all: WORDS`.");
        let Some((to, words)) = rest.split_once(':') else { return Err(expected) };
        let Ok(to) = to.trim().to_lowercase().replace(", ", ",").parse() else { return Err(expected) };
        let line = press_line(words.trim(), 4000)?;
        let mut lines = Vec::new();
        if let Some(PaperContent::Press(press)) = self.contents.last()
            && *press.to() == to
        {
            lines = press.words().to_vec();
            self.contents.pop();
        }
        lines.push(line);
        self.contents.push(PaperContent::Press(Press::new(to, lines).map_err(|error| error.0)?));
        Ok(())
    }
}

/// Returns other spellings of a line in groups, in the order in which they are tried: without marks of lists and bold
/// words; with plain signs; and in other letter cases, with and without the sign within a move.
pub(super) fn spellings(line: &str) -> [Vec<String>; 3] {
    let bare = without_marks(line);
    let plain = folded(line);
    let lower = plain.to_lowercase();
    let mut cases =
        vec![lower.clone(), capital(&lower), plain.to_uppercase(), plain.replace('0', "O").to_uppercase()];
    // A promotion of a pawn, such as `e8=Q`.
    if let Some((mv, piece)) = lower.split_once('=') {
        cases.push(format!("{mv}={}", piece.to_uppercase()));
    }
    for text in [&plain, &lower, &capital(&lower)] {
        cases.extend(within_move(text));
    }
    let mut groups = [vec![bare], vec![plain], cases];
    let mut known = vec![line.to_owned()];
    for spellings in &mut groups {
        spellings.retain(|spelling| !known.contains(spelling) && !spelling.is_empty());
        spellings.dedup();
        known.extend_from_slice(spellings);
    }
    groups
}

/// Returns a line without a list marker such as `-` or `1.` before it, and without quotes or signs of bold text around
/// it.
fn without_marks(line: &str) -> String {
    const PAIRS: [char; 10] =
        ['*', '_', '`', '"', '\'', '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}'];
    let mut rest = line.trim();
    loop {
        let before = rest;
        let digits = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
        if (1..=3).contains(&(rest.len() - digits.len())) && digits.starts_with(['.', ')']) {
            rest = digits.trim_start_matches(['.', ')']);
        }
        if let Some(item) = rest.strip_prefix(|sign: char| is_dash(sign) || "*\u{2022}\u{b7}+".contains(sign))
            && item.starts_with(' ')
        {
            rest = item;
        }
        rest = rest.trim_matches(PAIRS).trim();
        if rest == before {
            return rest.to_owned();
        }
    }
}

/// Returns a line in plain signs: hyphens for dashes, no space within a place such as `0, 1`, no full stop at its end.
fn folded(line: &str) -> String {
    let plain = without_marks(line).replace(is_dash, "-").replace('\u{ff0c}', ",");
    let plain = plain.replace(" ,", ",").replace(", ", ",").replace(",- ", ",-").replace(" - ", " -");
    let plain = plain.trim_end_matches(['.', ',', ';', ':', '!', '?', ' ']);
    without_marks(plain)
}

fn capital(text: &str) -> String {
    let mut signs = text.chars();
    let Some(first) = signs.next() else { return String::new() };
    format!("{}{}", first.to_uppercase(), signs.as_str())
}

/// Returns a move such as `e2 e4` or `Ng1-f3` without the sign between its places.
fn within_move(text: &str) -> Option<String> {
    let joined: String = text.split(['-', ' ', '\u{2192}']).collect();
    let is_move = joined.len() < text.len()
        && joined.len() <= 7
        && joined.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_move { Some(joined) } else { None }
}

fn first_word(line: &str) -> String {
    line.split(' ').next().unwrap_or_default().to_lowercase()
}

fn sentence(line: &str, why: &str) -> String {
    format!("`{line}` was not understood: {why}. Nothing was taken; ask `help` or `legal`.")
}

/// Reads a time: `2026-12-24T18:00:00Z`, or a day and a time in the player's time zone; a day alone means its midnight.
fn time(line: &str, text: &str, zone: &str) -> Result<DeskTime, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    match wall_clock(text, zone) {
        Some(time) => Ok(time),
        None => Err(format!(
            "`{line}` was not understood: write a day such as `2026-12-24`, or `2026-12-24 18:00`."
        )),
    }
}

pub(super) const HELP: [(&str, &str); 11] = [
    ("COMMAND", "a command of the game; several lines are one order, and the newest order counts"),
    ("wait", "with an order: play nothing before the deadline, so that you can send another order"),
    ("if turn 4: COMMAND; COMMAND", "an order for a later turn; `if none` takes such orders back"),
    (
        "if COMMAND then COMMAND",
        "an answer to what the other player may do, played at once if it is just that; `, if … then …` goes on",
    ),
    (
        "board, legal, who, status",
        "ask for the board, the commands that the game would take, who is waited for, and what you ordered",
    ),
    ("press p1: WORDS", "write to a player; `press all: WORDS` writes to all"),
    (
        "absent until 2026-12-24",
        "announce that you are away; deadlines wait for you, and an hour such as `18:00` may follow",
    ),
    ("draw, takeback 12", "offer a draw, or to go back to turn 12; `offer end void` and others likewise"),
    ("agree 3, decline 3", "answer offer 3; without a number, the only one that is open"),
    ("resign", "leave the match"),
    ("help", "ask for this list"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_41_lines_to_the_same_readers_are_one_press() {
        let mut words = PlainWords::default();
        words.press("p1, p3: hello").unwrap();
        words.press("p1,p3: again").unwrap();
        words.press("all: hello").unwrap();
        assert_eq!(words.contents.len(), 2);
        let to = words.contents.iter().filter_map(|content| match content {
            PaperContent::Press(press) => Some(press.to().to_string()),
            _ => None,
        });
        assert_eq!(to.collect::<Vec<_>>(), ["p1,p3", "all"]);
        assert!(words.press("hello").is_err());
    }
}
