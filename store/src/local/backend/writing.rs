//! Writing to a store on disk: each commit into a head of the journal, and what a full head holds into a segment and the
//! index.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::layered::Layered;
use super::{BackendError, RecordChange};
use crate::local::journal::frame::{Frame, Kind};
use crate::local::journal::image::Image;
use crate::local::journal::segment::Appending;
use crate::local::journal::writer::JournalWriter;

/// What the committer needs.
pub(super) struct Writing {
    records: Arc<Layered>,
    journal: JournalWriter,
    /// Whether nothing was written to the index since it was synced.
    is_clean: bool,
    /// Whether the journal records that, and in both heads where it ends.
    is_closed: bool,
    packing: Option<JoinHandle<Result<(), BackendError>>>,
    /// Whether anything failed, after which the journal does not record that it is closed.
    has_failed: bool,
}

impl Writing {
    /// Goes on behind the commits of a journal, with the records of what its segments hold (ST-15).
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
        let others: Vec<_> = in_head(false).map(|frame: &Frame| frame.body.clone()).collect();
        if !others.is_empty() {
            // A pack that did not come to its end. Until it did, the journal named no index.
            lock(&journal).append(&others)?;
            records.begin_packing();
            records.absorb()?;
        }
        records.replay(in_head(true))?;
        let is_new = is_built || !others.is_empty();
        // Builds before the mark of the end was there did not write it.
        let is_closed = image.is_closed && image.has_end_mark() && !is_new;
        let mut writing =
            Self { records, journal, is_clean: true, is_closed, packing: None, has_failed: false };
        if is_new {
            writing.note(Kind::Note)?;
        }
        Ok(writing)
    }

    /// Makes a commit durable, and lets its changes be seen.
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
        // The index is written to as soon as this is durable.
        self.is_clean = false;
        let frame = self.journal.encode(self.index(), &body).unwrap_or(frame);
        self.journal.write(&frame, body)?;
        self.records.show(changes);
        self.pack_in_background(bodies)
    }

    /// Packs what a full head holds, while commits go on in the other one (ST-11, ST-12).
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

    /// Packs what a head holds before going on in the other one, and behind it a commit that no head can hold (ST-12).
    fn pack(&mut self, large: Option<(Vec<u8>, Vec<RecordChange>)>) -> Result<(), BackendError> {
        self.finish_packing()?;
        let bodies = self.journal.switch();
        self.records.begin_packing();
        self.is_clean = false;
        // It goes into the other head, whose content is no longer needed.
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

    /// Waits until what was full before is in a segment and the index.
    fn finish_packing(&mut self) -> Result<(), BackendError> {
        let Some(packing) = self.packing.take() else { return Ok(()) };
        let packed = packing.join();
        packed.unwrap_or_else(|_| Err(BackendError::Damaged("packing panicked".to_owned())))?;
        self.is_clean = true;
        Ok(())
    }

    /// Notes that a packing has come to its end.
    fn reap(&mut self) -> Result<(), BackendError> {
        if self.packing.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish_packing()
        } else {
            Ok(())
        }
    }

    /// Returns the index that nothing was written to since it was synced; 0 for none.
    fn index(&self) -> u32 {
        if self.is_clean { self.records.index() } else { 0 }
    }

    /// Writes a note; nothing of a full head is written over before a segment has it.
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
            // What destroys the last frames leaves this, and what destroys this leaves them.
            self.journal.mark_end()?;
            self.is_closed = true;
        }
        Ok(())
    }
}

fn lock(journal: &JournalWriter) -> MutexGuard<'_, Appending> {
    journal.segments.lock().unwrap_or_else(PoisonError::into_inner)
}
