//! What is read of a store on disk: its index, and over it the commits that only the heads of the journal have.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::base::Base;
use super::layers::Layers;
use super::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::journal::frame::Frame;
use crate::local::layout::key;
use crate::local::layout::record::{self, StoreRecord};
use crate::local::replay::replay_strictly;
use crate::local::staging::{Staging, sound_body};

/// An index, and the commits over it.
pub(super) struct Layered {
    base: Base,
    layers: RwLock<Layers>,
}

impl Layered {
    pub(super) fn over(base: Base) -> Self {
        Self { base, layers: RwLock::default() }
    }

    /// Returns which of the indexes that were ever built lies below.
    pub(super) fn index(&self) -> u32 {
        self.base.tree.number
    }

    fn layers(&self) -> RwLockReadGuard<'_, Layers> {
        self.layers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Layers> {
        self.layers.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the changes of a commit be seen, all at one moment.
    pub(super) fn show(&self, changes: Vec<RecordChange>) {
        self.change().show(changes);
    }

    /// Sets the commits so far apart, on their way into a segment; what comes lies over them.
    pub(super) fn begin_packing(&self) {
        self.change().begin_packing();
    }

    /// Lets a commit be seen that went into a segment behind those that were set apart.
    pub(super) fn show_packed(&self, changes: Vec<RecordChange>) {
        self.change().show_packing(changes);
    }

    /// Takes in the commits that were set apart, which the segments have now.
    pub(super) fn absorb(&self) -> Result<(), BackendError> {
        let packed = self.layers().packing();
        let change = |(key, value): (&Vec<u8>, &Option<Vec<u8>>)| RecordChange {
            key: key.clone(),
            value: value.clone(),
        };
        self.base.absorb(&mut packed.iter().map(change))?;
        self.change().end_packing();
        Ok(())
    }

    /// Carries out commits that the heads have.
    pub(super) fn replay<'a>(&self, frames: impl Iterator<Item = &'a Frame>) -> Result<(), BackendError> {
        for frame in frames {
            let Some(value) = self.get(key::STORE)? else {
                return Err(BackendError::Damaged("the index has no record about the store".to_owned()));
            };
            let store: StoreRecord =
                record::read_body("the record about the store", &sound_body(key::STORE, &value)?)?;
            let mut staging = Staging::over(self, store);
            replay_strictly(&mut staging, frame.end(), &frame.body)?;
            let (changes, _) = staging.take_changes();
            self.show(changes);
        }
        Ok(())
    }
}

impl Backend for Layered {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.base.read(|below| self.layers().get(key, below))
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        // No commit comes to be seen between the first and the last.
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
