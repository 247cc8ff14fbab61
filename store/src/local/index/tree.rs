//! An index: one database of sled, whose values are checked as they are read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::database::OpenDb;
use super::guard::guarded;
use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::dir::files::{create_dir, sync_dir};
use crate::local::layout::page::PagePart;
use crate::local::layout::{key, record};

/// How many bytes are written before a flush, because too many unflushed bytes can make sled wait for itself forever.
const BATCH_BYTES: usize = 128 * 1024;

/// An open index.
pub(crate) struct IndexTree {
    db: OpenDb,
    pub(crate) dir: PathBuf,
    /// The number of the index; each built index has the next one.
    pub(crate) number: u32,
}

impl IndexTree {
    /// Opens an index, or creates one in an empty folder.
    pub(super) fn open(dir: PathBuf, number: u32) -> Result<Self, BackendError> {
        Ok(Self { db: OpenDb::open(&dir)?, dir, number })
    }

    /// Creates an empty index.
    pub(super) fn create(dir: &Path, number: u32) -> Result<Self, BackendError> {
        create_dir(dir).map_err(|source| BackendError::io("create", dir, source))?;
        Self::open(dir.to_owned(), number)
    }

    /// Returns `true` if it has no records.
    pub(super) fn is_empty(&self) -> Result<bool, BackendError> {
        guarded("read the index", || self.db.iter().next().transpose()).map(|first| first.is_none())
    }

    /// Returns the sound records that sled can read, and whether those are all.
    pub(crate) fn sound_records(&self) -> (Vec<StoredRecord>, bool) {
        let mut found = BTreeMap::new();
        let mut is_all = true;
        // An unreadable part hides what is behind it. So each table is read alone, and then from the other end.
        for table in *b"abhikmnps" {
            let mut records = self.db.scan_prefix([table]);
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
                        (records, is_forward, is_all) = (self.db.scan_prefix([table]), false, false);
                    }
                    Ok(None) | Err(_) => break,
                }
            }
        }
        (found.into_iter().collect(), is_all)
    }

    /// Writes changes in batches. Entries that follow the last page of a branch join that page.
    pub(crate) fn absorb(&self, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        let (mut others, mut parts): (_, BTreeMap<u64, Vec<PagePart>>) = (Vec::new(), BTreeMap::new());
        for change in changes {
            match (change.key.first(), key::id_of(&change.key), &change.value) {
                (Some(b'p'), Some(branch), Some(value)) => {
                    parts.entry(branch).or_default().push(PagePart::read(&change.key, value)?);
                }
                _ => others.push(change),
            }
        }
        // The record about the store is written last, because it records the last commit that the other records
        // include.
        let store = others.iter().position(|change| change.key == key::STORE).map(|at| others.remove(at));
        for (branch, parts) in parts {
            let last = self.last(&key::pages_of(branch))?;
            let last = last.map(|(key, value)| PagePart::read(&key, &value)).transpose()?;
            others.extend(joined(last, parts).into_iter().map(|page| page.put(branch)));
        }
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
                self.db.flush()?;
                bytes = 0;
            }
        }
        self.apply(batch)
    }

    fn apply(&self, batch: sled::Batch) -> Result<(), BackendError> {
        guarded("write the index", || self.db.apply_batch(batch))
    }

    /// Makes everything written so far durable.
    pub(crate) fn settle(&self) -> Result<(), BackendError> {
        self.db.flush()?;
        sync_all(&self.dir).map_err(|source| BackendError::io("sync", &self.dir, source))
    }
}

impl Backend for IndexTree {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        let stored = guarded("read the index", || self.db.get(key))?;
        stored.map(|stored| sound(key, stored.to_vec()).map(|(_, value)| value)).transpose()
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        let read = || self.db.range(range.clone()).take(limit).collect::<Result<Vec<_>, _>>();
        let found = guarded("read the index", read)?;
        found.into_iter().map(|(key, stored)| sound(&key, stored.to_vec())).collect()
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(None);
        }
        let found = guarded("read the index", || self.db.get_lt(&range.end))?;
        let found = found.filter(|(key, _)| key.as_ref() >= range.start.as_slice());
        found.map(|(key, stored)| sound(&key, stored.to_vec())).transpose()
    }
}

/// Joins parts to the last page of a branch, and returns the pages that are new or have grown.
fn joined(last: Option<PagePart>, parts: Vec<PagePart>) -> Vec<PagePart> {
    let before = last.as_ref().map(PagePart::next);
    let mut pages: Vec<PagePart> = last.into_iter().collect();
    for part in parts {
        let rest = match pages.last_mut() {
            Some(page) => page.join(part),
            None => Some(part),
        };
        pages.extend(rest);
    }
    if pages.first().map(PagePart::next) == before {
        pages.remove(0);
    }
    pages
}

/// Requires a value to match its check and its key.
fn sound(key: &[u8], value: Vec<u8>) -> Result<StoredRecord, BackendError> {
    match record::body_of(key, &value) {
        Ok(_) => Ok((key.to_vec(), value)),
        Err(reason) => {
            Err(BackendError::Damaged(format!("the record `{}` of the index: {reason}", key.escape_ascii())))
        }
    }
}

/// Makes all files below a folder durable, and their names.
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

/// Makes a file durable. Windows can do that only for a file that is open for writing.
fn sync_file(path: &Path) -> io::Result<()> {
    File::options().read(true).write(cfg!(windows)).open(path)?.sync_all()
}
