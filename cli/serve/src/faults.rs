//! Faults of modules and referees. A fault ends only its request and discards that module's states in memory (MD-6).

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use turnfold_core::Fault;
use turnfold_history::ReplayError;
use turnfold_history::fault::catch;

use crate::app::App;
use crate::problem::{ApiResult, Problem};

impl App {
    /// Runs work. Returns a fault of a module as a problem.
    pub(crate) fn guard<T>(&self, work: impl FnOnce() -> ApiResult<T>) -> ApiResult<T> {
        catch(work).unwrap_or_else(|fault| Err(self.problem_of(fault)))
    }

    /// Awaits work. Returns a fault of a module as a problem.
    pub(crate) async fn guarded<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> ApiResult<T> {
        let mut work = pin!(work);
        poll_fn(|context| match catch(|| work.as_mut().poll(context)) {
            Ok(polled) => polled.map(Ok),
            Err(fault) => Poll::Ready(Err(self.problem_of(fault))),
        })
        .await
    }

    /// Discards all that a module or referee computed for branches in memory, and returns its fault as a problem.
    fn problem_of(&self, fault: Fault) -> Problem {
        tracing::warn!(%fault, "a module or referee failed");
        self.branches.discard(&fault.of);
        ReplayError::from(fault).into()
    }
}
