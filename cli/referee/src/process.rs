//! Referees: rules that a program of the user's knows, in any language (RF-1). It is asked over its standard input and
//! output, one line of JSON for each request and answer, as `PROTOCOL.md` describes.

mod answers;
mod child;
mod command;
mod fold;
mod hello;
mod json;
mod recorded;
mod recording;
mod referee;
mod rules;
mod second;
mod setup;
mod sources;
mod state;
mod step;

pub use child::{Launch, end_all};
pub use recording::{Recording, RecordingBranch};
pub use sources::Referees;
