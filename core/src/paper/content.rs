//! Papers: what every paper states, the kinds of papers with their own fields, and what a seat may offer (PM-4, PM-20).

use core::fmt;
use core::str::FromStr;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::time::DeskTime;
use super::values::{Audience, MatchId, Nonce, PaperLine, Player, SeatKey, SeenRoot};
use crate::digest::Digest;
use crate::names::BranchName;
use crate::seat::Seat;
use crate::text::{Malformed, number};

/// The most bytes of a paper's text (PM-4).
pub const PAPER_BYTES_MAX: usize = 32 * 1024;

/// The fields that every paper has before its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperHead {
    /// The match of the game.
    pub match_id: MatchId,
    /// The player's seat.
    pub seat: Seat,
    /// The number of the paper among the seat's papers, in which numbers may be left out. 0 for a join.
    pub number: u32,
    /// The turn as the player knows it. 0 for a join.
    pub turn: u32,
    /// How much of the desk the player has seen.
    pub seen: SeenRoot,
    /// 16 random bytes, which make digest and tag unguessable.
    pub nonce: Nonce,
}

/// A paper, without its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paper {
    head: PaperHead,
    content: PaperContent,
}

impl Paper {
    /// Makes a paper.
    ///
    /// # Errors
    /// [`Malformed`] if the seat is not a player's, a join has a number or turn, or the text would be too long.
    pub fn new(head: PaperHead, content: PaperContent) -> Result<Self, Malformed> {
        if head.seat == Seat::Host {
            return Err(Malformed("expected the seat of a player, found `host`".into()));
        }
        let is_first = matches!(content, PaperContent::Join(_) | PaperContent::Enter(_));
        if is_first && (head.number, head.turn) != (0, 0) {
            return Err(Malformed(format!("expected number 0 and turn 0 in a `{}`", content.kind())));
        }
        let paper = Self { head, content };
        if paper.to_string().len() > PAPER_BYTES_MAX {
            return Err(Malformed(format!("expected a paper of at most {PAPER_BYTES_MAX} bytes")));
        }
        Ok(paper)
    }

    /// Returns the fields before the content.
    #[must_use]
    pub const fn head(&self) -> &PaperHead {
        &self.head
    }

    /// Returns the content.
    #[must_use]
    pub const fn content(&self) -> &PaperContent {
        &self.content
    }

    /// Returns its digest, by which other papers and the desk name it (PM-5). The signature is not part of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::new(blake3::derive_key("turnfold v1 paper", self.to_string().as_bytes()))
    }

    /// Returns the tag of an order, in the idempotency keys of the game's entries (PM-2). Only those who may read the
    /// paper can compute it.
    #[must_use]
    pub fn order_tag(&self) -> Digest {
        Digest::new(blake3::derive_key("turnfold v1 order", self.to_string().as_bytes()))
    }
}

/// The most commands of an order (PM-4).
pub const PLAYS_MAX: usize = 500;

/// The content of a paper, by its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaperContent {
    /// Takes a free seat.
    Join(Join),
    /// Orders what the seat plays in this turn.
    Order(Order),
    /// Commits the seat to an order that it has written and not sent.
    Seal {
        /// The link of the position from which the seat plays.
        link: Digest,
        /// The digest of the order.
        digest: Digest,
    },
    /// Offers something to the other seats.
    Offer(Offer),
    /// Answers an open offer.
    Answer {
        /// The digest of the offer.
        to: Digest,
        /// `true` for `agree`, `false` for `decline`.
        agree: bool,
    },
    /// Leaves the match.
    Resign,
    /// Signs with another key from now on; this paper is signed with the old one.
    Rekey(SeatKey),
    /// PM-38: takes a free seat for a player without a key, under this name.
    Enter(PaperLine),
    /// PM-39: announces an absence until a time.
    Absent(DeskTime),
    /// PM-41: writes to other players.
    Press(Press),
    /// PM-42: gives orders for later turns, which replace the earlier ones.
    Ahead(OrdersAhead),
}

impl PaperContent {
    /// Returns the name of the kind, as in papers.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Join(_) => "join",
            Self::Order(_) => "order",
            Self::Seal { .. } => "seal",
            Self::Offer(_) => "offer",
            Self::Answer { .. } => "answer",
            Self::Resign => "resign",
            Self::Rekey(_) => "rekey",
            Self::Enter(_) => "enter",
            Self::Absent(_) => "absent",
            Self::Press(_) => "press",
            Self::Ahead(_) => "ahead",
        }
    }

    /// Returns the link of the position that an order or seal names.
    #[must_use]
    pub const fn link(&self) -> Option<Digest> {
        match self {
            Self::Order(order) => Some(order.link),
            Self::Seal { link, .. } => Some(*link),
            _ => None,
        }
    }
}

/// The content of a `join`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The key with which the seat signs, this paper first.
    pub key: SeatKey,
    /// With fair dice, the head of the seat's chain.
    pub dice: Option<Digest>,
}

/// The content of an `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    link: Digest,
    wait: bool,
    dice: Option<Digest>,
    plays: Vec<PaperLine>,
}

impl Order {
    /// Makes an order.
    ///
    /// # Errors
    /// [`Malformed`] for no commands, or more than [`PLAYS_MAX`].
    pub fn new(
        link: Digest,
        wait: bool,
        dice: Option<Digest>,
        plays: Vec<PaperLine>,
    ) -> Result<Self, Malformed> {
        if (1..=PLAYS_MAX).contains(&plays.len()) {
            return Ok(Self { link, wait, dice, plays });
        }
        Err(Malformed(format!("expected 1 to {PLAYS_MAX} commands in an order, found {}", plays.len())))
    }

    /// Returns `true` if the turn must not be carried out before its deadline.
    #[must_use]
    pub const fn waits(&self) -> bool {
        self.wait
    }

    /// Returns the element of the seat's chain for this turn, with fair dice.
    #[must_use]
    pub const fn dice(&self) -> Option<Digest> {
        self.dice
    }

    /// Returns the commands, in order.
    #[must_use]
    pub fn plays(&self) -> &[PaperLine] {
        &self.plays
    }

    /// Returns the link of the position from which the seat plays.
    #[must_use]
    pub const fn link(&self) -> Digest {
        self.link
    }
}

/// The most lines of a `press` (PM-41).
pub const PRESS_LINES_MAX: usize = 100;

/// The content of a `press`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Press {
    to: Audience,
    words: Vec<PaperLine>,
}

impl Press {
    /// Makes a press.
    ///
    /// # Errors
    /// [`Malformed`] for no words, or more lines than [`PRESS_LINES_MAX`].
    pub fn new(to: Audience, words: Vec<PaperLine>) -> Result<Self, Malformed> {
        if (1..=PRESS_LINES_MAX).contains(&words.len()) {
            return Ok(Self { to, words });
        }
        Err(Malformed(format!("expected 1 to {PRESS_LINES_MAX} lines of words, found {}", words.len())))
    }

    /// Returns who may read it.
    #[must_use]
    pub const fn to(&self) -> &Audience {
        &self.to
    }

    /// Returns its lines.
    #[must_use]
    pub fn words(&self) -> &[PaperLine] {
        &self.words
    }
}

/// The most turns that orders ahead are for (PM-42).
pub const AHEAD_TURNS_MAX: usize = 20;

/// The most lines of replies of a paper, and the most replies of a line (PM-122).
pub const LINES_MAX: usize = 50;

/// PM-122: a command that another seat may order, and the order that answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The whole order of the other seat.
    pub on: PaperLine,
    /// The answer.
    pub play: PaperLine,
}

/// The content of an `ahead`: the commands for each later turn, and lines of replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrdersAhead {
    turns: BTreeMap<u32, Vec<PaperLine>>,
    after: Option<PaperLine>,
    lines: Vec<Vec<Reply>>,
}

impl OrdersAhead {
    /// Makes orders ahead. Orders for no turn take back the earlier ones.
    ///
    /// # Errors
    /// [`Malformed`] for more than [`AHEAD_TURNS_MAX`] turns, a turn without commands, or more than [`PLAYS_MAX`] commands.
    pub fn new(turns: BTreeMap<u32, Vec<PaperLine>>) -> Result<Self, Malformed> {
        if turns.len() > AHEAD_TURNS_MAX {
            return Err(Malformed(format!(
                "expected orders for at most {AHEAD_TURNS_MAX} turns, found {}",
                turns.len()
            )));
        }
        if let Some((turn, _)) = turns.iter().find(|(_, plays)| plays.is_empty()) {
            return Err(Malformed(format!("expected commands for turn {turn}, found none")));
        }
        let plays: usize = turns.values().map(Vec::len).sum();
        if plays > PLAYS_MAX {
            return Err(Malformed(format!("expected at most {PLAYS_MAX} commands in orders, found {plays}")));
        }
        Ok(Self { turns, after: None, lines: Vec::new() })
    }

    /// Returns them with lines of replies, each of which continues as long as the other seat does what it foresees
    /// (PM-122). If the seat is asked first, they begin after its own order `after`, with its commands joined by `; `.
    ///
    /// # Errors
    /// [`Malformed`] for more than [`LINES_MAX`] lines or replies in a line, an empty line, two answers to one command, and an
    /// order without lines.
    pub fn with_lines(self, after: Option<PaperLine>, lines: Vec<Vec<Reply>>) -> Result<Self, Malformed> {
        if lines.is_empty() && after.is_some() {
            return Err(Malformed("expected lines of replies after an order".into()));
        }
        if lines.len() > LINES_MAX || lines.iter().any(|line| !(1..=LINES_MAX).contains(&line.len())) {
            return Err(Malformed(format!("expected at most {LINES_MAX} lines of 1 to {LINES_MAX} replies")));
        }
        for (index, line) in lines.iter().enumerate() {
            for other in lines.iter().skip(index + 1) {
                if let Some((one, other)) = line.iter().zip(other).find(|(one, other)| one != other)
                    && one.on == other.on
                {
                    return Err(Malformed(format!("expected one answer to `{}`, found two", one.on)));
                }
            }
        }
        Ok(Self { after, lines, ..self })
    }

    /// Returns the commands for each turn.
    #[must_use]
    pub const fn turns(&self) -> &BTreeMap<u32, Vec<PaperLine>> {
        &self.turns
    }

    /// Returns the seat's own order after which the lines begin.
    #[must_use]
    pub const fn after(&self) -> Option<&PaperLine> {
        self.after.as_ref()
    }

    /// Returns the lines of replies (PM-122).
    #[must_use]
    pub fn lines(&self) -> &[Vec<Reply>] {
        &self.lines
    }
}

/// A proposal that takes effect once the living seats agree. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Offer {
    /// The game continues from an earlier position: `takeback BRANCH SEQ`.
    Takeback {
        /// The branch of that position.
        branch: BranchName,
        /// The last entry of the game at that position.
        seq: u64,
    },
    /// The match ends: `end draw`, `end void` or `end pN`.
    End(Ending),
    /// The deadline moves: `extend TIME`.
    Extend(DeskTime),
    /// Another player takes a seat: `replace SEAT NAME KEY`, or `-` for KEY.
    Replace {
        /// Which seat.
        seat: Seat,
        /// The new player.
        player: Player,
    },
}

impl fmt::Display for Offer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Takeback { branch, seq } => write!(out, "takeback {branch} {seq}"),
            Self::End(ending) => write!(out, "end {ending}"),
            Self::Extend(time) => write!(out, "extend {time}"),
            Self::Replace { seat, player } => write!(out, "replace {seat} {player}"),
        }
    }
}

impl FromStr for Offer {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        match words.as_slice() {
            ["takeback", branch, seq] => Ok(Self::Takeback { branch: branch.parse()?, seq: number(seq)? }),
            ["end", ending] => ending.parse().map(Self::End),
            ["extend", time] => time.parse().map(Self::Extend),
            ["replace", seat, name, key] => {
                Ok(Self::Replace { seat: player(seat)?, player: Player::read(name, key)? })
            }
            _ => Err(Malformed::expected(
                "`takeback BRANCH SEQ`, `end draw`, `end void`, `end SEAT`, `extend TIME` or `replace SEAT NAME KEY`",
                text,
            )),
        }
    }
}

pub(super) fn player(word: &str) -> Result<Seat, Malformed> {
    match word.parse() {
        Ok(seat) if seat != Seat::Host => Ok(seat),
        _ => Err(Malformed::expected("a seat from `p1` to `p16`", word)),
    }
}

/// How a match ends by agreement or by the host. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// No seat wins.
    Draw,
    /// It does not count.
    Void,
    /// This player wins.
    Won(#[serde(deserialize_with = "stored_player")] Seat),
}

fn stored_player<'de, D: Deserializer<'de>>(stored: D) -> Result<Seat, D::Error> {
    player(Seat::deserialize(stored)?.name()).map_err(D::Error::custom)
}

impl fmt::Display for Ending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Draw => out.write_str("draw"),
            Self::Void => out.write_str("void"),
            Self::Won(seat) => seat.fmt(out),
        }
    }
}

impl FromStr for Ending {
    type Err = Malformed;

    fn from_str(word: &str) -> Result<Self, Malformed> {
        match word {
            "draw" => Ok(Self::Draw),
            "void" => Ok(Self::Void),
            _ => player(word)
                .map(Self::Won)
                .map_err(|_| Malformed::expected("`draw`, `void` or a seat from `p1` to `p16`", word)),
        }
    }
}
