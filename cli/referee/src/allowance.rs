//! How long all modules together may take in an operation, such as an audit: many calls, each of them within its own limit,
//! could go on for hours.

use std::cell::Cell;
use std::time::Duration;

/// What the modules that run on this thread may take, and have taken.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "interpreter"),
    expect(dead_code, reason = "without the interpreter no module runs, so none takes time")
)]
struct Allowance {
    all: Duration,
    taken: Duration,
}

thread_local! {
    static ALLOWANCE: Cell<Option<Allowance>> = const { Cell::new(None) };
}

/// Does work in which the modules that run on this thread take at most this long, all their calls together. The call that
/// passes it ends with a [`Fault`](turnfold_core::Fault) of the kind `Overrun`, and so does each later one.
pub fn within<T>(all: Duration, work: impl FnOnce() -> T) -> T {
    // A fault unwinds through here.
    struct PutBack(Option<Allowance>);
    impl Drop for PutBack {
        fn drop(&mut self) {
            ALLOWANCE.set(self.0);
        }
    }
    let _before = PutBack(ALLOWANCE.replace(Some(Allowance { all, taken: Duration::ZERO })));
    work()
}

/// Returns what is left, and of how much; `None` where nothing limits the calls together.
#[cfg(feature = "interpreter")]
pub(crate) fn left() -> Option<(Duration, Duration)> {
    ALLOWANCE.get().map(|allowance| (allowance.all.saturating_sub(allowance.taken), allowance.all))
}

/// Notes how long a call took.
#[cfg(feature = "interpreter")]
pub(crate) fn take(time: Duration) {
    ALLOWANCE.set(
        ALLOWANCE
            .get()
            .map(|allowance| Allowance { taken: allowance.taken.saturating_add(time), ..allowance }),
    );
}
