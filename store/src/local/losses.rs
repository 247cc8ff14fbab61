//! Lists what a damaged journal lost, with names as far as the rest shows them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::entry::Seq;
use crate::error::StoreError;
use crate::error::text::numbered;
use crate::local::backend::{Backend, BackendError};
use crate::local::journal::Remains;
use crate::local::record::BranchRecord;
use crate::local::records::Records;
use crate::local::replay::Misfit;
use crate::local::view::MemoryRecords;
use crate::local::{key, record};
use crate::names::{BranchName, MatchName};
use crate::reader::branch::Head;

/// Something that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostEntries {
    /// The match; `None` if it is unknown or if the loss concerns the store as a whole.
    #[serde(rename = "match")]
    pub match_name: Option<MatchName>,
    /// The branch; `None` if the loss concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The seq of the first lost entry, if it is known.
    pub from: Option<Seq>,
    /// The seq of the last lost entry, as far as the rest of the store shows it.
    pub to: Option<Seq>,
    /// The reason.
    pub reason: String,
}

impl LostEntries {
    pub(crate) fn of_store(reason: impl Into<String>) -> Self {
        Self { match_name: None, branch: None, from: None, to: None, reason: reason.into() }
    }
}

/// Records from damaged files, and what these lack.
pub(crate) struct Rescued {
    pub(crate) records: Records,
    /// Whether nothing up to the last commit of the files is missing. Only an index can prove that.
    pub(crate) is_sound: bool,
    /// The parts of commits that do not follow from what is left, each with the number of its commit.
    pub(crate) misfits: Vec<(u64, Misfit)>,
    /// What else could not be saved.
    pub(crate) lost: Vec<LostEntries>,
}

impl Rescued {
    pub(crate) fn of(records: Box<dyn Backend>) -> Self {
        Self { records: Records::new(records, None), is_sound: false, misfits: Vec::new(), lost: Vec::new() }
    }
}

/// Reads what is left of a journal.
pub(crate) fn read_left(journal: &Path, mut remains: Remains) -> Result<Rescued, BackendError> {
    let mut view = MemoryRecords::before(journal, remains.salt, remains.files());
    let mut misfits = Vec::new();
    remains.each_commit(&mut |point, at, body| {
        view.take(point, at, body, &mut |misfit| {
            misfits.push((point.number, misfit));
            Ok(())
        })
    })?;
    let mut left = Rescued { misfits, ..Rescued::of(Box::new(view)) };
    for note in remains.notes {
        left.lost.push(LostEntries::of_store(note));
    }
    Ok(left)
}

/// Returns the error with the match, branch and entry that the damage concerns, as far as the rest of the journal shows
/// them (ST-3).
pub(crate) fn locate(journal: &Path, error: BackendError) -> StoreError {
    let is_damage = matches!(error, BackendError::Damaged(_));
    let error = StoreError::from(error);
    if !is_damage {
        return error;
    }
    let Some(remains) = Remains::find(journal) else { return error };
    let Ok(left) = read_left(journal, remains) else { return error };
    let mut lost = losses(&left.misfits, &left.records);
    lost.sort_by_key(|lost| lost.from.is_none());
    for LostEntries { match_name, branch, from, .. } in lost {
        let Some(match_name) = match_name else { continue };
        let error = error.within(&match_name, branch.as_ref());
        return match from {
            Some(from) => error.at(from),
            None => error,
        };
    }
    error
}

pub(crate) fn losses(misfits: &[(u64, Misfit)], records: &Records) -> Vec<LostEntries> {
    let names = names(records);
    let mut entries: BTreeMap<u64, (Seq, Seq)> = BTreeMap::new();
    let mut lost = Vec::new();
    for (commit, misfit) in misfits {
        match misfit {
            Misfit::Entries { branch, expected, first, last } => {
                // Another source than the journal may have these entries.
                let head = head_of(*branch, records);
                let from = expected.unwrap_or(*first).max(head.map_or(0, |head| head.seq + 1));
                if from > *last {
                    continue;
                }
                let range = entries.entry(*branch).or_insert((from, *last));
                *range = (range.0.min(from), range.1.max(*last));
            }
            Misfit::Named { match_name, branch } => lost.push(LostEntries {
                match_name: Some(match_name.clone()),
                branch: branch.clone(),
                from: None,
                to: None,
                reason: format!("what commit {commit} does to it follows from what is missing"),
            }),
            Misfit::Unreadable => {
                lost.push(LostEntries::of_store(format!("commit {commit} cannot be understood")));
            }
        }
    }
    for (branch, (from, to)) in entries {
        let Some((match_name, name)) = names.get(&branch) else {
            let entries = numbered(from, to);
            lost.push(LostEntries::of_store(format!("{entries} of a branch that is gone with its name")));
            continue;
        };
        lost.push(LostEntries {
            match_name: Some(match_name.clone()),
            branch: Some(name.clone()),
            from: Some(from),
            to: Some(to),
            reason: "a commit with entries of it is missing or unreadable".to_owned(),
        });
    }
    lost
}

fn head_of(branch: u64, records: &Records) -> Option<Head> {
    let key = key::of_head(branch);
    let value = records.backend.get(&key).ok()??;
    record::read("a head", &key, &value).ok()
}

fn names(records: &Records) -> BTreeMap<u64, (MatchName, BranchName)> {
    let mut names = BTreeMap::new();
    for found_match in records.readable_matches() {
        // A record that cannot be read names nothing; the others still do.
        for (key, value) in records.scan(key::branches_of(found_match.number())).flatten() {
            let read = record::read::<BranchRecord>("a branch", &key, &value);
            let name = key::name_after(&key, key::ID_PREFIX);
            if let (Ok(branch), Some(name)) = (read, name) {
                names.insert(branch.id, (found_match.name.clone(), name));
            }
        }
    }
    names
}
