//! The service of turnfold (SV-3): one store over HTTP, for players at their own computers.
//!
//! What a verb of the command line says, the service says, byte for byte; what a seat may not know, no answer tells;
//! what was answered with 201 is on disk. A request passes `around` and its handler in `resources`, which
//! asks for what its token may do (`auth`), then for an open branch, and asks that what the verb of
//! the same name asks. Handlers know no rules.
//!
//! ```text
//! around ─▶ resources ─▶ auth ─▶ reading ─▶ open_branch ─▶ turnfold-replay, turnfold-store
//! ```
//!
//! [`serve()`] is all there is to call. The description of the service for its clients is `openapi.json`.

mod app;
mod append;
mod auth;
mod branch_cache;
mod channel_body;
mod client_address;
mod connections;
mod counts;
mod desks;
mod folds;
mod follow;
mod head_state;
mod hosting;
mod http;
mod ids;
mod knowledge;
mod known_grants;
mod limits;
mod looking;
mod memory;
mod metrics;
mod middleware;
mod notice;
mod open_branch;
mod options;
mod outside;
mod problem;
mod readiness;
mod reading;
mod resources;
mod router;
mod server;
mod tag;
mod timed_io;
mod token;
mod world;

pub use desks::HostedMail;
pub use options::Options;
pub use outside::Outside;
pub use router::description;
pub use server::{ServeError, serve};
pub use token::{AccessToken, TokenKind};
