//! Faults of modules and referees: what no ruleset may do.

use alloc::string::String;

use super::AnyRules;
use crate::digest::Digest;

/// A module or a referee that cannot continue, or that broke a law (MD-6, MD-7, RF-16).
///
/// The traits of this folder have no error for a fault, because a built-in ruleset always answers. The code that calls
/// a module or a referee unwinds with a value of this type from inside an operation. The edge of a program catches it,
/// and discards the state and everything else that the operation borrowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ruleset {ruleset} {version} ({of}): {what}")]
pub struct Fault {
    /// The ruleset's name.
    pub ruleset: String,
    /// The ruleset's version.
    pub version: u32,
    /// Which module or referee it is.
    pub of: FaultOf,
    /// What happened, in one line: `out of fuel`, `out of memory`, `trapped: …` or the law that was broken.
    pub what: String,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// Which module or referee is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultOf {
    /// The module of this digest.
    #[error("module {0:.16}")]
    Module(Digest),
    /// The referee that this command starts.
    #[error("referee `{0}`")]
    Referee(String),
}

impl FaultOf {
    /// Returns `true` if these rules are at fault.
    #[must_use]
    pub fn is(&self, rules: &dyn AnyRules) -> bool {
        match self {
            Self::Module(module) => rules.module().as_ref() == Some(module),
            Self::Referee(referee) => rules.referee().as_ref() == Some(referee),
        }
    }
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It trapped, ended or broke a law.
    Broken,
    /// It needed more fuel, time or memory than one call may take. Another call is likely to end as late.
    Exhausted,
    /// The operation used up the time for all rules together. It does not show that these rules are at fault.
    Overrun,
}
