//! A paper before it is signed: what every paper says, and its content.

use alloc::format;
use alloc::string::ToString;

use super::content::PaperContent;
use super::values::{MatchId, Nonce, SeenRoot};
use crate::digest::Digest;
use crate::seat::Seat;
use crate::text::Malformed;

/// The most bytes of a paper's text (PM-4).
pub const PAPER_BYTES_MAX: usize = 32 * 1024;

/// What every paper says before its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperHead {
    /// The match of the game.
    pub match_id: MatchId,
    /// The player's seat.
    pub seat: Seat,
    /// Counts the papers of the seat; may skip. 0 for a join.
    pub number: u32,
    /// The turn as the player knows it. 0 for a join.
    pub turn: u32,
    /// How much of the desk the player has seen.
    pub seen: SeenRoot,
    /// 16 bytes of chance: they make digest and tag unguessable.
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
    /// [`Malformed`] when the seat is no player's, a join has a number or turn, or the text would be too long.
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

    /// Returns what stands before the content.
    #[must_use]
    pub const fn head(&self) -> &PaperHead {
        &self.head
    }

    /// Returns the content.
    #[must_use]
    pub const fn content(&self) -> &PaperContent {
        &self.content
    }

    /// Returns its digest, by which other papers and the desk name it (PM-5). The signature is no part of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::new(blake3::derive_key("turnfold v1 paper", self.to_string().as_bytes()))
    }

    /// Returns the tag of an order, in the idempotency keys of the game's entries (PM-2). It is a secret of those who may
    /// read the paper.
    #[must_use]
    pub fn order_tag(&self) -> Digest {
        Digest::new(blake3::derive_key("turnfold v1 order", self.to_string().as_bytes()))
    }
}
