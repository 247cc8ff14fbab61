//! The differences of two pictures, part by part.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use turnfold_core::picture::Block;

use super::picture::{self, FramePicture, list};
use crate::drawing::{Place, Spot};

/// A part of a picture that changed (VW-10). It serializes as `[block, place, content]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureChange {
    /// The place.
    pub spot: Spot,
    /// What is there now; nothing if it is empty.
    content: Value,
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
                    cells(&old.cells, &new.cells, |cell| (cell.at, Place::Hex(cell.at)), picture::cell, add);
                    whole(Place::Arrows, &old.arrows, &new.arrows, picture::arrow, add);
                    whole(Place::Targets, &old.targets, &new.targets, picture::target, add);
                }
                (Block::Grid(old), Block::Grid(new))
                    if (old.board, old.flipped) == (new.board, new.flipped) =>
                {
                    cells(
                        &old.cells,
                        &new.cells,
                        |cell| (cell.at, Place::Square(cell.at)),
                        picture::square,
                        add,
                    );
                    whole(Place::Arrows, &old.arrows, &new.arrows, picture::square_arrow, add);
                }
                (Block::Lines(old), Block::Lines(new)) => items(old, new, picture::line, add),
                (Block::Rows(old), Block::Rows(new)) => items(old, new, picture::row, add),
                (Block::Bars(old), Block::Bars(new)) => items(old, new, picture::bar, add),
                _ => return None,
            }
        }
        Some(changes)
    }
}

/// Compares the cells of two boards, which are sorted by place.
fn cells<T: PartialEq, P: Copy + Ord>(
    old: &[T],
    new: &[T],
    place: fn(&T) -> (P, Place),
    content: fn(&T) -> Value,
    add: &mut dyn FnMut(Place, Value),
) {
    let mut old = old.iter().peekable();
    let mut new = new.iter().peekable();
    loop {
        let next = old.peek().into_iter().chain(new.peek()).map(|cell| place(cell)).min();
        let Some(at) = next else { return };
        let before = old.next_if(|cell| place(cell) == at);
        let after = new.next_if(|cell| place(cell) == at);
        if before != after {
            add(at.1, after.map_or(Value::Null, content));
        }
    }
}

fn whole<T: PartialEq>(
    place: Place,
    old: &[T],
    new: &[T],
    content: fn(&T) -> Value,
    add: &mut dyn FnMut(Place, Value),
) {
    if old != new {
        add(place, if new.is_empty() { Value::Null } else { list(new, content) });
    }
}

fn items<T: PartialEq>(old: &[T], new: &[T], content: fn(&T) -> Value, add: &mut dyn FnMut(Place, Value)) {
    for index in 0..old.len().max(new.len()) {
        let before = old.get(index);
        let after = new.get(index);
        if before != after {
            add(Place::Index(index), after.map_or(Value::Null, content));
        }
    }
}

impl Serialize for PictureChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = match self.spot.place {
            Place::Hex(hex) => json!([hex.q, hex.r]),
            Place::Square(square) => json!(square.to_string()),
            Place::Arrows => json!("arrows"),
            Place::Targets => json!("targets"),
            Place::Index(index) => json!(index),
        };
        (self.spot.block, place, &self.content).serialize(serializer)
    }
}
