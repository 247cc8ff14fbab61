//! Deletes matches and branches, with all their records, in one commit.

use turnfold_core::Digest;

use super::committer::{CommitSharing, Committer};
use super::ledger::{Ledger, Staged};
use crate::error::StoreError;
use crate::local::journal::op::Op;
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::Branch;
use crate::reader::found::FoundBranch;
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshots};

/// Deletes a branch. It waits until walks, such as a backup, no longer hold the branches.
pub(super) fn delete_branch(
    (committer, records): (&Committer, &Records),
    match_name: MatchName,
    name: BranchName,
) -> Result<(), StoreError> {
    let _alone = records.change_branches();
    let links = committer.perform(CommitSharing::Alone, move |ledger, staged| {
        stage_branch(ledger, staged, match_name, name)
    })?;
    remove_snapshots(records, &links);
    Ok(())
}

/// Deletes matches with all their branches, entries and grants. It waits until no reader, such as a backup, holds the
/// matches or the branches.
pub(super) fn delete_matches(
    (committer, records): (&Committer, &Records),
    names: Vec<MatchName>,
) -> Result<(), StoreError> {
    let _names = records.change_matches();
    let _alone = records.change_branches();
    let mut grants = records.change_grants();
    grants.clear();
    let links = committer.perform(CommitSharing::Alone, move |ledger, staged| {
        let mut links = Vec::new();
        for name in names {
            links.extend(stage_match(ledger, staged, name)?);
        }
        Ok(links)
    })?;
    remove_snapshots(records, &links);
    Ok(())
}

fn remove_snapshots(records: &Records, links: &[Digest]) {
    if let Some(snapshots) = &records.snapshots {
        for link in links {
            snapshots.remove(link);
        }
    }
}

fn stage_branch(
    ledger: &mut Ledger,
    staged: &mut Staged,
    match_name: MatchName,
    name: BranchName,
) -> Result<Vec<Digest>, StoreError> {
    let (found_match, branches) = ledger.records.branches_of(&match_name)?;
    let found = ledger.records.find_branch(&found_match, &name)?;
    let is_child = |other: &FoundBranch| other.parent.as_ref().is_some_and(|parent| parent.id == found.id);
    if let Some(child) = branches.into_iter().find(is_child) {
        return Err(StoreError::BranchInUse { match_name, branch: name, child: child.name });
    }
    let branch = ledger.records.branch(&found_match, found)?;
    let links = snapshot_links(&ledger.records, &branch);
    ledger.branches.remove(&(match_name.clone(), name.clone()));
    staged.add(&Op::DeleteBranch { match_name, name });
    Ok(links)
}

fn stage_match(ledger: &mut Ledger, staged: &mut Staged, name: MatchName) -> Result<Vec<Digest>, StoreError> {
    let (found_match, branches) = ledger.records.branches_of(&name)?;
    let mut links = Vec::new();
    for branch in branches {
        let branch = ledger.records.branch(&found_match, branch)?;
        links.extend(snapshot_links(&ledger.records, &branch));
    }
    ledger.forget(&name);
    staged.add(&Op::DeleteMatch { name });
    Ok(links)
}

/// Returns the links of a branch's own entries that may have a snapshot. It skips unreadable links, because a leftover
/// snapshot only takes space.
fn snapshot_links(records: &Records, branch: &Branch) -> Vec<Digest> {
    if !records.snapshots.as_ref().is_some_and(Snapshots::exist) {
        return Vec::new();
    }
    let own = branch.found.forked_at() / SNAPSHOT_INTERVAL + 1..=branch.head.seq / SNAPSHOT_INTERVAL;
    own.filter_map(|number| branch.link_at(records, number * SNAPSHOT_INTERVAL).ok()).collect()
}
