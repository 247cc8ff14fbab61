//! Flushing sled without waiting for ever.
//!
//! sled 0.34.7 writes a buffer on another thread when the last who filled it is done. If that write fails, as on a full
//! disk, it notes the error but does not wake a thread that waits for a flush. A second flush finds the error noted, wakes
//! all, and fails too; so a flush that takes long gets company.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::guard::guarded;
use crate::local::backend::BackendError;

/// How long a flush takes at most before it is looked after.
const PATIENCE: Duration = Duration::from_millis(500);

/// Looks after flushes.
pub(super) struct FlushWatch {
    flushes: Arc<Flushes>,
    /// There until the watch ends; `None` when it could not be started.
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Flushes {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// How many flushes have begun.
    begun: u64,
    is_flushing: bool,
    has_ended: bool,
}

impl Flushes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FlushWatch {
    pub(super) fn of(db: &sled::Db) -> Self {
        let flushes = Arc::<Flushes>::default();
        let (for_thread, db) = (Arc::clone(&flushes), db.clone());
        let thread =
            Builder::new().name("turnfold flushes".to_owned()).spawn(move || watch(&for_thread, &db));
        let thread = thread.inspect_err(|error| tracing::warn!(%error, "a failed write may go unnoticed"));
        Self { flushes, thread: thread.ok() }
    }

    /// Makes everything durable that was written to the database, as far as sled goes.
    pub(super) fn flush(&self, db: &sled::Db) -> Result<(), BackendError> {
        {
            let mut state = self.flushes.state();
            state.begun += 1;
            state.is_flushing = true;
        }
        let flushed = guarded("flush", || db.flush());
        self.flushes.state().is_flushing = false;
        flushed.map(|_| ())
    }
}

impl Drop for FlushWatch {
    fn drop(&mut self) {
        self.flushes.state().has_ended = true;
        self.flushes.ended.notify_all();
        // It does not panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn watch(flushes: &Flushes, db: &sled::Db) {
    // The flush under way, and how many times it has been seen before.
    let (mut current, mut seen) = (0, 0_u32);
    loop {
        let waited = flushes.ended.wait_timeout_while(flushes.state(), PATIENCE, |state| !state.has_ended);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.has_ended {
            return;
        }
        seen = if state.is_flushing && state.begun == current { seen.saturating_add(1) } else { 0 };
        current = state.begun;
        drop(state);
        // It waits too when nothing has failed by now, so more come, but ever less often.
        if seen.is_power_of_two() {
            let db = db.clone();
            let company = Builder::new().name("turnfold flush".to_owned());
            let started = company.spawn(move || {
                let result = guarded("flush", || db.flush());
                tracing::debug!(?result, "a flush took long");
            });
            if let Err(error) = started {
                tracing::debug!(%error, "a flush takes long");
            }
        }
    }
}
