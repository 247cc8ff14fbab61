//! Draws a picture as lines of characters, each of which knows the part of the picture that it shows.

mod drawn;
mod grid;
mod lists;
mod squares;

pub use drawn::{DrawnLine, DrawnSpan};
pub(super) use lists::filled;
pub(super) use squares::file_name;

use turnfold_core::picture::{Block, Picture, Tint};

use super::place::Highlights;

/// The width of a picture by default, in columns. Blocks that do not fit next to each other go below each other.
pub const WIDTH: usize = 100;

const GAP: usize = 3;

/// Draws a picture as lines without trailing spaces, `width` columns wide if that is possible. Blocks are separated by an
/// empty line.
///
/// Highlighted parts have a sign: `*` if they changed, `+` for a hex or square in reach. The last line explains the signs.
#[must_use]
pub fn lines(picture: &Picture, highlights: &Highlights, width: usize) -> Vec<DrawnLine> {
    let mut lines: Vec<DrawnLine> = Vec::new();
    let mut blocks = picture.blocks.iter().enumerate().peekable();
    while let Some((index, block)) = blocks.next() {
        let drawn = match block {
            Block::Hexes(board) => grid::draw(board, index, highlights),
            Block::Grid(board) => squares::draw(board, index, highlights),
            Block::Lines(text) => lists::texts(text, index, highlights),
            Block::Bars(bars) => lists::bars(bars, index, highlights),
            Block::Rows(rows) => {
                let mut group = vec![lists::rows(rows, index, highlights)];
                while let Some((index, Block::Rows(rows))) =
                    blocks.next_if(|(_, block)| matches!(block, Block::Rows(_)))
                {
                    group.push(lists::rows(rows, index, highlights));
                }
                side_by_side(&group, width)
            }
        };
        if !lines.is_empty() {
            lines.push(DrawnLine::default());
        }
        lines.extend(drawn);
    }
    lines.extend(signs(highlights));
    lines
}

fn signs(highlights: &Highlights) -> Option<DrawnLine> {
    let mut words = Vec::new();
    if !highlights.changed.is_empty() {
        words.push("* changed");
    }
    if !highlights.reach.is_empty() {
        words.push("+ named by a legal command");
    }
    if words.is_empty() {
        return None;
    }
    Some(DrawnLine::of(words.join("  "), Tint::Faint, None))
}

fn side_by_side(blocks: &[Vec<DrawnLine>], width: usize) -> Vec<DrawnLine> {
    let widest = blocks.iter().flatten().map(DrawnLine::width).max().unwrap_or_default();
    let count = evenly(blocks.len(), (width + GAP) / (widest + GAP));
    let mut lines = Vec::new();
    for group in blocks.chunks(count) {
        if !lines.is_empty() {
            lines.push(DrawnLine::default());
        }
        let height = group.iter().map(Vec::len).max().unwrap_or_default();
        for row in 0..height {
            let mut line = DrawnLine::default();
            for (column, block) in group.iter().enumerate() {
                line.pad(column * (widest + GAP));
                if let Some(part) = block.get(row) {
                    line.spans.extend(part.spans.iter().cloned());
                }
            }
            lines.push(line.trimmed());
        }
    }
    lines
}

/// Returns how many of `count` things to put in a line that has room for `room`, so that the lines are evenly filled.
pub(super) fn evenly(count: usize, room: usize) -> usize {
    let lines = count.div_ceil(room.max(1)).max(1);
    count.div_ceil(lines).max(1)
}

#[cfg(test)]
mod tests;
