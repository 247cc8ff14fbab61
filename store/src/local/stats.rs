//! Statistics: how much a store contains, and which matches are the largest.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use crate::backup::part::Totals;
use crate::error::{Placed, StoreError};
use crate::local::page::read_page;
use crate::local::records::Records;
use crate::local::{key, swap};
use crate::names::MatchName;
use crate::reader::store_report::{MatchStats, StoreStats};
use crate::writer::store::Store;

impl Records {
    pub(crate) fn count(
        &self,
        top: usize,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<StoreStats, StoreError> {
        let mut stats = StoreStats::default();
        for found in self.found_matches(None)? {
            let of_match = count_match(self, found?.name, &mut stats)?;
            stats.totals.matches += 1;
            stats.totals.branches += of_match.branches;
            stats.totals.entries += of_match.entries;
            stats.entry_bytes += of_match.entry_bytes;
            // Of matches with equally many entries, the first by name comes first.
            let place =
                stats.largest.partition_point(|other| Reverse(other.entries) <= Reverse(of_match.entries));
            stats.largest.insert(place, of_match);
            stats.largest.truncate(top);
            observe(stats.totals);
        }
        Ok(stats)
    }
}

impl Store {
    /// Returns the bytes of the journal and of the indexes in a store's directory.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if they cannot be read.
    pub fn journal_and_index_bytes(dir: &Path) -> Result<(u64, u64), StoreError> {
        swap::read_unswapped(dir, |places| Ok((bytes_of(&places.journal)?, bytes_of(&places.sled)?)))
    }

    /// Returns the bytes of all files in a store's directory.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if it cannot be read.
    pub fn bytes_on_disk(dir: &Path) -> Result<u64, StoreError> {
        match bytes_below(dir) {
            Ok(bytes) => Ok(bytes),
            Err(source) => Err(StoreError::io("read", dir, source)),
        }
    }
}

fn count_match(records: &Records, name: MatchName, stats: &mut StoreStats) -> Result<MatchStats, StoreError> {
    let (_, branches) = records.branches_of(&name)?;
    let mut of_match = MatchStats { name, branches: 0, entries: 0, entry_bytes: 0 };
    for branch in branches {
        of_match.branches += 1;
        let mut counted_to = branch.forked_at();
        for record in records.scan(key::pages_of(branch.id)) {
            let (key, value) = record.within(&of_match.name, Some(&branch.name))?;
            let first = key::seq_of(&key).unwrap_or_default();
            let page = read_page(&key, &value).at(first).within(&of_match.name, Some(&branch.name))?;
            let last = first.saturating_add(page.records.len() as u64).saturating_sub(1);
            // During packing the same entry may be on two pages.
            let count = last.saturating_sub(counted_to.max(first.saturating_sub(1)));
            counted_to = counted_to.max(last);
            stats.pages += 1;
            stats.entries_on_pages += count;
            of_match.entries += count;
            of_match.entry_bytes += (key.len() + value.len()) as u64;
        }
    }
    Ok(of_match)
}

fn bytes_of(folder: &Path) -> Result<u64, StoreError> {
    if folder.exists() { Store::bytes_on_disk(folder) } else { Ok(0) }
}

fn bytes_below(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(found) if found.is_dir() => bytes += bytes_below(&entry.path())?,
            Ok(found) => bytes += found.len(),
            // sled removes its own files while it runs.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}
