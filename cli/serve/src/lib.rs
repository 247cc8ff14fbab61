//! The service of turnfold (SV-3): one store over HTTP, for players at their own computers.
//!
//! Answers hold what the verbs of the command line print, byte for byte. No answer shows what a seat may not know, and
//! a 201 response means that the entries are on disk. A request passes `middleware` and a handler in `resources`. The
//! handler checks what the token permits (`auth`), opens a branch, and calls what the verb of the same name calls.
//! Handlers know no rules.
//!
//! ```text
//! middleware ─▶ resources ─▶ auth ─▶ reading ─▶ open_branch ─▶ turnfold-history, turnfold-store
//! ```
//!
//! [`serve()`] is the entry point. The description of the service for its clients is `openapi.json`.

mod app;
mod append;
mod auth;
mod auto_host;
mod branch_cache;
mod connections;
mod documents;
mod hosting;
mod http;
mod knowledge;
mod limits;
mod middleware;
mod open_branch;
mod problem;
mod reading;
mod resources;
mod router;
mod server;
mod takeback;

/// What most of the service uses.
mod prelude {
    pub(crate) use std::collections::BTreeMap;
    pub(crate) use std::sync::{Arc, Mutex};
    pub(crate) use std::time::Duration;

    pub(crate) use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
    pub(crate) use axum::response::{IntoResponse, Response};
    pub(crate) use bytes::Bytes;
    pub(crate) use serde::{Deserialize, Serialize};
    pub(crate) use tokio::time::Instant;
    pub(crate) use turnfold_core::{AnyState, Digest, Seat};
    pub(crate) use turnfold_history::{Revision, Viewer};
    pub(crate) use turnfold_store::{
        BranchHead, BranchName, Grant, GrantId, GrantKind, MatchName, Store, StoreError,
    };
    pub(crate) use utoipa::{IntoParams, ToSchema};

    pub(crate) use crate::app::{App, lock};
    pub(crate) use crate::auth::{Access, Bearer, TokenKind};
    pub(crate) use crate::open_branch::OpenBranch;
    pub(crate) use crate::problem::{ApiResult, Problem, ProblemCode};
}

pub use auth::{AccessToken, TokenKind};
pub use hosting::HostedMail;
pub use resources::calls::Notifying;
pub use router::description;
pub use server::{Options, Outside, Reload, ServeError, Settings, serve};
