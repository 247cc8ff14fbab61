//! Lines of play of turnfold: folded, compared, explained, checked, blessed, searched and shrunk.
#![expect(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    clippy::missing_panics_doc,
    reason = "moved out of a binary; the documentation follows"
)]

pub mod line;
pub mod position;
pub mod record;
pub mod revision;
pub mod script;
pub mod session;
pub mod sources;

pub mod eyes;
pub mod sight;

pub mod tfl;

pub mod amend;
pub mod condition;
pub mod corpus;
pub mod difference;
pub mod impact;
pub mod outcomes;
pub mod path;
pub mod shrink;
pub mod verify;

pub mod error;
pub mod limits;
pub mod text;
