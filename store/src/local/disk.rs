//! Records on disk: each commit goes to a head of the journal, and the contents of a full head to a segment and the index.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::entry::encode;
use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord, scan};
use crate::local::files::Places;
use crate::local::index::tree::IndexTree;
use crate::local::index::{OnBuilding, behind, keep_only, open_or_build};
use crate::local::journal::Image;
use crate::local::journal::head::Kind;
use crate::local::journal::segment::Appending;
use crate::local::journal::writer::JournalWriter;
use crate::local::key;
use crate::local::layered::Layered;
use crate::local::lock::Locks;
use crate::local::staging::sound_body;
use crate::local::view::MemoryRecords;

pub(crate) struct DiskBackend {
    records: Arc<Layered>,
    /// `None` if the store is open for reading only.
    writing: Option<Mutex<Writing>>,
    _locks: Locks,
}

impl DiskBackend {
    /// Opens the records of a store for reading, from a sound index (ST-16).
    pub(crate) fn for_reading(
        places: &Places,
        image: &Image,
        tree: IndexTree,
        locks: Locks,
    ) -> Result<Self, BackendError> {
        let records = Layered::over(tree, places, image);
        for (_, frame) in &image.tail {
            records.replay(frame)?;
        }
        Ok(Self { records: Arc::new(records), writing: None, _locks: locks })
    }

    /// Opens the records of a store for writing (ST-15). Only `head_bytes` of each head are used for frames.
    pub(crate) fn open(
        places: &Places,
        image: &Image,
        locks: Locks,
        head_bytes: usize,
        observe: OnBuilding<'_>,
    ) -> Result<Self, BackendError> {
        let journal = JournalWriter::open(image, head_bytes)?;
        let tree = open_or_build(&places.sled, image, observe)?;
        let records = Arc::new(Layered::over(tree, places, image));
        let writing = Writing::begin(Arc::clone(&records), journal, image)?;
        // Earlier indexes are removed only now, because the new one must be complete first.
        keep_only(&places.sled, records.index());
        Ok(Self { records, writing: Some(Mutex::new(writing)), _locks: locks })
    }
}

fn lock(writing: &Mutex<Writing>) -> MutexGuard<'_, Writing> {
    writing.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn is_proven(&self) -> bool {
        // The index compares each value with its check. All others were made in memory, by a replay.
        true
    }

    fn commit(&self, body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        match &self.writing {
            Some(writing) => lock(writing).commit(body, changes),
            None => self.write(&changes),
        }
    }

    fn compare(&self) -> Result<Vec<String>, BackendError> {
        let _no_commit = self.writing.as_ref().map(lock);
        let view = match MemoryRecords::proven(&self.records.places.journal)? {
            Ok(view) => view,
            Err(reason) => return Ok(vec![reason]),
        };
        let mut damage = Vec::new();
        let mut expected = view.bodies().clone();
        expected.insert(key::STORE.to_vec(), encode(view.record()));
        // Pages may be split differently. An audit checks them and idempotency keys against entries and heads.
        for table in *b"abhimns" {
            for record in scan(self, vec![table]..vec![table + 1]) {
                let (key, value) = record?;
                let body = expected.remove(&key);
                if body.is_none() || sound_body(&key, &value).ok() != body {
                    let key = key.escape_ascii();
                    damage.push(format!("the index has another record `{key}` than the journal"));
                }
            }
        }
        for key in expected.keys() {
            damage.push(format!("the index has no record `{}`", key.escape_ascii()));
        }
        damage.extend(behind(&self.records.places.sled, view.record(), Some(self.records.index()))?);
        Ok(damage)
    }

    fn journal(&self) -> Option<&Path> {
        Some(&self.records.places.journal)
    }

    fn close(self: Box<Self>) -> Result<(), BackendError> {
        match &self.writing {
            Some(writing) => lock(writing).close(),
            None => Ok(()),
        }
    }
}

impl Drop for DiskBackend {
    fn drop(&mut self) {
        let Some(writing) = &self.writing else { return };
        // The error does no harm to acknowledged commits: a journal that was not closed can still be read.
        if let Err(error) = lock(writing).close() {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}

pub(crate) struct Writing {
    records: Arc<Layered>,
    journal: JournalWriter,
    /// Whether the index has not been written to since it was synced.
    is_clean: bool,
    /// Whether the journal records that the store is closed, and both heads record where it ends.
    is_closed: bool,
    packing: Option<JoinHandle<Result<(), BackendError>>>,
    /// Whether anything failed. The journal then does not record that the store is closed.
    has_failed: bool,
}

impl Writing {
    /// Continues behind the commits of a journal (ST-15). `records` must have the contents of the segments.
    pub(crate) fn begin(
        records: Arc<Layered>,
        journal: JournalWriter,
        image: &Image,
    ) -> Result<Self, BackendError> {
        let mut unpacked = Vec::new();
        for (head, frame) in &image.tail {
            if *head != image.current {
                records.replay(frame)?;
                unpacked.push(frame.body.clone());
            }
        }
        let mut is_new = records.index() != image.index;
        if !unpacked.is_empty() {
            // A crash interrupted packing. The journal named no index until packing was complete, so the index may be
            // written to.
            segments(&journal).append(&unpacked)?;
            records.begin_packing();
            records.absorb()?;
            is_new = true;
        }
        for (head, frame) in &image.tail {
            if *head == image.current {
                records.replay(frame)?;
            }
        }
        // Earlier builds closed a store without the end mark.
        let is_closed = image.is_closed && image.has_end_mark() && !is_new;
        let mut writing =
            Self { records, journal, is_clean: true, is_closed, packing: None, has_failed: false };
        if is_new {
            writing.note(Kind::Note)?;
        }
        Ok(writing)
    }

    pub(crate) fn commit(&mut self, body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        let done = self.try_commit(body, changes);
        self.has_failed |= done.is_err();
        done
    }

    fn try_commit(&mut self, body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        self.reap()?;
        self.is_closed = false;
        let Some(frame) = self.journal.encode(self.index(), &body) else {
            return self.pack(Some((body, changes)));
        };
        if self.journal.has_room(frame.len()) {
            self.journal.write(&frame, body)?;
            self.records.show(changes);
            return Ok(());
        }
        self.finish_packing()?;
        let bodies = self.journal.switch();
        self.records.begin_packing();
        // The packer writes to the index as soon as the next frame is durable.
        self.is_clean = false;
        let frame = self.journal.encode(self.index(), &body).unwrap_or(frame);
        self.journal.write(&frame, body)?;
        self.records.show(changes);
        self.pack_in_background(bodies)
    }

    /// Packs the contents of a full head while commits continue in the other head (ST-11, ST-12).
    fn pack_in_background(&mut self, bodies: Vec<Vec<u8>>) -> Result<(), BackendError> {
        let segments = Arc::clone(&self.journal.segments);
        let records = Arc::clone(&self.records);
        let thread = std::thread::Builder::new().name("turnfold packer".to_owned());
        let started = thread.spawn(move || {
            segments.lock().unwrap_or_else(PoisonError::into_inner).append(&bodies)?;
            records.absorb()
        });
        match started {
            Ok(packing) => self.packing = Some(packing),
            Err(source) => return Err(BackendError::Io { action: "start packing".to_owned(), source }),
        }
        Ok(())
    }

    /// Packs the contents of the current head before writing to the other one. A commit that is too large for a head
    /// follows in a pack of its own (ST-12).
    fn pack(&mut self, large: Option<(Vec<u8>, Vec<RecordChange>)>) -> Result<(), BackendError> {
        self.finish_packing()?;
        let bodies = self.journal.switch();
        self.records.begin_packing();
        self.is_clean = false;
        // The note overwrites the other head, whose commits are already in a segment.
        self.journal.note(Kind::Note, self.index())?;
        segments(&self.journal).append(&bodies)?;
        if let Some((body, changes)) = large {
            segments(&self.journal).append(&[body])?;
            let end = segments(&self.journal).end;
            self.journal.end = end;
            self.journal.note(Kind::Note, self.index())?;
            self.records.show_packed(changes);
        }
        self.records.absorb()?;
        self.is_clean = true;
        Ok(())
    }

    fn finish_packing(&mut self) -> Result<(), BackendError> {
        let Some(packing) = self.packing.take() else { return Ok(()) };
        let packed = packing.join();
        packed.unwrap_or_else(|_| Err(BackendError::Damaged("packing panicked".to_owned())))?;
        self.is_clean = true;
        Ok(())
    }

    fn reap(&mut self) -> Result<(), BackendError> {
        if self.packing.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish_packing()
        } else {
            Ok(())
        }
    }

    /// Returns the index that has not been written to since it was synced; 0 for none.
    fn index(&self) -> u32 {
        if self.is_clean { self.records.index() } else { 0 }
    }

    fn note(&mut self, kind: Kind) -> Result<(), BackendError> {
        // If the head is full, its commits are packed first, so that none is overwritten before a segment has it.
        if !self.journal.has_room(JournalWriter::NOTE_BYTES) {
            self.pack(None)?;
        }
        self.journal.note(kind, self.index())
    }

    pub(crate) fn close(&mut self) -> Result<(), BackendError> {
        self.finish_packing()?;
        if !self.is_closed && !self.has_failed {
            self.note(Kind::Closed)?;
            // Closing is recorded in both heads, so damage to one head leaves the record in the other.
            self.journal.mark_end()?;
            self.is_closed = true;
        }
        Ok(())
    }
}

fn segments(journal: &JournalWriter) -> MutexGuard<'_, Appending> {
    journal.segments.lock().unwrap_or_else(PoisonError::into_inner)
}
