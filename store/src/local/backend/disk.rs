//! Records on disk: in an index, and over it the commits that only the heads of the journal have.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;

use super::base::Base;
use super::overlay::Overlay;
use super::{Backend, BackendError, Committed, RecordChange, StoredRecord};
use crate::local::compare::compare;
use crate::local::dir::lock::Locks;
use crate::local::dir::places::Places;
use crate::local::index::building::OnBuilding;
use crate::local::index::open::{Opened, keep_only, open_or_build, open_sound};
use crate::local::journal::frame::{Frame, Kind};
use crate::local::journal::image::Image;
use crate::local::journal::writer::JournalWriter;
use crate::local::layout::key;
use crate::local::layout::record::{self, StoreRecord};
use crate::local::replay::replay_strictly;
use crate::local::staging::{Staging, sound_body};

/// Records of a store's directory.
pub(crate) struct DiskBackend {
    records: Arc<Layered>,
    /// Nothing where it is only read.
    writing: Option<Mutex<Writing>>,
    places: Places,
    _locks: Locks,
}

/// What is read: the index, and the commits over it.
struct Layered {
    base: Base,
    layers: RwLock<Layers>,
}

/// The commits that no segment has, or that are on their way there.
#[derive(Clone, Default)]
struct Layers {
    current: Arc<Overlay>,
    packing: Option<Arc<Overlay>>,
}

/// What the committer needs.
struct Writing {
    journal: JournalWriter,
    /// Whether nothing was written to the index since it was synced.
    is_clean: bool,
    /// Whether the journal says so, and that it is closed.
    is_closed: bool,
    packing: Option<JoinHandle<Result<(), BackendError>>>,
    /// Whether anything failed, after which the journal does not say that it is closed.
    has_failed: bool,
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
    /// Lets the changes of a commit be seen, all at one moment.
    fn show(&self, changes: Vec<RecordChange>) {
        self.change_layers(|layers| layers.current.add(changes));
    }

    fn layers(&self) -> Layers {
        self.layers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change_layers(&self, change: impl FnOnce(&mut Layers)) {
        change(&mut self.layers.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes in commits that the segments have now, and forgets their layer.
    fn absorb(&self, layer: &Overlay) -> Result<(), BackendError> {
        self.base.absorb(layer.to_changes())?;
        self.change_layers(|layers| layers.packing = None);
        Ok(())
    }

    /// Carries out commits that the heads have.
    fn replay<'a>(&self, frames: impl Iterator<Item = &'a Frame>) -> Result<(), BackendError> {
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

impl DiskBackend {
    /// Opens the records of a store for reading, if its index may be used as it is (ST-16).
    pub(crate) fn open_for_reading(
        places: &Places,
        image: &Image,
        locks: Locks,
    ) -> Result<Option<Self>, BackendError> {
        let Some(tree) = open_sound(&places.sled, image)? else { return Ok(None) };
        let at = (places.sled.clone(), places.journal.clone());
        let base = Base::of(tree, at, image.packed.number);
        let records = Layered { base, layers: RwLock::default() };
        records.replay(image.tail.iter().map(|(_, frame)| frame))?;
        Ok(Some(Self { records: Arc::new(records), writing: None, places: places.clone(), _locks: locks }))
    }

    /// Opens the records of a store for writing (ST-15).
    pub(crate) fn open(
        places: &Places,
        image: &Image,
        locks: Locks,
        observe: OnBuilding<'_>,
    ) -> Result<Self, BackendError> {
        let mut journal = JournalWriter::open(image)?;
        let opened = open_or_build(&places.sled, image, observe)?;
        let (tree, is_built) = match opened {
            Opened::Sound(tree) => (tree, false),
            Opened::Built(tree) => (tree, true),
        };
        let number = tree.number;
        let base = Base::of(tree, (places.sled.clone(), places.journal.clone()), image.packed.number);
        let records = Layered { base, layers: RwLock::default() };
        let in_other = |(head, _): &&(usize, Frame)| *head != image.current;
        let others: Vec<_> = image.tail.iter().filter(in_other).map(|(_, frame)| frame).collect();
        records.replay(others.iter().copied())?;
        if !others.is_empty() {
            // A pack that did not come to its end.
            journal.note(Kind::Note, 0)?;
            let bodies: Vec<_> = others.iter().map(|frame| frame.body.clone()).collect();
            journal.segments.lock().unwrap_or_else(PoisonError::into_inner).append(&bodies)?;
            let layer = records.layers().current;
            records.change_layers(|layers| {
                *layers = Layers { packing: Some(Arc::clone(&layer)), ..Layers::default() }
            });
            records.absorb(&layer)?;
        }
        let in_current = image.tail.iter().filter(|(head, _)| *head == image.current);
        records.replay(in_current.map(|(_, frame)| frame))?;
        if is_built || !others.is_empty() {
            journal.note(Kind::Note, number)?;
        }
        // Only now nothing that was set aside is needed any more.
        keep_only(&places.sled, number);
        let is_closed = image.is_closed && !is_built && others.is_empty();
        let writing = Writing { journal, is_clean: true, is_closed, packing: None, has_failed: false };
        let writing = Some(Mutex::new(writing));
        Ok(Self { records: Arc::new(records), writing, places: places.clone(), _locks: locks })
    }

    /// Uses only so many bytes of a head, so that tests see it full.
    pub(crate) fn with_heads_of(self, bytes: usize) -> Self {
        if let Some(writing) = &self.writing {
            lock(writing).journal.limit(bytes);
        }
        self
    }

    fn index(&self) -> u32 {
        self.records.base.tree.number
    }
}

fn lock(writing: &Mutex<Writing>) -> MutexGuard<'_, Writing> {
    writing.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writing {
    /// Waits until what was full before is in a segment and the index.
    fn finish_packing(&mut self) -> Result<(), BackendError> {
        let Some(packing) = self.packing.take() else { return Ok(()) };
        let packed = packing.join();
        packed.unwrap_or_else(|_| Err(BackendError::Damaged("packing panicked".to_owned())))?;
        self.is_clean = true;
        Ok(())
    }

    /// Notes a packing that has come to its end meanwhile.
    fn reap(&mut self) -> Result<(), BackendError> {
        if self.packing.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish_packing()
        } else {
            Ok(())
        }
    }

    fn index(&self, number: u32) -> u32 {
        if self.is_clean { number } else { 0 }
    }

    fn commit(
        &mut self,
        records: &Arc<Layered>,
        commit: Committed,
        changes: Vec<RecordChange>,
    ) -> Result<(), BackendError> {
        self.reap()?;
        self.is_closed = false;
        let number = records.base.tree.number;
        let Some(mut frame) = self.journal.encode(self.index(number), &commit.body) else {
            return self.commit_large(records, commit, changes);
        };
        let mut full = None;
        if !self.journal.has_room(&frame) {
            self.finish_packing()?;
            let bodies = self.journal.switch();
            let layer = records.layers().current;
            records.change_layers(|layers| {
                *layers = Layers { current: Arc::default(), packing: Some(Arc::clone(&layer)) };
            });
            full = Some((bodies, layer));
            // The index is written to as soon as this is durable.
            self.is_clean = false;
            frame = self.journal.encode(0, &commit.body).unwrap_or(frame);
        }
        self.journal.write(&frame, commit.body)?;
        records.show(changes);
        if let Some((bodies, layer)) = full {
            self.pack_beside(records, bodies, layer)?;
        }
        Ok(())
    }

    /// Packs what a full head holds, while commits go on in the other one (ST-11, ST-12).
    fn pack_beside(
        &mut self,
        records: &Arc<Layered>,
        bodies: Vec<Vec<u8>>,
        layer: Arc<Overlay>,
    ) -> Result<(), BackendError> {
        let (segments, records) = (Arc::clone(&self.journal.segments), Arc::clone(records));
        let pack = move || {
            segments.lock().unwrap_or_else(PoisonError::into_inner).append(&bodies)?;
            records.absorb(&layer)
        };
        let thread = std::thread::Builder::new().name("turnfold packer".to_owned());
        let thread = thread.spawn(pack);
        let thread =
            thread.map_err(|source| BackendError::Io { action: "start packing".to_owned(), source })?;
        self.packing = Some(thread);
        Ok(())
    }

    /// Makes a commit durable that no head can hold: it goes straight into a segment (ST-12).
    fn commit_large(
        &mut self,
        records: &Arc<Layered>,
        commit: Committed,
        changes: Vec<RecordChange>,
    ) -> Result<(), BackendError> {
        self.finish_packing()?;
        let number = records.base.tree.number;
        if self.is_clean {
            self.journal.note(Kind::Note, 0)?;
            self.is_clean = false;
        }
        let waiting = self.journal.take_waiting();
        let segments = Arc::clone(&self.journal.segments);
        let mut segments = segments.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.is_empty() {
            segments.append(&waiting)?;
        }
        let layer = records.layers().current;
        records.change_layers(|layers| {
            *layers = Layers { current: Arc::default(), packing: Some(Arc::clone(&layer)) }
        });
        segments.append(&[commit.body])?;
        self.journal.end = segments.end;
        drop(segments);
        self.journal.note(Kind::Note, 0)?;
        layer.add(changes);
        records.absorb(&layer)?;
        self.is_clean = true;
        debug_assert_eq!(self.index(number), number);
        Ok(())
    }

    fn close(&mut self, number: u32) -> Result<(), BackendError> {
        self.finish_packing()?;
        if !self.is_closed {
            let index = self.index(number);
            self.journal.note(Kind::Closed, index)?;
            self.is_closed = true;
        }
        Ok(())
    }
}

impl Backend for DiskBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.records.get(key)
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        self.records.get_all(keys)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.records.scan(range, limit)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.records.last(range)
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.records.write(changes)
    }

    fn commit(&self, commit: Committed, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        match &self.writing {
            Some(writing) => {
                let mut writing = lock(writing);
                let done = writing.commit(&self.records, commit, changes);
                writing.has_failed |= done.is_err();
                done
            }
            None => self.records.write(&changes),
        }
    }

    fn compare(&self) -> Result<Vec<String>, BackendError> {
        let _nobody_commits = self.writing.as_ref().map(lock);
        compare(&self.places.journal, Some(self))
    }

    fn close(self: Box<Self>) -> Result<(), BackendError> {
        self.writing.as_ref().map_or(Ok(()), |writing| lock(writing).close(self.index()))
    }
}

impl Drop for DiskBackend {
    fn drop(&mut self) {
        let Some(writing) = &self.writing else { return };
        let mut writing = lock(writing);
        // Whoever wrote has got the error; a journal that was not closed is read all the same.
        let closed = if writing.has_failed { writing.finish_packing() } else { writing.close(self.index()) };
        if let Err(error) = closed {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}
