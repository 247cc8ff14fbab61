//! CH-3: a player's five inspiration tokens.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::energy::Chakra;
use super::ranged::{ChannelNumber, Ranged, Row};
use turnfold_core::text::Malformed;

/// The place of a token: `b3` is the third place on the board, `k5` the notch of row 6 and `c2` channel 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Token {
    /// Free, at this place of the board.
    Board(Ranged<1, 5>),
    /// In the notch of a chakra's row.
    Notch(Chakra),
    /// On a channel.
    Channel(ChannelNumber),
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board(place) => write!(out, "b{place}"),
            Self::Notch(chakra) => write!(out, "k{}", chakra.row().get() - 1),
            Self::Channel(channel) => write!(out, "c{channel}"),
        }
    }
}

impl FromStr for Token {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let token = match text.split_at_checked(1) {
            Some(("b", place)) => place.parse().ok().map(Self::Board),
            Some(("k", number)) => chakra_of_notch(number).map(Self::Notch),
            Some(("c", channel)) => channel.parse().ok().map(Self::Channel),
            _ => None,
        };
        token.ok_or_else(|| Malformed::expected("a token `b1` to `b5`, `k1` to `k7` or `c1` to `c8`", text))
    }
}

fn chakra_of_notch(number: &str) -> Option<Chakra> {
    let number: Ranged<1, 7> = number.parse().ok()?;
    Chakra::of_row(Row::new(number.get() + 1)?)
}

/// The five tokens, token 1 first. Tokens on the board take places from 1 without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens([Token; 5]);

/// The number of a token, from 1.
pub type TokenNumber = Ranged<1, 5>;

impl Tokens {
    /// Returns five tokens on the board, token 1 at place 1.
    pub(super) fn all_on_board() -> Self {
        "b1b2b3b4b5".parse().expect("five places without a gap")
    }

    /// Returns the tokens with their numbers, ascending.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (TokenNumber, Token)> {
        TokenNumber::all().zip(self.0)
    }

    /// Counts the tokens on the board, which is also the highest place that is taken.
    pub(super) fn on_board(&self) -> u16 {
        let mut count = 0;
        for token in self.0 {
            count += u16::from(matches!(token, Token::Board(_)));
        }
        count
    }

    /// Returns the token to use next: the token at the highest place of the board.
    pub(super) fn next_free(&self) -> Option<TokenNumber> {
        let highest = Token::Board(Ranged::new(self.on_board())?);
        self.at(highest)
    }

    pub(super) fn at(&self, place: Token) -> Option<TokenNumber> {
        let (number, _) = self.numbered().find(|(_, token)| *token == place)?;
        Some(number)
    }

    pub(super) fn place_of(&self, token: TokenNumber) -> Option<Token> {
        self.0.get(usize::from(token.get() - 1)).copied()
    }

    pub(super) fn in_notches(&self) -> usize {
        self.0.iter().filter(|token| matches!(token, Token::Notch(_))).count()
    }

    pub(super) fn place(&mut self, token: TokenNumber, to: Token) {
        if let Some(place) = self.0.get_mut(usize::from(token.get() - 1)) {
            *place = to;
        }
    }

    /// Puts a token back on the board, after the highest place that is taken.
    pub(super) fn return_to_board(&mut self, token: TokenNumber) {
        let next = Ranged::try_from(self.on_board() + 1).expect("a token that returns was not on the board");
        self.place(token, Token::Board(next));
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in self.0 {
            write!(out, "{token}")?;
        }
        Ok(())
    }
}

impl FromStr for Tokens {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut tokens = Self([Token::Channel(ChannelNumber::EXCHANGE); 5]);
        let mut rest = text;
        for token in TokenNumber::all() {
            let Some((word, following)) = rest.split_at_checked(2) else { return Err(not_five(text)) };
            rest = following;
            tokens.place(token, word.parse()?);
        }
        let twice = tokens.numbered().any(|(token, place)| tokens.at(place) != Some(token));
        if twice || !rest.is_empty() {
            return Err(not_five(text));
        }
        // No place is taken twice, so there is no gap if no place is above the number of tokens on the board.
        for token in tokens.0 {
            if let Token::Board(place) = token
                && place.get() > tokens.on_board()
            {
                return Err(Malformed::expected("board places `b1`, `b2`… without a gap", text));
            }
        }
        Ok(tokens)
    }
}

fn not_five(text: &str) -> Malformed {
    Malformed::expected("five tokens such as `b1b2k3c4b3`, none of them twice", text)
}
