//! Golden logs: a match as a readable text file, with the outcome of every entry.
//!
//! ```text
//! turnfold replay 1
//! +++
//! ruleset = "initiative"
//! version = 1
//! dice = "recorded"
//! title = "a roll and a move"
//! [setup]
//! radius = 3
//! +++
//! # a comment
//! 1 host roll 6 5 2 1 => rolled p1=11 p2=3; … #9c41d2aa01b3c4d5
//! ! p1 stand => rejected not_your_turn
//! = 1 state <64 hex digits> log <64 hex digits>
//! ```
//!
//! An entry is `SEQ SEAT COMMAND`, then ` => ` and its outcome, then ` #` and the first 16 digits of the state
//! hash after it. A line that begins with `!` is an attempt: at this point the command is not accepted. It is no
//! entry. The closing line holds the number of entries, the state hash after the last, and the log digest: plain
//! blake3 over the entry lines, each with its outcome, hash and line feed, so that `grep '^[0-9]' FILE | b3sum`
//! finds it again (as long as no line of the header begins with a digit). Outcomes, hashes and the closing line may
//! be missing: [`bless`](crate::bless::bless) fills them in, [`check`](crate::check()) demands them.

mod error;
mod file;
mod fold;
mod header;
mod lines;
mod read;
mod setup;
mod write;

pub use error::TflError;
pub use file::{Closing, Replay, ReplayLine};
pub(crate) use fold::Witness;
pub use header::Header;
pub use read::{read, read_any_version};
pub(crate) use write::LogHasher;
