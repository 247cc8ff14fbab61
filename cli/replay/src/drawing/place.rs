//! Where something stands in a picture, and what of it is marked.

use std::collections::BTreeSet;

use turnfold_core::Hex;

/// Where something stands in a block (VW-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A hex of a board.
    Hex(Hex),
    /// All arrows of a board.
    Arrows,
    /// The index of a line, row or bar.
    Index(usize),
}

/// Where something stands in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The block's index in the picture.
    pub block: usize,
    /// Where in the block.
    pub place: Place,
}

/// What of a picture is marked when it is drawn (VW-35); nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlights {
    /// What changed.
    pub changed: BTreeSet<Spot>,
    /// The hexes that a viewer's legal commands name.
    pub reach: BTreeSet<Hex>,
    /// Whether a board of characters leaves out signs for which its hexes would have to be wider: for where the boards
    /// of one game follow each other, and what changed is marked otherwise, too (VW-6).
    pub keeps_width: bool,
}

impl Highlights {
    pub(super) fn is_changed(&self, block: usize, place: Place) -> bool {
        self.changed.contains(&Spot { block, place })
    }

    /// Returns the spot of a line, row or bar, and whether it changed.
    pub(super) fn item(&self, block: usize, index: usize) -> (Spot, bool) {
        let place = Place::Index(index);
        (Spot { block, place }, self.is_changed(block, place))
    }

    /// Returns the hexes of a block that are marked, changed or in reach.
    pub(super) fn hexes(&self, block: usize) -> BTreeSet<Hex> {
        let changed = self.changed.iter().filter_map(|spot| match spot.place {
            Place::Hex(hex) if spot.block == block => Some(hex),
            _ => None,
        });
        changed.chain(self.reach.iter().copied()).collect()
    }
}

/// Returns the hexes that stand in commands as words of their own, written `q,r` (VW-18, VW-35). Whether a command is
/// legal is for the rules to say.
#[must_use]
pub fn named_hexes<'a>(commands: impl IntoIterator<Item = &'a str>) -> BTreeSet<Hex> {
    commands.into_iter().flat_map(str::split_whitespace).filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hex_is_a_word_of_its_own() {
        let commands = ["move -2,1", "click 0,0", "path 1,0 2,-1", "roll 3 4", "say 1,2,3 x4,5", "move +1,0"];
        let named = [(-2, 1), (0, 0), (1, 0), (2, -1)].map(|(q, r)| Hex::new(q, r));
        assert_eq!(named_hexes(commands), BTreeSet::from(named));
    }
}
