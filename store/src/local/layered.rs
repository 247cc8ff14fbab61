//! What reads of a store on disk see: its index, and on top the commits that only the heads of the journal have.

use std::collections::BTreeMap;
use std::io;
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::files::Places;
use crate::local::index::tree::IndexTree;
use crate::local::index::{distrust, write_reached};
use crate::local::journal::head::JournalFrame;
use crate::local::journal::{Image, read_next_to_writer};
use crate::local::key;
use crate::local::record::StoreRecord;
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;
use crate::local::view::MemoryRecords;

const CHANGES_MAX: usize = 1024;

pub(crate) struct Layered {
    tree: IndexTree,
    pub(crate) places: Places,
    /// The last commit in the index when it was opened.
    up_to: u64,
    has_absorbed: AtomicBool,
    /// Replaces the index once it is known to be damaged.
    view: OnceLock<MemoryRecords>,
    layers: RwLock<Layers>,
}

impl Layered {
    pub(crate) fn over(tree: IndexTree, places: &Places, image: &Image) -> Self {
        Self {
            tree,
            places: places.clone(),
            up_to: image.packed.number,
            has_absorbed: AtomicBool::new(false),
            view: OnceLock::new(),
            layers: RwLock::default(),
        }
    }

    pub(crate) fn index(&self) -> u32 {
        self.tree.number
    }

    fn layers(&self) -> RwLockReadGuard<'_, Layers> {
        self.layers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Layers> {
        self.layers.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn show(&self, changes: Vec<RecordChange>) {
        self.change().show(changes);
    }

    pub(crate) fn begin_packing(&self) {
        self.change().begin_packing();
    }

    /// Makes the changes of a commit visible that was packed together with those set aside.
    pub(crate) fn show_packed(&self, changes: Vec<RecordChange>) {
        let mut layers = self.change();
        let packing = Arc::make_mut(&mut layers.packing);
        for RecordChange { key, value } in changes {
            packing.insert(key, value);
        }
    }

    pub(crate) fn replay(&self, frame: &JournalFrame) -> Result<(), BackendError> {
        let Some(value) = self.get(key::STORE)? else {
            return Err(BackendError::Damaged("the index has no record about the store".to_owned()));
        };
        let mut staging = Staging::over(self, StoreRecord::read(&value)?);
        replay_strictly(&mut staging, frame.end(), &frame.body)?;
        self.show(staging.take_changes());
        Ok(())
    }

    /// Writes the changes that were set aside into the index, durably. The segments must have their commits.
    pub(crate) fn absorb(&self) -> Result<(), BackendError> {
        let packed = Arc::clone(&self.layers().packing);
        if let Some(Some(value)) = packed.get(key::STORE) {
            let store = StoreRecord::read(value)?;
            write_reached(&self.tree.dir, &store.journal, store.end)?;
        }
        if self.view.get().is_some() {
            return Err(broken("it was damaged"));
        }
        self.has_absorbed.store(true, Ordering::SeqCst);
        let written = self.write(&packed);
        if let Err(BackendError::Damaged(reason)) = written {
            self.distrust();
            return Err(broken(&reason));
        }
        written?;
        self.change().packing = Arc::default();
        Ok(())
    }

    fn write(&self, changes: &Changes) -> Result<(), BackendError> {
        let mut some = Vec::new();
        // The changes are sorted by key, so the record about the store comes last.
        for (key, value) in changes {
            some.push(RecordChange { key: key.clone(), value: value.clone() });
            if some.len() == CHANGES_MAX {
                self.tree.absorb(std::mem::take(&mut some))?;
            }
        }
        if !some.is_empty() {
            self.tree.absorb(some)?;
        }
        self.tree.settle()
    }

    /// Marks the index as damaged, so that the next opening builds a new one (ST-8).
    fn distrust(&self) {
        if let Err(error) = distrust(&self.places.sled) {
            tracing::debug!(%error, "the index cannot be marked as damaged");
        }
    }

    /// Calls `ask` with the index, or with a view of the same commits of the journal if the index is damaged.
    fn read<T>(&self, ask: impl Fn(&dyn Backend) -> Result<T, BackendError>) -> Result<T, BackendError> {
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
        let image = read_next_to_writer(&self.places.journal)?;
        let view = MemoryRecords::read(&image, self.up_to, false)?;
        ask(self.view.get_or_init(|| view))
    }
}

fn broken(reason: &str) -> BackendError {
    let source = io::Error::other(format!("{reason}; it is built again when the store is opened again"));
    BackendError::Io { action: "use the index".to_owned(), source }
}

impl Backend for Layered {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.read(|below| self.layers().get(key, below))
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        // Holding the lock keeps commits from becoming visible between the first key and the last.
        let layers = self.layers();
        self.read(|below| keys.iter().map(|key| layers.get(key, below)).collect())
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.read(|below| self.layers().scan(range, limit, below))
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.read(|below| self.layers().last(range, below))
    }
}

/// The last change of each key; `None` removes the record below.
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// The changes of the commits that are not in the index yet, read as if they had been written there.
#[derive(Default)]
struct Layers {
    current: Changes,
    /// The changes on their way to the index.
    packing: Arc<Changes>,
}

impl Layers {
    fn show(&mut self, changes: Vec<RecordChange>) {
        for RecordChange { key, value } in changes {
            self.current.insert(key, value);
        }
    }

    fn begin_packing(&mut self) {
        self.packing = Arc::new(std::mem::take(&mut self.current));
    }

    fn get(&self, key: &[u8], below: &dyn Backend) -> Result<Option<Vec<u8>>, BackendError> {
        match self.current.get(key).or_else(|| self.packing.get(key)) {
            Some(value) => Ok(value.clone()),
            None => below.get(key),
        }
    }

    fn scan(
        &self,
        range: &Range<Vec<u8>>,
        limit: usize,
        below: &dyn Backend,
    ) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        let mut rest = range.clone();
        while rest.start < rest.end && found.len() < limit {
            let wanted = limit - found.len();
            let under = below.scan(&rest, wanted)?;
            let layers: [&Changes; 2] = [&self.packing, &self.current];
            if layers.iter().all(|layer| layer.range(rest.clone()).next().is_none()) {
                found.extend(under);
                break;
            }
            // If there may be more records below, the merge ends behind the last of these.
            let mut end = rest.end.clone();
            if under.len() == wanted
                && let Some((last, _)) = under.last()
            {
                end = [last.as_slice(), &[0]].concat();
            }
            // A layer may have many more, such as all pages of a large commit.
            for layer in layers {
                if let Some((key, _)) = layer.range(rest.start.clone()..end.clone()).nth(wanted) {
                    end.clone_from(key);
                }
            }
            let mut merged = Changes::new();
            for (key, value) in under {
                if key < end {
                    merged.insert(key, Some(value));
                }
            }
            for layer in layers {
                for (key, value) in layer.range(rest.start.clone()..end.clone()) {
                    merged.insert(key.clone(), value.clone());
                }
            }
            for (key, value) in merged {
                if let Some(value) = value {
                    found.push((key, value));
                }
            }
            rest.start = end;
        }
        found.truncate(limit);
        Ok(found)
    }

    fn last(
        &self,
        range: &Range<Vec<u8>>,
        below: &dyn Backend,
    ) -> Result<Option<StoredRecord>, BackendError> {
        let mut rest = range.clone();
        while rest.start < rest.end {
            let under = below.last(&rest)?;
            let from = under.as_ref().map_or(&rest.start, |(key, _)| key);
            let from = (Bound::Included(from), Bound::Excluded(&rest.end));
            let layers: [&Changes; 2] = [&self.packing, &self.current];
            let over = layers.map(|layer| layer.range::<Vec<u8>, _>(from).next_back());
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
