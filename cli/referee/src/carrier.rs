//! What carries requests to a referee and its answers back: pipes of a child process, or calls into a module (RF-2).

use std::fmt;

use turnfold_core::any::FaultOf;

use crate::json::Node;

/// How much a request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How many entries it folds or judges; none for all other requests.
    pub(crate) entries: usize,
    /// Whether they are recorded now. What is recorded already has wider limits, so that no log becomes unreadable (MD-6).
    #[cfg_attr(
        not(feature = "interpreter"),
        expect(dead_code, reason = "only modules have limits that depend on it")
    )]
    pub(crate) is_new: bool,
}

impl Effort {
    /// What a request may take that folds nothing.
    pub(crate) const NO_FOLD: Self = Self { entries: 0, is_new: false };
}

/// Carries requests to a referee, one after another. A referee remembers nothing, so it does not matter which child or
/// instance answers.
pub(crate) trait Carrier: Send + Sync {
    /// Asks; returns the answer, an object with `ok`, `no` or `fault`.
    fn ask(&self, op: &'static str, args: &str, effort: Effort) -> Result<Node, NoAnswer>;

    /// Returns whom a fault names.
    fn named(&self) -> FaultOf;

    /// Returns one that carries to another child or instance, in which nothing was asked yet (MD-7, RF-15).
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
    /// The time is used up that all requests of an operation have together.
    Overrun(String),
    /// What it answered is none.
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
