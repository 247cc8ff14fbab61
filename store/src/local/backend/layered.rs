//! What reads of a store on disk see: its index, and on top the commits that only the heads of the journal have.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::base::Base;
use super::layers::Layers;
use super::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::index::reached;
use crate::local::journal::frame::JournalFrame;
use crate::local::layout::key;
use crate::local::layout::record::{self, StoreRecord};
use crate::local::replay::replay_strictly;
use crate::local::staging::{Staging, sound_body};

/// An index and the changes of the commits on top of it.
pub(super) struct Layered {
    base: Base,
    layers: RwLock<Layers>,
}

impl Layered {
    pub(super) fn over(base: Base) -> Self {
        Self { base, layers: RwLock::default() }
    }

    /// Returns the number of the index; each built index has the next one.
    pub(super) fn index(&self) -> u32 {
        self.base.tree.number
    }

    fn layers(&self) -> RwLockReadGuard<'_, Layers> {
        self.layers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Layers> {
        self.layers.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the changes of a commit visible, all at once.
    pub(super) fn show(&self, changes: Vec<RecordChange>) {
        self.change().show(changes);
    }

    /// Sets the current changes aside for packing. Later changes go on top of them.
    pub(super) fn begin_packing(&self) {
        self.change().begin_packing();
    }

    /// Makes the changes of a commit visible that was packed together with those set aside.
    pub(super) fn show_packed(&self, changes: Vec<RecordChange>) {
        self.change().show_packing(changes);
    }

    /// Writes the changes that were set aside into the index. The segments must have their commits.
    pub(super) fn absorb(&self) -> Result<(), BackendError> {
        let packed = self.layers().packing();
        if let Some(Some(value)) = packed.get(key::STORE) {
            let store = read_store(value)?;
            reached::write(&self.base.tree.dir, &store.journal, store.point())?;
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
    pub(super) fn replay<'a>(
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
