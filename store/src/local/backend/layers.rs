//! Layers of changes on top of other records, read as if the changes had been written there.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::Arc;

use super::{Backend, BackendError, RecordChange, StoredRecord};

/// The last change of each key; `None` removes the record below.
pub(super) type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// The changes of the commits that are not in the index yet: `packing` those on their way there, `current` later ones.
#[derive(Default)]
pub(super) struct Layers {
    current: Changes,
    packing: Arc<Changes>,
}

impl Layers {
    /// Adds the changes of a commit to the current layer.
    pub(super) fn show(&mut self, changes: impl IntoIterator<Item = RecordChange>) {
        self.current.extend(pairs(changes));
    }

    /// Sets the current layer aside for packing and begins a new one.
    pub(super) fn begin_packing(&mut self) {
        self.packing = Arc::new(std::mem::take(&mut self.current));
    }

    /// Adds the changes of a commit to the layer that is being packed.
    pub(super) fn show_packing(&mut self, changes: impl IntoIterator<Item = RecordChange>) {
        Arc::make_mut(&mut self.packing).extend(pairs(changes));
    }

    /// Returns the layer that is being packed.
    pub(super) fn packing(&self) -> Arc<Changes> {
        Arc::clone(&self.packing)
    }

    /// Drops the layer that was packed, once the records below include it.
    pub(super) fn end_packing(&mut self) {
        self.packing = Arc::default();
    }

    /// Returns the layers, lowest first.
    fn all(&self) -> [&Changes; 2] {
        [&self.packing, &self.current]
    }

    /// Returns the value of a record, from the top layer that changes it or from the records below.
    pub(super) fn get(&self, key: &[u8], below: &dyn Backend) -> Result<Option<Vec<u8>>, BackendError> {
        let over = self.all().into_iter().rev().find_map(|layer| layer.get(key));
        over.map_or_else(|| below.get(key), |value| Ok(value.clone()))
    }

    /// Returns the first records in a range of keys, at most `limit`.
    pub(super) fn scan(
        &self,
        range: &Range<Vec<u8>>,
        limit: usize,
        below: &dyn Backend,
    ) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        let mut rest = range.clone();
        while rest.start < rest.end && found.len() < limit {
            let wanted = limit - found.len();
            if self.all().iter().all(|layer| layer.range(rest.clone()).next().is_none()) {
                found.extend(below.scan(&rest, wanted)?);
                break;
            }
            let under = below.scan(&rest, wanted)?;
            // A source that returned `wanted` records may have more behind the last, so the merge ends at the least of
            // those last keys.
            let mut end = under.last().filter(|_| under.len() == wanted).map(|(key, _)| key.clone());
            let mut merged: Changes = under.into_iter().map(|(key, value)| (key, Some(value))).collect();
            for layer in self.all() {
                let over: Vec<_> = layer.range(rest.clone()).take(wanted).collect();
                let last = over.last().filter(|_| over.len() == wanted).map(|(key, _)| (*key).clone());
                end = [end, last].into_iter().flatten().min();
                merged.extend(over.into_iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            let is_known = |key: &Vec<u8>| end.as_ref().is_none_or(|end| key <= end);
            let merged = merged.into_iter().filter(|(key, _)| is_known(key));
            found.extend(merged.filter_map(|(key, value)| Some((key, value?))));
            let Some(end) = end else { break };
            rest.start = [end.as_slice(), &[0]].concat();
        }
        found.truncate(limit);
        Ok(found)
    }

    pub(super) fn last(
        &self,
        range: &Range<Vec<u8>>,
        below: &dyn Backend,
    ) -> Result<Option<StoredRecord>, BackendError> {
        let mut rest = range.clone();
        while rest.start < rest.end {
            let under = below.last(&rest)?;
            let from = under.as_ref().map_or(&rest.start, |(key, _)| key);
            let from = (Bound::Included(from), Bound::Excluded(&rest.end));
            let over = self.all().map(|layer| layer.range::<Vec<u8>, _>(from).next_back());
            // `max_by_key` returns the last maximum, so the upper layer wins if both have the key.
            match over.into_iter().flatten().max_by_key(|(key, _)| *key) {
                None => return Ok(under),
                Some((key, Some(value))) => return Ok(Some((key.clone(), value.clone()))),
                Some((key, None)) => rest.end.clone_from(key),
            }
        }
        Ok(None)
    }
}

fn pairs(
    changes: impl IntoIterator<Item = RecordChange>,
) -> impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>)> {
    changes.into_iter().map(|RecordChange { key, value }| (key, value))
}

#[cfg(test)]
mod tests {
    use turnfold_core::dice::DiceStream;

    use super::*;
    use crate::local::backend::memory::MemoryBackend;

    fn key(number: usize) -> Vec<u8> {
        vec![b'k', u8::try_from(number).unwrap()]
    }

    /// Returns random changes of records, with few different keys.
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
            let mut layers = Layers::default();
            layers.show(second.clone());
            layers.begin_packing();
            layers.show(third.clone());
            all.write(&[first, second, third].concat()).unwrap();
            for (from, to, limit) in (0..41).map(|number| (number, 41 - number / 2, number % 7 + 1)) {
                let range = key(from)..key(to);
                let scanned = layers.scan(&range, limit, &below).unwrap();
                assert_eq!(scanned, all.scan(&range, limit).unwrap(), "seed {seed}");
                let last = layers.last(&range, &below).unwrap();
                assert_eq!(last, all.last(&range).unwrap(), "seed {seed}");
                let got = layers.get(&key(from), &below).unwrap();
                assert_eq!(got, all.get(&key(from)).unwrap(), "seed {seed}");
            }
            let everything = layers.scan(&(vec![0]..vec![255]), usize::MAX, &below);
            assert_eq!(everything.unwrap(), all.records());
        }
    }
}
