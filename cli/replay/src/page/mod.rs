//! One HTML file that shows a game in any browser: no server, no network, no build step (VW-3, VW-24).
//!
//! [`Page`] is composed of frames of one viewer, for the host also of the replay file that [`replay_in`] reads back.
//! The script and style of a page are `viewer.js` and `viewer.css`.

mod compose;
mod embedded;
pub mod frames;
mod html;

pub use compose::{PAGE_BYTES_MAX, Page, SCRIPT, STYLES};
pub use embedded::{PageError, replay_bytes, replay_in};
