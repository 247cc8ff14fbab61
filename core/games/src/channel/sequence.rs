//! Channel moves: which energy may move where, and whether the rest of a sequence can be made.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use turnfold_core::collections::gathered;

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
        self.open_variants().all(|(_, steps)| steps.is_empty())
    }

    /// Returns the moves on offer. Energies of one row and color have the same moves, so these are computed once.
    pub(super) fn offers(&self, board: &Board) -> Offers {
        let mut offers = Offers::new();
        let used = Used::of(self);
        for (place, energy) in kinds(board, used) {
            let targets: BTreeMap<Variant, Row> = gathered(self.targets(board, place, energy));
            if targets.is_empty() {
                continue;
            }
            let alike = board.energies_in(place.row).filter(|other| other.color == energy.color);
            let alike = alike.filter(|other| !used.contains(other.id));
            offers.extend(alike.map(|other| (other.id, targets.clone())));
        }
        offers
    }

    /// Finds the move of an energy to a row, if it is on offer. Two variants never lead to the same row.
    pub(super) fn offered(&self, board: &Board, id: EnergyId, to: i32) -> Option<(Place, Row, Variant)> {
        let movable = |(place, energy): &(Place, Energy)| is_movable(board, Used::of(self), *place, *energy);
        let (place, energy) = board.find(id).filter(movable)?;
        let mut targets = self.targets(board, place, energy);
        let (variant, row) = targets.find(|(_, row)| i32::from(row.get()) == to)?;
        Some((place, row, variant))
    }

    /// CH-7: returns the variants that are still open, each with its remaining steps. Before the first move all
    /// variants are open, and after it one.
    fn open_variants(&self) -> impl Iterator<Item = (Variant, &'static [i16])> {
        let numbered = (0..).zip(variants(self.channel));
        let open = numbered.filter(|(variant, _)| self.variant.is_none_or(|chosen| chosen == *variant));
        open.map(|(variant, steps)| (variant, steps.get(self.moved.len()..).unwrap_or_default()))
    }

    /// Returns the rows to which open variants can take a movable energy.
    fn targets(&self, board: &Board, place: Place, energy: Energy) -> impl Iterator<Item = (Variant, Row)> {
        let used = Used::of(self);
        self.open_variants()
            .filter_map(move |(variant, steps)| Some((variant, target(board, used, steps, place, energy)?)))
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
        sequence.moved.iter().fold(Self::default(), |used, moved| used.with(moved.id))
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
    let harmonised = Chakra::of_row(place.row).is_some_and(|chakra| board.is_harmonised(chakra));
    place.row != Row::EARTH && !harmonised && !used.contains(energy.id)
}

/// Returns one movable energy of each kind, because energies of one row and color have the same moves.
fn kinds(board: &Board, used: Used) -> impl Iterator<Item = (Place, Energy)> {
    let movable = board.placed().filter(move |(place, energy)| is_movable(board, used, *place, *energy));
    movable.filter(move |(place, energy)| {
        let mut alike = board.energies_in(place.row).filter(|other| other.color == energy.color);
        alike.find(|other| !used.contains(other.id)).is_some_and(|first| first.id == energy.id)
    })
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
    can_be_completed(&after, used.with(energy.id), rest).then_some(row)
}

/// CH-9: returns `true` if energies that have not moved can make all of `steps`.
fn can_be_completed(board: &Board, used: Used, steps: &[i16]) -> bool {
    kinds(board, used).any(|(place, energy)| target(board, used, steps, place, energy).is_some())
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
