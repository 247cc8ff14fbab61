//! What a player writes: papers, made of the bundle that a letter brought and of what the key remembers (PM-28).
//!
//! A bundle is audited before anything of it is believed, and nothing is written on any FAIL. What was accepted and
//! written is remembered next to the key before a paper is given out: a bundle that takes something back is refused next
//! time, no number is used twice, and a sealed order is kept until it is sent.

mod delivery;
mod kept;
mod trial;
mod turn;
mod write;

pub use write::{PaperRequest, PaperWords, WrittenPaper, write_paper};
