//! One HTML file that shows a game in any browser: no server, no network, no build step (VW-3, VW-24).
//!
//! [`Page`] is composed of frames of one viewer, for the host also of the replay file that [`replay_in`] reads back.
//!
//! [`replay_in`]: turnfold_history::tfl::replay_in
//!
//! The script of a page is in `script/`, its style in `viewer.css`.

mod compose;
pub mod frames;
mod html;
mod script;

pub use compose::{PAGE_BYTES_MAX, Page, STYLES, ShowError};
pub use script::{SCRIPT, join};
