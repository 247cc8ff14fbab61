//! Creating matches and branches.

use super::committer::{Committer, Order};
use super::ledger::BranchState;
use crate::chain;
use crate::engine::NewBranch;
use crate::entry::NewEntry;
use crate::error::StoreError;
use crate::local::journal::op::Op;
use crate::local::layout::key;
use crate::names::{BranchName, MatchName};
use crate::reader::found::Head;

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
        staged.add(&Op::CreateMatch { id, name: name.clone(), genesis: &genesis });
        let head = Head { seq: 0, link: chain::genesis_link(&genesis) };
        let mut state = BranchState { id: id + 1, head };
        staged.append(&mut state, entries, None);
        ledger.branches.insert((name, BranchName::main()), state);
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
        let mut state = BranchState { id, head: Head { seq: at, link } };
        let names = (match_name, name);
        let (match_name, name) = names.clone();
        staged.add(&Op::CreateBranch { id, match_name, name, parent: from, at, link });
        staged.append(&mut state, entries, None);
        ledger.branches.insert(names, state);
        Ok(())
    })
}
