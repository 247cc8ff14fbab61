#![doc = include_str!("../TFL.md")]
//!
//! [`Replay::bless`] fills in what a script leaves out; [`check`](crate::check()) requires it.

mod canonical;
mod file;
mod fold;
mod header;
pub(crate) mod in_page;
mod lines;
mod long;
mod read;
mod setup;
mod write;

pub use canonical::HeaderMark;
pub use file::{Closing, Replay, ReplayLine, TflError};
pub(crate) use fold::FoldObserver;
pub use header::{Header, SeenBy};
pub use in_page::{PageError, replay_bytes, replay_in};
pub(crate) use long::LongReplay;
pub(crate) use read::FIRST_WORDS;
pub use read::read;
pub(crate) use write::LogHasher;
pub use write::ReplayOrigin;
