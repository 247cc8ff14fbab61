//! Draws a board of squares with the names of its files and ranks around it.

use std::collections::BTreeMap;

use turnfold_core::Square;
use turnfold_core::picture::{BoardPiece, SquareCell, SquareGrid, Tint};

use super::hexes::draw_arrows;
use super::markup::{Fill, Fitted, Markup, Size, class};
use crate::drawing::place::{Highlights, Place, Spot};
use crate::drawing::text::file_name;

/// The width of a square, and half of it.
const SIZE: i32 = 40;
const HALF: i32 = SIZE / 2;
/// The room for the names of files and ranks.
const MARGIN: i32 = 18;
/// The width to which small boards are enlarged, to twice their size at most.
const WIDTH: i32 = 560;

/// Draws a board and returns its size.
pub(super) fn draw(
    body: &mut Markup,
    grid: &SquareGrid,
    [left, top]: [i32; 2],
    block: usize,
    highlights: &Highlights,
) -> Size {
    let [width, height] = [grid.board.files(), grid.board.ranks()].map(|side| SIZE * i32::from(side));
    let quarters = (4 * WIDTH / (width + 2 * MARGIN)).clamp(4, 8);
    let [width_drawn, height_drawn] = [width, height].map(|side| (side + 2 * MARGIN) * quarters / 4);
    let x = left + width_drawn / 2;
    let y = top + height_drawn / 2;
    let whole = quarters / 4;
    let hundredths = quarters % 4 * 25;
    body.put(format_args!(
        "<g class=\"board squares\" transform=\"translate({x} {y}) scale({whole}.{hundredths:02})\" \
         text-anchor=\"middle\">\n"
    ));
    draw_names(body, grid);
    let cells: BTreeMap<Square, &SquareCell> = grid.cells.iter().map(|cell| (cell.at, cell)).collect();
    let is_marked = |spot: &Spot| highlights.changed.contains(spot) || highlights.reach.contains(spot);
    // Marked squares are drawn last, so that no other square covers their edges.
    for is_above in [false, true] {
        for at in grid.board.squares() {
            let spot = Spot { block, place: Place::Square(at) };
            if is_marked(&spot) == is_above {
                draw_square(body, middle(grid, at), at, cells.get(&at).copied(), (spot, highlights));
            }
        }
    }
    draw_arrows(body, &grid.arrows, |at| middle(grid, at), highlights.is_changed(block, Place::Arrows));
    body.put(format_args!("</g>\n"));
    Size { width: width_drawn, height: height_drawn }
}

/// Returns the middle of a square; the middle of the board is 0, 0.
fn middle(grid: &SquareGrid, at: Square) -> [i32; 2] {
    let from_middle = |index: u8, count: u8| (2 * i32::from(index) + 1 - i32::from(count)) * HALF;
    let way = if grid.flipped { -1 } else { 1 };
    [way * from_middle(at.file(), grid.board.files()), -way * from_middle(at.rank(), grid.board.ranks())]
}

fn draw_names(body: &mut Markup, grid: &SquareGrid) {
    let [right, below] = [grid.board.files(), grid.board.ranks()].map(|side| HALF * i32::from(side));
    let mut name = |content: &str, at: [i32; 2]| {
        let ink = Fill::default();
        body.fitted(&Fitted { class: "at", content, width: MARGIN, size: 11, size_least: 5, ink }, at);
    };
    for file in 0..grid.board.files() {
        let x = Square::new(file, 0).map_or(0, |at| middle(grid, at)[0]);
        name(&file_name(file), [x, below + 13]);
    }
    for rank in 0..grid.board.ranks() {
        let y = Square::new(0, rank).map_or(0, |at| middle(grid, at)[1]);
        name(&(rank + 1).to_string(), [-right - MARGIN / 2, y + 4]);
    }
}

fn draw_square(
    body: &mut Markup,
    [x, y]: [i32; 2],
    at: Square,
    cell: Option<&SquareCell>,
    (spot, highlights): (Spot, &Highlights),
) {
    let tint = cell.map_or(Tint::Plain, |cell| cell.tint);
    let shade = if (at.file() + at.rank()).is_multiple_of(2) { "dark" } else { "light" };
    let class = class(tint);
    let ink = Fill::on(tint);
    let [is_changed, is_in_reach] =
        [&highlights.changed, &highlights.reach].map(|spots| spots.contains(&spot));
    let [changed, reach] =
        [(is_changed, " changed"), (is_in_reach, " reach")].map(|(is, name)| if is { name } else { "" });
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

/// Draws a piece in its color, with an outline in a contrasting one.
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
