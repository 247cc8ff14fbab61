//! The options of the service (SV-1).

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use turnfold_core::{Digest, DueRoll};

use crate::hosting::HostedMail;
use crate::turn_calls::Notifying;

/// How the service runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on; port 0 means any free port.
    pub listen: SocketAddr,
    /// Where clients find the service, such as `https://play.example`; by default the address it listens on.
    pub origin: Option<String>,
    /// The other origins whose pages may use the service.
    pub cors: Vec<String>,
    /// The directory of the store, unless a database holds it.
    pub store_dir: Option<PathBuf>,
    /// How many bytes of states are kept in memory.
    pub cache_bytes: u64,
    /// How many files the process may have open; each connection is one.
    pub files_max: u64,
    /// Whether a proxy adds the client's address to `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// The initial settings.
    pub settings: Settings,
    /// The address of its metrics.
    pub metrics: Option<SocketAddr>,
    /// How to host matches by mail; if `None`, no papers are taken.
    pub mail: Option<HostedMail>,
    /// How to call players on their turns; if `None`, no one is called.
    pub notifying: Option<Notifying>,
}

/// Settings that may change while the service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The hash of the admin's token.
    pub admin: Digest,
    /// The most requests a second with one token of a seat; four times as many in a burst.
    pub seat_rate: NonZeroU32,
    /// The same for one token of a spectator.
    pub spectator_rate: NonZeroU32,
}

/// Reads the settings again, or returns a one-line reason why it cannot.
pub type Reload<'a> = &'a dyn Fn() -> Result<Settings, String>;

/// The clock, the randomness and the identity of the build, provided by the program.
#[derive(Clone, Copy)]
pub struct Outside {
    /// Returns the time now in milliseconds since 1970.
    pub now_ms: fn() -> i64,
    /// Fills bytes with the operating system's randomness, or returns why it cannot.
    pub fill_random: fn(&mut [u8]) -> Result<(), String>,
    /// Rolls dice with the operating system's randomness, for matches by mail and for trials.
    pub roll: fn(&DueRoll) -> io::Result<Vec<i32>>,
    /// The identity of this build. Snapshots of other builds are not used; without an identity none are.
    pub build: Option<Digest>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Outside").finish_non_exhaustive()
    }
}
