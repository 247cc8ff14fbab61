//! Records of a damaged store from wherever they were found, put together to what there was last.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::decode::decode_strictly;

use super::gone::Gone;
use crate::backup::error::RescueError;
use crate::entry::Genesis;
use crate::error::StoreError;
use crate::local::backend::memory::MemoryBackend;
use crate::local::backend::sled::pieces;
use crate::local::backend::sled::raw::Candidate;
use crate::local::backend::{Backend, EntryRef, RecordChange, StoredRecord};
use crate::local::layout::key;
use crate::local::layout::record::{self, BranchRecord, MatchRecord, StoreRecord};
use crate::names::{BranchName, MatchName};
use crate::reader::found::Head;

/// How many versions of a long value are put together from its pieces. As long as its length stays, only its first and
/// last piece ever change.
const VERSIONS_MAX: usize = 256;

/// More pieces than the longest record of a match has.
const MATCH_PIECES_MAX: u32 = 64;

/// Sound records, the newest of each, and what is left of those of matches and branches that are damaged.
#[derive(Default)]
pub(super) struct Found {
    records: BTreeMap<Vec<u8>, Version>,
    /// The records of matches and branches, under every name that each had.
    named: BTreeMap<u64, BTreeMap<Vec<u8>, Version>>,
    /// Records of matches and branches that are damaged, but tell names.
    fragments: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What may be pieces of long values, by their keys, in every version and where that lay last.
    pieces: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, u64>>,
    /// What may say of how many pieces a value is made.
    counts: BTreeSet<(Vec<u8>, u32)>,
    pub(super) gone: Gone,
    /// Where anything says that the store was written to last, and after which commit.
    pub(super) places: Vec<(u64, EntryRef)>,
}

/// A value and what tells whether it is newer than another one.
struct Version {
    rank: (u64, u64),
    value: Vec<u8>,
}

impl Found {
    /// Adds what a copy shows that sled opened. What is never written otherwise counts more than what the raw file has.
    pub(super) fn add_opened(&mut self, records: Vec<StoredRecord>) {
        for (key, value) in records {
            let lsn = if matches!(key.first(), Some(b'm' | b'b')) { 0 } else { u64::MAX };
            if !self.add(&key, &value, lsn) && matches!(key.first(), Some(b'm' | b'b')) {
                self.fragments.insert(key, value);
            }
        }
    }

    /// Adds what lies in sled's file.
    pub(super) fn add_raw(&mut self, candidate: &Candidate<'_>) {
        let Candidate { key, value, lsn, has_whole_key } = candidate;
        if !self.add(key, value, *lsn) && *has_whole_key && tells_a_name(key, value) {
            self.fragments.entry(key.clone()).or_insert_with(|| value.to_vec());
        }
    }

    /// Adds a record if its check is right and it is newer than the one that is there; says whether it is sound.
    fn add(&mut self, key: &[u8], value: &[u8], lsn: u64) -> bool {
        if pieces::owner_of(key).is_some() {
            let at = self.pieces.entry(key.to_vec()).or_default().entry(value.to_vec()).or_default();
            *at = lsn.max(*at);
            return true;
        }
        if let Some(count) = pieces::count(value) {
            self.counts.insert((key.to_vec(), count));
            return true;
        }
        if record::body_of(key, value).is_err() {
            return false;
        }
        let Some(age) = self.age(key, value) else { return true };
        let version = Version { rank: (age, lsn), value: value.to_vec() };
        let versions = match named_id(key, value) {
            Some(id) => self.named.entry(id).or_default(),
            None => &mut self.records,
        };
        if versions.get(key).is_none_or(|known| known.rank < version.rank) {
            versions.insert(key.to_vec(), version);
        }
        true
    }

    /// Returns a number that only grows when a record is written again, and takes note of what it says of others.
    fn age(&mut self, key: &[u8], value: &[u8]) -> Option<u64> {
        match key.first()? {
            b's' => {
                let StoreRecord { now, marked, .. } = record::read("", key, value).ok()?;
                let age = now.commits;
                for mark in [now, marked] {
                    self.places.extend(mark.last.map(|last| (mark.commits, last)));
                }
                Some(age)
            }
            b'g' => {
                self.gone.add(key, value);
                Some(0)
            }
            b'h' => record::read::<Head>("", key, value).ok().map(|record| record.seq),
            _ => Some(0),
        }
    }

    /// Adds the long values whose pieces are all there, in whichever versions make a sound record.
    pub(super) fn join_pieces(&mut self) {
        for (key, count) in std::mem::take(&mut self.counts) {
            let mut values = vec![(0, Vec::new())];
            for number in 0..count {
                let Some(versions) = self.pieces.get(&pieces::key_of(&key, number)) else {
                    values.clear();
                    break;
                };
                // What changes in a record of a match changes in its first piece.
                let with = |(at, value): &(u64, Vec<u8>)| {
                    let joined = versions.iter().map(|(piece, lsn)| {
                        (if number == 0 { *lsn } else { *at }, [value.as_slice(), piece].concat())
                    });
                    joined.collect()
                };
                values = values.iter().flat_map::<Vec<_>, _>(with).take(VERSIONS_MAX).collect();
            }
            for (lsn, value) in &values {
                self.add(&key, value, *lsn);
            }
            if key.first() == Some(&b'm') && (2..MATCH_PIECES_MAX).contains(&count) {
                self.fragments.entry(key).or_insert_with(|| count.to_be_bytes().to_vec());
            }
        }
    }

    /// Returns the commits of the newest record of the store as a whole.
    pub(super) fn commits(&self) -> Option<u64> {
        self.records.get(key::STORE).map(|version| version.rank.0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.named.is_empty() && self.fragments.is_empty()
    }

    /// Puts everything into memory: what was deleted is left out, and everything else has the name it had last.
    pub(super) fn into_backend(mut self) -> Result<(MemoryBackend, Gone), RescueError> {
        let mut records = BTreeMap::new();
        let known: BTreeSet<u64> = self.named.keys().copied().collect();
        let known_keys: BTreeSet<Vec<u8>> = self.named.values().flat_map(BTreeMap::keys).cloned().collect();
        for (id, versions) in std::mem::take(&mut self.named) {
            if !self.gone.has_deleted(id)
                && let Some((key, value)) = self.last_version(id, versions)
            {
                records.insert(key, value);
            }
        }
        name_parents(&mut records);
        for (key, value) in std::mem::take(&mut self.fragments) {
            let is_old = if let Some(id) = fragment_id(&key, &value) {
                known.contains(&id) || self.gone.has_deleted(id)
            } else {
                // Nothing but its name is left.
                let name = key::text_after(&key, key::MATCH_PREFIX);
                known_keys.contains(&key) || name.is_some_and(|name| self.gone.names_match(name))
            };
            if !is_old {
                records.entry(key).or_insert(value);
            }
        }
        records.extend(self.records.into_iter().map(|(key, version)| (key, version.value)));
        let backend = MemoryBackend::new();
        let changes = records.into_iter().map(|(key, value)| RecordChange { key, value: Some(value) });
        backend.write(&changes.collect::<Vec<_>>()).map_err(StoreError::from)?;
        Ok((backend, self.gone))
    }

    /// Returns the newest record of a match or branch, under the name it had last.
    fn last_version(&self, id: u64, mut versions: BTreeMap<Vec<u8>, Version>) -> Option<StoredRecord> {
        let newest = versions.iter().max_by_key(|(_, version)| version.rank).map(|(key, _)| key.clone())?;
        let became = self.gone.last_of(id).and_then(|record| record.became.as_deref());
        let Some(name) = became else {
            return versions.remove_entry(&newest).map(|(key, found)| (key, found.value));
        };
        let prefix = if newest.first() == Some(&b'm') { key::MATCH_PREFIX } else { key::ID_PREFIX };
        let key = [newest.get(..prefix)?, name.as_bytes()].concat();
        if let Some(found) = versions.remove(&key) {
            return Some((key, found.value));
        }
        // The record under the new name is lost; the one under the old name says the same.
        let body = record::body_of(&newest, &versions.get(&newest)?.value).ok()?.to_vec();
        let value = record::with_check(&key, body);
        Some((key, value))
    }
}

/// Makes every branch begin on its parent by the name that this has.
fn name_parents(records: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let branches: Vec<(Vec<u8>, BranchRecord)> = records
        .iter()
        .filter(|(key, _)| key.first() == Some(&b'b'))
        .filter_map(|(key, value)| record::read("", key, value).ok().map(|record| (key.clone(), record)))
        .collect();
    let names: BTreeMap<u64, String> = branches
        .iter()
        .filter_map(|(key, record)| Some((record.id, key::text_after(key, key::ID_PREFIX)?.to_owned())))
        .collect();
    for (key, mut record) in branches {
        let Some(parent) = &mut record.parent else { continue };
        if let Some(name) = names.get(&parent.id).filter(|name| **name != parent.name) {
            parent.name.clone_from(name);
            let value = record::with_check(&key, crate::entry::encode(&record));
            records.insert(key, value);
        }
    }
}

/// Returns the id in a record of a match or branch.
fn named_id(key: &[u8], value: &[u8]) -> Option<u64> {
    match key.first()? {
        b'm' => record::read::<MatchRecord<'_>>("", key, value).ok().map(|record| record.id),
        b'b' => record::read::<BranchRecord>("", key, value).ok().map(|record| record.id),
        _ => None,
    }
}

/// Returns `true` if a damaged record still looks like one of a match or branch.
fn tells_a_name(key: &[u8], value: &[u8]) -> bool {
    let has_name = match key.first() {
        Some(b'm') => {
            key::text_after(key, key::MATCH_PREFIX).is_some_and(|text| text.parse::<MatchName>().is_ok())
        }
        Some(b'b') => {
            key::text_after(key, key::ID_PREFIX).is_some_and(|text| text.parse::<BranchName>().is_ok())
        }
        _ => false,
    };
    has_name && fragment_id(key, value).is_some()
}

/// Returns the id in a damaged record of a match or branch, as far as it can be read.
fn fragment_id(key: &[u8], value: &[u8]) -> Option<u64> {
    let body = record::unchecked(value)?;
    match key.first()? {
        b'm' => {
            let MatchRecord { id, genesis, .. } = decode_strictly(body).ok()?;
            Genesis::decode(genesis).ok().map(|_| id)
        }
        b'b' => decode_strictly::<BranchRecord>(body).ok().map(|record| record.id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::backend::sled::disk::DiskBackend;
    use crate::local::backend::sled::raw;
    use crate::local::dir::lock::Lock;
    use crate::local::dir::places::SLED_DIR;

    /// A long record that was written twice lies in sled's file in pieces of both versions; the newer one is found.
    #[test]
    fn long_values_are_put_together_from_pieces_in_the_raw_file() {
        let dir = tempfile::tempdir().unwrap();
        let genesis: Vec<u8> = (0..=250).cycle().take(40_000).collect();
        let key = key::of_match(&"m".parse().unwrap());
        let backend = DiskBackend::open_or_create(dir.path(), Lock::take(dir.path()).unwrap()).unwrap();
        for branches in [1, 2] {
            let change = record::put(key.clone(), &MatchRecord { id: 1, branches, genesis: &genesis });
            backend.write(&[change]).unwrap();
            backend.flush().unwrap();
        }
        drop(backend);
        let mut found = Found::default();
        raw::each_candidate(&dir.path().join(SLED_DIR).join("db"), &mut |raw| found.add_raw(raw)).unwrap();
        assert!(found.named.is_empty(), "it lies there in pieces only");
        found.join_pieces();
        let value = found.named[&1][&key].value.clone();
        let MatchRecord { branches, genesis: saved, .. } = record::read("the match", &key, &value).unwrap();
        assert_eq!((branches, saved), (2, genesis.as_slice()));
        found.named.clear();
        // Beside the pieces the file holds what only looks like one.
        assert!(found.pieces.remove(&pieces::key_of(&key, 3)).is_some());
        found.counts.insert((key.clone(), 8));
        found.join_pieces();
        assert!(found.named.is_empty(), "with a piece missing there is no record");
        assert!(found.fragments.contains_key(&key), "but its name is known");
    }
}
