//! Limits the total time of all modules and referees in an operation, such as an audit. Otherwise many calls, each
//! within its own limit, could go on for hours.

use std::cell::Cell;
use std::time::Duration;

/// The time for all calls of this thread together, and what is left of it.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    pub(crate) all: Duration,
    pub(crate) left: Duration,
}

thread_local! {
    static ALLOWANCE: Cell<Option<Allowance>> = const { Cell::new(None) };
}

/// Runs work in which all calls of modules and referees on this thread take at most `all` together. The call that
/// exceeds it ends with a [`Fault`](turnfold_core::Fault) of the kind `Overrun`, and so does each later call.
pub fn within<T>(all: Duration, work: impl FnOnce() -> T) -> T {
    // A drop restores the former allowance, because a fault unwinds through here.
    struct PutBack(Option<Allowance>);
    impl Drop for PutBack {
        fn drop(&mut self) {
            ALLOWANCE.set(self.0);
        }
    }
    let _before = PutBack(ALLOWANCE.replace(Some(Allowance { all, left: all })));
    work()
}

/// Returns the allowance of the operation; `None` if nothing limits its total time.
pub(crate) fn current() -> Option<Allowance> {
    ALLOWANCE.get()
}

pub(crate) fn take(time: Duration) {
    if let Some(mut allowance) = ALLOWANCE.get() {
        allowance.left = allowance.left.saturating_sub(time);
        ALLOWANCE.set(Some(allowance));
    }
}
