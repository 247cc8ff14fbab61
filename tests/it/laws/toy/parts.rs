//! The parts of the toy game.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use turnfold_core::admission::Issuer;
use turnfold_core::declare::reasons;
use turnfold_core::outcome::Ruling;
use turnfold_core::text::{number, split_verb};
use turnfold_core::{Malformed, Seat};

use super::fault;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup<const FAULT: u8> {
    pub(super) start: Forgetful<FAULT, { fault::LOSES_SETUP }>,
    /// The total at which the match is over.
    pub(super) end: u32,
}

/// A number. In the game with the fault `FORGETS` only half of it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct Forgetful<const FAULT: u8, const FORGETS: u8>(pub(super) u32);

impl<const FAULT: u8, const FORGETS: u8> Serialize for Forgetful<FAULT, FORGETS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(if FAULT == FORGETS { self.0 / 2 } else { self.0 })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) total: u32,
    pub(super) end: u32,
    pub(super) turn: Seat,
    pub(super) secrets: [u32; 2],
    pub(super) due: bool,
    /// How often a player tried to shake; only a faulty game counts this.
    pub(super) attempts: Cell<u32>,
    /// Not part of the bytes; only a faulty game uses it.
    #[serde(skip)]
    pub(super) unsaved: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Command<const FAULT: u8> {
    Add(Forgetful<FAULT, { fault::FORGETS_IN_BYTES }>),
    Hide(u32),
    Shake,
    Roll(Vec<i32>),
}

impl<const FAULT: u8> Command<FAULT> {
    pub(super) fn issuer(&self) -> Issuer {
        match self {
            Self::Add(_) | Self::Hide(_) => Issuer::Player,
            Self::Shake | Self::Roll(_) => Issuer::Host,
        }
    }
}

impl<const FAULT: u8> fmt::Display for Command<FAULT> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(amount) if FAULT == fault::WRITES_OTHER_TEXT && amount.0 == 3 => out.write_str("sum 3"),
            Self::Add(amount) => write!(out, "add {}", amount.0),
            Self::Hide(secret) => write!(out, "hide {secret}"),
            Self::Shake => out.write_str("shake"),
            Self::Roll(values) => {
                out.write_str("roll")?;
                values.iter().try_for_each(|value| write!(out, " {value}"))
            }
        }
    }
}

impl<const FAULT: u8> FromStr for Command<FAULT> {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let text = if FAULT == fault::READS_LOOSELY { text.trim_end() } else { text };
        match split_verb(text) {
            ("add", Some("3")) if FAULT == fault::READS_OTHER_VALUE => Ok(Self::Add(Forgetful(2))),
            ("add", Some(amount)) => number(amount).map(|amount| Self::Add(Forgetful(amount))),
            ("hide", Some(secret)) => number(secret).map(Self::Hide),
            ("shake", None) => Ok(Self::Shake),
            ("roll", Some(values)) => values.split(' ').map(number).collect::<Result<_, _>>().map(Self::Roll),
            _ => Err(Malformed::expected("`add N`, `hide N`, `shake` or `roll N`", text)),
        }
    }
}

pub(super) enum Plan {
    Add(u32),
    Hide(usize, u32),
    Shake,
    Roll(u32),
}

#[derive(Debug, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub(super) enum Effect<const FAULT: u8> {
    Added { amount: u32, total: u32 },
    Hidden { player: Seat, secret: u32 },
    Shaken,
    Applied,
}

impl<const FAULT: u8> fmt::Display for Effect<FAULT> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { amount, total } if FAULT == fault::EFFECT_FORMS_DIFFER => {
                write!(out, "added total={total} amount={amount}")
            }
            Self::Added { amount, .. } if FAULT == fault::EFFECT_VALUES_DIFFER => {
                write!(out, "added amount={amount} total={amount}")
            }
            Self::Added { amount, total } => write!(out, "added amount={amount} total={total}"),
            Self::Hidden { player, secret } => write!(out, "hidden player={player} secret={secret}"),
            Self::Shaken => out.write_str("shaken"),
            Self::Applied => out.write_str("applied"),
        }
    }
}

reasons! {
    pub(super) enum Reason {
        TooMuch = Ruling::of("too_much", &[]),
        SameSecret = Ruling::of("same_secret", &[]),
    }
}

reasons! {
    pub(super) enum Rejection {
        NotYourTurn = Ruling::of("not_your_turn", &[]).says("it is the other player's turn"),
    }
}

#[derive(Serialize)]
pub(super) struct View {
    /// The core already writes this field; only a faulty game writes it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ruleset: Option<&'static str>,
    pub(super) total: u32,
    pub(super) turn: Seat,
    pub(super) secrets: [Option<u32>; 2],
    pub(super) asked: u32,
}
