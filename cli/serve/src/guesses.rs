//! Guesses of tokens: invalid tokens, counted by the address that they come from (SV-31).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::client_address::ClientAddress;
use crate::problem::{ApiResult, Problem, ProblemCode};

/// How far one guess postpones the time at which an address's guesses are forgotten, and how far off that time may be
/// before the address must wait.
const INTERVAL: Duration = Duration::from_millis(20);
const BURST: Duration = Duration::from_secs(4);

/// How many addresses are counted before idle ones are forgotten.
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

    /// Requires that a client has not guessed too often, before its token is looked up.
    pub(crate) fn require_few(&self, client: ClientAddress) -> ApiResult<()> {
        let Some(address) = client.0 else { return Ok(()) };
        let is_over = self.lock().get(&address).is_some_and(|until| *until > Instant::now() + BURST);
        if is_over {
            let detail = "too many unknown tokens from this address; try again in a second";
            return Err(Problem::new(ProblemCode::SlowDown, detail));
        }
        Ok(())
    }

    /// Counts a token that is not valid.
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
