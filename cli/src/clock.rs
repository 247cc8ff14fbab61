//! Reads the clock; no other place does. Times are informational and never reach the fold.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use turnfold_core::paper::DeskTime;

use crate::failure::{Failure, Result};

/// The clock that replaces the system's, if a program has set one.
static OTHER: OnceLock<fn() -> i64> = OnceLock::new();

pub(crate) fn set(now_ms: fn() -> i64) {
    OTHER.get_or_init(|| now_ms);
}

/// Returns the current time in milliseconds since 1970. A clock before 1970 is an error.
#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn now_ms() -> Result<i64> {
    if let Some(now_ms) = OTHER.get() {
        return Ok(now_ms());
    }
    since_1970(SystemTime::now()).ok_or_else(|| {
        Failure::trouble("the clock of this machine is before 1970").hint("set it, then try again")
    })
}

/// Returns a time in the form of log lines, such as `2026-12-01T18:00:00.250Z`; `None` for one before 1970 or after 9999.
pub(crate) fn rfc_3339(time_ms: i64) -> Option<String> {
    let time_ms = u64::try_from(time_ms).ok()?;
    let seconds = DeskTime::of_unix_seconds(time_ms / 1000)?.to_string();
    Some(format!("{}.{:03}Z", seconds.trim_end_matches('Z'), time_ms % 1000))
}

/// Starts a measurement of time, which ends with `elapsed`.
#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn stopwatch() -> Instant {
    Instant::now()
}

pub(crate) fn since_1970(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_log_line_has_the_time_with_milliseconds() {
        assert_eq!(rfc_3339(1_796_148_000_250).as_deref(), Some("2026-12-01T18:00:00.250Z"));
        assert_eq!(rfc_3339(-1), None);
    }

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
