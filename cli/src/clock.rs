//! The only place that reads the clock. Times are informational; they never reach the fold.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::failure::Failure;

/// Returns the time now in milliseconds since 1970; a clock before that is an error.
#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn now_ms() -> Result<i64, Failure> {
    since_1970(SystemTime::now()).ok_or_else(|| {
        Failure::trouble("the clock of this machine is before 1970").hint("set it, then try again")
    })
}

/// Measures how long work takes, for reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since it was started.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

fn since_1970(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock itself is wrong in a test of the audit only, where `faketime` is installed: setting it is for root, and
    /// what injects results of calls does not reach `clock_gettime`, which the vDSO answers without a call.
    #[test]
    fn times_before_1970_are_none() {
        let second = Duration::from_secs(1);
        assert_eq!(since_1970(UNIX_EPOCH + second), Some(1000));
        assert_eq!(since_1970(UNIX_EPOCH), Some(0));
        assert_eq!(since_1970(UNIX_EPOCH - second), None);
    }
}
