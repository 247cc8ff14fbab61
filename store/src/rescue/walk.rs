//! Walking: a store read part by part, each checked, while it may be written to.

use turnfold_core::Digest;

use super::error::RescueError;
use super::part::{BranchPart, MatchPart, Part, Sink, Totals, send_entries};
use crate::error::StoreError;
use crate::layout::chain;
use crate::layout::record::HeadRecord;
use crate::names::{BranchName, MatchName};
use crate::open::Shared;
use crate::reader::lookup::{FoundBranch, FoundMatch};

/// Reads every match, the last part being the end. Each branch is given up to a head that it had meanwhile.
///
/// The branches of a match are listed before their heads are read, so a parent has all that its children need; and
/// none is deleted or renamed before its match is done, and no match before all are.
pub(super) fn walk(shared: &Shared, sink: Sink<'_>) -> Result<(), RescueError> {
    let mut totals = Totals::default();
    let mut counting = |part: &Part<'_>| {
        totals.count(part);
        sink(part)
    };
    let _matches = shared.hold_matches();
    for found in shared.found_matches(None)? {
        let (name, _) = found?;
        let _branches = shared.hold_branches();
        walk_match(shared, &name, &mut counting)?;
    }
    sink(&Part::End(totals))
}

fn walk_match(shared: &Shared, name: &MatchName, sink: Sink<'_>) -> Result<(), RescueError> {
    let (found_match, records) = shared.branch_records(name)?;
    // What cannot be read here could not be restored either.
    found_match.genesis(name)?;
    let mut branches = Vec::new();
    for (branch_name, key, value) in records {
        let found = FoundBranch::read(&found_match, &branch_name, &key, &value);
        let found = found.and_then(|found| shared.head(&found).map(|head| (found, head)));
        let (found, head) = found.map_err(|error| error.within(name, Some(&branch_name)))?;
        branches.push((branch_name, found, head));
    }
    branches.sort_by_key(|(_, found, _)| found.id);
    sink(&Part::Match(MatchPart {
        name: name.clone(),
        branches: branches.len() as u64,
        genesis: &found_match.genesis,
    }))?;
    for (branch_name, found, head) in &branches {
        walk_branch(shared, (name, &found_match), (branch_name, found, *head), sink)?;
    }
    Ok(())
}

fn walk_branch(
    shared: &Shared,
    (match_name, found_match): (&MatchName, &FoundMatch),
    (name, found, head): (&BranchName, &FoundBranch, HeadRecord),
    sink: Sink<'_>,
) -> Result<(), RescueError> {
    let parent = fork(shared, (match_name, found_match), found)
        .map_err(|error| error.within(match_name, Some(name)))?;
    sink(&Part::Branch(BranchPart {
        name: name.clone(),
        parent,
        before: found.before,
        head: head.seq,
        link: head.link,
    }))?;
    let range = found.forked_at() + 1..=head.seq;
    send_entries(shared.entries(match_name, found_match, (name, found, head), range)?, sink)
}

/// Gives where a branch begins, requiring that the parent's chain leads there.
fn fork(
    shared: &Shared,
    (match_name, found_match): (&MatchName, &FoundMatch),
    found: &FoundBranch,
) -> Result<Option<(BranchName, u64)>, StoreError> {
    let Some(parent) = &found.parent else {
        return same(found.before, chain::genesis_link(&found_match.genesis), 0).map(|()| None);
    };
    let name: BranchName =
        parent.name.parse().map_err(|_| StoreError::damaged("its parent has no proper name"))?;
    same(found.before, shared.link_at(match_name, &name, parent.at)?, parent.at)?;
    Ok(Some((name, parent.at)))
}

fn same(found: Digest, expected: Digest, seq: u64) -> Result<(), StoreError> {
    if found == expected {
        return Ok(());
    }
    Err(StoreError::damaged("the chain of entries does not lead to where it begins").at(seq))
}
