//! What carries requests to a referee and its answers back: pipes of a child process, or calls into a module (RF-2).

use std::fmt;

use turnfold_core::any::FaultOf;

use crate::json::JsonNode;

/// The effort of a request, which sets its limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How many entries it folds or judges; 0 for all other requests.
    pub(crate) entries: usize,
    /// Whether they are recorded now. Entries that were recorded before have wider limits, so that no log becomes
    /// unreadable (MD-6).
    #[cfg_attr(
        not(feature = "interpreter"),
        expect(dead_code, reason = "only modules have limits that depend on it")
    )]
    pub(crate) is_new: bool,
}

impl Effort {
    pub(crate) const NO_FOLD: Self = Self { entries: 0, is_new: false };
}

/// Carries requests to a referee, one after another. A referee remembers nothing, so it does not matter which child or
/// instance answers.
pub(crate) trait Carrier: Send + Sync {
    /// Sends a request and returns the answer, an object with `ok`, `no` or `fault`.
    fn ask(&self, op: &'static str, args: &str, effort: Effort) -> Result<JsonNode, NoAnswer>;

    fn named(&self) -> FaultOf;

    /// Returns a carrier to another child or instance, which was asked nothing yet (MD-7, RF-15).
    fn second(&self) -> Result<Box<dyn Carrier>, NoAnswer>;
}

/// Why there is no answer, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "interpreter"),
    expect(dead_code, reason = "only modules have fuel and a limited memory")
)]
pub(crate) enum NoAnswer {
    /// It cannot be started.
    NotStarted(String),
    /// It ended or trapped. Another child or instance may do better.
    Ended(String),
    /// It took too long. Another request would take as long.
    Late(String),
    /// It used up its fuel or the time of many entries. Fewer entries may do better.
    Exhausted(String),
    /// It used up its memory. Another instance may do better, and so may fewer entries.
    OutOfMemory,
    /// All requests of the operation together have used up their time.
    Overrun(String),
    /// Its answer breaks the protocol or a law.
    Broke(String),
}

impl NoAnswer {
    pub(crate) fn broke(what: impl Into<String>) -> Self {
        Self::Broke(what.into())
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotStarted(what)
            | Self::Ended(what)
            | Self::Late(what)
            | Self::Exhausted(what)
            | Self::Overrun(what)
            | Self::Broke(what) => what,
            Self::OutOfMemory => "out of memory",
        })
    }
}
