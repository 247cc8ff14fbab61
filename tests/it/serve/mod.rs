//! The service, as the real binary runs it, and the terminal as its client.

mod client;
pub(crate) mod running;
