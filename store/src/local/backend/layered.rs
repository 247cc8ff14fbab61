//! What is read of a store on disk: its index, and over it the commits that only the heads of the journal have.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use super::base::Base;
use super::overlay::Overlay;
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

/// The commits that no segment has, or that are on their way there.
#[derive(Clone, Default)]
struct Layers {
    current: Arc<Overlay>,
    packing: Option<Arc<Overlay>>,
}

impl Layers {
    fn get(&self, key: &[u8], base: &Base) -> Result<Option<Vec<u8>>, BackendError> {
        self.current.get(key, || match &self.packing {
            Some(packing) => packing.get(key, || base.get(key)),
            None => base.get(key),
        })
    }
}

impl Layered {
    pub(super) fn over(base: Base) -> Self {
        Self { base, layers: RwLock::default() }
    }

    /// Returns which of the indexes that were ever built lies below.
    pub(super) fn index(&self) -> u32 {
        self.base.tree.number
    }

    /// Lets the changes of a commit be seen, all at one moment.
    pub(super) fn show(&self, changes: Vec<RecordChange>) {
        self.change_layers(|layers| layers.current.add(changes));
    }

    fn layers(&self) -> Layers {
        self.layers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change_layers(&self, change: impl FnOnce(&mut Layers)) {
        change(&mut self.layers.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Sets the commits so far apart, on their way into a segment; what comes lies over them.
    pub(super) fn begin_packing(&self) -> Arc<Overlay> {
        let layer = self.layers().current;
        self.change_layers(|layers| {
            *layers = Layers { current: Arc::default(), packing: Some(Arc::clone(&layer)) };
        });
        layer
    }

    /// Takes in commits that the segments have now, and forgets their layer.
    pub(super) fn absorb(&self, layer: &Overlay) -> Result<(), BackendError> {
        self.base.absorb(layer.to_changes())?;
        self.change_layers(|layers| layers.packing = None);
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
        self.layers().get(key, &self.base)
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        // Meanwhile no commit comes to be seen.
        let layers = self.layers.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().map(|key| layers.get(key, &self.base)).collect()
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        let Layers { current, packing } = self.layers();
        current.scan(range, limit, |range, limit| match &packing {
            Some(packing) => packing.scan(range, limit, |range, limit| self.base.scan(range, limit)),
            None => self.base.scan(range, limit),
        })
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        let Layers { current, packing } = self.layers();
        current.last(range, |range| match &packing {
            Some(packing) => packing.last(range, |range| self.base.last(range)),
            None => self.base.last(range),
        })
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.base.write(changes)
    }
}
