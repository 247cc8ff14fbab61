//! The options of the service (SV-1).

use std::net::SocketAddr;

use turnfold_core::Digest;

use crate::desks::HostedMail;

/// How the service runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens; port 0 stands for any.
    pub listen: SocketAddr,
    /// Where clients find it, such as `https://play.example`; the address it listens on if there is none.
    pub origin: Option<String>,
    /// The origins of other pages that may use it.
    pub cors: Vec<String>,
    /// How many bytes of states are kept in memory.
    pub cache_bytes: u64,
    /// How many files the process may have open; each connection is one.
    pub files_max: u64,
    /// Whether a proxy adds the client's address to `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// The hash of the admin's token.
    pub admin: Digest,
    /// The address of its metrics.
    pub metrics: Option<SocketAddr>,
    /// How it hosts matches by mail; without it no papers are taken.
    pub mail: Option<HostedMail>,
}
