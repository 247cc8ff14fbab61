//! Walking: a store read part by part, each checked, while it may be written to.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use super::error::RescueError;
use super::part::{BranchPart, MatchPart, Part, Sink, Totals, send_entries};
use crate::engine::EngineReader;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::found::Head;
use crate::reader::line::Line;

/// Reads every match as it is at some moment meanwhile, the last part being the end.
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
    let parents: BTreeMap<u64, u64> =
        lines.iter().filter_map(|line| Some((line.branch.id, line.branch.parent.as_ref()?.id))).collect();
    // What cannot be read here could not be restored either.
    of.genesis()?;
    // Parents come first, and two engines that hold the same write the same.
    lines.sort_by_cached_key(|line| (depth(line, &parents), line.branch.name.clone()));
    let (name, branches) = (name.clone(), lines.len() as u64);
    sink(&Part::Match(MatchPart { name, branches, genesis: &of.genesis }))?;
    lines.iter().try_for_each(|line| walk_branch(engine, line, sink))
}

/// Returns how many branches lie below one.
fn depth(line: &Line, parents: &BTreeMap<u64, u64>) -> usize {
    let below = std::iter::successors(Some(&line.branch.id), |id| parents.get(id));
    // Of branches that begin on each other in a circle nothing can be read.
    below.take(parents.len() + 1).count()
}

fn walk_branch(engine: &dyn EngineReader, line: &Line, sink: Sink<'_>) -> Result<(), RescueError> {
    let parent = fork(engine, line).map_err(|error| line.within(error))?;
    let (name, before) = (line.branch.name.clone(), line.branch.before);
    let Head { seq: head, link } = line.head;
    sink(&Part::Branch(BranchPart { name, parent, before, head, link }))?;
    send_entries(line.entries(engine, line.own())?, sink)
}

/// Returns where a branch begins, requiring that the parent's chain leads there.
fn fork(engine: &dyn EngineReader, line: &Line) -> Result<Option<(BranchName, u64)>, StoreError> {
    let (before, at) = (line.branch.before, line.branch.forked_at());
    let Some(parent) = line.branch.parent_name()? else {
        return same(before, line.of.link(), at).map(|()| None);
    };
    same(before, engine.found_branch(&line.of.name, &parent)?.link_at(engine, at)?, at)?;
    Ok(Some((parent, at)))
}

fn same(found: Digest, expected: Digest, seq: u64) -> Result<(), StoreError> {
    if found == expected {
        return Ok(());
    }
    Err(StoreError::damaged("the chain of entries does not lead to where it begins").at(seq))
}
