//! How much is taken at once (SV-31).

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use turnfold_core::Digest;
use turnfold_store::GrantKind;

use crate::client_address::ClientAddress;
use crate::problem::{ApiResult, Code, Problem};
use crate::streams::{Place, Streams};

/// The longest body, and the longest replay file as one.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
pub(crate) const REPLAY_BYTES_MAX: usize = 64 << 20;

/// The longest paper of a match by mail (PM-31a).
pub(crate) const PAPER_BYTES_MAX: usize = 64 << 10;

/// The longest header block with its request line.
pub(crate) const HEADER_BYTES_MAX: usize = 16 << 10;

/// How long a client may take over its header and its body, the service over all the rest, and one write to a client.
pub(crate) const HEADER_TIME: Duration = Duration::from_secs(10);
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(30);
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(30);

/// How long requests have when the service shuts down (SV-28).
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(10);

/// The most requests at once, streams apart; and those that wait for one branch.
pub(crate) const REQUESTS_MAX: usize = 1024;
pub(crate) const WAITING_MAX: usize = 64;

/// The most reads that wait until they may fold.
const FOLDS_WAITING_MAX: usize = 64;

/// The most streams, of all and of one token.
pub(crate) const STREAMS_MAX: usize = 10_000;
const STREAMS_OF_TOKEN_MAX: usize = 8;
const STREAMS_OF_SPECTATORS_MAX: usize = 1000;

/// Requests a second of a seat's token and of a spectator's; for a moment there may be so many times more.
const SEAT_RATE: u32 = 50;
const SPECTATOR_RATE: u32 = 500;
const BURST: u32 = 4;

/// Requests a second from one address with tokens that have not counted yet; for a moment there may be more.
const GUESS_RATE: u32 = 50;

/// How many files are kept for the store where it is a directory, and where it is in a database.
const FILES_OF_DIRECTORY: usize = 32;
const FILES_OF_DATABASE: usize = 128;

/// The fewest connections, and the most.
const CONNECTIONS_MIN: usize = 8;
const CONNECTIONS_MAX: usize = 1 << 20;

/// Returns how many connections there may be where so many files may be open.
pub(crate) fn connections_max(files_max: u64, is_in_database: bool) -> usize {
    let kept = if is_in_database { FILES_OF_DATABASE } else { FILES_OF_DIRECTORY };
    let most = usize::try_from(files_max).unwrap_or(usize::MAX).saturating_sub(kept);
    most.clamp(CONNECTIONS_MIN, CONNECTIONS_MAX)
}

/// The longest answer of `legal` and `ask`.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 << 20;

/// The most branches of a match.
pub(crate) const BRANCHES_MAX: usize = 1000;

/// How many tokens are counted before those that were idle are forgotten.
const COUNTED_MAX: usize = 16_384;

/// What is counted so that nobody takes too much.
pub(crate) struct Limits {
    seats: DefaultKeyedRateLimiter<String>,
    spectators: DefaultKeyedRateLimiter<String>,
    guesses: DefaultKeyedRateLimiter<IpAddr>,
    requests: Arc<Semaphore>,
    folds: Arc<Semaphore>,
    folds_waiting: AtomicUsize,
    streams: Streams,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            seats: RateLimiter::keyed(quota(SEAT_RATE)),
            spectators: RateLimiter::keyed(quota(SPECTATOR_RATE)),
            guesses: RateLimiter::keyed(quota(GUESS_RATE)),
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
            folds: Arc::new(Semaphore::new(cores)),
            folds_waiting: AtomicUsize::new(0),
            streams: Streams::new(STREAMS_MAX),
        }
    }
}

fn quota(rate: u32) -> Quota {
    let rate = NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN);
    Quota::per_second(rate)
        .allow_burst(rate.saturating_mul(NonZeroU32::new(BURST).unwrap_or(NonZeroU32::MIN)))
}

impl Limits {
    /// Counts a request of a token; hosts are not counted.
    pub(crate) fn admit(&self, id: &str, kind: GrantKind) -> ApiResult<()> {
        let counted = match kind {
            GrantKind::Host | GrantKind::Invitation(_) => return Ok(()),
            GrantKind::Seat(_) => &self.seats,
            GrantKind::Spectator { .. } => &self.spectators,
        };
        if counted.len() > COUNTED_MAX {
            counted.retain_recent();
        }
        let admitted = counted.check_key(&id.to_owned());
        admitted.map_err(|_| {
            Problem::new(Code::SlowDown, "too many requests with this token; try again in a second")
        })
    }

    /// Counts a token that has not counted yet, by the address that it came from.
    pub(crate) fn guess(&self, client: ClientAddress) -> ApiResult<()> {
        let Some(address) = client.0 else { return Ok(()) };
        if self.guesses.len() > COUNTED_MAX {
            self.guesses.retain_recent();
        }
        let admitted = self.guesses.check_key(&address);
        admitted.map_err(|_| {
            Problem::new(Code::SlowDown, "too many unknown tokens from this address; try again in a second")
        })
    }

    /// Takes one of the places for requests.
    pub(crate) fn request(&self) -> ApiResult<OwnedSemaphorePermit> {
        Arc::clone(&self.requests)
            .try_acquire_owned()
            .map_err(|_| Problem::overloaded("too many requests at once"))
    }

    /// Waits for one of the places for reads that fold.
    pub(crate) async fn fold(&self) -> ApiResult<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.folds).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::among(&self.folds_waiting, FOLDS_WAITING_MAX)
            .ok_or_else(|| Problem::overloaded("too many reads of long matches at once"))?;
        Arc::clone(&self.folds)
            .acquire_owned()
            .await
            .map_err(|_| Problem::overloaded("the service is shutting down"))
    }

    /// Takes one of the places for streams.
    pub(crate) fn stream(&self, token: Digest, kind: Option<GrantKind>) -> ApiResult<Place> {
        let is_spectators = matches!(kind, Some(GrantKind::Spectator { .. }));
        let most = if is_spectators { STREAMS_OF_SPECTATORS_MAX } else { STREAMS_OF_TOKEN_MAX };
        self.streams.take(token, most)
    }

    /// Returns the hashes of the tokens that have streams.
    pub(crate) fn tokens_of_streams(&self) -> Vec<Digest> {
        self.streams.tokens()
    }

    /// Returns how many streams there are.
    pub(crate) fn streams(&self) -> usize {
        self.streams.count()
    }
}

/// One of those that wait for something, until it is dropped.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Joins those that wait, unless there are enough of them.
    pub(crate) fn among(count: &'a AtomicUsize, most: usize) -> Option<Self> {
        let waiting = Self(count);
        (count.fetch_add(1, Ordering::AcqRel) < most).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
