//! What differs between two pictures, part by part.

use serde::{Serialize, Serializer};
use turnfold_core::picture::{Arrow, Bar, Block, Cell, PieceRow, TextLine};

use super::picture::{ArrowForm, BarForm, CellForm, FramePicture, LineForm, RowForm};
use crate::drawing::{Place, Spot};

/// A part of a picture that another one has otherwise (VW-10): it serializes as `[block, place, content]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureChange {
    /// Where it stands.
    pub spot: Spot,
    /// What stands there now.
    content: Content,
}

/// What stands somewhere in a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Gone,
    Cell(Cell),
    Arrows(Vec<Arrow>),
    Line(TextLine),
    Row(PieceRow),
    Bar(Bar),
}

impl PictureChange {
    /// Returns what to change in a picture to make another of it; `None` where they are not made of the same blocks.
    pub(crate) fn between(old: &FramePicture, new: &FramePicture) -> Option<Vec<Self>> {
        let (old, new) = (old.blocks(), new.blocks());
        if old.len() != new.len() {
            return None;
        }
        let mut changes = Vec::new();
        for (block, (old, new)) in old.iter().zip(new).enumerate() {
            let add = &mut |place, content| {
                changes.push(Self { spot: Spot { block, place }, content });
            };
            match (old, new) {
                (Block::Hexes(old), Block::Hexes(new)) if old.board == new.board => {
                    cells(&old.cells, &new.cells, add);
                    if old.arrows != new.arrows {
                        let is_gone = new.arrows.is_empty();
                        let arrows = Content::Arrows(new.arrows.clone());
                        add(Place::Arrows, if is_gone { Content::Gone } else { arrows });
                    }
                }
                (Block::Lines(old), Block::Lines(new)) => items(old, new, Content::Line, add),
                (Block::Rows(old), Block::Rows(new)) => items(old, new, Content::Row, add),
                (Block::Bars(old), Block::Bars(new)) => items(old, new, Content::Bar, add),
                _ => return None,
            }
        }
        Some(changes)
    }
}

/// Compares the cells of two boards, which are in the order of their hexes.
fn cells(old: &[Cell], new: &[Cell], add: &mut dyn FnMut(Place, Content)) {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let next = old.peek().into_iter().chain(new.peek()).map(|cell| cell.at).min();
        let Some(at) = next else { return };
        let (before, after) = (old.next_if(|cell| cell.at == at), new.next_if(|cell| cell.at == at));
        if before != after {
            add(Place::Hex(at), after.map_or(Content::Gone, |cell| Content::Cell(cell.clone())));
        }
    }
}

/// Compares two lists by index; what is gone is the end of the first.
fn items<T: Clone + PartialEq>(
    old: &[T],
    new: &[T],
    content: fn(T) -> Content,
    add: &mut dyn FnMut(Place, Content),
) {
    for index in 0..old.len().max(new.len()) {
        let (before, after) = (old.get(index), new.get(index));
        if before != after {
            add(Place::Index(index), after.map_or(Content::Gone, |item| content(item.clone())));
        }
    }
}

impl Serialize for PictureChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.spot.block, PlaceForm(self.spot.place), &self.content).serialize(serializer)
    }
}

struct PlaceForm(Place);

impl Serialize for PlaceForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Place::Hex(hex) => (hex.q, hex.r).serialize(serializer),
            Place::Arrows => serializer.serialize_str("arrows"),
            Place::Index(index) => index.serialize(serializer),
        }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Gone => serializer.serialize_none(),
            Self::Cell(cell) => CellForm(cell).serialize(serializer),
            Self::Arrows(arrows) => serializer.collect_seq(arrows.iter().map(ArrowForm)),
            Self::Line(line) => LineForm(line).serialize(serializer),
            Self::Row(row) => RowForm(row).serialize(serializer),
            Self::Bar(bar) => BarForm(bar).serialize(serializer),
        }
    }
}
