//! The options of the service (SV-1).

use std::fmt;
use std::io;
use std::net::SocketAddr;

use turnfold_core::{Digest, DueRoll};

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

/// The clock, chance and the identity of the build, which the program gives to the service.
#[derive(Clone, Copy)]
pub struct Outside {
    /// Returns the time now in milliseconds since 1970.
    pub now_ms: fn() -> i64,
    /// Fills bytes by the operating system's randomness, or says why it cannot.
    pub fill_random: fn(&mut [u8]) -> Result<(), String>,
    /// Rolls recorded dice by the operating system, of matches by mail and of trials.
    pub roll: fn(&DueRoll) -> io::Result<Vec<i32>>,
    /// The identity of this build. Snapshots of other builds are not used; without an identity none are.
    pub build: Option<Digest>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Outside").finish_non_exhaustive()
    }
}
