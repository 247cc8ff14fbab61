//! Limits of sizes, times and concurrent work (SV-31).

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{PoisonError, RwLock};
use std::task::{Context, Poll};

use axum::http::HeaderName;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::prelude::*;
use crate::server::Settings;

/// The longest body, and the longest body that is a replay file, in bytes.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
pub(crate) const REPLAY_BYTES_MAX: usize = 64 << 20;

/// The longest paper of a match by mail (PM-31a).
pub(crate) const PAPER_BYTES_MAX: usize = 64 << 10;

pub(crate) const HEADER_BYTES_MAX: usize = 16 << 10;

/// How long a client may take to send its header and its body, how long the service may take for the rest, and how long
/// one write to a client may take.
pub(crate) const HEADER_TIME: Duration = Duration::from_secs(10);
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(30);
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(30);

/// How long requests may still take when the service shuts down (SV-28).
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(10);

/// The most requests at once, without streams, and the most that wait for one branch.
const REQUESTS_MAX: usize = 1024;
pub(crate) const WAITING_MAX: usize = 64;

/// The most entries of a short log. It is folded without waiting for folds of longer ones.
pub(crate) const SHORT_LOG: u64 = turnfold_store::SNAPSHOT_INTERVAL;

/// The most entries in memory at once while histories are folded whole: entries of long histories, and of short ones.
const WHOLE_LONG_MAX: u32 = 100_000;
const WHOLE_SHORT_MAX: u32 = 16_384;

/// A short history counts as at least this many entries. The allocator keeps for each thread the memory of its largest
/// history, so this limits how many threads fold at once.
const WHOLE_SHORT_MIN: u32 = 2_048;

const STREAMS_MAX: usize = 10_000;
const STREAMS_OF_TOKEN_MAX: usize = 8;
const STREAMS_OF_SPECTATORS_MAX: usize = 1000;

/// How many times the requests of a second a burst may have.
const BURST: NonZeroU32 = NonZeroU32::new(4).unwrap();

/// How many open files are reserved for the store if it is a directory, and if it is in a database.
pub(crate) const FILES_OF_DIRECTORY: usize = 32;
pub(crate) const FILES_OF_DATABASE: usize = 128;

pub(crate) const CONNECTIONS_MIN: usize = 8;
pub(crate) const CONNECTIONS_MAX: usize = 1 << 20;

/// The longest answer of `legal` and `ask`.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 << 20;

pub(crate) const BRANCHES_MAX: usize = 1000;

const COUNTED_MAX: usize = 16_384;

pub(crate) struct ServiceLimits {
    rates: RwLock<Rates>,
    pub(crate) guesses: Guesses,
    requests: Arc<Semaphore>,
    pub(crate) folds: Folds,
    pub(crate) answers: Answers,
    /// Entries of histories that may be read whole at once. Short histories do not wait for long ones. A single history
    /// always has room.
    whole_long: Arc<Semaphore>,
    whole_short: Arc<Semaphore>,
    streams: Arc<Mutex<StreamCounts>>,
}

struct Rates {
    seats: DefaultKeyedRateLimiter<[u8; 32]>,
    spectators: DefaultKeyedRateLimiter<[u8; 32]>,
}

impl From<&Settings> for Rates {
    fn from(settings: &Settings) -> Self {
        let keyed = |rate: NonZeroU32| {
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(rate.saturating_mul(BURST)))
        };
        Self { seats: keyed(settings.seat_rate), spectators: keyed(settings.spectator_rate) }
    }
}

impl ServiceLimits {
    pub(crate) fn new(settings: &Settings) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            rates: RwLock::new(settings.into()),
            guesses: Guesses::default(),
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
            folds: Folds::new(cores),
            answers: Answers::default(),
            whole_long: Arc::new(Semaphore::new(WHOLE_LONG_MAX as usize)),
            whole_short: Arc::new(Semaphore::new(WHOLE_SHORT_MAX as usize)),
            streams: Arc::default(),
        }
    }

    pub(crate) fn apply(&self, settings: &Settings) {
        // All counts start over.
        *self.rates.write().unwrap_or_else(PoisonError::into_inner) = settings.into();
    }

    pub(crate) fn admit(&self, token: &Digest, kind: GrantKind) -> ApiResult<()> {
        let rates = self.rates.read().unwrap_or_else(PoisonError::into_inner);
        let counted = match kind {
            GrantKind::Host | GrantKind::Invitation(_) => return Ok(()),
            GrantKind::Seat(_) | GrantKind::Player(_) => &rates.seats,
            GrantKind::Spectator { .. } | GrantKind::Calendar { .. } => &rates.spectators,
        };
        if counted.len() > COUNTED_MAX {
            counted.retain_recent();
        }
        let admitted = counted.check_key(token.as_bytes());
        admitted.map_err(|_| Problem::slow_down("too many requests with this token; try again in a second"))
    }

    pub(crate) fn request(&self) -> ApiResult<OwnedSemaphorePermit> {
        Arc::clone(&self.requests)
            .try_acquire_owned()
            .map_err(|_| Problem::overloaded("too many requests at once"))
    }

    pub(crate) async fn whole(&self, entries: u64) -> ApiResult<OwnedSemaphorePermit> {
        let is_short = entries <= SHORT_LOG;
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        let (whole, entries) = if is_short {
            (&self.whole_short, entries.clamp(WHOLE_SHORT_MIN, WHOLE_SHORT_MAX))
        } else {
            (&self.whole_long, entries.min(WHOLE_LONG_MAX))
        };
        let whole = Arc::clone(whole).acquire_many_owned(entries).await;
        whole.map_err(|_| Problem::closing())
    }

    pub(crate) fn stream(&self, token: Digest, grant: Option<&Grant>) -> ApiResult<StreamPlace> {
        let is_spectators = grant.is_some_and(|grant| matches!(grant.kind, GrantKind::Spectator { .. }));
        let most = if is_spectators { STREAMS_OF_SPECTATORS_MAX } else { STREAMS_OF_TOKEN_MAX };
        let mut counts = lock(&self.streams);
        if counts.all >= STREAMS_MAX {
            return Err(Problem::overloaded("too many streams at once"));
        }
        let of_token = counts.by_token.entry(token).or_default();
        if *of_token >= most {
            return Err(Problem::slow_down("too many streams with this token; end one first"));
        }
        *of_token += 1;
        counts.all += 1;
        // The admin has no grant.
        if let Some(Grant { match_name, kind, .. }) = grant {
            counts.by_match.entry(match_name.clone()).or_default().insert(token, *kind);
        }
        drop(counts);
        let match_name = grant.map(|grant| grant.match_name.clone());
        Ok(StreamPlace { token, match_name, counts: Arc::clone(&self.streams) })
    }

    pub(crate) fn tokens_of_streams(&self) -> Vec<Digest> {
        lock(&self.streams).by_token.keys().copied().collect()
    }

    pub(crate) fn has_streams(&self, token: &Digest) -> bool {
        lock(&self.streams).by_token.contains_key(token)
    }

    pub(crate) fn here(&self, match_name: &MatchName) -> Vec<GrantKind> {
        // SV-60: whoever has a stream of the match is there.
        let counts = lock(&self.streams);
        counts.by_match.get(match_name).map(|here| here.values().copied().collect()).unwrap_or_default()
    }

    pub(crate) fn streams(&self) -> usize {
        lock(&self.streams).all
    }
}

#[derive(Default)]
struct StreamCounts {
    all: usize,
    by_token: BTreeMap<Digest, usize>,
    /// The kinds of the tokens with streams, by match.
    by_match: BTreeMap<MatchName, BTreeMap<Digest, GrantKind>>,
}

pub(crate) struct StreamPlace {
    pub(crate) token: Digest,
    match_name: Option<MatchName>,
    counts: Arc<Mutex<StreamCounts>>,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        counts.all -= 1;
        let Some(count) = counts.by_token.get_mut(&self.token) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        counts.by_token.remove(&self.token);
        let Some(match_name) = &self.match_name else { return };
        if let Some(here) = counts.by_match.get_mut(match_name) {
            here.remove(&self.token);
            if here.is_empty() {
                counts.by_match.remove(match_name);
            }
        }
    }
}

/// Responses with more bytes are counted. A connection may buffer as many bytes of any response.
pub(crate) const LONG: u64 = 64 << 10;

/// A long response is sent in parts, because a connection buffers a whole part before the client reads it.
const PART: usize = 64 << 10;

/// The most bytes of long responses at once, in total and of one token. A single response may have more.
const ANSWERS_MAX: u64 = 64 << 20;
const ANSWERS_OF_TOKEN_MAX: u64 = 32 << 20;

/// The bytes of long responses in memory, in total and of each token (SV-31). A client that reads slowly keeps its
/// response in memory until it has read it or its connection is closed.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<AnswerBytes>>);

#[derive(Default)]
struct AnswerBytes {
    bytes: u64,
    by_token: BTreeMap<Digest, u64>,
    refused: u64,
}

impl AnswerBytes {
    fn require_room(&mut self, token: Digest, bytes: u64) -> ApiResult<()> {
        // The first response always has room.
        let of_token = self.by_token.get(&token).copied().unwrap_or(0);
        if of_token > 0 && of_token + bytes > ANSWERS_OF_TOKEN_MAX {
            self.refused += 1;
            let detail = "too many long answers with this token are still being read; read one first";
            return Err(Problem::slow_down(detail));
        }
        if self.bytes > 0 && self.bytes + bytes > ANSWERS_MAX {
            self.refused += 1;
            return Err(Problem::overloaded("too many long answers are still being read"));
        }
        Ok(())
    }
}

impl Answers {
    pub(crate) fn held(&self) -> (u64, u64) {
        let held = lock(&self.0);
        (held.bytes, held.refused)
    }

    pub(crate) fn require_room(&self, token: Digest) -> ApiResult<()> {
        lock(&self.0).require_room(token, LONG)
    }

    pub(crate) fn begin(&self, token: Digest, body: Bytes) -> ApiResult<CountedBody> {
        let bytes = body.len() as u64;
        let mut held = lock(&self.0);
        held.require_room(token, bytes)?;
        held.bytes += bytes;
        *held.by_token.entry(token).or_default() += bytes;
        drop(held);
        Ok(CountedBody { rest: body, token, bytes, answers: self.clone() })
    }
}

/// The body of a long response. It is counted until it is dropped.
pub(crate) struct CountedBody {
    rest: Bytes,
    token: Digest,
    bytes: u64,
    answers: Answers,
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.rest.len().min(PART);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        let mut held = lock(&self.answers.0);
        held.bytes -= self.bytes;
        if let Some(bytes) = held.by_token.get_mut(&self.token) {
            *bytes -= self.bytes;
            if *bytes == 0 {
                held.by_token.remove(&self.token);
            }
        }
    }
}

/// How many folds run at once on machines with fewer processors, and how many of one reader. One place is always left
/// for other readers and other matches.
const FOLDS_MIN: usize = 3;
const FOLDS_OF_READER: usize = 2;

const WAITING_OF_READER: usize = 64;

/// Whose folds are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FoldsOf {
    /// The holder of the token of this hash.
    Token(Digest),
    /// The senders of papers of a match, who need no token.
    Papers(MatchName),
    /// A match, or many matches.
    Match(Option<MatchName>),
}

/// Places for reads that fold a long history: a few at once, two of one token, and the matches take turns (SV-31).
pub(crate) struct Folds {
    at_once: usize,
    places: Arc<Semaphore>,
    /// The places of readers and matches that fold or wait.
    counted: Mutex<BTreeMap<FoldsOf, Arc<Semaphore>>>,
}

impl Folds {
    fn new(cores: usize) -> Self {
        let at_once = cores.max(FOLDS_MIN);
        Self { at_once, places: Arc::new(Semaphore::new(at_once)), counted: Mutex::default() }
    }

    fn places_of(&self, counted: FoldsOf, at_once: usize) -> Arc<Semaphore> {
        let mut all = lock(&self.counted);
        all.retain(|_, places| Arc::strong_count(places) > 1);
        Arc::clone(all.entry(counted).or_insert_with(|| Arc::new(Semaphore::new(at_once))))
    }

    pub(crate) async fn wait(
        &self,
        reader: FoldsOf,
        game: Option<&MatchName>,
    ) -> ApiResult<[OwnedSemaphorePermit; 3]> {
        let of_reader = self.places_of(reader, FOLDS_OF_READER);
        // Each fold that runs or waits has a reference, and the map has one.
        if Arc::strong_count(&of_reader) > FOLDS_OF_READER + WAITING_OF_READER + 1 {
            let detail = "too many reads of long matches at once with this token; try again in a second";
            return Err(Problem::slow_down(detail));
        }
        let of_reader = of_reader.acquire_owned().await;
        let of_match = self.places_of(FoldsOf::Match(game.cloned()), self.at_once - 1).acquire_owned().await;
        // The last permit is given in turn to folds that have the others, which are few of each match.
        let place = Arc::clone(&self.places).acquire_owned().await;
        let closing = |_| Problem::closing();
        Ok([of_reader.map_err(closing)?, of_match.map_err(closing)?, place.map_err(closing)?])
    }
}

/// How far one guess postpones the time at which an address's guesses are forgotten, and how far off that time may be
/// before the address must wait.
const GUESS_INTERVAL: Duration = Duration::from_millis(20);
const GUESSES_BURST: Duration = Duration::from_secs(4);

/// The addresses that guessed lately, each with the time at which its guesses are forgotten (SV-31).
///
/// Only looking a token up shows whether it is a guess. So valid tokens never count. Guesses that are looked up at the
/// same time all count, even beyond the limit; then the address waits longer.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<BTreeMap<IpAddr, Instant>>);

impl Guesses {
    pub(crate) fn require_few(&self, client: ClientAddress) -> ApiResult<()> {
        let Some(address) = client.0 else { return Ok(()) };
        match lock(&self.0).get(&address) {
            Some(until) if *until > Instant::now() + GUESSES_BURST => {
                Err(Problem::slow_down("too many unknown tokens from this address; try again in a second"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn count(&self, client: ClientAddress) {
        let Some(address) = client.0 else { return };
        let now = Instant::now();
        let mut guesses = lock(&self.0);
        if guesses.len() > COUNTED_MAX {
            guesses.retain(|_, until| *until > now);
        }
        let until = guesses.entry(address).or_insert(now);
        *until = now.max(*until) + GUESS_INTERVAL;
    }
}

const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientAddress(pub(crate) Option<IpAddr>);

impl ClientAddress {
    pub(crate) fn of_peer(peer: IpAddr) -> Self {
        Self(Some(network(peer)))
    }

    pub(crate) fn of_forwarded(headers: &HeaderMap) -> Self {
        // The proxy adds the last address. Those before it are the client's own claim.
        let last = headers.get_all(FORWARDED).iter().next_back().and_then(|value| value.to_str().ok());
        let last = last.and_then(|value| value.rsplit(',').next()).map(str::trim);
        Self(last.and_then(|address| address.parse().ok()).map(network))
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        // SV-31: a client can choose from the addresses of its /64, so they count as one.
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_that_the_proxy_added_counts() {
        let client_of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(FORWARDED, value.parse().unwrap());
            }
            ClientAddress::of_forwarded(&headers).0.map(|address| address.to_string())
        };
        assert_eq!(client_of(&["10.0.0.1"]).as_deref(), Some("10.0.0.1"));
        assert_eq!(client_of(&["1.1.1.1, 2.2.2.2,10.0.0.2"]).as_deref(), Some("10.0.0.2"));
        assert_eq!(client_of(&["1.1.1.1", "10.0.0.3"]).as_deref(), Some("10.0.0.3"));
        assert_eq!(client_of(&["2001:db8:1:2:3:4:5:6"]).as_deref(), Some("2001:db8:1:2::"));
        assert_eq!(client_of(&["::ffff:10.0.0.4"]).as_deref(), Some("10.0.0.4"));
        assert_eq!(client_of(&["unknown"]), None);
        assert_eq!(client_of(&[]), None);
    }

    #[test]
    fn a_token_and_all_have_room_for_so_much_and_one_answer_more() {
        let answers = Answers::default();
        let begin = |token, bytes: u64| answers.begin(token, vec![0; usize::try_from(bytes).unwrap()].into());
        let one = Digest::new([1; 32]);
        let whole = begin(one, ANSWERS_OF_TOKEN_MAX + 1).ok().unwrap();
        assert!(begin(one, 1).is_err_and(|problem| problem.code() == ProblemCode::SlowDown));
        let other = Digest::new([2; 32]);
        let _rest = begin(other, ANSWERS_MAX - ANSWERS_OF_TOKEN_MAX - 1).ok().unwrap();
        let third = Digest::new([3; 32]);
        assert!(begin(third, 1).is_err_and(|problem| problem.code() == ProblemCode::Overloaded));
        assert_eq!(answers.held(), (ANSWERS_MAX, 2));
        drop(whole);
        assert!(begin(one, 1).is_ok());
    }
}
