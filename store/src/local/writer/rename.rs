//! Renaming matches and branches: their ids stay, and with them everything that belongs to them.

use super::committer::{Committer, Order};
use super::ledger::{Ledger, Staged};
use crate::error::StoreError;
use crate::local::journal::op::Op;
use crate::local::layout::key;
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};

/// Renames matches. It waits for a backup to be done.
pub(super) fn rename_matches(
    (committer, records): (&Committer, &Records),
    names: Vec<(MatchName, MatchName)>,
) -> Result<(), StoreError> {
    let _names = records.change_matches();
    let _grants = records.change_grants();
    committer.perform(Order::Alone, move |ledger, staged| {
        names.into_iter().try_for_each(|(name, new)| stage_match(ledger, staged, name, new))
    })
}

/// Renames a branch. It waits for a backup to be done with a match.
pub(super) fn rename_branch(
    (committer, records): (&Committer, &Records),
    names: (MatchName, BranchName),
    new: BranchName,
) -> Result<(), StoreError> {
    let _alone = records.change_branches();
    committer.perform(Order::Alone, move |ledger, staged| stage_branch(ledger, staged, names, new))
}

fn stage_match(
    ledger: &mut Ledger,
    staged: &mut Staged,
    name: MatchName,
    new: MatchName,
) -> Result<(), StoreError> {
    ledger.records.find_match(&name)?;
    if ledger.records.backend.get(&key::of_match(&new))?.is_some() {
        return Err(StoreError::AlreadyExists { match_name: new });
    }
    ledger.branches.retain(|(match_name, _), _| *match_name != name);
    staged.add(&Op::RenameMatch { name, new });
    Ok(())
}

fn stage_branch(
    ledger: &mut Ledger,
    staged: &mut Staged,
    (match_name, name): (MatchName, BranchName),
    new: BranchName,
) -> Result<(), StoreError> {
    let (of, branches) = ledger.records.branches_of(&match_name)?;
    ledger.records.find_branch(&of, &name)?;
    if branches.iter().any(|other| other.name == new) {
        return Err(StoreError::BranchExists { match_name, branch: new });
    }
    ledger.branches.remove(&(match_name.clone(), name.clone()));
    staged.add(&Op::RenameBranch { match_name, name, new });
    Ok(())
}
