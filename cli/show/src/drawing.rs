//! Draws pictures: as characters for a terminal, as SVG for a file or a page.
//!
//! The input is the [`Picture`](turnfold_core::picture::Picture) of one viewer; the drawing knows no rules. The colors of SVG
//! and page are in one file, `page/colors.css`.

pub mod colors;
pub mod place;
pub mod svg;
pub mod text;

pub use colors::{Ink, Scheme};
pub use place::{Highlights, Place, Spot, target_spots};
pub use text::{DrawnLine, DrawnSpan};
