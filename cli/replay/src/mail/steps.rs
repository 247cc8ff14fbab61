//! What there is to carry out when a turn is ready, step by step (PM-19, PM-27).

use std::collections::BTreeMap;

use turnfold_core::dice::fair::Contribution;
use turnfold_core::paper::{LineName, PaperContent, SignedPaper};
use turnfold_core::rules::desk::{Desk, State};
use turnfold_core::{Digest, Rules, Seat};

use super::keys::TurnKey;

/// A turn that is ready: what of it is still to be carried out does not change any more.
#[derive(Clone, Debug)]
pub struct TurnPlan {
    /// The turn; 0 before the first stand.
    pub turn: u32,
    /// Where the game goes on from: the stand of the turn or, after an agreed takeback, an earlier one.
    pub from: (LineName, u64),
    /// Whether it is an earlier one (PM-20).
    pub is_takeback: bool,
    /// What each asked seat does, in seat order.
    pub steps: Vec<SeatStep>,
    /// The seats that play.
    pub living: Vec<Seat>,
    /// The seats that have left.
    pub gone: Vec<Seat>,
    /// Each seat's part in the rolls of the turn, with fair dice (FD-9).
    pub contributions: Vec<Contribution>,
    /// The number of the last roll before the turn, with fair dice (FD-7).
    pub last_roll: Option<u16>,
}

/// What an asked seat does in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatStep {
    /// The seat.
    pub seat: Seat,
    /// The digest of its order; without one `default` is played for it.
    pub order: Option<Digest>,
    /// The tag of its order (PM-2).
    tag: Option<Digest>,
    plays: Vec<String>,
}

impl TurnPlan {
    /// Reads the plan from a desk whose turn has just become ready, and the orders that were applied in it.
    ///
    /// # Panics
    /// Never: `main` is the name of a line.
    #[must_use]
    pub fn of(desk: &State, orders: &BTreeMap<Digest, SignedPaper>) -> Self {
        let due: BTreeMap<Seat, Digest> = desk.orders_due().into_iter().collect();
        let (defaulted, gone) = (desk.defaulted(), desk.gone());
        let players = Desk::players(desk);
        let steps = players.iter().filter_map(|&seat| match due.get(&seat) {
            Some(digest) => Some(SeatStep::of_order(seat, *digest, orders.get(digest))),
            None if defaulted.contains(&seat) => {
                Some(SeatStep { seat, order: None, tag: None, plays: Vec::new() })
            }
            None => None,
        });
        let beginning = || "main".parse().map(|main| (main, 0)).expect("it is the name of a line");
        let back = desk.agreed_takeback();
        let from = back.or(desk.stands_on()).map_or_else(beginning, |(line, seq)| (line.clone(), seq));
        Self {
            turn: desk.turn(),
            from,
            is_takeback: back.is_some(),
            steps: steps.collect(),
            living: players.iter().copied().filter(|seat| !gone.contains(seat)).collect(),
            gone,
            contributions: desk.contributions(),
            last_roll: desk.last_roll(),
        }
    }

    /// Returns the key of a seat's entries (PM-2).
    #[must_use]
    pub fn key_of(&self, step: &SeatStep) -> TurnKey {
        match step.tag {
            Some(tag) => TurnKey::Order { tag, turn: self.turn },
            None => TurnKey::Missed { turn: self.turn, seat: step.seat },
        }
    }

    /// Returns the key of the host's own entries and of those for gone seats.
    #[must_use]
    pub const fn host_key(&self) -> TurnKey {
        TurnKey::Host { turn: self.turn }
    }
}

impl SeatStep {
    fn of_order(seat: Seat, digest: Digest, paper: Option<&SignedPaper>) -> Self {
        let plays = match paper.map(|signed| signed.paper().content()) {
            Some(PaperContent::Order(order)) => {
                order.plays().iter().map(|play| play.as_str().to_owned()).collect()
            }
            _ => Vec::new(),
        };
        let tag = paper.map(|signed| signed.paper().order_tag());
        Self { seat, order: Some(digest), tag, plays }
    }

    /// Returns the commands of its order.
    pub fn plays(&self) -> impl Iterator<Item = &str> {
        self.plays.iter().map(String::as_str)
    }
}
