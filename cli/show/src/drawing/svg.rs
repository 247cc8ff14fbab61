//! A picture as SVG: without scripts, fonts or anything else from outside, in whole numbers.
//!
//! Colors are classes, but for colors of the game itself, which are attributes. A document of its own brings their
//! colors along, light and dark; inside a page the page does.

mod board;
mod hexes;
mod lists;
mod markup;
mod squares;

use turnfold_core::picture::{Block, Picture, PieceRow};

use self::markup::{Markup, Size};
use super::colors::standalone_rules;
use super::place::Highlights;
use super::text::evenly;

const PADDING: i32 = 12;
/// Blocks that stand side by side go below each other where they would be wider together.
const WIDTH_MAX: i32 = 760;
const GAP: i32 = 28;

/// What does not depend on colors.
const SHAPES: &str = "\
svg{max-width:100%;height:auto;color-scheme:light dark}text{white-space:pre}\
.cell>.hex{stroke-width:2}.cell.reach>.hex{stroke-width:1}.cell.changed>.hex{stroke-width:4}\
.inner{fill:none;stroke-width:1.5;stroke-dasharray:3 3}\
.arrow{fill:none;stroke-width:3;stroke-linecap:round;stroke-linejoin:round;opacity:.6}\
.disc{stroke-width:1.5}.cell>.label,.piece>.label,.changed>text{font-weight:bold}\n";

/// Draws a picture as an SVG document, in colors for light and dark (VW-22).
#[must_use]
pub fn document(picture: &Picture, highlights: &Highlights) -> String {
    let has_squares = picture.blocks.iter().any(|block| matches!(block, Block::Grid(_)));
    let style = format!("<style>\n{SHAPES}{}</style>\n", standalone_rules(has_squares));
    whole(picture, highlights, &style)
}

/// Draws a picture as an SVG element for a page, whose style sheet has the colors.
#[must_use]
pub fn element(picture: &Picture, highlights: &Highlights) -> String {
    whole(picture, highlights, "")
}

fn whole(picture: &Picture, highlights: &Highlights, style: &str) -> String {
    let mut body = Markup::default();
    let mut size = Size { width: 0, height: PADDING };
    let mut blocks = picture.blocks.iter().enumerate().peekable();
    while let Some((index, block)) = blocks.next() {
        let top = size.height;
        let drawn = match block {
            Block::Hexes(board) => board::draw(&mut body, board, [PADDING, top], index, highlights),
            Block::Grid(grid) => squares::draw(&mut body, grid, [PADDING, top], index, highlights),
            Block::Lines(lines) => lists::lines(&mut body, lines, [PADDING, top], index, highlights),
            Block::Bars(bars) => lists::bars(&mut body, bars, [PADDING, top], index, highlights),
            Block::Rows(rows) => {
                let mut group = vec![(index, rows.as_slice())];
                while let Some((index, Block::Rows(rows))) =
                    blocks.next_if(|(_, block)| matches!(block, Block::Rows(_)))
                {
                    group.push((index, rows));
                }
                side_by_side(&mut body, &group, top, highlights)
            }
        };
        size.width = size.width.max(drawn.width);
        size.height = top.saturating_add(drawn.height).saturating_add(PADDING);
    }
    let width = size.width + 2 * PADDING;
    let height = size.height;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\">\n{style}\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
    )
}

fn side_by_side(
    body: &mut Markup,
    blocks: &[(usize, &[PieceRow])],
    top: i32,
    highlights: &Highlights,
) -> Size {
    let mut widest = 0;
    for (_, rows) in blocks {
        let size = lists::rows(&mut Markup::default(), rows, [0, 0], 0, &Highlights::default());
        widest = widest.max(size.width);
    }
    let room = usize::try_from((WIDTH_MAX + GAP) / (widest + GAP)).unwrap_or_default();
    let mut size = Size::default();
    for group in blocks.chunks(evenly(blocks.len(), room)) {
        if size.height > 0 {
            size.height += PADDING;
        }
        let mut left = PADDING;
        let mut height = 0;
        for (index, rows) in group {
            let drawn = lists::rows(body, rows, [left, top + size.height], *index, highlights);
            size.width = size.width.max(left - PADDING + drawn.width);
            height = height.max(drawn.height);
            left += widest + GAP;
        }
        size.height += height;
    }
    size
}

#[cfg(test)]
mod tests;
