//! Where hexes are, and their outline.

use turnfold_core::Hex;

use super::markup::Markup;

/// From the middle of a hex to its left and right corners.
pub(super) const SIZE: i32 = 20;
/// From the middle of a hex to its upper and lower edges: √3/2 of the size, rounded.
pub(super) const HALF_HEIGHT: i32 = 17;

pub(super) fn middle(hex: Hex) -> [i32; 2] {
    [hex.q * SIZE * 3 / 2, (2 * hex.r + hex.q) * HALF_HEIGHT]
}

/// Adds the outline of a hex to a path.
pub(super) fn outline(body: &mut Markup, hex: Hex) {
    let [x, y] = middle(hex);
    let half = SIZE / 2;
    let corner = x - SIZE;
    body.put(format_args!(
        "M{corner},{y}l{half},-{HALF_HEIGHT}h{SIZE}l{half},{HALF_HEIGHT}l-{half},{HALF_HEIGHT}h-{SIZE}z"
    ));
}
