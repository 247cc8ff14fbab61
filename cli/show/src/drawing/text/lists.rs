//! Lines of text, rows of pieces and bars as characters.

use turnfold_core::picture::{Bar, Piece, PieceRow, TextLine, Tint};
use turnfold_history::text::printable;

use super::drawn::{DrawnLine, width};
use crate::drawing::place::Highlights;

/// The characters of a full bar.
const BAR_WIDTH: u64 = 20;

/// Drawn for a place without a piece.
const NO_PIECE: &str = ".";

pub(super) fn texts(lines: &[TextLine], block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let line = |(index, line): (usize, &TextLine)| {
        let (spot, is_changed) = highlights.item(block, index);
        DrawnLine::escaped(line, Some(spot)).signed(is_changed, spot).trimmed()
    };
    lines.iter().enumerate().map(line).collect()
}

/// Draws rows: labels in a column, then pieces in columns of equal width. The pieces of a single row are only separated.
pub(super) fn rows(rows: &[PieceRow], block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let with_pieces = || rows.iter().filter(|row| !row.pieces.is_empty());
    let label_width = with_pieces().map(|row| DrawnLine::escaped(&row.label, None).width()).max();
    let pieces_start = label_width.filter(|width| *width > 0).map_or(0, |width| width + 1);
    let piece_width = with_pieces().flat_map(|row| &row.pieces).map(|piece| width(&text(piece))).max();
    let step = piece_width.unwrap_or_default() + 1;
    let is_single = with_pieces().count() == 1;
    let row = |(index, row): (usize, &PieceRow)| {
        let (spot, is_changed) = highlights.item(block, index);
        let mut line = DrawnLine::escaped(&row.label, Some(spot));
        for (column, piece) in row.pieces.iter().enumerate() {
            let column =
                if is_single && column > 0 { line.width() + 1 } else { pieces_start + column * step };
            line.pad(column);
            let tint = if piece.text.is_empty() { Tint::Faint } else { piece.tint };
            line.push(text(piece), tint, Some(spot));
        }
        line.signed(is_changed, spot).trimmed()
    };
    rows.iter().enumerate().map(row).collect()
}

fn text(piece: &Piece) -> String {
    let text = if piece.text.is_empty() { NO_PIECE } else { &piece.text };
    printable(&format!("{text}{}", piece.mark)).into_owned()
}

/// Draws bars: labels in a column, the bars, value and maximum, and the chips.
pub(super) fn bars(bars: &[Bar], block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let label_width = bars.iter().map(|bar| DrawnLine::escaped(&bar.label, None).width()).max();
    let bar_start = label_width.map_or(0, |width| width + 1);
    let value_width = bars.iter().map(|bar| width(&bar.value.to_string())).max().unwrap_or_default();
    let of_width = bars.iter().map(|bar| width(&bar.of.to_string())).max().unwrap_or_default();
    let bar = |(index, bar): (usize, &Bar)| {
        let (spot, is_changed) = highlights.item(block, index);
        let mut line = DrawnLine::escaped(&bar.label, Some(spot));
        line.pad(bar_start);
        let full = "#".repeat(usize::try_from(filled(bar, BAR_WIDTH)).unwrap_or_default());
        let Bar { value, of, tint, chips, .. } = bar;
        line.push(format!("[{full:.<20}]"), *tint, Some(spot));
        line.push(format!(" {value:>value_width$}/{of:<of_width$}"), Tint::Plain, Some(spot));
        for chip in chips {
            line.push("  ", Tint::Plain, None);
            line.push(printable(&chip.text), chip.tint, Some(spot));
        }
        line.signed(is_changed, spot).trimmed()
    };
    bars.iter().enumerate().map(bar).collect()
}

/// Returns how many units of a width a bar fills.
pub(in crate::drawing) fn filled(bar: &Bar, width: u64) -> u64 {
    let value = u128::from(bar.value.min(bar.of));
    let of = u128::from(bar.of);
    let width = u128::from(width);
    u64::try_from((value * width).checked_div(of).unwrap_or_default()).unwrap_or_default()
}
