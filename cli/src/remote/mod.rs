//! The terminal as client of a service (SV-40): requests sent, and answers printed as they are.
//!
//! A verb that a service has a request for asks [`Context::service`](crate::context::Context::service) first. Nothing
//! here knows a rule, and no token is shown or logged.

pub(crate) mod append;
pub(crate) mod client;
pub(crate) mod look;
pub(crate) mod problem;
