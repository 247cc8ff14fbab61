//! What is known about the chains of fair dice (FD-8, FD-9 of `dice.md`).

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// An element of a chain, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Element {
    pub(super) index: u16,
    pub(super) element: Digest,
}

impl Element {
    pub(super) const fn head(element: Digest) -> Self {
        Self { index: 0, element }
    }
}

/// The elements that a seat has opened of its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeatDice {
    /// The newest element of an order that counted.
    pub(super) known: Element,
    /// FD-9: its part in the rolls of this turn.
    pub(super) contribution: Element,
    /// FD-15: a new key ended the chain.
    pub(super) ended: bool,
}

impl SeatDice {
    pub(super) const fn begun(head: Digest) -> Self {
        Self { known: Element::head(head), contribution: Element::head(head), ended: false }
    }
}
