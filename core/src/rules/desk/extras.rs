//! What the state of a desk has since version 2: terms, and what each seat announced (PM-38 to PM-42).

use alloc::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::paper::{DeskTime, PaperLine};
use crate::seat::Seat;

/// What is new in version 2. A desk of version 1 has the default, which allows nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extras {
    /// PM-38: the seats whose players may do without a key.
    pub(super) plain: BTreeSet<Seat>,
    /// PM-40: how many hours before a deadline reminders are due.
    pub(super) remind: BTreeSet<u16>,
    /// PM-39: the days of absence of each seat.
    pub(super) absences: u16,
    /// PM-41
    pub(super) press: bool,
    /// PM-42: whether orders ahead are taken.
    pub(super) ahead: bool,
    /// PM-60: whether the host alone may give a seat to another player.
    pub(super) host_replaces: bool,
    /// PM-40: the hours of the last reminder of this deadline.
    pub(super) reminded: Option<u16>,
    /// The seats that have any of this.
    pub(super) seats: BTreeMap<Seat, SeatExtras>,
}

/// What a seat has since version 2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeatExtras {
    /// PM-38: the name of a player without a key.
    pub(super) name: Option<PaperLine>,
    /// PM-39: until when the player is absent.
    pub(super) absent: Option<DeskTime>,
    /// PM-39: the seconds of absence so far.
    pub(super) absent_seconds: u64,
    /// PM-42: the orders ahead that count.
    pub(super) ahead: Option<AheadHeld>,
}

/// PM-42: the paper with orders ahead, and how many commands it has for which turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AheadHeld {
    pub(super) digest: Digest,
    pub(super) plays: BTreeMap<u32, u16>,
}
