//! Plans: what of a match in a damaged store can be saved, and what cannot.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::decode::decode_strictly;

use super::lenient::scan_leniently;
use super::lost::LostEntries;
use super::source::{Ends, Fork, Reach, Source};
use crate::backup::error::RescueError;
use crate::backup::part::{BranchPart, Sink, send_entries};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::local::layout::record::BranchRecord;
use crate::local::layout::{key, record};
use crate::local::reader::found::{read_branch, read_match};
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};
use crate::reader::found::{FoundBranch, FoundMatch};
use crate::reader::line::Line;

/// How far the branches of a match went, as far as anything beside their own records tells.
pub(super) type Named = BTreeMap<BranchName, Seq>;

const NO_RECORD: &str = "its branch record is gone";

/// What can be saved of a match.
pub(super) struct MatchPlan {
    /// Its id, as far as it can be read.
    pub(super) id: Option<u64>,
    /// The encoded Genesis; nothing of the match can be saved without it.
    pub(super) genesis: Option<Vec<u8>>,
    /// The branches, parents first.
    pub(super) branches: Vec<BranchPlan>,
    pub(super) lost: Vec<LostEntries>,
    /// The ids of the branches whose names are known.
    pub(super) ids: BTreeSet<u64>,
}

/// What can be saved of a branch.
pub(super) struct BranchPlan {
    pub(super) part: BranchPart,
    source: Source,
}

/// Finds out what of a match can be saved; `told` is what is told of its branches elsewhere.
pub(super) fn plan_match(
    old: &Records,
    name: &MatchName,
    (key, value): (&[u8], &[u8]),
    told: &Named,
) -> MatchPlan {
    let mut plan =
        MatchPlan { id: None, genesis: None, branches: Vec::new(), lost: Vec::new(), ids: BTreeSet::new() };
    let found = read_match(name.clone(), key, value).and_then(|found| found.genesis().map(|_| found));
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            plan.lose(name, (None, None, None), error.reason());
            for (branch, seq) in told {
                plan.lose(name, (Some(branch), None, Some(*seq)), "its match cannot be read".to_owned());
            }
            return plan;
        }
    };
    plan.id = Some(found.number());
    plan.genesis = Some(found.genesis.clone());
    plan.find_branches(old, &found, told);
    plan
}

impl MatchPlan {
    fn find_branches(&mut self, old: &Records, of: &FoundMatch, told: &Named) {
        let name = &of.name;
        let mut branches = Vec::new();
        let mut named = 0;
        let (mut names_main, mut has_main) = (false, false);
        for (key, value) in scan_leniently(old, &key::branches_of(of.number())) {
            let text = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse::<BranchName>().ok());
            let Some(branch) = text else { continue };
            named += 1;
            names_main |= branch.is_main();
            match read_branch(of, branch.clone(), &key, &value) {
                Ok(found) => {
                    has_main |= branch.is_main();
                    branches.push(found);
                }
                Err(_) if branch.is_main() => {}
                Err(error) => {
                    self.ids.extend(
                        record::unchecked(&value)
                            .and_then(|body| decode_strictly::<BranchRecord>(body).ok())
                            .map(|record| record.id),
                    );
                    self.lose(name, (Some(&branch), None, told.get(&branch).copied()), error.reason());
                }
            }
        }
        if !has_main {
            // `main` gets the id after its match's. Should it be another, no entry verifies.
            named += u64::from(!names_main);
            branches.push(mend_main(old, of));
        }
        self.compare_count(name, of.branches, named);
        branches.sort_by_key(|branch| branch.id);
        self.ids.extend(branches.iter().map(|branch| branch.id));
        let mut ends = Ends::new();
        for branch in branches {
            let told = told.get(&branch.name).copied();
            let source = Source::find(old, of, branch);
            self.name_parent(&source);
            self.plan_branch(old, source, told, &mut ends);
        }
        for (branch, seq) in told {
            if !self.speaks_of(branch) {
                self.lose(name, (Some(branch), None, Some(*seq)), NO_RECORD.to_owned());
            }
        }
    }

    /// Says how many branches there should be, if there are others.
    fn compare_count(&mut self, name: &MatchName, expected: u64, named: u64) {
        let reason = match expected.checked_sub(named) {
            Some(0) => return,
            Some(missing) => format!("{missing} of {expected} branches are gone with their names"),
            None => {
                format!("it should have {expected} branches, so some of these {named} may have been deleted")
            }
        };
        self.lose(name, (None, None, None), reason);
    }

    /// Names the branch that another begins on, if nothing else does.
    fn name_parent(&mut self, source: &Source) {
        let Some(parent) = source.line.branch.parent.as_ref().filter(|parent| !self.ids.contains(&parent.id))
        else {
            return;
        };
        let Ok(branch) = parent.name.parse() else { return };
        self.ids.insert(parent.id);
        if !self.speaks_of(&branch) {
            self.lose(&source.line.of.name, (Some(&branch), None, None), NO_RECORD.to_owned());
        }
    }

    /// Returns `true` if a branch is saved or said to be lost.
    fn speaks_of(&self, branch: &BranchName) -> bool {
        self.branches.iter().any(|plan| plan.part.name == *branch)
            || self.lost.iter().any(|lost| lost.branch.as_ref() == Some(branch))
    }

    /// Plans a branch; `told` is how far it went, `ends` how far those before it can be saved.
    fn plan_branch(&mut self, old: &Records, source: Source, told: Option<Seq>, ends: &mut Ends) {
        let expected = source.head.map(|head| head.seq).max(told);
        let Line { of: FoundMatch { name: match_name, .. }, branch, .. } = &source.line;
        let Fork { parent, at, is_whole } = match source.fork(old, ends) {
            Ok(fork) => fork,
            Err(reason) => {
                let place = (Some(&branch.name), Some(branch.forked_at() + 1), expected);
                return self.lose(match_name, place, reason);
            }
        };
        let reach = if is_whole {
            source.reach(old)
        } else {
            let parent = branch.parent.as_ref().map_or("", |parent| &parent.name);
            let reason = format!("the branch `{parent}` it begins on is lost from entry {} on", at + 1);
            let link = source.line.link_at(old, at).unwrap_or(branch.before);
            Reach { seq: at, link, error: Some(StoreError::damaged(reason)) }
        };
        ends.insert(branch.id, (branch.name.clone(), reach.seq));
        let is_short = expected.is_some_and(|expected| expected > reach.seq);
        if is_short || reach.error.is_some() || source.head.is_none() {
            let reason = match reach.error {
                Some(error) => error.reason(),
                None if source.head.is_none() => "its head record is unreadable or too old".to_owned(),
                None => "the entries are gone".to_owned(),
            };
            let (from, to) = (Some(reach.seq + 1), expected.filter(|expected| *expected > reach.seq));
            self.lose(match_name, (Some(&branch.name), from, to), reason);
        }
        let before = if is_whole { branch.before } else { reach.link };
        let (name, head, link) = (branch.name.clone(), reach.seq, reach.link);
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

impl BranchPlan {
    /// Reads the branch's own entries, a few at a time.
    pub(super) fn read(&self, old: &Records, sink: Sink<'_>) -> Result<(), RescueError> {
        let (forked_at, head) = (self.part.forked_at(), self.part.head);
        if head == forked_at {
            return Ok(());
        }
        send_entries(self.source.line.entries(old, forked_at + 1..=head)?, sink)
    }
}

/// Writes the record of `main` again, into the copy.
fn mend_main(old: &Records, of: &FoundMatch) -> FoundBranch {
    let id = of.number().saturating_add(1);
    let name = BranchName::main();
    let record = BranchRecord { id, parent: None };
    // Should this fail, the branches that begin on it are lost, and said to be.
    let _ = old.backend.write(&[record::put(key::of_branch(of.number(), &name), &record)]);
    FoundBranch { name, id, parent: None, before: of.link() }
}
