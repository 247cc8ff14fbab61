//! Channel moves: which energy may move where, and whether the rest of a sequence can be made.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::board::{Board, Place};
use super::energy::{Chakra, Color, Energy};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::tokens::Tokens;

/// The distances of a variant's moves in rows; positive is down.
type Steps = &'static [i16];

/// The number of a variant, from 0.
pub(super) type Variant = u8;

/// The energies that may move, each with the row to which each variant takes it.
pub(super) type Offers = BTreeMap<EnergyId, BTreeMap<Variant, Row>>;

/// CH-7: returns the variants of a channel. Channel 8 has none because it makes no moves.
fn variants(channel: ChannelNumber) -> &'static [Steps] {
    match channel.get() {
        1 => &[&[3]],
        2 => &[&[1, 1, 1]],
        3 => &[&[2, 1], &[1, 2]],
        4 => &[&[-2]],
        5 => &[&[-1, -1]],
        6 => &[&[-1, 1], &[1, -1]],
        7 => &[&[1], &[-1]],
        _ => &[],
    }
}

/// The moves made so far in an open channel, with what `undo` needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sequence {
    pub(super) channel: ChannelNumber,
    /// Chosen by the first move.
    pub(super) variant: Option<Variant>,
    /// In the order of the moves.
    pub(super) moved: Vec<Moved>,
    /// The player's tokens before the channel was opened.
    pub(super) tokens_before: Tokens,
}

/// An energy that was moved, and the place it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moved {
    pub(super) id: EnergyId,
    pub(super) from: Place,
}

impl Sequence {
    pub(super) fn begin(channel: ChannelNumber, tokens_before: Tokens) -> Self {
        Self { channel, variant: None, moved: Vec::new(), tokens_before }
    }

    pub(super) fn is_complete(&self) -> bool {
        // All variants of a channel have the same number of moves.
        variants(self.channel).iter().all(|steps| self.moved.len() >= steps.len())
    }

    /// Returns the moves on offer. Energies of one row and color have the same moves, so these are computed once.
    pub(super) fn offers(&self, board: &Board) -> Offers {
        let mut offers = Offers::new();
        let used = Used::of(self);
        for (place, energy) in board.placed() {
            if !is_first_of_kind(board, used, place, energy) {
                continue;
            }
            let targets = self.targets(board, place, energy);
            if targets.is_empty() {
                continue;
            }
            for other in board.energies_in(place.row) {
                if other.color == energy.color && !used.contains(other.id) {
                    offers.insert(other.id, targets.clone());
                }
            }
        }
        offers
    }

    /// Finds the move of an energy to a row, if it is on offer. Two variants never lead to the same row.
    pub(super) fn offered(&self, board: &Board, id: EnergyId, to: i32) -> Option<(Place, Row, Variant)> {
        let (place, energy) = board.find(id)?;
        if !is_movable(board, Used::of(self), place, energy) {
            return None;
        }
        for (variant, row) in self.targets(board, place, energy) {
            if i32::from(row.get()) == to {
                return Some((place, row, variant));
            }
        }
        None
    }

    /// Returns the rows to which open variants can take a movable energy.
    fn targets(&self, board: &Board, place: Place, energy: Energy) -> BTreeMap<Variant, Row> {
        let used = Used::of(self);
        let mut targets = BTreeMap::new();
        for (variant, steps) in (0..).zip(variants(self.channel)) {
            // CH-7: before the first move all variants are open, and after it one.
            if self.variant.is_some_and(|chosen| chosen != variant) {
                continue;
            }
            let rest = steps.get(self.moved.len()..).unwrap_or_default();
            if let Some(row) = target(board, used, rest, place, energy) {
                targets.insert(variant, row);
            }
        }
        targets
    }
}

/// CH-5: returns `true` if a channel has a possible first move.
pub(super) fn can_be_carried_out(board: &Board, channel: ChannelNumber) -> bool {
    variants(channel).iter().any(|steps| can_be_completed(board, Used::default(), steps))
}

/// The energies that a sequence has already moved; no channel moves more than three.
#[derive(Clone, Copy, Debug, Default)]
struct Used([Option<EnergyId>; 3]);

impl Used {
    fn of(sequence: &Sequence) -> Self {
        let mut used = Self::default();
        for moved in &sequence.moved {
            used = used.with(moved.id);
        }
        used
    }

    fn with(mut self, id: EnergyId) -> Self {
        if let Some(free) = self.0.iter_mut().find(|used| used.is_none()) {
            *free = Some(id);
        }
        self
    }

    fn contains(self, id: EnergyId) -> bool {
        self.0.contains(&Some(id))
    }
}

/// CH-9: returns `false` for an energy that has moved already, or is in the earth or in a row in harmony.
fn is_movable(board: &Board, used: Used, place: Place, energy: Energy) -> bool {
    if place.row == Row::EARTH || used.contains(energy.id) {
        return false;
    }
    match Chakra::of_row(place.row) {
        Some(chakra) => !board.is_harmonised(chakra),
        None => true,
    }
}

/// Returns `true` for one movable energy of each kind, because energies of one row and color have the same moves.
fn is_first_of_kind(board: &Board, used: Used, place: Place, energy: Energy) -> bool {
    if !is_movable(board, used, place, energy) {
        return false;
    }
    for other in board.energies_in(place.row) {
        if other.color == energy.color && !used.contains(other.id) {
            return other.id == energy.id;
        }
    }
    false
}

/// CH-9: returns the row to which the first of `steps` takes an energy, if other energies can make the other steps.
fn target(board: &Board, used: Used, steps: &[i16], place: Place, energy: Energy) -> Option<Row> {
    let (&distance, rest) = steps.split_first()?;
    let row = landing(board, energy.color, place.row, distance)?;
    if rest.is_empty() {
        return Some(row);
    }
    let mut after = *board;
    after.remove(place);
    after.put(row, energy);
    if can_be_completed(&after, used.with(energy.id), rest) { Some(row) } else { None }
}

/// CH-9: returns `true` if energies that have not moved can make all of `steps`.
fn can_be_completed(board: &Board, used: Used, steps: &[i16]) -> bool {
    for (place, energy) in board.placed() {
        if is_first_of_kind(board, used, place, energy) && target(board, used, steps, place, energy).is_some()
        {
            return true;
        }
    }
    false
}

/// CH-9: returns the row at `distance`, if the energy may enter every row on the way. Rows passed over do not count.
fn landing(board: &Board, color: Color, from: Row, distance: i16) -> Option<Row> {
    let mut row = from;
    let mut left = distance.unsigned_abs();
    while left > 0 {
        row = row.down(distance.signum())?;
        if board.is_passed_over(row) {
            continue;
        }
        let enterable = match row {
            Row::UNIVERSE => false,
            Row::EARTH => color.is_black_or_white() && board.room(row) > 0,
            _ => board.room(row) > 0,
        };
        if !enterable {
            return None;
        }
        left -= 1;
    }
    Some(row)
}
