//! Branches by what they are, whatever their names (FL-8).

use super::found::MatchId;
use super::line::Line;
use crate::entry::Seq;
use crate::names::{BranchName, MatchName};

/// A branch, whatever its name is: no other has it, however often branches are deleted and made again under that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchId {
    pub(crate) of: MatchId,
    pub(crate) branch: u64,
}

impl BranchId {
    pub(crate) fn of(line: &Line) -> Self {
        Self { of: line.of.id, branch: line.branch.id }
    }
}

/// A branch and its last entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchHead {
    /// Which branch it is.
    pub id: BranchId,
    /// The number of its last entry.
    pub seq: Seq,
}

/// A branch, and the names under which it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBranch {
    /// The name of its match.
    pub match_name: MatchName,
    /// Its own.
    pub branch: BranchName,
    /// Which branch it is.
    pub id: BranchId,
}
