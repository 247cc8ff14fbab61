//! What players and spectators are sent: reports, answers to papers, and the bundle for spectators (PM-29 to PM-31).
//!
//! Every letter is a function of the logs of desk and game up to some record of the desk, and of the host's key. So a run
//! that repeats an interrupted one writes the same bytes, and no letter in the outbox is written twice.

mod answer;
mod desk;
mod error;
mod known;
mod mail;
mod occasions;
mod part;
mod prose;
mod report;
mod room;
mod spectators;
mod story;

pub use error::LetterError;
pub use room::{MailRoom, seat_bundle};
