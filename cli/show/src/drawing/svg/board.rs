//! A board of hexes (VW-16), in which what changed has a thicker edge and a corner (VW-17).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::Hex;
use turnfold_core::picture::{Cell, HexBoard, Tint};

use super::hexes::{HALF_HEIGHT, SIZE, draw_arrows, middle, outline};
use super::markup::{Fill, Fitted, Markup, Size, characters, class};
use crate::drawing::place::{Highlights, Place};

const LABEL_WIDTH: i32 = 26;
/// How much room there is for coordinates, at the lower edge.
const AT_WIDTH: i32 = 22;
/// Boards up to this radius show the coordinates of every hex, larger ones only where something stands.
const COORDINATES_RADIUS_MAX: u8 = 12;

pub(super) fn draw(
    body: &mut Markup,
    board: &HexBoard,
    corner: [i32; 2],
    block: usize,
    highlights: &Highlights,
) -> Size {
    let radius = i32::from(board.board.radius());
    let size = Size { width: 2 * (radius * SIZE * 3 / 2 + SIZE), height: (4 * radius + 2) * HALF_HEIGHT };
    let drawn = body.begin_board("board", corner, size);
    body.put(format_args!("<path class=\"ground\" d=\""));
    for hex in board.board.hexes() {
        outline(body, hex);
    }
    body.put(format_args!("\"/>\n"));
    let cells = cells(board, &highlights.hexes(block));
    if board.board.radius() <= COORDINATES_RADIUS_MAX {
        for hex in board.board.hexes().filter(|hex| !cells.contains_key(hex)) {
            at(body, hex, Fill::default());
        }
    }
    for cell in cells.values() {
        let is_changed = highlights.is_changed(block, Place::Hex(cell.at));
        draw_cell(body, cell, is_changed, highlights.is_in_reach(block, Place::Hex(cell.at)));
    }
    draw_arrows(body, &board.arrows, middle, highlights.is_changed(block, Place::Arrows));
    body.put(format_args!("</g>\n"));
    drawn
}

fn cells(board: &HexBoard, marked: &BTreeSet<Hex>) -> BTreeMap<Hex, Cell> {
    let mut cells = BTreeMap::new();
    for at in marked {
        cells.insert(*at, Cell { at: *at, label: String::new(), mark: String::new(), tint: Tint::Plain });
    }
    for cell in &board.cells {
        cells.insert(cell.at, cell.clone());
    }
    cells.retain(|at, _| board.board.contains(*at));
    cells
}

fn draw_cell(body: &mut Markup, cell: &Cell, is_changed: bool, is_in_reach: bool) {
    let tint = class(cell.tint);
    let hex = cell.at;
    let changed = if is_changed { " changed" } else { "" };
    let reach = if is_in_reach { " reach" } else { "" };
    body.put(format_args!("<g class=\"cell {tint}{changed}{reach}\" data-at=\"{hex}\">\n"));
    body.put(format_args!("<path class=\"hex\"{} d=\"", Fill::of(cell.tint)));
    outline(body, hex);
    body.put(format_args!("\"/>\n"));
    let [x, y] = middle(hex);
    let ink = Fill::on(cell.tint);
    if is_in_reach {
        let stroke = ink.stroke();
        let left = x - 17;
        body.put(format_args!(
            "<path class=\"inner\"{stroke} d=\"M{left},{y}l9,-15h16l9,15l-9,15h-16z\"/>\n"
        ));
    }
    if is_changed {
        let left = x + 3;
        let top = y - HALF_HEIGHT;
        body.put(format_args!("<path class=\"corner\"{ink} d=\"M{left},{top}h7l4,7z\"/>\n"));
    }
    // A mark that repeats the label would only cover the coordinates.
    let mark = if cell.mark == cell.label { "" } else { &cell.mark };
    for (class, content, y, size) in [("label", cell.label.as_str(), y - 2, 12), ("mark", mark, y + 6, 9)] {
        body.fitted(&Fitted { class, content, width: LABEL_WIDTH, size, size_least: 5, ink }, [x, y]);
    }
    at(body, hex, ink);
    body.put(format_args!("</g>\n"));
}

fn at(body: &mut Markup, hex: Hex, ink: Fill) {
    let [x, y] = middle(hex);
    let content = hex.to_string();
    let size = if characters(&content) > 7 { 4 } else { 7 };
    body.fitted(
        &Fitted { class: "at", content: &content, width: AT_WIDTH, size, size_least: 4, ink },
        [x, y + 12],
    );
}
