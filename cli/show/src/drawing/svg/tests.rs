//! What pictures look like as SVG.

use turnfold_core::picture::{
    Arrow, Bar, BoardPiece, Cell, Chip, HexBoard, Piece, PieceRow, SquareCell, SquareGrid, TextLine, Tint,
};
use turnfold_core::{Board, Hex, Square, SquareBoard};

use super::*;
use crate::drawing::place::{Place, Spot};

fn cell(at: Hex, label: &str, tint: Tint) -> Cell {
    Cell { at, label: label.into(), mark: "<>".into(), tint }
}

fn board(radius: u8, cells: Vec<Cell>, arrows: Vec<Arrow>) -> Block {
    Block::Hexes(HexBoard { board: Board::new(radius), cells, arrows, targets: Vec::new() })
}

fn body(picture: &Picture, highlights: &Highlights) -> String {
    let svg = element(picture, highlights);
    let (_, body) = svg.split_once("/>\n").unwrap();
    body.strip_suffix("</svg>\n").unwrap().into()
}

#[test]
fn a_cell_is_a_group_with_its_hex_texts_and_coordinates() {
    let cells = vec![cell(Hex::new(0, 0), "A&\u{7}1", Tint::First), cell(Hex::new(9, 9), "off", Tint::Plain)];
    let expected = "\
<g class=\"board\" transform=\"translate(52 46) scale(2.00)\" text-anchor=\"middle\">
<path class=\"ground\" d=\"M-20,0l10,-17h20l10,17l-10,17h-20z\"/>
<g class=\"cell first\" data-at=\"0,0\">
<path class=\"hex\" d=\"M-20,0l10,-17h20l10,17l-10,17h-20z\"/>
<text class=\"label\" x=\"0\" y=\"-2\" font-size=\"5\">A&amp;\\u{7}1</text>
<text class=\"mark\" x=\"0\" y=\"6\" font-size=\"9\">&lt;&gt;</text>
<text class=\"at\" x=\"0\" y=\"12\" font-size=\"7\">0,0</text>
</g>
</g>
";
    let picture = Picture { blocks: vec![board(0, cells, Vec::new())] };
    assert_eq!(body(&picture, &Highlights::default()), expected);
}

#[test]
fn text_on_a_color_of_the_game_is_black_or_white() {
    let legend = TextLine::plain("it's ").with("\"b\"", Tint::Rgb(0xff_00_00_07));
    let cells = vec![cell(Hex::new(0, 0), "A", Tint::Rgb(0xff_ff_00))];
    let svg = body(
        &Picture { blocks: vec![board(0, cells, Vec::new()), Block::Lines(vec![legend])] },
        &Highlights::default(),
    );
    for expected in [
        "<path class=\"hex\" fill=\"#ffff00\" ",
        "font-size=\"12\" fill=\"#000000\">A</text>",
        "<rect class=\"swatch\" fill=\"#000007\" x=\"55\" ",
        "<tspan class=\"span plain\" x=\"12\">it&apos;s </tspan>\
         <tspan class=\"span rgb\" fill=\"#ffffff\" x=\"57\">&quot;b&quot;</tspan>",
    ] {
        assert!(svg.contains(expected), "{expected} is not in {svg}");
    }
}

#[test]
fn rows_bars_and_arrows_are_drawn() {
    let piece = |text: &str, mark: &str| Piece {
        text: text.into(),
        tint: Tint::Third,
        mark: mark.into(),
        target: String::new(),
    };
    let rows = vec![PieceRow {
        label: TextLine::plain("top"),
        pieces: vec![piece("A1", "+"), piece("", "")],
        target: String::new(),
    }];
    let chips = vec![Chip { text: "stun".into(), tint: Tint::Bright, target: String::new() }];
    let bars = vec![Bar {
        label: TextLine::plain("hp"),
        value: 5,
        of: 20,
        tint: Tint::First,
        chips,
        target: String::new(),
    }];
    let arrow = Arrow { tint: Tint::Second, path: vec![Hex::new(0, 0), Hex::new(0, -1)] };
    let blocks = vec![board(1, Vec::new(), vec![arrow]), Block::Rows(rows), Block::Bars(bars)];
    let svg = body(&Picture { blocks }, &Highlights::default());
    for expected in [
        "<g class=\"arrows\">\n<path class=\"arrow second\" d=\"M0,-12L0,-25M-5,-18L0,-25L5,-18\"/>\n</g>",
        "<g class=\"row\">\n<text class=\"rowlabel\"",
        "<g class=\"piece third\" text-anchor=\"middle\">\n<circle class=\"disc\" ",
        ">A1</text>\n<text class=\"mark\"",
        "<g class=\"bar first\">\n<text class=\"barlabel\"",
        "<rect class=\"full\" x=\"39\" y=\"278\" width=\"40\" ",
        ">5/20</text>",
        "<g class=\"chip bright\"><rect class=\"box\" ",
    ] {
        assert!(svg.contains(expected), "{expected} is not in {svg}");
    }
}

#[test]
fn what_is_highlighted_has_a_class_and_a_shape() {
    let blocks = vec![board(1, vec![cell(Hex::new(0, 0), "A", Tint::First)], Vec::new())];
    let spot = |q: i32| Spot { block: 0, place: Place::Hex(Hex::new(q, 0)) };
    let highlights =
        Highlights { changed: [spot(0), spot(1)].into(), reach: [spot(0)].into(), ..Highlights::default() };
    let svg = body(&Picture { blocks }, &highlights);
    for expected in [
        "<g class=\"cell first changed reach\" data-at=\"0,0\">",
        "<g class=\"cell plain changed\" data-at=\"1,0\">",
        "<path class=\"corner\" ",
        "<path class=\"inner\" ",
    ] {
        assert!(svg.contains(expected), "{expected} is not in {svg}");
    }
}

/// VW-36
#[test]
fn a_square_has_its_shade_its_piece_and_an_outline_around_it() {
    let at = |text: &str| text.parse::<Square>().unwrap();
    let piece = BoardPiece {
        glyph: "♔".into(),
        letter: "K".into(),
        name: "king".into(),
        tint: Tint::Rgb(0xff_ff_ff),
    };
    let cell = SquareCell { at: at("b1"), piece: Some(piece), mark: "+".into(), tint: Tint::Bright };
    let arrows = vec![Arrow { tint: Tint::First, path: vec![at("a1"), at("b2")] }];
    for (flipped, x, y, arrow) in [
        (false, 20, 20, "M-12,12L14,-14M7,-13L14,-14L13,-7"),
        (true, -20, -20, "M12,-12L-14,14M-7,13L-14,14L-13,7"),
    ] {
        let grid = SquareGrid {
            board: SquareBoard::new(2, 2),
            flipped,
            cells: vec![cell.clone()],
            arrows: arrows.clone(),
        };
        let spot = |text: &str| Spot { block: 0, place: Place::Square(at(text)) };
        let highlights =
            Highlights { changed: [spot("b1")].into(), reach: [spot("a2")].into(), ..Highlights::default() };
        let svg = body(&Picture { blocks: vec![Block::Grid(grid)] }, &highlights);
        for expected in [
            "<g class=\"cell bright light changed\" data-at=\"b1\">".into(),
            "<g class=\"cell plain dark\" data-at=\"a1\">".into(),
            "<g class=\"cell plain light reach\" data-at=\"a2\">".into(),
            format!(
                "<g class=\"figure rgb\" stroke=\"#000000\">\n<text class=\"glyph\" x=\"{x}\" y=\"{}\" \
                 font-size=\"32\" fill=\"#ffffff\">♔</text>\n</g>",
                y + 11
            ),
            format!("<text class=\"mark\" x=\"{}\" y=\"{}\" font-size=\"9\">+</text>", x + 14, y + 17),
            format!("<text class=\"at\" x=\"{x}\" y=\"53\" font-size=\"11\">b</text>"),
            format!("<path class=\"arrow first\" d=\"{arrow}\"/>"),
        ] {
            assert!(svg.contains(&expected), "{expected} is not in {svg}");
        }
    }
}

#[test]
fn the_size_follows_from_the_board() {
    for (radius, size) in [(0, "104 92"), (1, "224 228"), (5, "534 585"), (8, "544 602")] {
        let document = document(
            &Picture { blocks: vec![board(radius, Vec::new(), Vec::new())] },
            &Highlights::default(),
        );
        assert!(document.contains(&format!("viewBox=\"0 0 {size}\"")), "{document}");
    }
}

/// VW-22: a document has colors for light and dark, an element takes the colors of its page.
#[test]
fn only_a_document_brings_colors_along() {
    let picture = Picture { blocks: vec![board(1, Vec::new(), Vec::new())] };
    let document = document(&picture, &Highlights::default());
    assert!(document.contains("@media (prefers-color-scheme:dark)"), "{document}");
    let element = element(&picture, &Highlights::default());
    assert!(!element.contains("<style"), "{element}");
}

/// VW-31: no label is wider than its hex or disc, as letters of one width are.
#[test]
fn every_label_stays_within_its_hex_or_disc() {
    for count in [1, 2, 3, 4, 5, 8, 9, 20, 500] {
        let text = "W".repeat(count);
        let mark = "M".repeat(count);
        let cells = vec![Cell { at: Hex::new(0, 0), label: text.clone(), mark, tint: Tint::First }];
        let piece = Piece { text, tint: Tint::First, mark: String::new(), target: String::new() };
        let rows = vec![PieceRow { label: TextLine::default(), pieces: vec![piece], target: String::new() }];
        let svg = body(
            &Picture { blocks: vec![board(0, cells, Vec::new()), Block::Rows(rows)] },
            &Highlights::default(),
        );
        let radius = number(&svg, " r=\"");
        let texts = svg.split("<text class=\"").skip(1).filter(|text| !text.starts_with("at"));
        let widths: Vec<i32> = texts.filter_map(text_width).collect();
        assert!(
            matches!(widths.as_slice(), [..=28, ..=29, in_disc] if *in_disc <= 2 * radius - 2),
            "{count}: {widths:?}"
        );
    }
}

/// Estimates how wide a text is; `None` for one that is empty.
fn text_width(text: &str) -> Option<i32> {
    let (attributes, rest) = text.split_once('>')?;
    let (content, _) = rest.split_once('<')?;
    let count = i32::try_from(content.chars().count()).ok().filter(|count| *count > 0)?;
    let letters = || count * number(attributes, "font-size=\"") * 3 / 5;
    Some(if attributes.contains("textLength") { number(attributes, "textLength=\"") } else { letters() })
}

fn number(text: &str, before: &str) -> i32 {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split('"').next().unwrap().parse().unwrap()
}
