#![doc = include_str!("../TFL.md")]
//!
//! [`Replay::bless`] fills in what a script leaves out; [`check`](crate::check()) requires it.

mod file;
mod header;
pub(crate) mod in_page;
mod long;
mod read;

pub use file::{Closing, Replay, ReplayLine, ReplayOrigin, TflError};
pub(crate) use file::{FoldedLine, LogHasher};
pub use header::{Header, HeaderMark, SeenBy};
pub use in_page::{PageError, replay_bytes, replay_in};
pub(crate) use long::LongReplay;
pub(crate) use read::FIRST_WORDS;
pub use read::read;
