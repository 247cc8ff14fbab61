//! Reads and writes the text of papers strictly (PM-4): a text that was read is written again byte for byte.

use core::fmt::{self, Display, Write};
use core::str::FromStr;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::content::{
    AHEAD_TURNS_MAX, Join, Order, OrdersAhead, PAPER_BYTES_MAX, PLAYS_MAX, PRESS_LINES_MAX, Paper,
    PaperContent, PaperHead, Press, Reply, player,
};
use super::values::{PaperLine, SeatKey};
use crate::digest::Digest;
use crate::text::{Malformed, number};

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

/// How the conditions of lines of replies begin: the order before them, the first of a line, and those that follow (PM-122).
const OWN_ORDER: &str = "after ";
const FIRST_REPLY: &str = "play ";
const NEXT_REPLY: &str = "then ";

impl Paper {
    /// Passes keyword and value of each line after the first to `field`, in order.
    pub(super) fn fields(
        &self,
        field: &mut dyn FnMut(&'static str, &dyn Display) -> fmt::Result,
    ) -> fmt::Result {
        let PaperHead { match_id, seat, number, turn, seen, nonce } = self.head();
        let content = self.content();
        field("paper", &content.kind())?;
        field("match", match_id)?;
        field("seat", seat)?;
        field("number", number)?;
        field("turn", turn)?;
        if let Some(link) = content.link() {
            field("link", &link)?;
        }
        field("seen", seen)?;
        field("nonce", nonce)?;
        match content {
            PaperContent::Join(Join { key, dice }) => {
                key_fields(key, field)?;
                if let Some(head) = dice {
                    field("dice", head)?;
                }
            }
            PaperContent::Order(order) => {
                if order.waits() {
                    field("wait", &"yes")?;
                }
                if let Some(element) = order.dice() {
                    field("dice", &element)?;
                }
                for play in order.plays() {
                    field("play", play)?;
                }
            }
            PaperContent::Seal { digest, .. } => field("digest", digest)?,
            PaperContent::Offer(offer) => field("offer", offer)?,
            PaperContent::Answer { to, agree } => {
                field("to", to)?;
                field("answer", if *agree { &"agree" } else { &"decline" })?;
            }
            PaperContent::Resign => {}
            PaperContent::Rekey(key) => key_fields(key, field)?,
            PaperContent::Enter(name) => field("name", name)?,
            PaperContent::Absent(until) => field("until", until)?,
            PaperContent::Press(press) => {
                field("to", press.to())?;
                for words in press.words() {
                    field("words", words)?;
                }
            }
            PaperContent::Ahead(ahead) => {
                for (turn, plays) in ahead.turns() {
                    field("if", &format_args!("turn {turn}"))?;
                    for play in plays {
                        field("play", play)?;
                    }
                }
                if let Some(own) = ahead.after() {
                    field("if", &format_args!("{OWN_ORDER}{own}"))?;
                }
                for line in ahead.lines() {
                    for (index, Reply { on, play }) in line.iter().enumerate() {
                        let word = if index == 0 { FIRST_REPLY } else { NEXT_REPLY };
                        field("if", &format_args!("{word}{on}"))?;
                        field("play", play)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads the lines after the first.
    pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self, Malformed> {
        let mut fields = Fields(lines.peekable());
        let kind = fields.value("paper")?;
        let match_id = fields.value("match")?.parse()?;
        let seat = player(fields.value("seat")?)?;
        let count = number(fields.value("number")?)?;
        let turn = number(fields.value("turn")?)?;
        let link = if matches!(kind, "order" | "seal") { Some(fields.digest("link")?) } else { None };
        let seen = fields.value("seen")?.parse()?;
        let nonce = fields.value("nonce")?.parse()?;
        let content = fields.content(kind, link)?;
        fields.end()?;
        Self::new(PaperHead { match_id, seat, number: count, turn, seen, nonce }, content)
    }
}

fn key_fields(
    key: &SeatKey,
    field: &mut dyn FnMut(&'static str, &dyn Display) -> fmt::Result,
) -> fmt::Result {
    field("name", &key.name())?;
    field("key", &key.to_base64())
}

struct Fields<'a, I: Iterator<Item = &'a str>>(core::iter::Peekable<I>);

impl<'a, I: Iterator<Item = &'a str>> Fields<'a, I> {
    /// Takes the next line, if it has this keyword.
    fn optional(&mut self, keyword: &str) -> Option<&'a str> {
        let value = self.0.peek()?.strip_prefix(keyword)?.strip_prefix(": ")?;
        self.0.next();
        Some(value)
    }

    /// Takes the next line, which must have this keyword.
    fn value(&mut self, keyword: &str) -> Result<&'a str, Malformed> {
        match self.optional(keyword) {
            Some(value) => Ok(value),
            None => Err(self.unexpected(&format!("`{keyword}: …`"))),
        }
    }

    fn digest(&mut self, keyword: &str) -> Result<Digest, Malformed> {
        Digest::read(self.value(keyword)?)
    }

    fn optional_digest(&mut self, keyword: &str) -> Result<Option<Digest>, Malformed> {
        match self.optional(keyword) {
            Some(value) => Ok(Some(Digest::read(value)?)),
            None => Ok(None),
        }
    }

    fn key(&mut self) -> Result<SeatKey, Malformed> {
        let name = self.value("name")?;
        SeatKey::read(name, self.value("key")?)
    }

    /// Takes the lines of a kind. The link is there exactly for the kinds that have one.
    fn content(&mut self, kind: &str, link: Option<Digest>) -> Result<PaperContent, Malformed> {
        match (kind, link) {
            ("join", None) => {
                Ok(PaperContent::Join(Join { key: self.key()?, dice: self.optional_digest("dice")? }))
            }
            ("order", Some(link)) => Ok(PaperContent::Order(self.order(link)?)),
            ("seal", Some(link)) => Ok(PaperContent::Seal { link, digest: self.digest("digest")? }),
            ("offer", None) => Ok(PaperContent::Offer(self.value("offer")?.parse()?)),
            ("answer", None) => {
                let to = self.digest("to")?;
                match self.value("answer")? {
                    "agree" => Ok(PaperContent::Answer { to, agree: true }),
                    "decline" => Ok(PaperContent::Answer { to, agree: false }),
                    found => Err(Malformed::expected("`agree` or `decline`", found)),
                }
            }
            ("resign", None) => Ok(PaperContent::Resign),
            ("rekey", None) => Ok(PaperContent::Rekey(self.key()?)),
            ("enter", None) => Ok(PaperContent::Enter(self.value("name")?.parse()?)),
            ("absent", None) => Ok(PaperContent::Absent(self.value("until")?.parse()?)),
            ("press", None) => Ok(PaperContent::Press(self.press()?)),
            ("ahead", None) => Ok(PaperContent::Ahead(self.ahead()?)),
            _ => {
                let kinds = "a paper that is `join`, `order`, `seal`, `offer`, `answer`, `resign`, `rekey`, `enter`, \
                             `absent`, `press` or `ahead`";
                Err(Malformed::expected(kinds, kind))
            }
        }
    }

    fn order(&mut self, link: Digest) -> Result<Order, Malformed> {
        let wait = match self.optional("wait") {
            None => false,
            Some("yes") => true,
            Some(found) => return Err(Malformed::expected("`wait: yes`", found)),
        };
        let dice = self.optional_digest("dice")?;
        Order::new(link, wait, dice, self.lines("play", PLAYS_MAX)?)
    }

    /// Takes the lines of a keyword, at most one more than are allowed.
    fn lines(&mut self, keyword: &str, most: usize) -> Result<Vec<PaperLine>, Malformed> {
        let mut lines = Vec::new();
        while let Some(line) = self.optional(keyword).filter(|_| lines.len() <= most) {
            lines.push(line.parse()?);
        }
        Ok(lines)
    }

    fn press(&mut self) -> Result<Press, Malformed> {
        let to = self.value("to")?.parse()?;
        Press::new(to, self.lines("words", PRESS_LINES_MAX)?)
    }

    fn ahead(&mut self) -> Result<OrdersAhead, Malformed> {
        let mut turns = BTreeMap::<u32, Vec<_>>::new();
        let mut after = None;
        let mut lines = Vec::<Vec<Reply>>::new();
        while let Some(condition) = self.optional("if").filter(|_| turns.len() <= AHEAD_TURNS_MAX) {
            if let Some(own) = condition.strip_prefix(OWN_ORDER)
                && after.is_none()
                && lines.is_empty()
            {
                after = Some(own.parse()?);
                continue;
            }
            let first = condition.strip_prefix(FIRST_REPLY);
            if let Some(on) = first.or_else(|| condition.strip_prefix(NEXT_REPLY)) {
                let reply = Reply { on: on.parse()?, play: self.value("play")?.parse()? };
                match lines.last_mut() {
                    Some(line) if first.is_none() => line.push(reply),
                    _ if first.is_some() => lines.push([reply].into()),
                    _ => return Err(Malformed::expected("`if: play …` first", condition)),
                }
                continue;
            }
            let expected =
                || Malformed::expected("a later turn than the one before, such as `turn 4`", condition);
            let turn = number(condition.strip_prefix("turn ").ok_or_else(expected)?)?;
            if after.is_some()
                || !lines.is_empty()
                || turns.last_key_value().is_some_and(|(last, _)| *last >= turn)
            {
                return Err(expected());
            }
            turns.insert(turn, self.lines("play", PLAYS_MAX)?);
        }
        OrdersAhead::new(turns)?.with_lines(after, lines)
    }

    fn end(&mut self) -> Result<(), Malformed> {
        if self.0.peek().is_some() { Err(self.unexpected("the end of the paper")) } else { Ok(()) }
    }

    fn unexpected(&mut self, expected: &str) -> Malformed {
        Malformed::expected(expected, self.0.peek().copied().unwrap_or_default())
    }
}

/// Writes the text, with a line feed after each line.
impl Display for Paper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{FIRST_LINE}")?;
        self.fields(&mut |keyword, value| writeln!(out, "{keyword}: {value}"))
    }
}

/// Writes the lines after the first in one line, ` | ` between them.
pub(super) fn in_one_line(paper: &Paper) -> String {
    let mut line = String::new();
    let written = paper.fields(&mut |keyword, value| {
        line.write_str(if line.is_empty() { "" } else { " | " })?;
        write!(line, "{keyword}: {value}")
    });
    written.expect("writing to a string cannot fail");
    line
}

impl FromStr for Paper {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if text.len() > PAPER_BYTES_MAX {
            return Err(Malformed(format!("expected a paper of at most {PAPER_BYTES_MAX} bytes")));
        }
        let body = text.strip_prefix(FIRST_LINE).and_then(|rest| rest.strip_prefix('\n'));
        let lines = body.and_then(|body| body.strip_suffix('\n'));
        let lines = lines.ok_or_else(|| {
            let found = text.lines().next().unwrap_or_default();
            Malformed::expected("a paper: `#turnfold paper 1` and lines `KEYWORD: VALUE`", found)
        })?;
        Self::of_lines(lines.split('\n'))
    }
}
