//! What pictures look like as characters.

use turnfold_core::picture::{
    Bar, BoardPiece, Cell, Chip, HexBoard, Piece, PieceRow, SquareCell, SquareGrid, TextLine,
};
use turnfold_core::{Board, Hex, SquareBoard};

use super::*;
use crate::drawing::place::{Place, Spot};

fn cell(q: i32, r: i32, label: &str, mark: &str) -> Cell {
    Cell { at: Hex::new(q, r), label: label.into(), mark: mark.into(), tint: Tint::First }
}

fn check(radius: u8, cells: Vec<Cell>, expected: &str) {
    let picture = Picture {
        blocks: vec![Block::Hexes(HexBoard {
            board: Board::new(radius),
            cells,
            arrows: Vec::new(),
            targets: Vec::new(),
        })],
    };
    assert_eq!(plain(&picture), expected.strip_prefix('\n').unwrap());
}

fn plain(picture: &Picture) -> String {
    highlighted(picture, &Highlights::default())
}

fn highlighted(picture: &Picture, highlights: &Highlights) -> String {
    let line = |line: DrawnLine| {
        line.spans.into_iter().map(|span| span.text).chain(["\n".into()]).collect::<String>()
    };
    lines(picture, highlights, WIDTH).into_iter().map(line).collect()
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
        blocks: vec![Block::Hexes(HexBoard {
            board: Board::new(8),
            cells: vec![cell(0, 0, "A1", "")],
            arrows: Vec::new(),
            targets: Vec::new(),
        })],
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

fn row(label: &str, pieces: &[(&str, &str)]) -> PieceRow {
    let piece = |(text, mark): &(&str, &str)| Piece {
        text: (*text).into(),
        tint: Tint::First,
        mark: (*mark).into(),
        target: String::new(),
    };
    PieceRow {
        label: TextLine::plain(label),
        pieces: pieces.iter().map(piece).collect(),
        target: String::new(),
    }
}

/// VW-34
#[test]
fn rows_of_pieces_stand_side_by_side_where_there_is_room() {
    let rows = |count: usize| {
        let block = vec![row("p1", &[]), row("1 top", &[("A1", "'"), ("", "")]), row("2", &[("A12", "")])];
        plain(&Picture { blocks: vec![Block::Rows(block); count] })
    };
    let two = "p1            p1\n1 top A1' .   1 top A1' .\n2     A12     2     A12\n";
    assert_eq!(rows(2), two);
    let rows_of_text = |count: usize| rows(count).lines().map(str::to_string).collect::<Vec<_>>();
    assert_eq!((rows_of_text(5).len(), rows_of_text(8).len()), (3, 7));
    assert_eq!(rows_of_text(8)[0], rows_of_text(4)[0], "as many below as above");
}

/// VW-34
#[test]
fn bars_fill_up_and_carry_chips() {
    let bar = |label: &str, value: u64, of: u64, chips: &[&str]| {
        let chip = |text: &&str| Chip { text: (*text).into(), tint: Tint::Bright, target: String::new() };
        let (label, chips) = (TextLine::plain(label), chips.iter().map(chip).collect());
        Bar { label, value, of, tint: Tint::First, chips, target: String::new() }
    };
    let bars = vec![
        bar("ogre hp", 5, 20, &["stun", "poison"]),
        bar("imp", 300, 100, &[]),
        bar("", 7, 0, &[]),
        bar("x", u64::MAX, u64::MAX, &[]),
    ];
    let expected = "\
ogre hp [#####...............]                    5/20                    stun  poison
imp     [####################]                  300/100
        [....................]                    7/0
x       [####################] 18446744073709551615/18446744073709551615
";
    assert_eq!(plain(&Picture { blocks: vec![Block::Bars(bars)] }), expected);
}

#[test]
fn what_changed_and_what_is_in_reach_have_signs() {
    let board = HexBoard {
        board: Board::new(1),
        cells: vec![cell(0, 0, "A1", "<>")],
        arrows: Vec::new(),
        targets: Vec::new(),
    };
    let rows = vec![row("1", &[("A1", "")]), row("2", &[("A2", "")])];
    let picture = Picture { blocks: vec![Block::Hexes(board), Block::Rows(rows)] };
    let changed = [Place::Hex(Hex::new(0, 0)), Place::Hex(Hex::new(0, 1))];
    let changed = changed.map(|place| Spot { block: 0, place });
    let row = Spot { block: 1, place: Place::Index(1) };
    let highlights = Highlights {
        changed: changed.into_iter().chain([row]).collect(),
        reach: [Hex::new(1, 0), Hex::new(0, 1)].map(|hex| Spot { block: 0, place: Place::Hex(hex) }).into(),
        keeps_width: false,
    };
    let expected = r"
q     -1  0   1
      -1 ___
   0 ___/   \___
    /   \___/   \
   1\___/A1 \___/
    /   \<>*/   \
    \___/   \_+_/
        \*+_/
q above its column, r at the upper left of its row, which runs down to the right

1 A1
2 A2  *
* changed  + named by a legal command
";
    assert_eq!(highlighted(&picture, &highlights), expected.strip_prefix('\n').unwrap());
}

/// A stepper finds what to keep in view.
#[test]
fn each_piece_of_a_line_knows_what_it_shows() {
    let board = HexBoard {
        board: Board::new(1),
        cells: vec![cell(0, 0, "A1", "")],
        arrows: Vec::new(),
        targets: Vec::new(),
    };
    let picture =
        Picture { blocks: vec![Block::Lines(vec![TextLine::plain("turn 1")]), Block::Hexes(board)] };
    let drawn = lines(&picture, &Highlights::default(), WIDTH);
    let spot = Spot { block: 1, place: Place::Hex(Hex::new(0, 0)) };
    let shown = drawn.iter().flat_map(|line| &line.spans).filter(|span| span.spot == Some(spot));
    assert_eq!(shown.map(|span| span.text.as_str()).collect::<Vec<_>>(), ["A1", "__"]);
    let inside = drawn.iter().flat_map(|line| &line.spans).filter_map(|span| span.spot);
    assert_eq!(inside.collect::<std::collections::BTreeSet<_>>().len(), 1 + 7);
}

fn squares(flipped: bool) -> Block {
    let cell = |at: &str, letter: &str, mark: &str| SquareCell {
        at: at.parse().unwrap(),
        piece: (!letter.is_empty()).then(|| BoardPiece {
            glyph: "♞".into(),
            letter: letter.into(),
            name: "knight".into(),
            tint: Tint::First,
        }),
        mark: mark.into(),
        tint: Tint::Plain,
    };
    let cells = vec![cell("a1", "N", ""), cell("c1", "k", "!"), cell("b2", "", "x"), cell("a9", "off", "")];
    Block::Grid(SquareGrid { board: SquareBoard::new(3, 2), flipped, cells, arrows: Vec::new() })
}

/// VW-36
#[test]
fn a_board_of_squares_is_seen_from_either_side() {
    let near = "  a  b  c\n2 .  .x .  2\n1 N  .  k! 1\n  a  b  c\n";
    let far = "  c  b  a\n1 k! .  N  1\n2 .  .x .  2\n  c  b  a\n";
    for (flipped, expected) in [(false, near), (true, far)] {
        assert_eq!(plain(&Picture { blocks: vec![squares(flipped)] }), expected);
    }
}

/// VW-6, VW-35
#[test]
fn squares_that_changed_or_are_in_reach_have_signs() {
    let spot = |at: &str| Spot { block: 0, place: Place::Square(at.parse().unwrap()) };
    let mut highlights = Highlights {
        changed: [spot("a1"), spot("a2")].into(),
        reach: [spot("a2"), spot("c1")].into(),
        keeps_width: false,
    };
    let picture = Picture { blocks: vec![squares(false)] };
    let expected =
        "  a  b  c\n2 .*+.x .  2\n1 N* .  k!+1\n  a  b  c\n* changed  + named by a legal command\n";
    assert_eq!(highlighted(&picture, &highlights), expected);
    highlights.keeps_width = true;
    assert_eq!(highlighted(&picture, &highlights), expected);
}
