//! Modules that are what they should not be, and the laws that find it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod differential;
mod form;
mod hostile;
mod packed;
mod pipes;
mod toy;
