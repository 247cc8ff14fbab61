//! What differs between two pictures, part by part.

use serde::{Serialize, Serializer};
use turnfold_core::Hex;
use turnfold_core::picture::{Block, Cell, TextLine};

use super::picture::{CellForm, FramePicture, LineForm};

/// A part of a picture that another one has otherwise (VW-10): it serializes as `[block, place, content]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureChange {
    block: usize,
    part: Part,
}

/// Where a part stands in its block, and what it is now; `None` is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Cell(Hex, Option<Cell>),
    Line(usize, Option<TextLine>),
}

impl PictureChange {
    /// Returns what to change in a picture to make another of it; `None` where they are not made of the same blocks.
    #[must_use]
    pub fn between(old: &FramePicture, new: &FramePicture) -> Option<Vec<Self>> {
        let (old, new) = (old.blocks(), new.blocks());
        if old.len() != new.len() {
            return None;
        }
        let mut changes = Vec::new();
        for (block, (old, new)) in old.iter().zip(new).enumerate() {
            let mut add = |part| changes.push(Self { block, part });
            match (old, new) {
                (Block::Hexes(old), Block::Hexes(new)) if old.board == new.board => {
                    cells(&old.cells, &new.cells, &mut add);
                }
                (Block::Lines(old), Block::Lines(new)) => {
                    items(old, new, &mut |index, line| add(Part::Line(index, line)));
                }
                _ => return None,
            }
        }
        Some(changes)
    }
}

/// Compares the cells of two boards, which are in the order of their hexes.
fn cells(old: &[Cell], new: &[Cell], add: &mut dyn FnMut(Part)) {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let next = old.peek().into_iter().chain(new.peek()).map(|cell| cell.at).min();
        let Some(at) = next else { return };
        let (before, after) = (old.next_if(|cell| cell.at == at), new.next_if(|cell| cell.at == at));
        if before != after {
            add(Part::Cell(at, after.cloned()));
        }
    }
}

/// Compares two lists by index; what is gone is the end of the first.
fn items<T: Clone + PartialEq>(old: &[T], new: &[T], add: &mut dyn FnMut(usize, Option<T>)) {
    for index in 0..old.len().max(new.len()) {
        let (before, after) = (old.get(index), new.get(index));
        if before != after {
            add(index, after.cloned());
        }
    }
}

impl Serialize for PictureChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = self.block;
        match &self.part {
            Part::Cell(at, cell) => (block, (at.q, at.r), cell.as_ref().map(CellForm)).serialize(serializer),
            Part::Line(index, line) => (block, index, line.as_ref().map(LineForm)).serialize(serializer),
        }
    }
}
