//! Renaming matches and branches: their ids stay, and with them everything that belongs to them.

use super::committer::{Committer, Order};
use super::grants;
use super::ledger::{Ledger, Staged};
use crate::error::StoreError;
use crate::grant::Grant;
use crate::local::backend::EntryRef;
use crate::local::layout::key;
use crate::local::layout::record::{BranchRecord, GoneRecord};
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};
use crate::reader::found::{FoundMatch, Parent};

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
    let found = ledger.records.find_match(&name)?;
    if ledger.records.backend.get(&key::of_match(&new))?.is_some() {
        return Err(StoreError::AlreadyExists { match_name: new });
    }
    for (hash, grant) in ledger.records.grants(&found)? {
        grants::stage(staged, found.number(), (hash, Grant { match_name: new.clone(), ..grant }));
    }
    staged.remove(key::of_match(&name));
    let renamed = FoundMatch { name: new, ..found };
    staged.put_match(&renamed, renamed.branches);
    if let Some(last) = ledger.record.now.last.as_ref().filter(|last| last.match_name == name) {
        staged.write_last(EntryRef { match_name: renamed.name.clone(), ..last.clone() });
    }
    ledger.branches.retain(|(match_name, _), _| *match_name != name);
    let became = Some(renamed.name.to_string());
    let record = GoneRecord { match_name: name, branch: None, became, entries: 0 };
    ledger.stage_gone(renamed.number(), &record, staged);
    take_id_for_a_name(ledger);
    Ok(())
}

fn stage_branch(
    ledger: &mut Ledger,
    staged: &mut Staged,
    (match_name, name): (MatchName, BranchName),
    new: BranchName,
) -> Result<(), StoreError> {
    let (of, branches) = ledger.records.branches_of(&match_name)?;
    let found = ledger.records.find_branch(&of, &name)?;
    if branches.iter().any(|other| other.name == new) {
        return Err(StoreError::BranchExists { match_name, branch: new });
    }
    for child in branches {
        if let Some(parent) = child.parent.filter(|parent| parent.id == found.id) {
            let parent = Some(Parent { name: new.to_string(), ..parent });
            staged.put(key::of_branch(of.number(), &child.name), &BranchRecord { id: child.id, parent });
        }
    }
    staged.remove(key::of_branch(of.number(), &name));
    staged.put(key::of_branch(of.number(), &new), &BranchRecord { id: found.id, parent: found.parent });
    let last = ledger.record.now.last.as_ref();
    if let Some(last) = last.filter(|_| ledger.record.now.names(&match_name, Some(&name))) {
        staged.write_last(EntryRef { branch: new.clone(), ..last.clone() });
    }
    ledger.branches.remove(&(match_name.clone(), name.clone()));
    let record = GoneRecord { match_name, branch: Some(name), became: Some(new.to_string()), entries: 0 };
    ledger.stage_gone(found.id, &record, staged);
    take_id_for_a_name(ledger);
    Ok(())
}

/// Leaves out an id, so that who counts names meanwhile notices that one has moved.
fn take_id_for_a_name(ledger: &mut Ledger) {
    ledger.take_ids(1);
}
