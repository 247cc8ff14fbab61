//! Changes that lie over other records, and are read with them as if they had been made there.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{BackendError, RecordChange, StoredRecord};

/// The last change of each key; `None` removes the record below.
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Changes over other records. Who reads sees all of a batch or nothing of it.
#[derive(Default)]
pub(crate) struct Overlay {
    changes: RwLock<Changes>,
}

impl Overlay {
    /// Adds a batch.
    pub(crate) fn add(&self, changes: impl IntoIterator<Item = RecordChange>) {
        self.write().extend(changes.into_iter().map(|RecordChange { key, value }| (key, value)));
    }

    /// Returns what all changes come to, in the order of their keys.
    pub(crate) fn to_changes(&self) -> Vec<RecordChange> {
        let change = |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| RecordChange {
            key: key.clone(),
            value: value.clone(),
        };
        self.read().iter().map(change).collect()
    }

    /// Returns the value of a record; `below` reads it where nothing lies over it.
    pub(crate) fn get(
        &self,
        key: &[u8],
        below: impl FnOnce() -> Result<Option<Vec<u8>>, BackendError>,
    ) -> Result<Option<Vec<u8>>, BackendError> {
        let changes = self.read();
        changes.get(key).map_or_else(below, |value| Ok(value.clone()))
    }

    /// Returns the first records in a range of keys, at most `limit`; `below` reads those that nothing lies over.
    pub(crate) fn scan(
        &self,
        range: &Range<Vec<u8>>,
        limit: usize,
        below: impl Fn(&Range<Vec<u8>>, usize) -> Result<Vec<StoredRecord>, BackendError>,
    ) -> Result<Vec<StoredRecord>, BackendError> {
        let changes = self.read();
        let (mut found, mut rest) = (Vec::new(), range.clone());
        while rest.start < rest.end && found.len() < limit {
            let wanted = limit - found.len();
            let over = changes.range(rest.clone()).take(wanted);
            let over: Vec<_> = over.map(|(key, value)| (key.clone(), value.clone())).collect();
            let under = below(&rest, wanted)?;
            // Behind what was read of one of them, the other does not say all.
            let ends = [over.last().map(|(key, _)| key), under.last().map(|(key, _)| key)];
            let ends = ends.into_iter().zip([over.len(), under.len()]).filter(|(_, count)| *count == wanted);
            let end = ends.filter_map(|(key, _)| key).min().cloned();
            if over.is_empty() {
                found.extend(under);
            } else {
                let is_known = |key: &Vec<u8>| end.as_ref().is_none_or(|end| key <= end);
                let mut merged: Changes = under.into_iter().map(|(key, value)| (key, Some(value))).collect();
                merged.extend(over);
                let merged = merged.into_iter().filter(|(key, _)| is_known(key));
                found.extend(merged.filter_map(|(key, value)| Some((key, value?))));
            }
            let Some(end) = end else { break };
            rest.start = [end.as_slice(), &[0]].concat();
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Returns the last record in a range of keys; `below` reads the last that nothing lies over.
    pub(crate) fn last(
        &self,
        range: &Range<Vec<u8>>,
        below: impl Fn(&Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError>,
    ) -> Result<Option<StoredRecord>, BackendError> {
        let changes = self.read();
        let mut rest = range.clone();
        while rest.start < rest.end {
            let under = below(&rest)?;
            let from = under.as_ref().map_or(&rest.start, |(key, _)| key);
            let over = changes.range::<Vec<u8>, _>((Bound::Included(from), Bound::Excluded(&rest.end)));
            match over.last() {
                None => return Ok(under),
                Some((key, Some(value))) => return Ok(Some((key.clone(), value.clone()))),
                Some((key, None)) => rest.end.clone_from(key),
            }
        }
        Ok(None)
    }

    fn read(&self) -> RwLockReadGuard<'_, Changes> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Changes> {
        self.changes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use turnfold_core::dice::DiceStream;

    use super::*;
    use crate::local::backend::Backend;
    use crate::local::backend::memory::MemoryBackend;

    fn key(number: usize) -> Vec<u8> {
        vec![b'k', u8::try_from(number).unwrap()]
    }

    /// Some changes of records with few keys.
    fn changes(chance: &mut DiceStream, count: i32) -> Vec<RecordChange> {
        let mut below = |count| usize::try_from(chance.draw(0, count - 1)).unwrap();
        let mut any =
            || RecordChange { key: key(below(40)), value: (below(3) > 0).then(|| vec![1; below(9)]) };
        (0..count).map(|_| any()).collect()
    }

    #[test]
    fn what_lies_over_records_is_read_as_if_it_had_been_made() {
        for seed in 0..300 {
            let mut chance = DiceStream::new(&[5; 32], seed);
            let (below, all) = (MemoryBackend::new(), MemoryBackend::new());
            let [first, second, third] = [30, 12, 12].map(|count| changes(&mut chance, count));
            below.write(&first).unwrap();
            let overlay = Overlay::default();
            overlay.add(second.clone());
            overlay.add(third.clone());
            all.write(&[first, second, third].concat()).unwrap();
            for (from, to, limit) in (0..41).map(|number| (number, 41 - number / 2, number % 7 + 1)) {
                let range = key(from)..key(to);
                let scanned = overlay.scan(&range, limit, |range, limit| below.scan(range, limit)).unwrap();
                assert_eq!(scanned, all.scan(&range, limit).unwrap(), "seed {seed}");
                let last = overlay.last(&range, |range| below.last(range)).unwrap();
                assert_eq!(last, all.last(&range).unwrap(), "seed {seed}");
                let got = overlay.get(&key(from), || below.get(&key(from))).unwrap();
                assert_eq!(got, all.get(&key(from)).unwrap(), "seed {seed}");
            }
            let everything =
                overlay.scan(&(vec![0]..vec![255]), usize::MAX, |range, limit| below.scan(range, limit));
            assert_eq!(everything.unwrap(), all.records());
            below.write(&overlay.to_changes()).unwrap();
            assert_eq!(below.records(), all.records());
        }
    }
}
