//! Creating matches and branches.

use super::branch_state::BranchState;
use super::committer::{Committer, Order};
use crate::engine::NewBranch;
use crate::entry::NewEntry;
use crate::error::StoreError;
use crate::local::layout::key;
use crate::local::layout::record::BranchRecord;
use crate::names::{BranchName, MatchName};
use crate::reader::found::{FoundMatch, MatchId, Parent};

/// Creates a match with its first entries, all or nothing.
pub(super) fn create_match(
    committer: &Committer,
    name: MatchName,
    genesis: Vec<u8>,
    entries: Vec<NewEntry>,
) -> Result<(), StoreError> {
    committer.perform(Order::Alone, move |ledger, staged| {
        if ledger.records.backend.get(&key::of_match(&name))?.is_some() {
            return Err(StoreError::AlreadyExists { match_name: name });
        }
        let id = ledger.take_ids(2);
        let of = FoundMatch { name, id: MatchId(id.into()), branches: 1, genesis };
        staged.put_match(&of, 1);
        let main = BranchName::main();
        let branch_id = id + 1;
        staged.put(key::of_branch(id, &main), &BranchRecord { id: branch_id, parent: None });
        let mut state = BranchState::new(branch_id, 0, of.link());
        staged.append((of.name.clone(), main.clone()), &mut state, entries, None);
        ledger.branches.insert((of.name, main), state);
        ledger.record.matches += 1;
        Ok(())
    })
}

/// Creates a branch with its first own entries, all or nothing.
pub(super) fn create_branch(
    committer: &Committer,
    new: NewBranch,
    entries: Vec<NewEntry>,
) -> Result<(), StoreError> {
    let NewBranch { match_name, name, from, at } = new;
    committer.perform(Order::Alone, move |ledger, staged| {
        let parent = ledger.records.find(&match_name, &from)?;
        if ledger.records.backend.get(&key::of_branch(parent.of.number(), &name))?.is_some() {
            return Err(StoreError::BranchExists { match_name, branch: name });
        }
        parent.require(at)?;
        let link = parent.link_at(ledger.records.as_ref(), at)?;
        let id = ledger.take_ids(1);
        let begin = Parent { name: from.to_string(), id: parent.branch.id, at, link };
        let record = BranchRecord { id, parent: Some(begin) };
        staged.put(key::of_branch(parent.of.number(), &name), &record);
        staged.put_match(&parent.of, parent.of.branches + 1);
        let mut state = BranchState::new(id, at, link);
        staged.append((match_name.clone(), name.clone()), &mut state, entries, None);
        ledger.branches.insert((match_name, name), state);
        Ok(())
    })
}
