//! Pictures of the golden logs as SVG: the positions of their parts (VW-31, VW-34).

use std::fs;

use turnfold_core::picture::Picture;
use turnfold_history::{History, SeatHistory, Viewer, tfl};
use turnfold_show::drawing::{Highlights, svg};

use turnfold_tests::goldens::goldens;

/// A text and its estimated box: the width of a letter is three fifths of its height.
struct TextBox {
    text: String,
    /// Left, top, right and bottom, in tenths.
    edges: [i32; 4],
}

impl TextBox {
    fn overlaps(&self, other: &Self) -> bool {
        let [[left, top, right, bottom], other] = [self.edges, other.edges];
        left < other[2] && other[0] < right && top < other[3] && other[1] < bottom
    }
}

/// Returns the pictures of a golden log as p1 sees it, half-way and at its end.
fn pictures(file: &std::path::Path) -> Vec<Picture> {
    let name = file.display().to_string();
    let replay = tfl::read(&name, &fs::read(file).unwrap(), &turnfold_games::standard()).unwrap();
    let seat_history =
        SeatHistory::of("p1".parse::<Viewer>().unwrap(), History::of_replay(file, &replay).unwrap()).unwrap();
    let mut all = Vec::new();
    seat_history.fold(&mut |seen| all.push(seen.picture())).unwrap();
    let half = all.len() / 2;
    let end = seat_history.viewer().picture(seat_history.state().unwrap().as_ref());
    all.into_iter().skip(half).take(1).chain([end]).collect()
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn number(element: &str, name: &str) -> i32 {
    attribute(element, name).unwrap_or_else(|| panic!("no {name} in {element}")).parse().unwrap()
}

/// Returns the text of an element without tags, with one character for each escape.
fn content(element: &str) -> String {
    let mut text = String::new();
    for piece in element.split('<') {
        text.push_str(piece.split_once('>').map_or("", |(_, text)| text));
    }
    ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;"].iter().fold(text, |text, escape| text.replace(escape, "?"))
}

/// Returns the boxes of all texts in a picture. Texts on a board are in a group that is moved and scaled.
fn text_boxes(svg: &str) -> Vec<TextBox> {
    let (mut boxes, mut is_middle, mut depth) = (Vec::new(), Vec::new(), 0);
    let (mut moved, mut hundredths) = ([0, 0], 100);
    for line in svg.lines() {
        if line.starts_with("<g ") && !line.ends_with("</g>") {
            depth += 1;
            is_middle.push(is_middle.last() == Some(&true) || line.contains("text-anchor=\"middle\""));
            if let Some(to) = attribute(line, "transform") {
                let numbers: Vec<&str> = to.split(['(', ' ', ')']).collect();
                let [_, x, y, "", "scale", scale, ""] = numbers.as_slice() else { panic!("{to}") };
                moved = [x, y].map(|number| number.parse::<i32>().unwrap());
                hundredths = scale.replace('.', "").parse().unwrap();
            }
        } else if line == "</g>" {
            depth -= 1;
            is_middle.pop();
        }
        if depth == 0 {
            (moved, hundredths) = ([0, 0], 100);
        }
        for element in line.split("<text ").skip(1) {
            let element = format!(" {}", element.split("</text>").next().unwrap());
            let [x, y, size] = ["x", "y", "font-size"].map(|name| number(&element, name));
            let text = content(&format!("<text{element}"));
            let letters = i32::try_from(text.trim_end().chars().count()).unwrap();
            let width = attribute(&element, "textLength")
                .map_or(letters * size * 6, |width| width.parse::<i32>().unwrap() * 10);
            let left = x * 10 - if is_middle.last() == Some(&true) { width / 2 } else { 0 };
            let edges = [left, y * 10 - size * 7, left + width, y * 10].map(|edge| edge * hundredths / 100);
            let [left, top, right, bottom] = edges;
            let [x, y] = moved.map(|by| by * 10);
            boxes.push(TextBox { text, edges: [left + x, top + y, right + x, bottom + y] });
        }
    }
    boxes
}

#[test]
fn texts_neither_overlap_nor_leave_the_picture() {
    for file in goldens() {
        for picture in pictures(&file) {
            let svg = svg::document(&picture, &Highlights::default());
            let root = svg.lines().next().unwrap();
            let [width, height] = ["width", "height"].map(|name| number(root, name) * 10);
            let boxes = text_boxes(&svg);
            assert!(!boxes.is_empty(), "{}", file.display());
            for (index, text) in boxes.iter().enumerate() {
                let [left, top, right, bottom] = text.edges;
                assert!(
                    left >= 0 && top >= 0 && right <= width && bottom <= height,
                    "{}: `{}`",
                    file.display(),
                    text.text
                );
                let clash = boxes.iter().skip(index + 1).find(|other| text.overlaps(other));
                assert!(
                    clash.is_none(),
                    "{}: `{}` and `{}`",
                    file.display(),
                    text.text,
                    clash.map_or("", |other| other.text.as_str())
                );
            }
        }
    }
}

/// VW-31: labels stay within their hexes and discs, whatever their length.
#[test]
fn labels_stay_within_their_hexes_and_discs() {
    for file in goldens() {
        for picture in pictures(&file) {
            let svg = svg::document(&picture, &Highlights::default());
            let mut room = 0;
            for line in svg.lines() {
                if line.starts_with("<path class=\"hex\"") {
                    room = 28;
                } else if line.starts_with("<circle") {
                    room = 2 * number(line, "r") - 2;
                } else if line.starts_with("<text class=\"label\"") {
                    let letters = i32::try_from(content(line).chars().count()).unwrap();
                    let width = attribute(line, "textLength")
                        .map_or(letters * number(line, "font-size") * 3 / 5, |width| width.parse().unwrap());
                    assert!(width <= room, "{}: {line}", file.display());
                }
            }
        }
    }
}
