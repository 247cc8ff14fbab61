//! Lines of text, rows of pieces and bars as characters.

use turnfold_core::picture::{Bar, Piece, PieceRow, TextLine, Tint};
use turnfold_history::text::printable;

use super::drawn::{DrawnLine, width};
use crate::drawing::place::{Highlights, Place, Spot};

const BAR_WIDTH: u64 = 20;

const NO_PIECE: &str = ".";

pub(super) fn texts(lines: &[TextLine], block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let mut drawn = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let spot = Spot { block, place: Place::Index(index) };
        drawn.push(DrawnLine::escaped(line, Some(spot)).signed(highlights, spot).trimmed());
    }
    drawn
}

/// Draws rows: labels in a column, then pieces in columns of equal width. The pieces of a single row are only separated.
pub(super) fn rows(rows: &[PieceRow], block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let mut with_pieces = 0;
    let mut label_width = 0;
    let mut piece_width = 0;
    for row in rows {
        if row.pieces.is_empty() {
            continue;
        }
        with_pieces += 1;
        label_width = label_width.max(DrawnLine::escaped(&row.label, None).width());
        for piece in &row.pieces {
            piece_width = piece_width.max(width(&text(piece)));
        }
    }
    let pieces_start = if label_width > 0 { label_width + 1 } else { 0 };
    let step = piece_width + 1;
    let mut drawn = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let spot = Spot { block, place: Place::Index(index) };
        let mut line = DrawnLine::escaped(&row.label, Some(spot));
        for (column, piece) in row.pieces.iter().enumerate() {
            let is_next_to_another = with_pieces == 1 && column > 0;
            line.pad(if is_next_to_another { line.width() + 1 } else { pieces_start + column * step });
            let tint = if piece.text.is_empty() { Tint::Faint } else { piece.tint };
            line.push(text(piece), tint, Some(spot));
        }
        drawn.push(line.signed(highlights, spot).trimmed());
    }
    drawn
}

fn text(piece: &Piece) -> String {
    let text = if piece.text.is_empty() { NO_PIECE } else { &piece.text };
    printable(&format!("{text}{}", piece.mark)).into_owned()
}

pub(super) fn bars(bars: &[Bar], block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let label_width = bars.iter().map(|bar| DrawnLine::escaped(&bar.label, None).width()).max();
    let bar_start = label_width.unwrap_or_default() + 1;
    let value_width = bars.iter().map(|bar| width(&bar.value.to_string())).max().unwrap_or_default();
    let of_width = bars.iter().map(|bar| width(&bar.of.to_string())).max().unwrap_or_default();
    let mut drawn = Vec::new();
    for (index, bar) in bars.iter().enumerate() {
        let spot = Spot { block, place: Place::Index(index) };
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
        drawn.push(line.signed(highlights, spot).trimmed());
    }
    drawn
}

pub(in crate::drawing) fn filled(bar: &Bar, width: u64) -> u64 {
    let value = u128::from(bar.value.min(bar.of));
    let of = u128::from(bar.of);
    let width = u128::from(width);
    u64::try_from((value * width).checked_div(of).unwrap_or_default()).unwrap_or_default()
}
