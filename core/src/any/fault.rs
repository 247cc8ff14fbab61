//! What a module or a referee did that no ruleset may do.

use alloc::string::String;

use super::AnyRules;
use crate::digest::Digest;

/// A module or a referee that cannot go on, or that broke a law (MD-6, MD-7, RF-16).
///
/// The traits of this folder have no error for it: a ruleset that is built in always answers. The code that asks a module
/// or a referee unwinds with a value of this type from inside an operation, and the edge of a program catches it there:
/// the state and whatever else the operation borrowed is then discarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ruleset {ruleset} {version} ({of}): {what}")]
pub struct Fault {
    /// The ruleset's name.
    pub ruleset: String,
    /// The ruleset's version.
    pub version: u32,
    /// Which one it is.
    pub of: FaultOf,
    /// What happened, in one line: `out of fuel`, `out of memory`, `trapped: …` or the law that was broken.
    pub what: String,
    /// Whether it is at fault, and how.
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

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It trapped, ended or broke a law.
    Broken,
    /// It needed more fuel, time or memory than one call may take: another call is likely to end the same way, as late.
    Exhausted,
    /// All of the time is used up that an operation gave to all of them. It does not show that this one is at fault.
    Overrun,
}
