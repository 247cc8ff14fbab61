//! Appending: the expected head, and keys that make repeating harmless.

use super::committer::{Committer, Order};
use super::ledger::{BranchState, Ledger, Staged};
use crate::engine::{Append, Then};
use crate::error::StoreError;
use crate::reader::appended::Appended;

/// Appends entries, which may share a flush with others.
pub(super) fn append(committer: &Committer, append: Append) -> Result<Appended, StoreError> {
    committer.perform(order(&append), |ledger, staged| stage(append, ledger, staged))
}

/// Appends entries as [`append`] does, without waiting.
pub(super) fn append_then(committer: &Committer, append: Append, then: Then) {
    committer.submit(order(&append), |ledger, staged| stage(append, ledger, staged), then);
}

fn order(append: &Append) -> Order {
    let Append { match_name, branch, idempotency_key, .. } = append;
    Order::Shared(idempotency_key.clone().map(|key| (match_name.clone(), branch.clone(), key)))
}

fn stage(append: Append, ledger: &mut Ledger, staged: &mut Staged) -> Result<Appended, StoreError> {
    let Append { match_name, branch, expected_id, expected_head, entries, idempotency_key } = append;
    let names = (match_name, branch);
    let mut state = if let Some(state) = ledger.branches.get(&names) {
        *state
    } else {
        let line = ledger.records.find(&names.0, &names.1)?;
        BranchState { id: line.branch.id, head: line.head }
    };
    if expected_id.is_some_and(|expected| expected.branch != state.id) {
        let (match_name, branch) = names;
        return Err(StoreError::NoSuchBranch { match_name, branch });
    }
    if let Some(idempotency_key) = &idempotency_key {
        let earlier = ledger.records.keyed(state.id, idempotency_key);
        if let Some(earlier) = earlier.map_err(|error| error.within(&names.0, Some(&names.1)))? {
            let line = ledger.records.find(&names.0, &names.1)?;
            return line.repeated(ledger.records.as_ref(), earlier.first..=earlier.last, &entries);
        }
    }
    let before = state.head;
    if before.seq != expected_head {
        let (match_name, branch) = names;
        return Err(StoreError::Conflict { match_name, branch, expected: expected_head, head: before.seq });
    }
    staged.append(&mut state, entries, idempotency_key.as_ref());
    ledger.branches.insert(names, state);
    Ok(Appended { first: before.seq + 1, last: state.head.seq, repeated: false })
}
