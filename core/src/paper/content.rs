//! The kinds of papers, each with its own fields (PM-4).

use alloc::format;
use alloc::vec::Vec;

use super::offer::Offer;
use super::values::{PaperLine, SeatKey};
use crate::digest::Digest;
use crate::text::Malformed;

/// The most commands of an order (PM-4).
pub const PLAYS_MAX: usize = 500;

/// What a paper is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaperContent {
    /// Takes a free seat.
    Join(Join),
    /// Says what the seat plays in this turn.
    Order(Order),
    /// Commits the seat to an order that it has written and not sent.
    Seal {
        /// The link of the stand that the seat plays on.
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
}

impl PaperContent {
    /// Returns the kind as papers write it.
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
        }
    }

    /// Returns the link of the stand that an order or seal names.
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

    /// Returns `true` if the turn is not to be carried out before its deadline.
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

    /// Returns the link of the stand that the seat plays on.
    #[must_use]
    pub const fn link(&self) -> Digest {
        self.link
    }
}
