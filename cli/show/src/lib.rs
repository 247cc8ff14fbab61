//! What people see of matches, as values: nothing here prints.
//!
//! [`render`] is what verbs and the service print, [`drawing`] draws boards as text and SVG, and [`page`] writes one HTML file
//! of a match, of frames that say what each entry changed. [`try_out`] plays commands on what a viewer knows, and shows the
//! same frames.

pub mod drawing;
pub mod page;
pub mod render;
mod trial;

pub use page::frames::{Frame, FrameDocument, FrameLimits, FramePicture, PictureChange, Shown};
pub use page::{Page, ShowError};
pub use trial::{Trial, try_out};
