//! Power cuts at every call to the backend: whatever of the unflushed batches is there, nothing acknowledged is lost.
//!
//! The `files` tests do the same below sled; here every cut and every choice of batches is tried.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use turnfold_store::backend::memory::MemoryBackend;
use turnfold_store::backend::{Backend, BackendError, RecordChange, StoredRecord, Watermark};

use crate::faults::{Told, check_survives, play_on};

enum Event {
    Write(Vec<RecordChange>),
    Flush,
    Watermark(Watermark),
    Told(Told),
}

/// Passes calls on to memory and records those that change something.
#[derive(Clone, Default)]
struct Recorder {
    inner: MemoryBackend,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Recorder {
    fn record(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }
}

impl Backend for Recorder {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.inner.get(key)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.inner.scan(range, limit)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.inner.last(range)
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.record(Event::Write(changes.to_vec()));
        self.inner.write(changes)
    }

    fn flush(&self) -> Result<(), BackendError> {
        self.inner.flush()?;
        self.record(Event::Flush);
        Ok(())
    }

    fn watermark(&self) -> Result<Option<Watermark>, BackendError> {
        self.inner.watermark()
    }

    fn watermark_damage(&self) -> Result<Option<String>, BackendError> {
        Ok(None)
    }

    fn set_watermark(&self, watermark: &Watermark) -> Result<(), BackendError> {
        self.inner.set_watermark(watermark)?;
        self.record(Event::Watermark(watermark.clone()));
        Ok(())
    }
}

fn apply(disk: &MemoryBackend, batch: &[RecordChange]) {
    for RecordChange { key, value } in batch {
        disk.tamper(key, value.clone());
    }
}

#[test]
fn nothing_acknowledged_is_lost_whatever_of_the_unflushed_batches_is() {
    let recorder = Recorder::default();
    let record_told = |told: &Told| recorder.record(Event::Told(told.clone()));
    play_on(Box::new(recorder.clone()), &mut Told::default(), &mut { record_told }).unwrap();
    let events = recorder.events.lock().unwrap();
    let (disk, mut told, mut unflushed, mut cuts) = (MemoryBackend::new(), Told::default(), Vec::new(), 0);
    for (moment, event) in events.iter().enumerate() {
        match event {
            Event::Write(batch) => unflushed.push(batch),
            Event::Flush => unflushed.drain(..).for_each(|batch| apply(&disk, batch)),
            Event::Watermark(watermark) => disk.set_watermark(watermark).unwrap(),
            Event::Told(now) => told = now.clone(),
        }
        for chosen in 0..1_u32 << unflushed.len() {
            let left = disk.copy();
            let kept = unflushed.iter().enumerate().filter(|(place, _)| chosen >> place & 1 == 1);
            kept.for_each(|(_, batch)| apply(&left, batch));
            check_survives(&told, &left, &format!("cut after call {moment}, batches {chosen:b}"));
            cuts += 1;
        }
    }
    assert!(cuts > 300, "only {cuts} cuts");
}
