//! The errors of stores.

mod context;
mod kind;
mod store;
pub(crate) mod text;

pub(crate) use context::Placed;
pub use kind::ErrorKind;
pub use store::StoreError;
