//! What reads of a store on disk see: its index, and on top the commits that only the heads of the journal have.

use std::collections::BTreeMap;
use std::io;
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::files::Places;
use crate::local::index::distrust;
use crate::local::index::tree::IndexTree;
use crate::local::journal::head::JournalFrame;
use crate::local::journal::read_next_to_writer;
use crate::local::record::StoreRecord;
use crate::local::replay::replay_strictly;
use crate::local::staging::{Staging, sound_body};
use crate::local::view::MemoryRecords;
use crate::local::{index, key, record};

/// An index and the changes of the commits on top of it.
pub(crate) struct Layered {
    base: Base,
    layers: RwLock<Layers>,
}

impl Layered {
    pub(crate) fn over(base: Base) -> Self {
        Self { base, layers: RwLock::default() }
    }

    /// Returns the number of the index; each built index has the next one.
    pub(crate) fn index(&self) -> u32 {
        self.base.tree.number
    }

    fn layers(&self) -> RwLockReadGuard<'_, Layers> {
        self.layers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Layers> {
        self.layers.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the changes of a commit visible, all at once.
    pub(crate) fn show(&self, changes: Vec<RecordChange>) {
        self.change().show(changes);
    }

    /// Sets the current changes aside for packing. Later changes go on top of them.
    pub(crate) fn begin_packing(&self) {
        self.change().begin_packing();
    }

    /// Makes the changes of a commit visible that was packed together with those set aside.
    pub(crate) fn show_packed(&self, changes: Vec<RecordChange>) {
        self.change().show_packing(changes);
    }

    /// Writes the changes that were set aside into the index. The segments must have their commits.
    pub(crate) fn absorb(&self) -> Result<(), BackendError> {
        let packed = self.layers().packing();
        if let Some(Some(value)) = packed.get(key::STORE) {
            let store = read_store(value)?;
            index::write_reached(&self.base.tree.dir, &store.journal, store.point())?;
        }
        let change = |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| RecordChange {
            key: key.clone(),
            value: value.clone(),
        };
        self.base.absorb(&mut packed.iter().map(change))?;
        self.change().end_packing();
        Ok(())
    }

    /// Replays commits of the heads on top of the records.
    pub(crate) fn replay<'a>(
        &self,
        frames: impl Iterator<Item = &'a JournalFrame>,
    ) -> Result<(), BackendError> {
        for frame in frames {
            let Some(value) = self.get(key::STORE)? else {
                return Err(BackendError::Damaged("the index has no record about the store".to_owned()));
            };
            let mut staging = Staging::over(self, read_store(&value)?);
            replay_strictly(&mut staging, frame.end(), &frame.body)?;
            let (changes, _) = staging.take_changes();
            self.show(changes);
        }
        Ok(())
    }
}

fn read_store(value: &[u8]) -> Result<StoreRecord, BackendError> {
    record::read_body("the record about the store", &sound_body(key::STORE, value)?)
}

impl Backend for Layered {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.base.read(|below| self.layers().get(key, below))
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        // Holding the lock keeps commits from becoming visible between the first key and the last.
        let layers = self.layers();
        self.base.read(|below| keys.iter().map(|key| layers.get(key, below)).collect())
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.base.read(|below| self.layers().scan(range, limit, below))
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.base.read(|below| self.layers().last(range, below))
    }
}

/// How many changes are passed to the index at a time.
const CHANGES_MAX: usize = 1024;

/// An index, and the view that replaces it after damage.
pub(crate) struct Base {
    pub(crate) tree: IndexTree,
    places: Places,
    /// The last commit in the index when it was opened.
    up_to: u64,
    has_absorbed: AtomicBool,
    /// Replaces the index once it is known to be damaged.
    view: OnceLock<MemoryRecords>,
}

impl Base {
    pub(crate) fn of(tree: IndexTree, places: Places, up_to: u64) -> Self {
        Self { tree, places, up_to, has_absorbed: AtomicBool::new(false), view: OnceLock::new() }
    }

    /// Writes changes into the index, durably. They must be sorted by key, so that the record about the store comes
    /// last.
    pub(crate) fn absorb(&self, changes: &mut dyn Iterator<Item = RecordChange>) -> Result<(), BackendError> {
        if self.view.get().is_some() {
            return Err(broken("it was damaged"));
        }
        self.has_absorbed.store(true, Ordering::SeqCst);
        self.write(changes).map_err(|error| match error {
            BackendError::Damaged(reason) => {
                self.distrust();
                broken(&reason)
            }
            error => error,
        })
    }

    fn write(&self, changes: &mut dyn Iterator<Item = RecordChange>) -> Result<(), BackendError> {
        loop {
            let some: Vec<_> = changes.take(CHANGES_MAX).collect();
            if some.is_empty() {
                return self.tree.settle();
            }
            self.tree.absorb(some)?;
        }
    }

    /// Marks the index as damaged, so that the next opening builds a new one (ST-8).
    fn distrust(&self) {
        if let Err(error) = distrust(&self.places.sled) {
            tracing::debug!(%error, "the index cannot be marked as damaged");
        }
    }

    /// Calls `ask` with the index, or with the view if the index is damaged.
    pub(crate) fn read<T>(
        &self,
        ask: impl Fn(&dyn Backend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        if let Some(view) = self.view.get() {
            return ask(view);
        }
        let reason = match ask(&self.tree) {
            Err(BackendError::Damaged(reason)) => reason,
            answer => return answer,
        };
        self.distrust();
        if self.has_absorbed.load(Ordering::SeqCst) {
            return Err(broken(&reason));
        }
        tracing::warn!(reason, "the index is damaged; the journal is read instead");
        let view = read_next_to_writer(&self.places.journal)
            .and_then(|image| MemoryRecords::read(&image, self.up_to, false))?;
        ask(self.view.get_or_init(|| view))
    }
}

/// Returns the error of an index that failed under an open handle.
fn broken(reason: &str) -> BackendError {
    let source = io::Error::other(format!("{reason}; it is built again when the store is opened again"));
    BackendError::Io { action: "use the index".to_owned(), source }
}

/// The last change of each key; `None` removes the record below.
pub(crate) type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// The changes of the commits that are not in the index yet: `packing` those on their way there, `current` later ones.
#[derive(Default)]
pub(crate) struct Layers {
    current: Changes,
    packing: Arc<Changes>,
}

impl Layers {
    /// Adds the changes of a commit to the current layer.
    pub(crate) fn show(&mut self, changes: impl IntoIterator<Item = RecordChange>) {
        self.current.extend(pairs(changes));
    }

    /// Sets the current layer aside for packing and begins a new one.
    pub(crate) fn begin_packing(&mut self) {
        self.packing = Arc::new(std::mem::take(&mut self.current));
    }

    /// Adds the changes of a commit to the layer that is being packed.
    pub(crate) fn show_packing(&mut self, changes: impl IntoIterator<Item = RecordChange>) {
        Arc::make_mut(&mut self.packing).extend(pairs(changes));
    }

    /// Returns the layer that is being packed.
    pub(crate) fn packing(&self) -> Arc<Changes> {
        Arc::clone(&self.packing)
    }

    /// Drops the layer that was packed, once the records below include it.
    pub(crate) fn end_packing(&mut self) {
        self.packing = Arc::default();
    }

    /// Returns the layers, lowest first.
    fn all(&self) -> [&Changes; 2] {
        [&self.packing, &self.current]
    }

    /// Returns the value of a record, from the top layer that changes it or from the records below.
    pub(crate) fn get(&self, key: &[u8], below: &dyn Backend) -> Result<Option<Vec<u8>>, BackendError> {
        let over = self.all().into_iter().rev().find_map(|layer| layer.get(key));
        over.map_or_else(|| below.get(key), |value| Ok(value.clone()))
    }

    /// Returns the first records in a range of keys, at most `limit`.
    pub(crate) fn scan(
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

    pub(crate) fn last(
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
    use crate::local::backend::MemoryBackend;

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
