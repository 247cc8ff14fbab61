//! Heads that were acknowledged or read: hints for the next append, and what a database that went back is known by
//! (FL-20, FL-24).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::Branch;
use crate::reader::branch::BranchId;
use crate::reader::found::Head;

/// The most branches that are remembered; beyond it all are forgotten.
const HELD_MAX: usize = 1 << 16;

/// A match's name and a branch's.
pub(super) type Names = (MatchName, BranchName);

/// What this process knows of heads.
#[derive(Default)]
pub(super) struct Held(Mutex<State>);

/// The end of a branch.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) head: Head,
    /// The first entry of the run that ends there, if this process appended it.
    pub(super) run: Option<Seq>,
}

#[derive(Default)]
struct State {
    heads: BTreeMap<BranchId, End>,
    names: BTreeMap<Names, BranchId>,
    /// Those that went back, to which nothing is written any more.
    lost: BTreeSet<BranchId>,
}

impl Held {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the branch that had these names, and its end, when it was seen last.
    pub(super) fn hint(&self, names: &Names) -> Option<(BranchId, End)> {
        let state = self.state();
        let id = state.names.get(names)?;
        state.heads.get(id).map(|end| (*id, *end))
    }

    /// Notes a head that was acknowledged or read, and the run that this process appended up to there.
    pub(super) fn note(&self, names: Names, id: BranchId, head: Head, run: Option<Seq>) {
        let mut state = self.state();
        if state.heads.len() >= HELD_MAX {
            *state = State { lost: std::mem::take(&mut state.lost), ..State::default() };
        }
        let end = End { head, run };
        let newest = state.heads.entry(id).or_insert(end);
        if newest.head.seq < head.seq {
            *newest = end;
        }
        state.names.insert(names, id);
    }

    /// Returns the head that a branch lacks, if it ends before one that was held or goes another way.
    pub(super) fn beyond(&self, branch: &Branch) -> Option<Head> {
        let held = self.state().heads.get(&BranchId::of(branch)).map(|end| end.head);
        held.filter(|held| {
            held.seq > branch.head.seq || held.seq == branch.head.seq && held.link != branch.head.link
        })
    }

    /// Notes that a branch went back, and reports it.
    pub(super) fn lose(&self, branch: &Branch, held: Head) -> StoreError {
        self.state().lost.insert(BranchId::of(branch));
        let (match_name, name) = branch.names();
        StoreError::Receded { match_name, branch: name, held: held.seq, found: branch.head.seq }
    }

    /// Returns `true` if a branch went back while this process had it.
    pub(super) fn is_lost(&self, id: BranchId) -> bool {
        self.state().lost.contains(&id)
    }
}
