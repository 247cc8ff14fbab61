//! The board as SVG: one document without scripts, fonts or anything else from outside, in whole numbers.

use std::fmt::Write;

use turnfold_core::Hex;
use turnfold_core::picture::{Block, Cell, HexBoard, Picture, TextLine, Tint};

/// From the middle of a hex to its left and right corners.
const SIZE: i32 = 20;
/// From the middle of a hex to its upper and lower edges: √3/2 of the size, rounded.
const HALF_HEIGHT: i32 = 17;
const PADDING: i32 = 10;
const LINE_HEIGHT: i32 = 18;
/// The width of a character of a line, at least.
const CHARACTER_WIDTH: i32 = 9;
/// Boards up to this radius tell the coordinates of every hex, larger ones only where something stands.
const COORDINATES_RADIUS_MAX: u8 = 12;

/// Draws a picture as an SVG document.
pub(crate) fn svg(picture: &Picture) -> String {
    let mut body = String::new();
    let (mut width, mut top) = (0, PADDING);
    for block in &picture.blocks {
        let (block_width, block_height) = match block {
            Block::Hexes(board) => draw_board(&mut body, board, top),
            Block::Lines(lines) => draw_lines(&mut body, lines, top),
        };
        width = width.max(block_width);
        top += block_height + PADDING;
    }
    let (width, height) = (width + 2 * PADDING, top);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

/// Draws lines of text below `top` and gives their width and height.
fn draw_lines(body: &mut String, lines: &[TextLine], top: i32) -> (i32, i32) {
    let (mut width, mut height) = (0, 0);
    for line in lines {
        height += LINE_HEIGHT;
        let spans = line.spans.iter().map(|span| (escape(&span.text), span));
        let mut text = String::new();
        for (escaped, span) in spans.filter(|(escaped, _)| !escaped.is_empty()) {
            put(&mut text, format_args!("<tspan fill=\"{}\">{escaped}</tspan>", ink(span.tint)));
        }
        let baseline = top + height - 5;
        put(
            body,
            format_args!(
                "<text x=\"{PADDING}\" y=\"{baseline}\" font-size=\"14\" xml:space=\"preserve\">{text}</text>\n"
            ),
        );
        let characters: usize = line.spans.iter().map(|span| span.text.chars().count()).sum();
        width = width
            .max(i32::try_from(characters).unwrap_or(i32::MAX / 64).min(i32::MAX / 64) * CHARACTER_WIDTH);
    }
    (width, height)
}

/// Draws a board below `top` and gives its width and height.
fn draw_board(body: &mut String, board: &HexBoard, top: i32) -> (i32, i32) {
    let radius = i32::from(board.board.radius());
    let half_width = radius * SIZE * 3 / 2 + SIZE;
    let half_height = (2 * radius + 1) * HALF_HEIGHT;
    put(
        body,
        format_args!(
            "<g transform=\"translate({} {})\" text-anchor=\"middle\">\n",
            PADDING + half_width,
            top + half_height
        ),
    );
    body.push_str("<path fill=\"#fbfaf7\" stroke=\"#b8b4aa\" d=\"");
    for hex in board.board.hexes() {
        outline(body, hex);
    }
    body.push_str("\"/>\n");
    let cells = || board.cells.iter().filter(|cell| board.board.contains(cell.at));
    cells().for_each(|cell| draw_cell(body, cell));
    let is_large = board.board.radius() > COORDINATES_RADIUS_MAX;
    let all = board.board.hexes().filter(|_| !is_large);
    for hex in all.chain(cells().map(|cell| cell.at).filter(|_| is_large)) {
        let (x, y) = middle(hex);
        put(
            body,
            format_args!("<text x=\"{x}\" y=\"{}\" font-size=\"6\" fill=\"#8a867c\">{hex}</text>\n", y + 15),
        );
    }
    body.push_str("</g>\n");
    (2 * half_width, 2 * half_height)
}

fn draw_cell(body: &mut String, cell: &Cell) {
    let Colors { fill, stroke, text } = Colors::of(cell.tint);
    put(body, format_args!("<path fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"2\" d=\""));
    outline(body, cell.at);
    body.push_str("\"/>\n");
    let (x, y) = middle(cell.at);
    for (content, y, size) in [(&cell.label, y - 1, 12), (&cell.mark, y + 9, 9)] {
        let content = escape(content);
        if !content.is_empty() {
            let weight = if size == 12 { " font-weight=\"bold\"" } else { "" };
            put(
                body,
                format_args!(
                    "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight} fill=\"{text}\">{content}</text>\n"
                ),
            );
        }
    }
}

fn middle(hex: Hex) -> (i32, i32) {
    (hex.q * SIZE * 3 / 2, (2 * hex.r + hex.q) * HALF_HEIGHT)
}

/// Adds the outline of a hex to a path.
fn outline(body: &mut String, hex: Hex) {
    let (x, y) = middle(hex);
    let half = SIZE / 2;
    let corner = x - SIZE;
    put(
        body,
        format_args!(
            "M{corner},{y}l{half},-{HALF_HEIGHT}h{SIZE}l{half},{HALF_HEIGHT}l-{half},{HALF_HEIGHT}h-{SIZE}z"
        ),
    );
}

/// The colors of a tint, as `#rrggbb`.
struct Colors {
    fill: String,
    stroke: String,
    text: String,
}

impl Colors {
    fn of(tint: Tint) -> Self {
        let [fill, stroke, text] = match tint {
            Tint::Plain => ["#ffffff", "#6f6b62", "#222222"],
            Tint::Faint => ["#f3f1ec", "#b8b4aa", "#777267"],
            Tint::Bright => ["#fff3bf", "#c98a00", "#8a5a00"],
            Tint::Blocked => ["#8d8a83", "#5f5c56", "#2b2925"],
            Tint::First => ["#d3e5ff", "#2b62b8", "#1c4488"],
            Tint::Second => ["#ffdcd3", "#b83a2b", "#8a2418"],
            Tint::Third => ["#d8f2d5", "#2f8a3a", "#1d5f26"],
            Tint::Fourth => ["#efdcf7", "#8339a8", "#5f237d"],
            Tint::Rgb(color) => return Self::rgb(color),
        };
        Self { fill: fill.into(), stroke: stroke.into(), text: text.into() }
    }

    /// Fills a hex with the color and writes on it in black or white, whichever is easier to read.
    fn rgb(color: u32) -> Self {
        let [_, red, green, blue] = color.to_be_bytes().map(u32::from);
        let is_dark = red * 299 + green * 587 + blue * 114 < 128_000;
        let fill = ink(Tint::Rgb(color));
        Self { stroke: "#6f6b62".into(), text: if is_dark { "#ffffff" } else { "#222222" }.into(), fill }
    }
}

/// Returns the color of text on white ground.
fn ink(tint: Tint) -> String {
    match tint {
        Tint::Rgb(color) => format!("#{:06x}", color & 0x00ff_ffff),
        _ => Colors::of(tint).text,
    }
}

/// Escapes text for XML and drops what XML cannot hold.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text
        .chars()
        .filter(|character| !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}'))
    {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use turnfold_core::Board;

    use super::*;

    #[test]
    fn a_board_and_its_legend_are_one_document() {
        let cell =
            |at: Hex, label: &str| Cell { at, label: label.into(), mark: "<>".into(), tint: Tint::First };
        let cells = vec![cell(Hex::new(0, 0), "A&\u{7}1"), cell(Hex::new(9, 9), "off")];
        let legend = TextLine::plain("it's \u{1b}[1m").with("\"b\"", Tint::Rgb(0xff_00_00_07));
        let board = HexBoard { board: Board::new(0), cells };
        let picture = Picture { blocks: vec![Block::Hexes(board), Block::Lines(vec![legend])] };
        let expected = r##"<svg xmlns="http://www.w3.org/2000/svg" width="128" height="82" viewBox="0 0 128 82" font-family="monospace">
<rect width="128" height="82" fill="#ffffff"/>
<g transform="translate(30 27)" text-anchor="middle">
<path fill="#fbfaf7" stroke="#b8b4aa" d="M-20,0l10,-17h20l10,17l-10,17h-20z"/>
<path fill="#d3e5ff" stroke="#2b62b8" stroke-width="2" d="M-20,0l10,-17h20l10,17l-10,17h-20z"/>
<text x="0" y="-1" font-size="12" font-weight="bold" fill="#1c4488">A&amp;1</text>
<text x="0" y="9" font-size="9" fill="#1c4488">&lt;&gt;</text>
<text x="0" y="15" font-size="6" fill="#8a867c">0,0</text>
</g>
<text x="10" y="67" font-size="14" xml:space="preserve"><tspan fill="#222222">it&apos;s [1m</tspan><tspan fill="#000007">&quot;b&quot;</tspan></text>
</svg>
"##;
        assert_eq!(svg(&picture), expected);
    }

    #[test]
    fn the_size_follows_from_the_board() {
        for (radius, size) in [(0, "60 54"), (1, "120 122"), (8, "540 598")] {
            let board = HexBoard { board: Board::new(radius), cells: Vec::new() };
            let document = svg(&Picture { blocks: vec![Block::Hexes(board)] });
            assert!(document.contains(&format!("viewBox=\"0 0 {size}\"")), "{document}");
        }
    }
}
