//! The only place that reads the clock. Times are informational; they never reach the fold.

use std::time::{SystemTime, UNIX_EPOCH};

/// Gives the time now in milliseconds since 1970; 0 on a machine whose clock stands before that.
#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn now_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}
