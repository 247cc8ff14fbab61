//! The board as characters: flat-top hexes, two rows each.
//!
//! ```text
//! q   -1  0  1
//!     -1 __
//!   0 __/A1\__
//!    /  \__/  \
//!   1\__/b1\__/
//!    /  \<>/  \
//!    \__/##\__/
//!       \##/
//! ```
//!
//! The number at the upper left of a hex is the `r` of the row that runs from it down to the right.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anstyle::{AnsiColor, RgbColor, Style};
use turnfold_core::Hex;
use turnfold_core::picture::{Block, HexBoard, Picture, Span, TextLine, Tint};

use super::printable;

/// Boards up to this radius are drawn whole, larger ones only where something stands.
const WHOLE_RADIUS_MAX: u8 = 12;

/// How many hexes are drawn around what stands on a larger board.
const MARGIN: i32 = 2;

/// Draws a picture as lines without trailing spaces; an empty line parts the blocks.
pub(super) fn lines(picture: &Picture) -> Vec<TextLine> {
    let mut lines = Vec::new();
    for block in &picture.blocks {
        if !lines.is_empty() {
            lines.push(TextLine::default());
        }
        match block {
            Block::Hexes(board) => lines.extend(Grid::draw(board)),
            Block::Lines(text) => lines.extend(text.iter().map(clean)),
        }
    }
    lines
}

/// Chooses the color of a tint.
pub(super) fn style(tint: Tint) -> Style {
    match tint {
        Tint::Plain => Style::new(),
        Tint::Faint => Style::new().dimmed(),
        Tint::Bright => AnsiColor::Yellow.on_default().bold(),
        Tint::Blocked => AnsiColor::BrightBlack.on_default(),
        Tint::First => AnsiColor::Cyan.on_default().bold(),
        Tint::Second => AnsiColor::Red.on_default().bold(),
        Tint::Third => AnsiColor::Green.on_default().bold(),
        Tint::Fourth => AnsiColor::Magenta.on_default().bold(),
        Tint::Rgb(color) => {
            let [_, red, green, blue] = color.to_be_bytes();
            Style::new().fg_color(Some(RgbColor(red, green, blue).into()))
        }
    }
}

/// Escapes a line's control characters and cuts its trailing spaces.
fn clean(line: &TextLine) -> TextLine {
    let mut spans: Vec<Span> = Vec::new();
    for span in &line.spans {
        spans.push(Span { text: printable(&span.text).into_owned(), tint: span.tint });
    }
    while let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        spans.pop();
    }
    TextLine { spans }
}

/// The part of a board that is drawn.
struct Frame {
    q: RangeInclusive<i32>,
    /// The heights of hexes: twice `r`, and one more for each column to the right.
    height: RangeInclusive<i32>,
}

fn height(hex: Hex) -> i32 {
    2 * hex.r + hex.q
}

impl Frame {
    fn of(board: &HexBoard) -> Self {
        let radius = i32::from(board.board.radius());
        if board.board.radius() <= WHOLE_RADIUS_MAX {
            return Self { q: -radius..=radius, height: -2 * radius..=2 * radius };
        }
        let on_board = board.cells.iter().map(|cell| cell.at).filter(|&at| board.board.contains(at));
        let hexes: Vec<Hex> = on_board.collect();
        let around = |part: fn(Hex) -> i32, margin: i32, rim: i32| {
            let least = hexes.iter().map(|&at| part(at)).min().unwrap_or(0);
            let most = hexes.iter().map(|&at| part(at)).max().unwrap_or(0);
            (least - margin).max(-rim)..=(most + margin).min(rim)
        };
        Self { q: around(|at| at.q, MARGIN, radius), height: around(height, 2 * MARGIN, 2 * radius) }
    }

    fn contains(&self, hex: Hex) -> bool {
        self.q.contains(&hex.q) && self.height.contains(&height(hex))
    }
}

/// The characters of a board, with room for coordinates above and to the left.
struct Grid {
    frame: Frame,
    /// How many characters fit into a hex.
    inner: i32,
    rows: Vec<Vec<(char, Tint)>>,
}

impl Grid {
    fn draw(board: &HexBoard) -> Vec<TextLine> {
        let frame = Frame::of(board);
        let radius = i32::from(board.board.radius());
        let texts = board.cells.iter().flat_map(|cell| [&cell.label, &cell.mark]);
        // A coordinate may be one character longer than what fits into a hex.
        let longest =
            texts.map(|text| length(&printable(text))).chain([2, length(&(-radius).to_string()) - 1]).max();
        let mut grid = Self { frame, inner: longest.unwrap_or(2), rows: Vec::new() };
        grid.prepare();
        let hexes: Vec<Hex> = board.board.hexes().filter(|&hex| grid.frame.contains(hex)).collect();
        grid.coordinates(&hexes);
        for &hex in &hexes {
            grid.edges(hex);
        }
        for cell in board.cells.iter().filter(|cell| hexes.binary_search(&cell.at).is_ok()) {
            let (row, column) = grid.place(cell.at);
            grid.centre(row, column + 1, &printable(&cell.label), cell.tint);
            grid.centre(row + 1, column + 1, &printable(&cell.mark), cell.tint);
        }
        let mut lines = grid.into_lines();
        let faint = |text: String| TextLine::default().with(text, Tint::Faint);
        lines.push(faint(
            "q above its column, r at the upper left of its row, which runs down to the right".into(),
        ));
        if hexes.len() < board.board.hexes().count() {
            lines.push(faint(format!("part of a board of radius {radius}: where something stands")));
        }
        lines
    }

    fn prepare(&mut self) {
        let Frame { q, height } = &self.frame;
        let columns = (q.end() - q.start() + 2) * self.step() + 1;
        let rows = height.end() - height.start() + 4;
        let row = vec![(' ', Tint::Plain); usize::try_from(columns).unwrap_or_default()];
        self.rows = vec![row; usize::try_from(rows).unwrap_or_default()];
    }

    /// The distance of two columns of hexes.
    fn step(&self) -> i32 {
        self.inner + 1
    }

    /// Returns the row and column of a hex's upper left corner. Above the topmost is its upper edge, and above that
    /// the line of columns.
    fn place(&self, hex: Hex) -> (i32, i32) {
        (height(hex) - self.frame.height.start() + 2, (hex.q - self.frame.q.start() + 1) * self.step())
    }

    fn edges(&mut self, hex: Hex) {
        let (row, column) = self.place(hex);
        let right = column + self.step();
        for (row, column, corner) in
            [(row, column, '/'), (row, right, '\\'), (row + 1, column, '\\'), (row + 1, right, '/')]
        {
            self.set(row, column, corner, Tint::Faint);
        }
        for between in column + 1..right {
            self.set(row - 1, between, '_', Tint::Faint);
            self.set(row + 1, between, '_', Tint::Faint);
        }
    }

    fn coordinates(&mut self, hexes: &[Hex]) {
        self.write(0, 0, "q", Tint::Faint);
        let columns = self.frame.q.clone();
        let longest = length(&columns.start().to_string()).max(length(&columns.end().to_string()));
        // Where numbers would touch, only every second column has one, or every third.
        let every = longest / self.step() + 1;
        for q in columns.filter(|q| q % every == 0) {
            let (_, column) = self.place(Hex::new(q, 0));
            let text = q.to_string();
            self.write(0, column + 1 + (self.inner - length(&text) + 1).div_euclid(2), &text, Tint::Faint);
        }
        let mut first_of_row: BTreeMap<i32, Hex> = BTreeMap::new();
        for &hex in hexes {
            first_of_row.entry(hex.r).or_insert(hex);
        }
        for (r, first) in first_of_row {
            let (row, column) = self.place(Hex::new(first.q - 1, r));
            let text = r.to_string();
            self.write(row, column + self.step() - length(&text), &text, Tint::Faint);
        }
    }

    /// Writes text into the middle of a hex.
    fn centre(&mut self, row: i32, column: i32, text: &str, tint: Tint) {
        self.write(row, column + (self.inner - length(text)).div_euclid(2), text, tint);
    }

    fn write(&mut self, row: i32, column: i32, text: &str, tint: Tint) {
        for (column, character) in (column..).zip(text.chars()) {
            self.set(row, column, character, tint);
        }
    }

    fn set(&mut self, row: i32, column: i32, character: char, tint: Tint) {
        let row = usize::try_from(row).ok().and_then(|row| self.rows.get_mut(row));
        let cell = row.zip(usize::try_from(column).ok()).and_then(|(row, column)| row.get_mut(column));
        if let Some(cell) = cell {
            *cell = (character, tint);
        }
    }

    fn into_lines(self) -> Vec<TextLine> {
        let line = |row: Vec<(char, Tint)>| {
            let mut spans: Vec<Span> = Vec::new();
            for (character, tint) in row {
                match spans.last_mut().filter(|span| span.tint == tint || character == ' ') {
                    Some(span) => span.text.push(character),
                    None => spans.push(Span { text: character.into(), tint }),
                }
            }
            clean(&TextLine { spans })
        };
        self.rows.into_iter().map(line).collect()
    }
}

fn length(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use turnfold_core::Board;
    use turnfold_core::picture::Cell;

    use super::*;

    fn cell(q: i32, r: i32, label: &str, mark: &str) -> Cell {
        Cell { at: Hex::new(q, r), label: label.into(), mark: mark.into(), tint: Tint::First }
    }

    fn check(radius: u8, cells: Vec<Cell>, expected: &str) {
        let picture = Picture { blocks: vec![Block::Hexes(HexBoard { board: Board::new(radius), cells })] };
        assert_eq!(plain(&picture), expected.strip_prefix('\n').unwrap());
    }

    fn plain(picture: &Picture) -> String {
        let line = |line: TextLine| {
            line.spans.into_iter().map(|span| span.text).chain(["\n".into()]).collect::<String>()
        };
        lines(picture).into_iter().map(line).collect()
    }

    #[test]
    fn hexes_hold_a_label_and_a_mark() {
        let expected = r"
q   -1  0  1
    -1 __
  0 __/A1\__
   /  \__/  \
  1\__/b1\__/
   /  \<>/  \
   \__/##\__/
      \##/
q above its column, r at the upper left of its row, which runs down to the right
";
        let cells = vec![cell(0, -1, "A1", ""), cell(0, 0, "b1", "<>"), cell(0, 1, "##", "##")];
        check(1, cells, expected);
    }

    #[test]
    fn long_labels_widen_every_hex_and_short_marks_stand_in_the_middle() {
        let expected = r"
q     0
   0 ___
    /b10\
    \_'_/
q above its column, r at the upper left of its row, which runs down to the right
";
        check(0, vec![cell(0, 0, "b10", "'")], expected);
    }

    #[test]
    fn large_boards_are_drawn_where_something_stands() {
        let expected = r"
q     98  99 100
 -51 ___ -52 ___
    /   \___/   \
 -50\___/   \___/
    /   \___/   \
 -49\___/   \___/
    /   \___/A1 \
 -48\___/   \_^_/
    /   \___/   \
 -47\___/   \___/
    /   \___/   \
    \___/   \___/
q above its column, r at the upper left of its row, which runs down to the right
part of a board of radius 100: where something stands
";
        let cells = vec![cell(100, -50, "A1", "^"), cell(300, 0, "off", "off")];
        check(100, cells, expected);
    }

    #[test]
    fn no_line_is_wider_than_55_columns_at_radius_8() {
        let picture = Picture {
            blocks: vec![Block::Hexes(HexBoard { board: Board::new(8), cells: vec![cell(0, 0, "A1", "")] })],
        };
        let text = plain(&picture);
        let (caption, grid) =
            text.lines().collect::<Vec<_>>().split_last().map(|(last, rest)| (*last, rest.to_vec())).unwrap();
        assert!(caption.starts_with("q above"));
        assert_eq!(grid.iter().map(|line| line.chars().count()).max(), Some(55));
    }

    #[test]
    fn control_characters_are_shown_and_trailing_spaces_cut() {
        let line = TextLine::plain("a\u{1b}[31m").with("  ", Tint::Bright);
        let picture = Picture { blocks: vec![Block::Lines(vec![line, TextLine::plain(" ")])] };
        assert_eq!(plain(&picture), "a\\u{1b}[31m\n\n");
    }

    #[test]
    fn a_color_of_the_game_is_that_color() {
        let style = style(Tint::Rgb(0x12_34_56));
        assert_eq!(format!("{style}A1{style:#}"), "\u{1b}[38;2;18;52;86mA1\u{1b}[0m");
    }
}
