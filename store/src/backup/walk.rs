//! Walks a store: reads it part by part, each checked, while it may be written to.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use super::error::RescueError;
use super::part::{BackupBranch, BackupPart, Sink, Totals, send_entries};
use crate::ancestry::Ancestry;
use crate::engine::EngineReader;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::{Branch, Head};

/// Walks a store like [`walk`], for a copy without grants. It removes the authors' tokens from notes.
pub(crate) fn walk_without_grants(engine: &dyn EngineReader, sink: Sink<'_>) -> Result<(), RescueError> {
    walk(engine, &mut |part| {
        let BackupPart::Note(note) = part else { return sink(part) };
        match note.without_token() {
            Some(note) => sink(&BackupPart::Note(note)),
            None => Ok(()),
        }
    })
}

/// Passes every match to `sink`, each as of one moment, and the end as the last part.
///
/// While it runs, no match is deleted or renamed, and no branch of the match that is being read.
pub(crate) fn walk(engine: &dyn EngineReader, sink: Sink<'_>) -> Result<(), RescueError> {
    let mut totals = Totals::default();
    let mut counting = |part: &BackupPart<'_>| {
        totals.count(part);
        sink(part)
    };
    let _matches = engine.hold_matches();
    for name in engine.match_names()? {
        let name = name?;
        engine.at_one_moment(&mut |engine| walk_match(engine, &name, &mut counting))?;
    }
    sink(&BackupPart::End(totals))
}

fn walk_match(engine: &dyn EngineReader, name: &MatchName, sink: Sink<'_>) -> Result<(), RescueError> {
    // Notes are read before the branches, because a note that is written later may be about an entry behind the heads
    // read here.
    let notes = engine.notes_of(name)?;
    let (found_match, mut branches) = engine.branches(name)?;
    // A Genesis that cannot be read here could not be restored either.
    found_match.genesis()?;
    sort_parents_first(&mut branches);
    let name = name.clone();
    let count = branches.len() as u64;
    sink(&BackupPart::Match { name, branches: count, genesis: &found_match.genesis })?;
    if let Some(module) = found_match.module {
        sink(&BackupPart::Module(module))?;
    }
    let mut ancestry = Ancestry::default();
    let mut indexes = BTreeMap::new();
    for branch in &branches {
        let parent =
            branch.found.parent.as_ref().and_then(|parent| Some((*indexes.get(&parent.id)?, parent.at)));
        let holder = parent.and_then(|(parent, at)| branches.get(ancestry.holder(parent, at)));
        let parent = parent.map(|(parent, _)| parent);
        indexes.insert(branch.found.id, ancestry.add(parent, branch.found.forked_at().saturating_add(1)));
        walk_branch(engine, branch, holder, sink)?;
    }
    for note in notes {
        sink(&BackupPart::Note(note))?;
    }
    Ok(())
}

pub(crate) fn sort_parents_first(branches: &mut [Branch]) {
    let depths = depths(branches);
    branches.sort_by_cached_key(|branch| {
        let depth = depths.get(&branch.found.id).copied().unwrap_or(usize::MAX);
        // The name comes second, so that every engine lists the same branches in the same order.
        (depth, branch.found.name.clone())
    });
}

fn depths(branches: &[Branch]) -> BTreeMap<u64, usize> {
    // Ids do not show the depth, because a database gives random ids. Branches in a cycle have none, and cannot be read.
    let mut children = BTreeMap::<Option<u64>, Vec<u64>>::new();
    for branch in branches {
        let parent = branch.found.parent.as_ref().map(|parent| parent.id);
        children.entry(parent).or_default().push(branch.found.id);
    }
    let mut depths = BTreeMap::new();
    let mut level = children.remove(&None).unwrap_or_default();
    for depth in 0.. {
        if level.is_empty() {
            break;
        }
        let next = level.iter().filter_map(|id| children.remove(&Some(*id))).flatten().collect();
        depths.extend(level.into_iter().map(|id| (id, depth)));
        level = next;
    }
    depths
}

/// Reads a branch. `holder` is the branch that has the entry before its first own entry.
fn walk_branch(
    engine: &dyn EngineReader,
    branch: &Branch,
    holder: Option<&Branch>,
    sink: Sink<'_>,
) -> Result<(), RescueError> {
    let parent = fork(engine, branch, holder).map_err(|error| branch.within(error))?;
    let name = branch.found.name.clone();
    let before = branch.found.before;
    let Head { seq: head, link } = branch.head;
    sink(&BackupPart::Branch(BackupBranch { name, parent, before, head, link }))?;
    send_entries(branch.entries(engine, branch.own())?, sink)
}

/// Returns where a branch begins, and requires the parent's chain to lead there.
fn fork(
    engine: &dyn EngineReader,
    branch: &Branch,
    holder: Option<&Branch>,
) -> Result<Option<(BranchName, u64)>, StoreError> {
    let before = branch.found.before;
    let at = branch.found.forked_at();
    let Some(parent) = branch.found.parent_name()? else {
        return same(before, branch.found_match.link(), at).map(|()| None);
    };
    let expected = match holder.filter(|holder| at <= holder.head.seq) {
        Some(holder) => holder.link_at(engine, at)?,
        None => engine.found_branch(&branch.found_match.name, &parent)?.link_at(engine, at)?,
    };
    same(before, expected, at)?;
    Ok(Some((parent, at)))
}

fn same(found: Digest, expected: Digest, seq: u64) -> Result<(), StoreError> {
    if found == expected {
        return Ok(());
    }
    Err(StoreError::damaged("the chain of entries does not lead to where it begins").at(seq))
}
