//! Writes to a store on disk: each commit to a head of the journal, and the contents of a full head to a segment and
//! the index.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::layered::Layered;
use super::{BackendError, RecordChange};
use crate::local::journal::frame::{JournalFrame, Kind};
use crate::local::journal::image::Image;
use crate::local::journal::segment::Appending;
use crate::local::journal::writer::JournalWriter;

/// The writing half of the records on disk. Only the committer uses it.
pub(super) struct Writing {
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
    pub(super) fn begin(
        records: Arc<Layered>,
        journal: JournalWriter,
        image: &Image,
        is_built: bool,
    ) -> Result<Self, BackendError> {
        let in_head = |wanted: bool| {
            let found = image.tail.iter().filter(move |(head, _)| (*head == image.current) == wanted);
            found.map(|(_, frame)| frame)
        };
        records.replay(in_head(false))?;
        let others: Vec<_> = in_head(false).map(|frame: &JournalFrame| frame.body.clone()).collect();
        if !others.is_empty() {
            // A crash interrupted packing. The journal named no index until packing was complete, so the index may be
            // written to.
            lock(&journal).append(&others)?;
            records.begin_packing();
            records.absorb()?;
        }
        records.replay(in_head(true))?;
        let is_new = is_built || !others.is_empty();
        // Earlier builds closed a store without the end mark.
        let is_closed = image.is_closed && image.has_end_mark() && !is_new;
        let mut writing =
            Self { records, journal, is_clean: true, is_closed, packing: None, has_failed: false };
        if is_new {
            writing.note(Kind::Note)?;
        }
        Ok(writing)
    }

    /// Makes a commit durable and its changes visible.
    pub(super) fn commit(&mut self, body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
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
        let pack = move || {
            segments.lock().unwrap_or_else(PoisonError::into_inner).append(&bodies)?;
            records.absorb()
        };
        let thread = std::thread::Builder::new().name("turnfold packer".to_owned());
        let thread = thread.spawn(pack);
        let thread =
            thread.map_err(|source| BackendError::Io { action: "start packing".to_owned(), source })?;
        self.packing = Some(thread);
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
        lock(&self.journal).append(&bodies)?;
        if let Some((body, changes)) = large {
            lock(&self.journal).append(&[body])?;
            let end = lock(&self.journal).end;
            self.journal.end = end;
            self.journal.note(Kind::Note, self.index())?;
            self.records.show_packed(changes);
        }
        self.records.absorb()?;
        self.is_clean = true;
        Ok(())
    }

    /// Waits until the last full head is in a segment and in the index.
    fn finish_packing(&mut self) -> Result<(), BackendError> {
        let Some(packing) = self.packing.take() else { return Ok(()) };
        let packed = packing.join();
        packed.unwrap_or_else(|_| Err(BackendError::Damaged("packing panicked".to_owned())))?;
        self.is_clean = true;
        Ok(())
    }

    /// Collects the result of packing if it has ended.
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

    /// Writes a note. If the head is full, its commits are packed first, so no commit is overwritten before a segment
    /// has it.
    fn note(&mut self, kind: Kind) -> Result<(), BackendError> {
        if !self.journal.has_room(JournalWriter::NOTE_BYTES) {
            self.pack(None)?;
        }
        self.journal.note(kind, self.index())
    }

    /// Records in the journal that the store was closed, unless something failed.
    pub(super) fn close(&mut self) -> Result<(), BackendError> {
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

fn lock(journal: &JournalWriter) -> MutexGuard<'_, Appending> {
    journal.segments.lock().unwrap_or_else(PoisonError::into_inner)
}
