//! Deleting matches and branches: all records of them go in one commit, which leaves a record of each that it was.

use turnfold_core::Digest;

use super::committer::{Committer, Order};
use super::grants;
use super::ledger::{Ledger, Staged};
use crate::error::StoreError;
use crate::local::backend::EntryRef;
use crate::local::layout::key;
use crate::local::layout::record::GoneRecord;
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};
use crate::reader::found::{FoundBranch, FoundMatch};
use crate::reader::line::Line;
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshots};

/// Deletes a branch. It waits for a backup to be done with a match.
pub(super) fn delete_branch(
    (committer, records): (&Committer, &Records),
    match_name: MatchName,
    name: BranchName,
) -> Result<(), StoreError> {
    let _alone = records.change_branches();
    let links = committer
        .perform(Order::Alone, move |ledger, staged| stage_branch(ledger, staged, match_name, name))?;
    remove_snapshots(records, &links);
    Ok(())
}

/// Deletes matches with all their branches, entries and grants. It waits for a backup to be done.
pub(super) fn delete_matches(
    (committer, records): (&Committer, &Records),
    names: Vec<MatchName>,
) -> Result<(), StoreError> {
    let _names = records.change_matches();
    let _alone = records.change_branches();
    let _grants = records.change_grants();
    let links = committer.perform(Order::Alone, move |ledger, staged| {
        let mut links = Vec::new();
        for name in &names {
            links.extend(stage_match(ledger, staged, name)?);
        }
        ledger.record.matches = ledger.record.matches.saturating_sub(names.len() as u64);
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
    let (of, branches) = ledger.records.branches_of(&match_name)?;
    let found = ledger.records.find_branch(&of, &name)?;
    let is_child = |other: &FoundBranch| other.parent.as_ref().is_some_and(|parent| parent.id == found.id);
    if let Some(child) = branches.into_iter().find(is_child) {
        return Err(StoreError::BranchInUse { match_name, branch: name, child: child.name });
    }
    let links = stage_removal(ledger, staged, &of, found)?;
    staged.put_match(&of, of.branches.saturating_sub(1));
    if ledger.record.now.names(&match_name, Some(&name)) {
        let branch = BranchName::main();
        let seq = ledger.records.find(&match_name, &branch)?.head.seq;
        staged.write_last(EntryRef { match_name, branch, seq });
    }
    Ok(links)
}

fn stage_match(
    ledger: &mut Ledger,
    staged: &mut Staged,
    name: &MatchName,
) -> Result<Vec<Digest>, StoreError> {
    let (of, branches) = ledger.records.branches_of(name)?;
    let mut links = Vec::new();
    for branch in branches {
        links.extend(stage_removal(ledger, staged, &of, branch)?);
    }
    grants::stage_removal(&ledger.records, staged, of.number())?;
    staged.remove(key::of_match(name));
    let record = GoneRecord { match_name: name.clone(), branch: None, became: None, entries: 0 };
    ledger.stage_gone(of.number(), &record, staged);
    if ledger.record.now.names(name, None) {
        staged.forget_last();
    }
    Ok(links)
}

/// Removes all records of a branch, and leaves one that says so. Returns the links by which its snapshots are named.
fn stage_removal(
    ledger: &mut Ledger,
    staged: &mut Staged,
    of: &FoundMatch,
    branch: FoundBranch,
) -> Result<Vec<Digest>, StoreError> {
    let line = ledger.records.line(of, branch)?;
    let links = snapshot_links(&ledger.records, &line);
    let branch = &line.branch;
    let mut keys = vec![key::of_branch(of.number(), &branch.name), key::of_head(branch.id)];
    for range in [key::idempotency_of(branch.id), key::pages_of(branch.id), key::tails_of(branch.id)] {
        for record in ledger.records.scan(range) {
            keys.push(record?.0);
        }
    }
    for key in keys {
        staged.remove(key);
    }
    let names = line.names();
    ledger.branches.remove(&names);
    let (match_name, name) = names;
    let entries = line.head.seq - branch.forked_at();
    let record = GoneRecord { match_name, branch: Some(name), became: None, entries };
    ledger.stage_gone(branch.id, &record, staged);
    Ok(links)
}

/// Returns the links after those of a branch's own entries that snapshots follow, as far as they can be read: a snapshot
/// that stays behind is only in the way.
fn snapshot_links(records: &Records, line: &Line) -> Vec<Digest> {
    if !records.snapshots.as_ref().is_some_and(Snapshots::exist) {
        return Vec::new();
    }
    let own = line.branch.forked_at() / SNAPSHOT_INTERVAL + 1..=line.head.seq / SNAPSHOT_INTERVAL;
    own.filter_map(|number| line.link_at(records, number * SNAPSHOT_INTERVAL).ok()).collect()
}
