//! A database of sled: how it is opened, read, flushed and closed. No other file names sled.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, sleep};
use std::time::Duration;

use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::files::{create_dir, sync_dir};
use crate::local::page::PagePart;
use crate::local::{key, record};

/// How many bytes are written before a flush, because too many unflushed bytes can make sled wait for itself forever.
const BATCH_BYTES: usize = 128 * 1024;

/// A database of sled that is closed without a panic and flushed without waiting forever.
pub(crate) struct IndexTree {
    /// `None` once it is closed.
    db: Option<sled::Db>,
    pub(crate) dir: PathBuf,
    /// The number of the index; each built index has the next one.
    pub(crate) number: u32,
}

impl IndexTree {
    pub(crate) fn open(dir: PathBuf, number: u32) -> Result<Self, BackendError> {
        let action = format!("open `{}`", dir.display());
        let config = sled::Config::new().path(&dir).cache_capacity(CACHE_BYTES).use_compression(false);
        let mut tries = 1;
        loop {
            match guarded(&action, || config.open()) {
                Err(BackendError::Io { source, .. }) if is_lock_error(&source) && tries < LOCK_TRIES => {
                    sleep(LOCK_PAUSE);
                    tries += 1;
                }
                opened => return Ok(Self { db: Some(opened?), dir, number }),
            }
        }
    }

    fn db(&self) -> &sled::Db {
        self.db.as_ref().expect("it is closed only when it is dropped")
    }

    pub(crate) fn create(dir: &Path, number: u32) -> Result<Self, BackendError> {
        BackendError::on(dir, "create", create_dir(dir))?;
        Self::open(dir.to_owned(), number)
    }

    pub(crate) fn is_empty(&self) -> Result<bool, BackendError> {
        guarded("read the index", || self.db().iter().next().transpose()).map(|first| first.is_none())
    }

    /// Returns the sound records that sled can read, and whether those are all.
    pub(crate) fn sound_records(&self) -> (Vec<StoredRecord>, bool) {
        let mut found = BTreeMap::new();
        let mut is_all = true;
        // An unreadable part hides what is behind it. So each table is read alone, and then from the other end.
        for table in *b"abhikmnps" {
            let mut records = self.db().scan_prefix([table]);
            let mut is_forward = true;
            loop {
                let next = guarded("read the index", || {
                    if is_forward { records.next() } else { records.next_back() }.transpose()
                });
                match next {
                    Ok(Some((key, value))) => match sound(&key, value.to_vec()) {
                        Ok((key, value)) => _ = found.insert(key, value),
                        Err(_) => is_all = false,
                    },
                    Err(_) if is_forward => {
                        (records, is_forward, is_all) = (self.db().scan_prefix([table]), false, false);
                    }
                    Ok(None) | Err(_) => break,
                }
            }
        }
        (found.into_iter().collect(), is_all)
    }

    /// Writes changes in batches. Entries that follow the last page of a branch join that page.
    pub(crate) fn absorb(&self, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        let mut others = Vec::new();
        let mut store = None;
        let mut parts: BTreeMap<u64, Vec<PagePart>> = BTreeMap::new();
        for change in changes {
            if let (Some(b'p'), Some(branch), Some(value)) =
                (change.key.first(), key::id_of(&change.key), &change.value)
            {
                parts.entry(branch).or_default().push(PagePart::read(&change.key, value)?);
            } else if change.key == key::STORE {
                store = Some(change);
            } else {
                others.push(change);
            }
        }
        for (branch, parts) in parts {
            let mut pages = Vec::new();
            let mut last_next = None;
            if let Some((key, value)) = self.last(&key::pages_of(branch))? {
                let last = PagePart::read(&key, &value)?;
                last_next = Some(last.next());
                pages.push(last);
            }
            for part in parts {
                PagePart::add(&mut pages, part);
            }
            // The last page is written again only if it has grown.
            if pages.first().map(PagePart::next) == last_next {
                pages.remove(0);
            }
            for page in pages {
                others.push(page.put(branch));
            }
        }
        // The record about the store is written last, because it records the last commit that the other records
        // include.
        others.extend(store);
        let mut batch = sled::Batch::default();
        let mut bytes = 0;
        for RecordChange { key, value } in others {
            bytes += key.len() + value.as_ref().map_or(0, Vec::len) + 16;
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
            if bytes >= BATCH_BYTES {
                self.apply(std::mem::take(&mut batch))?;
                self.flush()?;
                bytes = 0;
            }
        }
        self.apply(batch)
    }

    fn apply(&self, batch: sled::Batch) -> Result<(), BackendError> {
        guarded("write the index", || self.db().apply_batch(batch))
    }

    pub(crate) fn settle(&self) -> Result<(), BackendError> {
        self.flush()?;
        BackendError::on(&self.dir, "sync", sync_all(&self.dir))
    }

    /// Makes everything written so far durable, as far as sled does that.
    ///
    /// sled 0.34.7 writes a full buffer on another thread. If that write fails, as on a full disk, it records the error
    /// but does not wake a thread that waits for a flush. A second flush finds the recorded error, wakes all waiting
    /// threads and fails too. So a slow flush gets a second one.
    fn flush(&self) -> Result<(), BackendError> {
        let (sender, flushed) = channel();
        if let Err(error) = flush_on_thread(self.db(), move |result| drop(sender.send(result))) {
            tracing::warn!(%error, "a failed write may go unnoticed");
            return guarded("flush", || self.db().flush()).map(drop);
        }
        let mut patience = PATIENCE;
        loop {
            match flushed.recv_timeout(patience) {
                Ok(result) => return result.map(drop),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BackendError::Damaged("sled cannot flush: its thread ended".to_owned()));
                }
                // The further flush waits too if nothing has failed by then. So more follow, at growing intervals.
                Err(RecvTimeoutError::Timeout) => {
                    let started =
                        flush_on_thread(self.db(), |result| tracing::debug!(?result, "a flush took long"));
                    if let Err(error) = started {
                        tracing::debug!(%error, "a flush takes long");
                    }
                    patience *= 2;
                }
            }
        }
    }

    /// Closes the database. After an error it is unknown whether writes since the last flush are on disk.
    ///
    /// It drops the database here because sled's destructor panics if the last sync fails. A panic in a destructor can
    /// abort the process.
    fn close(&mut self) -> Result<(), BackendError> {
        let Some(db) = self.db.take() else { return Ok(()) };
        let closed = guarded("close", || {
            drop(db);
            Ok(())
        });
        // Only the last sync can panic here. sled's message is meant for its own developers, so it is only logged.
        closed.map_err(|error| {
            tracing::debug!(%error, "sled did not close");
            BackendError::Unsynced { source: io::Error::other("the last sync of sled's file failed") }
        })
    }
}

impl Backend for IndexTree {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        match guarded("read the index", || self.db().get(key))? {
            Some(stored) => Ok(Some(sound(key, stored.to_vec())?.1)),
            None => Ok(None),
        }
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        let found: Vec<_> =
            guarded("read the index", || self.db().range(range.clone()).take(limit).collect())?;
        for (key, stored) in found {
            records.push(sound(&key, stored.to_vec())?);
        }
        Ok(records)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(None);
        }
        match guarded("read the index", || self.db().get_lt(&range.end))? {
            Some((key, stored)) if key.as_ref() >= range.start.as_slice() => {
                sound(&key, stored.to_vec()).map(Some)
            }
            _ => Ok(None),
        }
    }
}

fn sound(key: &[u8], value: Vec<u8>) -> Result<StoredRecord, BackendError> {
    match record::body_of(key, &value) {
        Ok(_) => Ok((key.to_vec(), value)),
        Err(reason) => {
            Err(BackendError::Damaged(format!("the record `{}` of the index: {reason}", key.escape_ascii())))
        }
    }
}

pub(crate) fn sync_all(dir: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let synced = if path.is_dir() { sync_all(&path) } else { sync_file(&path) };
        match synced {
            // sled replaces its own files while it runs.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            synced => synced?,
        }
    }
    sync_dir(dir)
}

fn sync_file(path: &Path) -> io::Result<()> {
    // Windows can sync only a file that is open for writing.
    File::options().read(true).write(cfg!(windows)).open(path)?.sync_all()
}

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// How often opening is tried, and with which pauses, while an earlier handle of this process still holds sled's lock.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// How long a flush may take before a second one is started. The time doubles with each further one.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) fn folder(sled: &Path, number: u32) -> PathBuf {
    sled.join(number.to_string())
}

/// Waits until no thread of sled uses a closed database, as far as its lock shows that.
pub(crate) fn wait_until_closed(dir: &Path) {
    let Ok(file) = File::open(dir.join("db")) else { return };
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
            _ => return,
        }
    }
}

fn flush_on_thread(
    db: &sled::Db,
    then: impl FnOnce(Result<usize, BackendError>) + Send + 'static,
) -> io::Result<()> {
    let db = db.clone();
    let thread = Builder::new().name("turnfold flush".to_owned());
    thread.spawn(move || {
        let flushed = guarded("flush", || db.flush());
        // Drops the clone first, because the caller may close the database next.
        drop(db);
        then(flushed);
    })?;
    Ok(())
}

impl Drop for IndexTree {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(%error, "the index did not close cleanly; it can be built again");
        }
    }
}

fn is_lock_error(error: &io::Error) -> bool {
    // sled has no error variant for that.
    error.kind() == io::ErrorKind::Other && error.to_string().starts_with("could not acquire lock")
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls sled and turns its errors and panics into a [`BackendError`]; `action` completes "cannot …".
pub(crate) fn guarded<T>(action: &str, call: impl FnOnce() -> sled::Result<T>) -> Result<T, BackendError> {
    quieten_sled();
    let outer = INSIDE.replace(true);
    let result = std::panic::catch_unwind(AssertUnwindSafe(call));
    INSIDE.set(outer);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(sled::Error::Io(source))) => Err(sort_io(action, source)),
        // sled's own text mentions backtraces that it does not have.
        Ok(Err(sled::Error::Corruption { .. })) => {
            Err(BackendError::Damaged(format!("sled cannot {action}: its checksums do not match")))
        }
        Ok(Err(error)) => Err(BackendError::Damaged(format!("sled cannot {action}: {error}"))),
        Err(panic) => {
            Err(BackendError::Damaged(format!("sled cannot {action}: {}", panic_text(panic.as_ref()))))
        }
    }
}

fn sort_io(action: &str, source: io::Error) -> BackendError {
    let source = restored(source);
    match source.kind() {
        // ST-7: this is damage, but sled reports a missing or short file as an I/O error.
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::NotFound => BackendError::Damaged(format!("sled cannot {action}: {source}")),
        _ => BackendError::Io { action: action.to_owned(), source },
    }
}

fn restored(error: io::Error) -> io::Error {
    // sled passes the operating system's error on only as its debug text.
    let text = error.to_string();
    let code = text.strip_prefix("Os { code: ").and_then(|rest| rest.split(',').next()?.parse().ok());
    code.map_or(error, io::Error::from_raw_os_error)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Keeps the default message of sled's panics off stderr, on this thread and on sled's own. Other panics are reported
/// as before.
fn quieten_sled() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
            let by_sled = panic.location().is_some_and(|location| location.file().contains("sled-0.34"));
            if by_sled || INSIDE.try_with(Cell::get).unwrap_or(false) {
                tracing::debug!(%panic, "sled panicked");
            } else {
                others(panic);
            }
        }));
    });
}
