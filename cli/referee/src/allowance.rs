//! How long all modules and referees together may take in an operation, such as an audit: many calls, each of them within its
//! own limit, could go on for hours.

use std::cell::Cell;
use std::time::Duration;

/// What all calls together may take that this thread makes, and what is left of that.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    pub(crate) all: Duration,
    pub(crate) left: Duration,
}

thread_local! {
    static ALLOWANCE: Cell<Option<Allowance>> = const { Cell::new(None) };
}

/// Does work in which the modules and referees that are asked on this thread take at most this long, all their calls
/// together. The call that passes it ends with a [`Fault`](turnfold_core::Fault) of the kind `Overrun`, and so does each later one.
pub fn within<T>(all: Duration, work: impl FnOnce() -> T) -> T {
    // A drop puts it back, because a fault unwinds through here.
    struct PutBack(Option<Allowance>);
    impl Drop for PutBack {
        fn drop(&mut self) {
            ALLOWANCE.set(self.0);
        }
    }
    let _before = PutBack(ALLOWANCE.replace(Some(Allowance { all, left: all })));
    work()
}

/// Returns the allowance of the operation; none where nothing limits its calls together.
pub(crate) fn current() -> Option<Allowance> {
    ALLOWANCE.get()
}

/// Takes the time of a call off the allowance.
pub(crate) fn take(time: Duration) {
    if let Some(mut allowance) = ALLOWANCE.get() {
        allowance.left = allowance.left.saturating_sub(time);
        ALLOWANCE.set(Some(allowance));
    }
}
