//! The differences of two pictures, part by part.

use serde::{Serialize, Serializer};
use turnfold_core::picture::{Arrow, Bar, Block, Cell, PieceRow, SquareCell, TextLine};
use turnfold_core::{Hex, Square};

use super::picture::{
    ArrowForm, BarForm, CellForm, FramePicture, LineForm, RowForm, SquareArrowForm, SquareForm, target,
};
use crate::drawing::{Place, Spot};

/// A part of a picture that changed (VW-10). It serializes as `[block, place, content]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureChange {
    /// The place.
    pub spot: Spot,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Gone,
    Cell(Cell),
    Arrows(Vec<Arrow>),
    Targets(Vec<(Hex, String)>),
    Square(SquareCell),
    SquareArrows(Vec<Arrow<Square>>),
    Line(TextLine),
    Row(PieceRow),
    Bar(Bar),
}

impl PictureChange {
    pub(crate) fn between(old: &FramePicture, new: &FramePicture) -> Option<Vec<Self>> {
        let old = old.blocks();
        let new = new.blocks();
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
                    cells(&old.cells, &new.cells, |cell| (cell.at, Place::Hex(cell.at)), Content::Cell, add);
                    whole(Place::Arrows, &old.arrows, &new.arrows, Content::Arrows, add);
                    whole(Place::Targets, &old.targets, &new.targets, Content::Targets, add);
                }
                (Block::Grid(old), Block::Grid(new))
                    if (old.board, old.flipped) == (new.board, new.flipped) =>
                {
                    cells(
                        &old.cells,
                        &new.cells,
                        |cell| (cell.at, Place::Square(cell.at)),
                        Content::Square,
                        add,
                    );
                    whole(Place::Arrows, &old.arrows, &new.arrows, Content::SquareArrows, add);
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

/// Compares the cells of two boards, which are sorted by place.
fn cells<T: Clone + PartialEq, P: Copy + Ord>(
    old: &[T],
    new: &[T],
    place: fn(&T) -> (P, Place),
    content: fn(T) -> Content,
    add: &mut dyn FnMut(Place, Content),
) {
    let mut old = old.iter().peekable();
    let mut new = new.iter().peekable();
    loop {
        let next = old.peek().into_iter().chain(new.peek()).map(|cell| place(cell)).min();
        let Some(at) = next else { return };
        let before = old.next_if(|cell| place(cell) == at);
        let after = new.next_if(|cell| place(cell) == at);
        if before != after {
            add(at.1, after.map_or(Content::Gone, |cell| content(cell.clone())));
        }
    }
}

fn whole<T: Clone + PartialEq>(
    place: Place,
    old: &[T],
    new: &[T],
    content: fn(Vec<T>) -> Content,
    add: &mut dyn FnMut(Place, Content),
) {
    if old != new {
        add(place, if new.is_empty() { Content::Gone } else { content(new.to_vec()) });
    }
}

fn items<T: Clone + PartialEq>(
    old: &[T],
    new: &[T],
    content: fn(T) -> Content,
    add: &mut dyn FnMut(Place, Content),
) {
    for index in 0..old.len().max(new.len()) {
        let before = old.get(index);
        let after = new.get(index);
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
            Place::Square(square) => serializer.collect_str(&square),
            Place::Arrows => serializer.serialize_str("arrows"),
            Place::Targets => serializer.serialize_str("targets"),
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
            Self::Targets(targets) => serializer.collect_seq(targets.iter().map(target)),
            Self::Square(cell) => SquareForm(cell).serialize(serializer),
            Self::SquareArrows(arrows) => serializer.collect_seq(arrows.iter().map(SquareArrowForm)),
            Self::Line(line) => LineForm(line).serialize(serializer),
            Self::Row(row) => RowForm(row).serialize(serializer),
            Self::Bar(bar) => BarForm(bar).serialize(serializer),
        }
    }
}
