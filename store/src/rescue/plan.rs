//! Plans: what of a match in a damaged store can be saved, and what cannot.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use super::damaged::{reason_of, scan_leniently};
use super::error::RescueError;
use super::part::{BranchPart, Sink, send_entries};
use super::salvage::LostEntries;
use crate::backend::Place;
use crate::chain::Linker;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::lookup::{FoundBranch, FoundMatch};
use crate::names::{BranchName, MatchName};
use crate::open::Shared;
use crate::record::{BranchRecord, HeadRecord};
use crate::segment::read_page;
use crate::{chain, key, record};

/// What can be saved of a match.
pub(super) struct MatchPlan {
    /// The encoded Genesis; nothing of the match can be saved without it.
    pub(super) genesis: Option<Vec<u8>>,
    /// The branches, parents first.
    pub(super) branches: Vec<BranchPlan>,
    pub(super) lost: Vec<LostEntries>,
}

/// What can be saved of a branch.
pub(super) struct BranchPlan {
    pub(super) part: BranchPart,
    source: Source,
}

/// A branch as the damaged store has it.
struct Source {
    match_name: MatchName,
    found_match: FoundMatch,
    name: BranchName,
    found: FoundBranch,
    /// The last entry there should be, and the link after it, where the head can be read.
    head: Option<HeadRecord>,
}

/// How far a branch can be read.
struct Reach {
    /// The last entry that could be read, and the link after it.
    seq: Seq,
    link: Digest,
    error: Option<StoreError>,
}

/// Finds out what of a match can be saved; `last` is where the store was written to last, if that was here.
pub(super) fn plan_match(
    old: &Shared,
    name: &MatchName,
    (key, value): (&[u8], &[u8]),
    last: Option<&Place>,
) -> MatchPlan {
    let mut plan = MatchPlan { genesis: None, branches: Vec::new(), lost: Vec::new() };
    let found = FoundMatch::read(name, key, value).and_then(|found| found.genesis(name).map(|_| found));
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            plan.lose(name, (None, None, None), reason_of(error));
            return plan;
        }
    };
    plan.genesis = Some(found.genesis.clone());
    plan.find_branches(old, name, &found, last);
    plan
}

impl MatchPlan {
    fn find_branches(
        &mut self,
        old: &Shared,
        name: &MatchName,
        found_match: &FoundMatch,
        last: Option<&Place>,
    ) {
        let mut sources = Vec::new();
        let mut named = 0;
        let (mut names_main, mut has_main) = (false, false);
        for (key, value) in scan_leniently(old, &key::branches_of(found_match.id)) {
            let text = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse::<BranchName>().ok());
            let Some(branch) = text else { continue };
            named += 1;
            names_main |= branch.is_main();
            match FoundBranch::read(found_match, &branch, &key, &value) {
                Ok(found) => {
                    has_main |= branch.is_main();
                    sources.push((branch, found));
                }
                Err(_) if branch.is_main() => {}
                Err(error) => {
                    let to = last.filter(|last| last.branch == branch).map(|last| last.seq);
                    self.lose(name, (Some(&branch), None, to), reason_of(error));
                }
            }
        }
        if !has_main {
            // `main` gets the id after its match's. Should it be another, no entry verifies.
            named += u64::from(!names_main);
            sources.push((BranchName::main(), mend_main(old, found_match)));
        }
        if let Some(missing) = found_match.branches.checked_sub(named).filter(|missing| *missing > 0) {
            let reason = format!("{missing} of {} branches are gone with their names", found_match.branches);
            self.lose(name, (None, None, None), reason);
        }
        sources.sort_by_key(|(_, found)| found.id);
        let mut ends = BTreeMap::new();
        for (branch, found) in sources {
            // A head that entries lie behind is an old one.
            let head = old.stored_head(&found).ok().filter(|head| last_stored(old, &found) <= head.seq);
            let last = last.filter(|last| last.branch == branch).map(|last| last.seq);
            let (match_name, found_match) = (name.clone(), found_match.clone());
            let source = Source { match_name, found_match, name: branch, found, head };
            self.plan_branch(old, source, last, &mut ends);
        }
        if let Some(last) = last.filter(|last| !ends.contains_key(&last.branch)) {
            let is_told = self.lost.iter().any(|lost| lost.branch.as_ref() == Some(&last.branch));
            if !is_told {
                self.lose(
                    name,
                    (Some(&last.branch), None, Some(last.seq)),
                    "its branch record is gone".to_owned(),
                );
            }
        }
    }

    /// Plans a branch; `ends` has how far those before it can be saved.
    fn plan_branch(
        &mut self,
        old: &Shared,
        source: Source,
        last: Option<Seq>,
        ends: &mut BTreeMap<BranchName, Seq>,
    ) {
        let expected = source.head.map(|head| head.seq).max(last);
        let Fork { parent, at, is_whole } = match source.fork(old, ends) {
            Ok(fork) => fork,
            Err(reason) => {
                let place = (Some(&source.name), Some(source.found.forked_at() + 1), expected);
                return self.lose(&source.match_name, place, reason);
            }
        };
        let reach = if is_whole {
            source.reach(old)
        } else {
            let parent = source.found.parent.as_ref().map_or("", |parent| &parent.name);
            let reason = format!("the branch `{parent}` it begins on is lost from entry {} on", at + 1);
            let link = source.link_at(old, at).unwrap_or(source.found.before);
            Reach { seq: at, link, error: Some(StoreError::damaged(reason)) }
        };
        ends.insert(source.name.clone(), reach.seq);
        let is_short = expected.is_some_and(|expected| expected > reach.seq);
        if is_short || reach.error.is_some() || source.head.is_none() {
            let reason = match reach.error {
                Some(error) => reason_of(error),
                None if source.head.is_none() => "its head record is unreadable or too old".to_owned(),
                None => "the entries are gone".to_owned(),
            };
            let (from, to) = (Some(reach.seq + 1), expected.filter(|expected| *expected > reach.seq));
            self.lose(&source.match_name, (Some(&source.name), from, to), reason);
        }
        let before = if is_whole { source.found.before } else { reach.link };
        let (name, head, link) = (source.name.clone(), reach.seq, reach.link);
        self.branches.push(BranchPlan { part: BranchPart { name, parent, before, head, link }, source });
    }

    fn lose(
        &mut self,
        match_name: &MatchName,
        (branch, from, to): (Option<&BranchName>, Option<Seq>, Option<Seq>),
        reason: String,
    ) {
        let (match_name, branch) = (Some(match_name.clone()), branch.cloned());
        self.lost.push(LostEntries { match_name, branch, from, to, reason });
    }
}

/// Where a branch can begin.
struct Fork {
    parent: Option<(BranchName, Seq)>,
    at: Seq,
    /// Whether that is where it began.
    is_whole: bool,
}

impl Source {
    fn fork(&self, old: &Shared, ends: &BTreeMap<BranchName, Seq>) -> Result<Fork, String> {
        let Some(parent) = &self.found.parent else {
            return Ok(Fork { parent: None, at: 0, is_whole: true });
        };
        let name = parent.name.parse::<BranchName>().map_err(|error| error.to_string())?;
        let Some(end) = ends.get(&name) else {
            return Err(format!("the branch `{name}` it begins on is lost"));
        };
        if *end < parent.at {
            return Ok(Fork { parent: Some((name, *end)), at: *end, is_whole: false });
        }
        let link = self.link_at(old, parent.at).map_err(reason_of)?;
        if link != parent.link {
            return Err("the chain of entries does not lead to where it begins".to_owned());
        }
        Ok(Fork { parent: Some((name, parent.at)), at: parent.at, is_whole: true })
    }

    /// Gives the link after an entry from before the branch.
    fn link_at(&self, old: &Shared, at: Seq) -> Result<Digest, StoreError> {
        if at == 0 {
            return Ok(chain::genesis_link(&self.found_match.genesis));
        }
        let mut entries = self.entries(old, at, at)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        Ok(entries.link())
    }

    /// Reads entries; the head counts only where it can be read.
    fn entries<'a>(&self, old: &'a Shared, from: Seq, to: Seq) -> Result<crate::Entries<'a>, StoreError> {
        let beyond = HeadRecord { seq: Seq::MAX, link: self.found.before };
        let head = self.head.unwrap_or(beyond);
        old.entries(&self.match_name, &self.found_match, (&self.name, &self.found, head), from..=to)
    }

    /// Finds how far the branch's own entries are sound.
    fn reach(&self, old: &Shared) -> Reach {
        let to = match self.head {
            Some(head) => head.seq,
            None => last_stored(old, &self.found),
        };
        let reach = self.read_to(old, to);
        // What is wrong is not behind what was read, so a stored link within it does not agree with the chain.
        match &reach.error {
            Some(StoreError::Corrupt { seq: Some(seq), .. }) if *seq <= reach.seq => {
                let end = self.proven_before(old, *seq);
                let Reach { seq, link, .. } = self.read_to(old, end);
                Reach { seq, link, error: reach.error }
            }
            _ => reach,
        }
    }

    fn read_to(&self, old: &Shared, to: Seq) -> Reach {
        let mut reach = Reach { seq: self.found.forked_at(), link: self.found.before, error: None };
        let linker = Linker::new();
        let read = self.each(old, to, &mut |seq, bytes| {
            reach.link = linker.link(&reach.link, bytes);
            reach.seq = seq;
        });
        Reach { error: read.err(), ..reach }
    }

    fn each(&self, old: &Shared, to: Seq, visit: &mut dyn FnMut(Seq, &[u8])) -> Result<(), StoreError> {
        for entry in self.entries(old, self.found.forked_at() + 1, to)? {
            let entry = entry?;
            visit(entry.seq, &entry.encode());
        }
        Ok(())
    }

    /// Gives the last entry before `seq` that a page's link proves.
    fn proven_before(&self, old: &Shared, seq: Seq) -> Seq {
        let forked_at = self.found.forked_at();
        let found = old.page_at(self.found.id, forked_at + 1, seq.saturating_sub(1));
        let Ok(Some((first, key, value))) = found else { return forked_at };
        let held = read_page(&key, &value).map_or(0, |page| page.records.len() as u64);
        (first + held).saturating_sub(1).clamp(forked_at, seq)
    }
}

impl BranchPlan {
    /// Reads the branch's own entries, a few at a time.
    pub(super) fn read(&self, old: &Shared, sink: Sink<'_>) -> Result<(), RescueError> {
        let (forked_at, head) = (self.part.forked_at(), self.part.head);
        if head == forked_at {
            return Ok(());
        }
        send_entries(self.source.entries(old, forked_at + 1, head)?, sink)
    }
}

/// Gives the last entry for which there is a record.
fn last_stored(old: &Shared, found: &FoundBranch) -> Seq {
    let forked_at = found.forked_at();
    let page = old.page_at(found.id, forked_at + 1, Seq::MAX - 1).ok().flatten();
    let paged = page.and_then(|(first, key, value)| {
        read_page(&key, &value).ok().map(|page| first.saturating_add(page.records.len() as u64 - 1))
    });
    let tail = old.backend.last(&key::tails_of(found.id)).ok().flatten();
    let tail = tail.and_then(|(key, _)| key::seq_of(&key));
    paged.max(tail).unwrap_or(forked_at).max(forked_at)
}

/// Writes the record of `main` again, into the copy.
fn mend_main(old: &Shared, found_match: &FoundMatch) -> FoundBranch {
    let id = found_match.id.saturating_add(1);
    let record = BranchRecord { id, parent: None };
    // Should this fail, the branches that begin on it are lost, and said to be.
    let _ = old.backend.write(&[record::put(key::of_branch(found_match.id, &BranchName::main()), &record)]);
    FoundBranch { id, parent: None, before: chain::genesis_link(&found_match.genesis) }
}
