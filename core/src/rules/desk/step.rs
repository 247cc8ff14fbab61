//! What judging comes to: a plan, or why there is none.

use alloc::string::String;
use alloc::vec::Vec;

use super::reason::{Reason, Rejection};
use super::state::{AheadHeld, OrderHeld, Standing, State};
use crate::digest::Digest;
use crate::paper::{DeskTime, Ending, LineName, Offer, SeatKey};
use crate::seat::Seat;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Join {
        seat: Seat,
        key: SeatKey,
        dice: Option<Digest>,
    },
    /// Of a seat, under the number of the paper.
    Paper {
        seat: Seat,
        number: u32,
        act: Act,
    },
    Clock(DeskTime),
    Stand {
        standing: Standing,
        link: Digest,
        state: Option<Digest>,
        seats: Vec<Seat>,
        clock: DeskTime,
    },
    Carried {
        seat: Seat,
        digest: Digest,
        count: u16,
    },
    Refused {
        seat: Seat,
        digest: Digest,
        code: String,
    },
    Rolled {
        number: u16,
        element: Digest,
        line: LineName,
        seq: u64,
    },
    Extend(DeskTime),
    Close(Ending),
    /// PM-38: a player without a key takes a seat.
    Enter {
        seat: Seat,
        name: String,
    },
    Remind(u16),
    /// PM-60
    Replace {
        seat: Seat,
        key: SeatKey,
    },
}

/// What a paper does, besides taking a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Order(OrderHeld),
    Seal(Digest),
    Offer { digest: Digest, offer: Offer },
    Answer { by: Seat, digest: Digest, agree: bool },
    Resign,
    Rekey(SeatKey),
    Absent { until: DeskTime, seconds: u64 },
    Press,
    Ahead(AheadHeld),
}

/// PM-9: why something is not applied.
pub(super) enum Fault {
    Ignored(Reason),
    Rejected(Rejection),
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        Self::Ignored(reason)
    }
}

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

/// PM-20, PM-21: who wins has a seat.
pub(super) fn require_winner(state: &State, ending: Ending) -> Result<(), Fault> {
    match ending {
        Ending::Won(seat) if state.seat(seat).is_none() => Err(Reason::NoSuchSeat.into()),
        _ => Ok(()),
    }
}
