//! Whether the store accepts writes, for those who balance load (SV-28).

use std::sync::OnceLock;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::problem::{ApiResult, Problem};

/// What is known of the store's health.
#[derive(Default)]
pub(crate) struct Readiness {
    /// Why a directory accepts no more writes until it is opened again.
    stopped: OnceLock<Problem>,
    pub(crate) database: Mutex<Database>,
}

/// What the database said last.
#[derive(Default)]
pub(crate) struct Database {
    pub(crate) answer: Option<(Instant, ApiResult<()>)>,
    /// A question that it has not answered yet; there is never a second one.
    pub(crate) asked: Option<JoinHandle<ApiResult<()>>>,
}

impl Readiness {
    /// Notes that a directory has stopped accepting writes.
    pub(crate) fn stop(&self, problem: Problem) {
        // The first problem is the cause.
        let _ = self.stopped.set(problem);
    }

    /// Returns why a directory has stopped accepting writes.
    pub(crate) fn stopped(&self) -> Option<&Problem> {
        self.stopped.get()
    }
}
