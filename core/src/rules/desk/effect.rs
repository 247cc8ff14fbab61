//! The effects at the desk (PM-24).

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::digest::Digest;
use crate::names::BranchName;
use crate::paper::DeskTime;
use crate::seat::Seat;
use crate::text::{Joined, OrNone, Quoted};

/// Something that happened. No effect shows the content of an order (PM-23).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub enum Effect {
    /// PM-11: a seat is taken.
    Joined { seat: Seat, name: String },
    /// PM-11: every seat is taken.
    Complete,
    /// PM-12: the clock moved on.
    Clocked { at: DeskTime },
    /// PM-13: a turn begins.
    Stood {
        turn: u32,
        #[serde(rename = "line")]
        branch: BranchName,
        seq: u64,
        seats: Vec<Seat>,
        until: DeskTime,
    },
    /// PM-15: an order came in.
    Ordered { seat: Seat, number: u32 },
    /// PM-16: a seat committed itself to an order.
    Sealed { seat: Seat, number: u32, digest: Digest },
    /// PM-20: a seat makes an offer; `nth` is the number of the offer (PM-82).
    Offered { seat: Seat, number: u32, nth: u32, digest: Digest, offer: String },
    /// PM-20: a seat agrees to an offer.
    Agreed { seat: Seat, number: u32, nth: u32, digest: Digest },
    /// PM-20: a seat declines an offer, which is closed.
    Declined { seat: Seat, number: u32, nth: u32, digest: Digest },
    /// PM-20: an offer is closed without an effect.
    Lapsed { seat: Seat, nth: u32, digest: Digest },
    /// PM-17: a seat missed the deadline; `misses` counts how often in a row.
    Missed { seat: Seat, misses: u32 },
    /// PM-21: a seat is gone; `number` is the paper with which it resigned, if it did.
    Gone { seat: Seat, number: Option<u32> },
    /// PM-18: the turn can be carried out.
    Ready { turn: u32 },
    /// PM-19: an order was carried out.
    Carried { seat: Seat, digest: Digest, count: u16 },
    /// PM-19: the game rejected an order.
    Refused { seat: Seat, digest: Digest, code: String },
    /// A roll was made in the game.
    Rolled {
        number: u16,
        #[serde(rename = "line")]
        branch: BranchName,
        seq: u64,
    },
    /// PM-16, PM-17, PM-20, PM-21: the deadline moved.
    Extended { until: DeskTime },
    /// PM-22: a seat signs with another key.
    Rekeyed { seat: Seat, number: u32, name: String },
    /// PM-20, PM-60: another player got the seat.
    Replaced { seat: Seat, name: String },
    /// The match is over.
    Over { result: String },
    /// PM-39: a player will be absent.
    Absent { seat: Seat, number: u32, until: DeskTime },
    /// PM-40: these seats are reminded of the deadline.
    Reminded { seats: Vec<Seat>, until: DeskTime },
    /// PM-41: a player wrote to others.
    Pressed { seat: Seat, number: u32 },
    /// PM-42: a player gave orders for later turns.
    Ahead { seat: Seat, number: u32 },
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joined { seat, name } => write!(out, "joined seat={seat} name={name}"),
            Self::Complete => out.write_str("complete"),
            Self::Clocked { at } => write!(out, "clocked at={at}"),
            Self::Stood { turn, branch, seq, seats, until } => {
                let seats = Joined(seats);
                write!(out, "stood turn={turn} line={branch} seq={seq} seats={seats} until={until}")
            }
            Self::Ordered { seat, number } => write!(out, "ordered seat={seat} number={number}"),
            Self::Sealed { seat, number, digest } => {
                write!(out, "sealed seat={seat} number={number} digest={digest}")
            }
            Self::Offered { seat, number, nth, digest, offer } => {
                let offer = Quoted(offer);
                write!(out, "offered seat={seat} number={number} nth={nth} digest={digest} offer={offer}")
            }
            Self::Agreed { seat, number, nth, digest } => {
                write!(out, "agreed seat={seat} number={number} nth={nth} digest={digest}")
            }
            Self::Declined { seat, number, nth, digest } => {
                write!(out, "declined seat={seat} number={number} nth={nth} digest={digest}")
            }
            Self::Lapsed { seat, nth, digest } => write!(out, "lapsed seat={seat} nth={nth} digest={digest}"),
            Self::Missed { seat, misses } => write!(out, "missed seat={seat} misses={misses}"),
            Self::Gone { seat, number } => write!(out, "gone seat={seat} number={}", OrNone(*number)),
            Self::Ready { turn } => write!(out, "ready turn={turn}"),
            Self::Carried { seat, digest, count } => {
                write!(out, "carried seat={seat} digest={digest} count={count}")
            }
            Self::Refused { seat, digest, code } => {
                write!(out, "refused seat={seat} digest={digest} code={code}")
            }
            Self::Rolled { number, branch, seq } => {
                write!(out, "rolled number={number} line={branch} seq={seq}")
            }
            Self::Extended { until } => write!(out, "extended until={until}"),
            Self::Rekeyed { seat, number, name } => {
                write!(out, "rekeyed seat={seat} number={number} name={name}")
            }
            Self::Replaced { seat, name } => write!(out, "replaced seat={seat} name={name}"),
            Self::Over { result } => write!(out, "over result={result}"),
            Self::Absent { seat, number, until } => {
                write!(out, "absent seat={seat} number={number} until={until}")
            }
            Self::Reminded { seats, until } => write!(out, "reminded seats={} until={until}", Joined(seats)),
            Self::Pressed { seat, number } => write!(out, "pressed seat={seat} number={number}"),
            Self::Ahead { seat, number } => write!(out, "ahead seat={seat} number={number}"),
        }
    }
}
