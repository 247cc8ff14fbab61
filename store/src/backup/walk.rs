//! Walking: a store read part by part, each checked, while it may be written to.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use super::error::RescueError;
use super::part::{BranchPart, MatchPart, Part, Sink, Totals, send_entries};
use crate::ancestry::Ancestry;
use crate::engine::EngineReader;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::found::Head;
use crate::reader::line::Line;

/// Reads every match as it is at some moment of the walk; the last part is the end.
///
/// No branch is deleted or renamed before its match is done, and no match before all are.
pub(crate) fn walk(engine: &dyn EngineReader, sink: Sink<'_>) -> Result<(), RescueError> {
    let mut totals = Totals::default();
    let mut counting = |part: &Part<'_>| {
        totals.count(part);
        sink(part)
    };
    let _matches = engine.hold_matches();
    for name in engine.match_names()? {
        let name = name?;
        engine.at_one_moment(&mut |engine| walk_match(engine, &name, &mut counting))?;
    }
    sink(&Part::End(totals))
}

fn walk_match(engine: &dyn EngineReader, name: &MatchName, sink: Sink<'_>) -> Result<(), RescueError> {
    let (of, mut lines) = engine.branches(name)?;
    // What cannot be read here could not be restored either.
    of.genesis()?;
    sort_parents_first(&mut lines);
    let (name, branches) = (name.clone(), lines.len() as u64);
    sink(&Part::Match(MatchPart { name, branches, genesis: &of.genesis }))?;
    if let Some(module) = of.module {
        sink(&Part::Module(module))?;
    }
    let (mut ancestry, mut indexes) = (Ancestry::default(), BTreeMap::new());
    for line in &lines {
        let parent =
            line.branch.parent.as_ref().and_then(|parent| Some((*indexes.get(&parent.id)?, parent.at)));
        let holder = parent.and_then(|(parent, at)| lines.get(ancestry.holder(parent, at)));
        let parent = parent.map(|(parent, _)| parent);
        indexes.insert(line.branch.id, ancestry.add(parent, line.branch.forked_at().saturating_add(1)));
        walk_branch(engine, line, holder, sink)?;
    }
    Ok(())
}

/// Sorts branches so that parents come first, and two engines that hold the same list the same.
pub(crate) fn sort_parents_first(lines: &mut [Line]) {
    let depths = depths(lines);
    let depth = |line: &Line| depths.get(&line.branch.id).copied().unwrap_or(usize::MAX);
    lines.sort_by_cached_key(|line| (depth(line), line.branch.name.clone()));
}

/// Returns how many branches lie below each. Their numbers do not show that: those in a database are random. Branches
/// that begin on each other in a circle have no depth; of them nothing can be read.
fn depths(lines: &[Line]) -> BTreeMap<u64, usize> {
    let mut children = BTreeMap::<Option<u64>, Vec<u64>>::new();
    for line in lines {
        let parent = line.branch.parent.as_ref().map(|parent| parent.id);
        children.entry(parent).or_default().push(line.branch.id);
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

/// Reads a branch; `holder` has the entry after which it begins as one of its own.
fn walk_branch(
    engine: &dyn EngineReader,
    line: &Line,
    holder: Option<&Line>,
    sink: Sink<'_>,
) -> Result<(), RescueError> {
    let parent = fork(engine, line, holder).map_err(|error| line.within(error))?;
    let (name, before) = (line.branch.name.clone(), line.branch.before);
    let Head { seq: head, link } = line.head;
    sink(&Part::Branch(BranchPart { name, parent, before, head, link }))?;
    send_entries(line.entries(engine, line.own())?, sink)
}

/// Returns where a branch begins, requiring that the parent's chain leads there.
fn fork(
    engine: &dyn EngineReader,
    line: &Line,
    holder: Option<&Line>,
) -> Result<Option<(BranchName, u64)>, StoreError> {
    let (before, at) = (line.branch.before, line.branch.forked_at());
    let Some(parent) = line.branch.parent_name()? else {
        return same(before, line.of.link(), at).map(|()| None);
    };
    let expected = match holder.filter(|holder| at <= holder.head.seq) {
        Some(holder) => holder.link_at(engine, at)?,
        None => engine.found_branch(&line.of.name, &parent)?.link_at(engine, at)?,
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
