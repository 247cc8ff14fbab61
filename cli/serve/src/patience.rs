//! Retries of an append to a branch while other services append to it, too (FL-18).

use std::time::Duration;

use tokio::time::Instant;

use crate::world::World;

/// How long an append is retried while others append, too.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is tried at least, because a busy machine manages only a few tries in that time; and how long at most.
const TRIES_MIN: u32 = 16;
const PATIENCE_MAX: Duration = Duration::from_secs(15);

/// The longest wait before a try, in microseconds. The first waits are much shorter.
const WAIT_MAX: u64 = 64_000;

/// How often and since when an append has been tried.
pub(crate) struct Patience {
    since: Instant,
    tries: u32,
    /// The longest wait before the next try, in microseconds.
    wait_max: u64,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), tries: 0, wait_max: 0 }
    }

    /// Returns how long to wait before the next try; `None` after the last try. The wait is random, so that two
    /// services do not collide again. The first try does not wait.
    pub(crate) fn next(&mut self, world: &World) -> Option<Duration> {
        self.tries += 1;
        if self.wait_max == 0 {
            self.wait_max = 1000;
            return Some(Duration::ZERO);
        }
        let patience = if self.tries > TRIES_MIN { PATIENCE } else { PATIENCE_MAX };
        if self.since.elapsed() >= patience {
            return None;
        }
        let mut bytes = [0; 8];
        // Without random bytes it does not wait.
        let _ = (world.outside.fill_random)(&mut bytes);
        let wait = u64::from_le_bytes(bytes) % self.wait_max;
        self.wait_max = (self.wait_max * 2).min(WAIT_MAX);
        Some(Duration::from_micros(wait))
    }
}
