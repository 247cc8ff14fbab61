//! Draws lines of text, rows of pieces and bars.

use turnfold_core::picture::{Bar, Chip, Piece, PieceRow, Span, TextLine};
use turnfold_history::text::printable;

use super::markup::{Escaped, Fill, Fitted, Markup, Size, characters, class, width};
use crate::drawing::place::{Highlights, Place};
use crate::drawing::text::filled;

/// The size of letters in lines; a character takes 9.
const LETTERS: i32 = 15;
const LINE_HEIGHT: i32 = 20;
/// The size of marks next to pieces and of letters in chips; ten characters take 72.
const SMALL_LETTERS: i32 = 12;
const GAP: i32 = 9;
/// The least and the largest radius of a disc.
const RADIUS: [i32; 2] = [15, 26];
const BAR_SIZE: Size = Size { width: 160, height: 12 };
/// The most that a bar with its chips is wide; further chips go on another line.
const BAR_WIDTH_MAX: i32 = 720;

pub(super) fn lines(
    body: &mut Markup,
    lines: &[TextLine],
    [left, top]: [i32; 2],
    block: usize,
    highlights: &Highlights,
) -> Size {
    let mut size = Size::default();
    body.put(format_args!("<g class=\"lines\">\n"));
    for (index, line) in lines.iter().enumerate() {
        let y = top + size.height;
        begin(body, "line", [left, y + LINE_HEIGHT / 2], highlights.is_changed(block, Place::Index(index)));
        size.width = size.width.max(text_line(body, "text", line, [left, y + 15]));
        size.height += LINE_HEIGHT;
        body.put(format_args!("</g>\n"));
    }
    body.put(format_args!("</g>\n"));
    size
}

fn begin(body: &mut Markup, class: &str, [left, middle]: [i32; 2], is_changed: bool) {
    let changed = if is_changed { " changed" } else { "" };
    body.put(format_args!("<g class=\"{class}{changed}\">\n"));
    if is_changed {
        let left = left - 9;
        let top = middle - 5;
        body.put(format_args!("<path class=\"corner\" d=\"M{left},{top}l6,5l-6,5z\"/>\n"));
    }
}

/// Writes a line of text and returns its width.
fn text_line(body: &mut Markup, name: &str, line: &TextLine, [left, baseline]: [i32; 2]) -> i32 {
    let mut swatches = Markup::default();
    let mut spans = Markup::default();
    let mut count = 0;
    for Span { text, tint } in &line.spans {
        if text.is_empty() {
            continue;
        }
        let text = printable(text);
        let x = left + width(count, LETTERS);
        let length = characters(&text);
        if let color @ Fill::Rgb(_) = Fill::of(*tint) {
            let x = x - 2;
            let y = baseline - 13;
            let width = width(length, LETTERS) + 4;
            swatches.put(format_args!(
                "<rect class=\"swatch\"{color} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"17\" rx=\"3\"/>\n"
            ));
        }
        let ink = Fill::on(*tint);
        let tint = class(*tint);
        let text = Escaped(&text);
        spans.put(format_args!("<tspan class=\"span {tint}\"{ink} x=\"{x}\">{text}</tspan>"));
        count += length;
    }
    body.put(format_args!(
        "{swatches}<text class=\"{name}\" x=\"{left}\" y=\"{baseline}\" font-size=\"{LETTERS}\" \
         xml:space=\"preserve\">{spans}</text>\n"
    ));
    width(count, LETTERS)
}

fn label_width(line: &TextLine) -> i32 {
    line.spans.iter().map(|span| width(characters(&printable(&span.text)), LETTERS)).sum()
}

pub(super) fn rows(
    body: &mut Markup,
    rows: &[PieceRow],
    [left, top]: [i32; 2],
    block: usize,
    highlights: &Highlights,
) -> Size {
    let mut label = 0;
    let mut longest = 0;
    let mut mark = 0;
    for row in rows {
        if !row.pieces.is_empty() {
            label = label.max(label_width(&row.label));
        }
        for piece in &row.pieces {
            longest = longest.max(characters(&printable(&piece.text)));
            mark = mark.max(width(characters(&printable(&piece.mark)), SMALL_LETTERS));
        }
    }
    let [least, most] = RADIUS;
    let radius = (3 * longest + 2).clamp(least, most);
    let step = 2 * radius + 4 + mark;
    let pieces_left = if label > 0 { left + label + GAP } else { left };
    let mut size = Size::default();
    body.put(format_args!("<g class=\"rows\">\n"));
    for (index, row) in rows.iter().enumerate() {
        let height = if row.pieces.is_empty() { LINE_HEIGHT } else { 2 * radius + 4 };
        let middle = top + size.height + height / 2;
        begin(body, "row", [left, middle], highlights.is_changed(block, Place::Index(index)));
        size.width = size.width.max(text_line(body, "rowlabel", &row.label, [left, middle + 5]));
        let mut x = pieces_left + radius;
        for piece in &row.pieces {
            draw_piece(body, piece, [x, middle], radius);
            x += step;
        }
        size.width = size.width.max(x - radius - left);
        size.height += height;
        body.put(format_args!("</g>\n"));
    }
    body.put(format_args!("</g>\n"));
    size
}

fn draw_piece(body: &mut Markup, piece: &Piece, [x, y]: [i32; 2], radius: i32) {
    let Piece { text, tint, mark, .. } = piece;
    let class = class(*tint);
    let fill = Fill::of(*tint);
    let radius = if text.is_empty() { radius / 2 } else { radius };
    body.put(format_args!("<g class=\"piece {class}\" text-anchor=\"middle\">\n"));
    body.put(format_args!("<circle class=\"disc\"{fill} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"));
    let ink = Fill::on(*tint);
    let label = Fitted { class: "label", content: text, width: radius * 9 / 5, size: 12, size_least: 5, ink };
    body.fitted(&label, [x, y + 4]);
    let mark_width = width(characters(&printable(mark)), SMALL_LETTERS);
    let [size, size_least] = [SMALL_LETTERS; 2];
    let mark =
        Fitted { class: "mark", content: mark, width: mark_width, size, size_least, ink: Fill::default() };
    body.fitted(&mark, [x + radius + mark_width / 2, y - radius / 2]);
    body.put(format_args!("</g>\n"));
}

pub(super) fn bars(
    body: &mut Markup,
    bars: &[Bar],
    [left, top]: [i32; 2],
    block: usize,
    highlights: &Highlights,
) -> Size {
    let label = bars.iter().map(|bar| label_width(&bar.label)).max().unwrap_or_default();
    let values = bars.iter().map(|bar| width(characters(&value(bar)), LETTERS)).max().unwrap_or_default();
    let track = left + label + GAP;
    let chips = track + BAR_SIZE.width + GAP + values + GAP;
    let mut size = Size::default();
    body.put(format_args!("<g class=\"bars\">\n"));
    for (index, bar) in bars.iter().enumerate() {
        let middle = top + size.height + LINE_HEIGHT / 2;
        let class = format!("bar {}", class(bar.tint));
        begin(body, &class, [left, middle], highlights.is_changed(block, Place::Index(index)));
        text_line(body, "barlabel", &bar.label, [left, middle + 5]);
        draw_track(body, bar, [track, middle - BAR_SIZE.height / 2]);
        let x = track + BAR_SIZE.width + GAP;
        let y = middle + 5;
        let value = value(bar);
        body.put(format_args!(
            "<text class=\"value\" x=\"{x}\" y=\"{y}\" font-size=\"{LETTERS}\">{value}</text>\n"
        ));
        let drawn = draw_chips(body, &bar.chips, [chips, middle], left + BAR_WIDTH_MAX);
        size.width = size.width.max(chips - left + drawn.width);
        size.height += drawn.height.max(LINE_HEIGHT);
        body.put(format_args!("</g>\n"));
    }
    body.put(format_args!("</g>\n"));
    size
}

fn value(bar: &Bar) -> String {
    format!("{}/{}", bar.value, bar.of)
}

fn draw_track(body: &mut Markup, bar: &Bar, [x, y]: [i32; 2]) {
    let Size { width, height } = BAR_SIZE;
    let full = filled(bar, u64::from(width.unsigned_abs()));
    let color = Fill::of(bar.tint);
    for (class, color, width) in
        [("track", Fill::default(), width.to_string()), ("full", color, full.to_string())]
    {
        body.put(format_args!(
            "<rect class=\"{class}\"{color} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>\n"
        ));
    }
}

fn draw_chips(body: &mut Markup, chips: &[Chip], [left, middle]: [i32; 2], right: i32) -> Size {
    let mut x = left;
    let mut size = Size { width: 0, height: LINE_HEIGHT };
    for Chip { text, tint, .. } in chips {
        let text = printable(text);
        let wide = width(characters(&text), SMALL_LETTERS) + 10;
        if x > left && x + wide > right {
            x = left;
            size.height += LINE_HEIGHT;
        }
        let y = middle + size.height - LINE_HEIGHT;
        let class = class(*tint);
        let fill = Fill::of(*tint);
        let ink = Fill::on(*tint);
        let text = Escaped(&text);
        let top = y - 8;
        let text_left = x + 5;
        let baseline = y + 4;
        body.put(format_args!(
            "<g class=\"chip {class}\"><rect class=\"box\"{fill} x=\"{x}\" y=\"{top}\" width=\"{wide}\" height=\"16\" \
             rx=\"5\"/><text x=\"{text_left}\" y=\"{baseline}\" font-size=\"{SMALL_LETTERS}\"{ink}>{text}</text></g>\n"
        ));
        x += wide + 5;
        size.width = size.width.max(x - left);
    }
    size
}
