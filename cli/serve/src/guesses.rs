//! Guesses of tokens: invalid tokens, counted by the address that they come from (SV-31).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use tokio::time::Instant;

use crate::problem::{ApiResult, Problem, ProblemCode};

/// How far one guess postpones the time at which an address's guesses are forgotten, and how far off that time may be
/// before the address must wait.
const INTERVAL: Duration = Duration::from_millis(20);
const BURST: Duration = Duration::from_secs(4);

const COUNTED_MAX: usize = 16_384;

/// The addresses that guessed lately, each with the time at which its guesses are forgotten.
///
/// Only looking a token up shows whether it is a guess. So valid tokens never count. Guesses that are looked up at the
/// same time all count, even beyond the limit; then the address waits longer.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<BTreeMap<IpAddr, Instant>>);

impl Guesses {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn require_few(&self, client: ClientAddress) -> ApiResult<()> {
        let Some(address) = client.0 else { return Ok(()) };
        let is_over = self.lock().get(&address).is_some_and(|until| *until > Instant::now() + BURST);
        if is_over {
            let detail = "too many unknown tokens from this address; try again in a second";
            return Err(Problem::new(ProblemCode::SlowDown, detail));
        }
        Ok(())
    }

    pub(crate) fn count(&self, client: ClientAddress) {
        let Some(address) = client.0 else { return };
        let now = Instant::now();
        let mut guesses = self.lock();
        if guesses.len() > COUNTED_MAX {
            guesses.retain(|_, until| *until > now);
        }
        let until = guesses.entry(address).or_insert(now);
        *until = now.max(*until) + INTERVAL;
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
}
