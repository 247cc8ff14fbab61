//! What people see of matches, as values; nothing in this crate prints.
//!
//! [`render`] has the output of verbs and of the service, [`drawing`] draws boards as text and SVG, and [`page`] writes a match
//! as one HTML file, made of frames that hold what each entry changed. [`try_out`] plays commands on what a viewer knows, and
//! returns the same frames.

pub mod drawing;
pub mod page;
pub mod render;
mod trial;

pub use page::frames::{Frame, FrameDocument, FrameLimits, FramePicture, PictureChange, Shown};
pub use page::{Page, ShowError};
pub use trial::{Trial, try_out};
