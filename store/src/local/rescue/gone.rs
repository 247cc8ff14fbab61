//! Names that are gone: what tells a deletion or a new name from a loss.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::local::backend::EntryRef;
use crate::local::layout::key;
use crate::local::layout::record::{self, GoneRecord};

/// Which names are gone, in the order in which they went.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// By id and commit.
    records: BTreeMap<(u64, u64), GoneRecord>,
    /// By commit and id.
    order: BTreeSet<(u64, u64)>,
}

impl Gone {
    /// Adds a record if it is one and sound.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let (Some(id), Some(commit)) = (key::id_of(key), key::seq_of(key)) else { return };
        if let Ok(record) = record::read::<GoneRecord>("a name that is gone", key, value) {
            self.records.insert((id, commit), record);
            self.order.insert((commit, id));
        }
    }

    /// Forgets what was to go in commits after the last one that there was.
    pub(super) fn retain_up_to(&mut self, last_commit: u64) {
        self.records.retain(|(_, commit), _| *commit <= last_commit);
        self.order.retain(|(commit, _)| *commit <= last_commit);
    }

    /// Returns the last thing that became of a match or branch.
    pub(super) fn last_of(&self, id: u64) -> Option<&GoneRecord> {
        self.records.range((id, 0)..=(id, u64::MAX)).next_back().map(|(_, record)| record)
    }

    /// Returns `true` if a match or branch was deleted.
    pub(super) fn has_deleted(&self, id: u64) -> bool {
        self.last_of(id).is_some_and(|record| record.became.is_none())
    }

    /// Returns `true` if a match of this name was deleted or got another one.
    pub(super) fn names_match(&self, name: &str) -> bool {
        let is_of_match = |record: &GoneRecord| record.branch.is_none() && record.match_name.as_str() == name;
        self.records.values().any(is_of_match)
    }

    /// Returns the number of entries that were deleted.
    pub(super) fn entries(&self) -> u64 {
        self.records.values().fold(0, |sum, record| sum.saturating_add(record.entries))
    }

    /// Returns what a place that was there after a commit is called in the end, or `None` if it was deleted.
    pub(super) fn follow(&self, mut place: EntryRef, commit: u64) -> Option<EntryRef> {
        let later = (Bound::Excluded((commit, u64::MAX)), Bound::Unbounded);
        for (at, id) in self.order.range(later) {
            let Some(record) = self.records.get(&(*id, *at)) else { continue };
            if record.match_name != place.match_name {
                continue;
            }
            match (&record.branch, &record.became) {
                (Some(branch), _) if *branch != place.branch => {}
                (_, None) => return None,
                (None, Some(name)) => place.match_name = name.parse().ok()?,
                (Some(_), Some(name)) => place.branch = name.parse().ok()?,
            }
        }
        Some(place)
    }
}
