//! A damaged store, read from a copy: opened by whatever way shows all of it, or put together from pieces.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::copy::{WAYS, copy_all, open_copy};
use super::found::Found;
use super::gone::Gone;
use super::lenient::scan_leniently;
use super::marks::Marks;
use super::whole;
use crate::backup::error::RescueError;
use crate::error::StoreError;
use crate::local::backend::EntryRef;
use crate::local::backend::sled::raw;
use crate::local::dir::holder::holder;
use crate::local::dir::places::{LOCK_FILE, SLED_DIR, WATERMARK_FILE};
use crate::local::dir::regular::open_regular;
use crate::local::dir::watermark::WatermarkFile;
use crate::local::layout::key;
use crate::local::reader::records::Records;

/// The copy of a damaged store.
pub(super) struct Damaged {
    pub(super) records: Records,
    pub(super) marks: Marks,
    pub(super) gone: Gone,
    /// Where anything says that the store was written to last, and after which commit.
    pub(super) places: Vec<(u64, EntryRef)>,
    /// Why its records had to be looked for one by one.
    pub(super) reason: Option<String>,
}

/// Copies a store to below `scratch` and opens the copy. Where that does not show everything that ever was there, what
/// all ways of opening it show and what lies in sled's file is put together in memory.
pub(super) fn open(dir: &Path, scratch: &Path) -> Result<Damaged, RescueError> {
    if !dir.is_dir() {
        return Err(StoreError::Missing { dir: dir.to_owned() }.into());
    }
    let _lock = hold(dir)?;
    let marks = Marks::of(&WatermarkFile::at(dir.join(WATERMARK_FILE)));
    let db = dir.join(SLED_DIR).join("db");
    let mut found = Found::default();
    let mut reasons = Vec::new();
    for (number, without) in WAYS.into_iter().enumerate() {
        let copy = scratch.join(number.to_string());
        copy_all(dir, &copy).map_err(|source| RescueError::io("copy", dir, source))?;
        // The copy is gone when somebody reads of it; its files are called as in the store.
        let of_store = |reason: String| reason.replace(&*copy.to_string_lossy(), &dir.to_string_lossy());
        match open_copy(&copy, without) {
            Ok(records) => {
                let Err(reason) = whole::require(&records, &marks, &db).map_err(of_store) else {
                    return Ok(Damaged::whole(records, marks));
                };
                found.add_opened(scan_leniently(&records, &(vec![0]..vec![u8::MAX])));
                reasons.push(reason);
            }
            Err(error) => reasons.push(of_store(error)),
        }
    }
    if let Err(error) = raw::each_candidate(&db, &mut |candidate| found.add_raw(candidate)) {
        reasons.push(format!("the file `{SLED_DIR}/db` cannot be read: {error}"));
    }
    found.join_pieces();
    let reason = reasons.into_iter().next().unwrap_or_default();
    if found.is_empty() {
        return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason });
    }
    Damaged::put_together(found, marks, reason)
}

impl Damaged {
    /// A store of which the copy shows everything.
    fn whole(records: Records, marks: Marks) -> Self {
        // A branch that the watermark names may have been deleted since; nothing is missing.
        Self { places: Vec::new(), ..Self::of_records(records, marks) }
    }

    /// A store that is read as it is.
    pub(super) fn of_records(records: Records, marks: Marks) -> Self {
        let mut gone = Gone::default();
        for (key, value) in scan_leniently(&records, &key::all_gone()) {
            gone.add(&key, &value);
        }
        let places = marks.valid.iter().filter_map(|mark| mark.last.clone().map(|last| (mark.commits, last)));
        let places = places.collect();
        Self { records, marks, gone, places, reason: None }
    }

    fn put_together(mut found: Found, marks: Marks, reason: String) -> Result<Self, RescueError> {
        let marked = marks.valid.iter().map(|mark| mark.commits).max();
        let last_commit = found.commits().max(marked);
        found.gone.retain_up_to(last_commit.unwrap_or(u64::MAX));
        let mut places = std::mem::take(&mut found.places);
        places
            .extend(marks.valid.iter().filter_map(|mark| mark.last.clone().map(|last| (mark.commits, last))));
        let (backend, gone) = found.into_backend()?;
        let records = Records::new(Box::new(backend), None);
        Ok(Self { records, marks, gone, places, reason: Some(reason) })
    }
}

/// Takes the lock of a store that may be damaged, without writing anything.
fn hold(dir: &Path) -> Result<Option<File>, RescueError> {
    let Ok(mut file) = open_regular(&dir.join(LOCK_FILE)) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { dir: dir.to_owned(), holder: holder(&mut file) }.into())
        }
        Err(TryLockError::Error(source)) => Err(RescueError::io("lock", dir, source)),
    }
}
