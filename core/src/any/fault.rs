//! What a module did that no ruleset may do.

use alloc::string::String;

use crate::digest::Digest;

/// A module that cannot go on, or that broke a law (MD-6, MD-7).
///
/// The traits of this folder have no error for it: a ruleset that is built in always answers. The code that runs a module unwinds
/// with a value of this type from inside an operation, and the edge of a program catches it there: the state and whatever
/// else the operation borrowed is then discarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ruleset {ruleset} {version} (module {module:.16}): {what}")]
pub struct Fault {
    /// The ruleset's name.
    pub ruleset: String,
    /// The ruleset's version.
    pub version: u32,
    /// The digest of the module's file.
    pub module: Digest,
    /// What happened, in one line: `out of fuel`, `out of memory`, `trapped: …` or the law that was broken.
    pub what: String,
    /// Whether the module is at fault, and how.
    pub kind: FaultKind,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The module trapped or broke a law.
    Broken,
    /// It needed more fuel, time or memory than one call may take: another call is likely to end the same way, as late.
    Exhausted,
    /// All of the time is used up that an operation gave to its modules. It does not show that this module is at fault.
    Overrun,
}
