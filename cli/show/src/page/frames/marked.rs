//! The parts of a picture that an entry changed, which a drawing marks (VW-35).

use std::collections::BTreeSet;

use turnfold_core::picture::{Block, Picture};
use turnfold_history::{ReplayError, SeatHistory};

use super::change::PictureChange;
use super::picture::FramePicture;
use crate::drawing::{Place, Spot};

/// Returns where two pictures differ. A block of another kind or size differs everywhere.
#[must_use]
pub fn changed_spots(old: &Picture, new: &Picture) -> BTreeSet<Spot> {
    let mut spots = BTreeSet::new();
    for (block, content) in new.blocks.iter().enumerate() {
        let mut changes = None;
        if let Some(before) = old.blocks.get(block) {
            changes = PictureChange::between(&alone(before), &alone(content));
        }
        match changes {
            Some(changes) => spots.extend(changes.iter().map(|change| Spot { block, ..change.spot })),
            None => spots.extend(places(content).into_iter().map(|place| Spot { block, place })),
        }
    }
    spots
}

fn alone(block: &Block) -> FramePicture {
    Picture { blocks: vec![block.clone()] }.into()
}

fn places(block: &Block) -> Vec<Place> {
    let mut places = Vec::new();
    let mut items = 0;
    let mut has_arrows = false;
    match block {
        Block::Hexes(board) => {
            places.extend(board.cells.iter().map(|cell| Place::Hex(cell.at)));
            has_arrows = !board.arrows.is_empty();
        }
        Block::Grid(grid) => {
            places.extend(grid.cells.iter().map(|cell| Place::Square(cell.at)));
            has_arrows = !grid.arrows.is_empty();
        }
        Block::Rows(rows) => items = rows.len(),
        Block::Bars(bars) => items = bars.len(),
        Block::Lines(lines) => items = lines.len(),
    }
    if has_arrows {
        places.push(Place::Arrows);
    }
    places.extend((0..items).map(Place::Index));
    places
}

/// Returns what the last entry that the viewer knows of changed in the picture; nothing if there is no entry.
///
/// # Errors
/// As for [`SeatHistory::fold`].
pub fn changed_by_last(history: &SeatHistory) -> Result<BTreeSet<Spot>, ReplayError> {
    let Some(before_last) = history.head().checked_sub(1) else { return Ok(BTreeSet::new()) };
    let mut state = history.start()?;
    history.advance(state.as_mut(), 0, before_last)?;
    let before = history.viewer().picture(state.as_ref());
    history.advance(state.as_mut(), before_last, before_last + 1)?;
    Ok(changed_spots(&before, &history.viewer().picture(state.as_ref())))
}
