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
}
