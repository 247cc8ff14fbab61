//! Draws a board of squares with the names of its files and ranks around it.

use std::collections::BTreeMap;

use turnfold_core::Square;
use turnfold_core::picture::{BoardPiece, SquareCell, SquareGrid, Tint};

use super::hexes::draw_arrows;
use super::markup::{Fill, Fitted, Markup, Size, class};
use crate::drawing::place::{Highlights, Place};
use crate::drawing::text::file_name;

const SIZE: i32 = 40;
const HALF: i32 = SIZE / 2;
/// The room for the names of files and ranks.
const MARGIN: i32 = 18;

pub(super) fn draw(
    body: &mut Markup,
    grid: &SquareGrid,
    corner: [i32; 2],
    block: usize,
    highlights: &Highlights,
) -> Size {
    let width = SIZE * i32::from(grid.board.files()) + 2 * MARGIN;
    let height = SIZE * i32::from(grid.board.ranks()) + 2 * MARGIN;
    let drawn = body.begin_board("board squares", corner, Size { width, height });
    draw_names(body, grid);
    let cells: BTreeMap<Square, &SquareCell> = grid.cells.iter().map(|cell| (cell.at, cell)).collect();
    // Marked squares are drawn last, so that no other square covers their edges.
    for is_above in [false, true] {
        for at in grid.board.squares() {
            let is_changed = highlights.is_changed(block, Place::Square(at));
            let is_in_reach = highlights.is_in_reach(block, Place::Square(at));
            if (is_changed || is_in_reach) == is_above {
                draw_square(body, middle(grid, at), at, cells.get(&at).copied(), is_changed, is_in_reach);
            }
        }
    }
    draw_arrows(body, &grid.arrows, |at| middle(grid, at), highlights.is_changed(block, Place::Arrows));
    body.put(format_args!("</g>\n"));
    drawn
}

/// Returns the middle of a square; the middle of the board is 0, 0.
fn middle(grid: &SquareGrid, at: Square) -> [i32; 2] {
    let right = (2 * i32::from(at.file()) + 1 - i32::from(grid.board.files())) * HALF;
    let up = (2 * i32::from(at.rank()) + 1 - i32::from(grid.board.ranks())) * HALF;
    if grid.flipped { [-right, up] } else { [right, -up] }
}

fn draw_names(body: &mut Markup, grid: &SquareGrid) {
    let right = HALF * i32::from(grid.board.files());
    let below = HALF * i32::from(grid.board.ranks());
    for file in 0..grid.board.files() {
        let x = Square::new(file, 0).map_or(0, |at| middle(grid, at)[0]);
        draw_name(body, &file_name(file), [x, below + 13]);
    }
    for rank in 0..grid.board.ranks() {
        let y = Square::new(0, rank).map_or(0, |at| middle(grid, at)[1]);
        draw_name(body, &(rank + 1).to_string(), [-right - MARGIN / 2, y + 4]);
    }
}

fn draw_name(body: &mut Markup, content: &str, at: [i32; 2]) {
    let ink = Fill::default();
    body.fitted(&Fitted { class: "at", content, width: MARGIN, size: 11, size_least: 5, ink }, at);
}

fn draw_square(
    body: &mut Markup,
    [x, y]: [i32; 2],
    at: Square,
    cell: Option<&SquareCell>,
    is_changed: bool,
    is_in_reach: bool,
) {
    let tint = cell.map_or(Tint::Plain, |cell| cell.tint);
    let shade = if (at.file() + at.rank()).is_multiple_of(2) { "dark" } else { "light" };
    let class = class(tint);
    let ink = Fill::on(tint);
    let changed = if is_changed { " changed" } else { "" };
    let reach = if is_in_reach { " reach" } else { "" };
    body.put(format_args!("<g class=\"cell {class} {shade}{changed}{reach}\" data-at=\"{at}\">\n"));
    let left = x - HALF;
    let top = y - HALF;
    let fill = Fill::of(tint);
    body.put(format_args!("<path class=\"square\"{fill} d=\"M{left},{top}h{SIZE}v{SIZE}h-{SIZE}z\"/>\n"));
    if is_in_reach {
        let left = x - 16;
        let top = y - 16;
        let stroke = ink.stroke();
        body.put(format_args!("<path class=\"inner\"{stroke} d=\"M{left},{top}h32v32h-32z\"/>\n"));
    }
    if is_changed {
        let left = x + HALF - 9;
        body.put(format_args!("<path class=\"corner\"{ink} d=\"M{left},{top}h9v9z\"/>\n"));
    }
    if let Some(SquareCell { piece, mark, .. }) = cell {
        if let Some(piece) = piece {
            draw_piece(body, [x, y], piece);
        }
        // In the corner, where no piece covers it.
        let mark = Fitted { class: "mark", content: mark, width: 10, size: 9, size_least: 5, ink };
        body.fitted(&mark, [x + 14, y + 17]);
    }
    body.put(format_args!("</g>\n"));
}

fn draw_piece(body: &mut Markup, [x, y]: [i32; 2], piece: &BoardPiece) {
    let tint = class(piece.tint);
    let color = Fill::of(piece.tint);
    let outline = Fill::on(piece.tint).stroke();
    body.put(format_args!("<g class=\"figure {tint}\"{outline}>\n"));
    let content = &piece.glyph;
    body.fitted(
        &Fitted { class: "glyph", content, width: 36, size: 32, size_least: 5, ink: color },
        [x, y + 11],
    );
    body.put(format_args!("</g>\n"));
}
