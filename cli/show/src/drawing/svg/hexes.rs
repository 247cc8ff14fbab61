//! The geometry of hexes and of the arrows over them.

use turnfold_core::Hex;
use turnfold_core::picture::Arrow;

use super::markup::{Fill, Markup, class};

/// The distance from the middle of a hex to its left and right corners.
pub(super) const SIZE: i32 = 20;
/// The distance from the middle of a hex to its upper and lower edges: √3/2 of the size, rounded.
pub(super) const HALF_HEIGHT: i32 = 17;

pub(super) fn middle(hex: Hex) -> [i32; 2] {
    [hex.q * SIZE * 3 / 2, (2 * hex.r + hex.q) * HALF_HEIGHT]
}

pub(super) fn outline(body: &mut Markup, hex: Hex) {
    let [x, y] = middle(hex);
    let half = SIZE / 2;
    let corner = x - SIZE;
    body.put(format_args!(
        "M{corner},{y}l{half},-{HALF_HEIGHT}h{SIZE}l{half},{HALF_HEIGHT}l-{half},{HALF_HEIGHT}h-{SIZE}z"
    ));
}

/// The distance from the middle of a hex at which arrows begin and end, so that they do not hide its content.
const START: i32 = 12;
const END: i32 = 9;
/// The length of an arrow head along the arrow, and half its width.
const HEAD: [i32; 2] = [7, 5];

pub(super) fn draw_arrows<P: Copy>(
    body: &mut Markup,
    arrows: &[Arrow<P>],
    middle: impl Fn(P) -> [i32; 2],
    is_changed: bool,
) {
    if arrows.is_empty() {
        return;
    }
    let changed = if is_changed { " changed" } else { "" };
    body.put(format_args!("<g class=\"arrows{changed}\">\n"));
    for arrow in arrows {
        let points: Vec<[i32; 2]> = arrow.path.iter().copied().map(&middle).collect();
        if let [first, between @ .., last] = points.as_slice() {
            let class = class(arrow.tint);
            let stroke = Fill::of(arrow.tint).stroke();
            body.put(format_args!("<path class=\"arrow {class}\"{stroke} d=\""));
            path(body, *first, between, *last);
            body.put(format_args!("\"/>\n"));
        }
    }
    body.put(format_args!("</g>\n"));
}

fn path(body: &mut Markup, first: [i32; 2], between: &[[i32; 2]], last: [i32; 2]) {
    let second = between.first().copied().unwrap_or(last);
    let before = between.last().copied().unwrap_or(first);
    let [x, y] = toward(first, second, START);
    body.put(format_args!("M{x},{y}"));
    for [x, y] in between {
        body.put(format_args!("L{x},{y}"));
    }
    let [x, y] = toward(last, before, END);
    let [along, aside] = HEAD;
    let [back_x, back_y] = toward([x, y], before, along);
    let [last_x, last_y] = last;
    let [before_x, before_y] = before;
    let [side_x, side_y] = toward([0, 0], [last_y - before_y, before_x - last_x], aside);
    let [left_x, left_y, right_x, right_y] =
        [back_x + side_x, back_y + side_y, back_x - side_x, back_y - side_y];
    body.put(format_args!("L{x},{y}M{left_x},{left_y}L{x},{y}L{right_x},{right_y}"));
}

fn toward([x, y]: [i32; 2], [other_x, other_y]: [i32; 2], length: i32) -> [i32; 2] {
    let dx = other_x - x;
    let dy = other_y - y;
    let distance = (dx * dx + dy * dy).isqrt().max(1);
    [x + dx * length / distance, y + dy * length / distance]
}
