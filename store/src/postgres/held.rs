//! The heads that this process acknowledged or read. They are hints for the next append, and reveal a database that was
//! rolled back (FL-20, FL-24).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::{Branch, BranchId, Head};

/// The maximum number of remembered branches. When it is reached, all are forgotten.
const HELD_MAX: usize = 1 << 16;

pub(super) type Names = (MatchName, BranchName);

#[derive(Default)]
pub(super) struct HeldHeads(Mutex<State>);

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
    /// Branches that were rolled back; this process appends nothing more to them.
    lost: BTreeSet<BranchId>,
}

impl HeldHeads {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the branch that last had these names, and its last known end.
    pub(super) fn hint(&self, names: &Names) -> Option<(BranchId, End)> {
        let state = self.state();
        let id = state.names.get(names)?;
        state.heads.get(id).map(|end| (*id, *end))
    }

    /// Remembers a head that was acknowledged or read, and the run that ends there if this process appended it.
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

    pub(super) fn beyond(&self, branch: &Branch) -> Option<Head> {
        let held = self.state().heads.get(&BranchId::of(branch)).map(|end| end.head);
        held.filter(|held| {
            held.seq > branch.head.seq || held.seq == branch.head.seq && held.link != branch.head.link
        })
    }

    pub(super) fn lose(&self, branch: &Branch, held: Head) -> StoreError {
        self.state().lost.insert(BranchId::of(branch));
        let (match_name, name) = branch.names();
        StoreError::Receded { match_name, branch: name, held: held.seq, found: branch.head.seq }
    }

    pub(super) fn is_lost(&self, id: BranchId) -> bool {
        self.state().lost.contains(&id)
    }
}
