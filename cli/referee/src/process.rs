//! Referees that are programs of the user, in any language (RF-1). Each is asked over its standard input and output,
//! with one line of JSON for each request and answer, as `PROTOCOL.md` describes.

mod child;
mod children;
mod sources;

pub use child::{Launch, end_all};
pub(crate) use children::HELLO;
pub use sources::Referees;
