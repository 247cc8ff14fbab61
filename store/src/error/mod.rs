//! What can go wrong.

mod context;
mod kind;
mod store;
pub(crate) mod text;

pub use kind::ErrorKind;
pub use store::{NEXT_STEP, NEXT_STEP_IN_DATABASE, NEXT_STEP_WHEN_FULL, NEXT_STEP_WHEN_STOPPED, StoreError};
