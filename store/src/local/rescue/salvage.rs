//! Salvage: a new store of all that is sound in a damaged one, and a list of what is not (ST-4).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::check::check;
use super::losses::{Left, LostEntries, losses, read_left};
use super::new_store::{self, NewStore};
use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::backup::rebuild::Rebuild;
use crate::backup::walk::walk;
use crate::draft;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::local::backend::memory::MemoryBackend;
use crate::local::backend::{Backend, BackendError};
use crate::local::dir::files::{self, LOCK_FILE, Places, open_regular};
use crate::local::dir::holder::holder;
use crate::local::dir::lock::try_for_a_while;
use crate::local::dir::{format, swap};
use crate::local::index::open::open_newest;
use crate::local::journal::image::Image;
use crate::local::journal::lenient::Remains;
use crate::local::misfit::Misfit;
use crate::local::reader::records::Records;
use crate::local::replay::replay;
use crate::local::scan::scan;
use crate::local::staging::Staging;
use crate::local::view::View;
use crate::writer::store::Store;

/// How many names an error lists.
const NAMES_MAX: usize = 8;

/// What a salvage brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// What the new store holds.
    pub saved: Totals,
    /// What could not be saved; nothing, if all was.
    pub lost: Vec<LostEntries>,
}

/// What a damaged store still shows.
struct Found {
    records: Records,
    lost: Vec<LostEntries>,
}

impl Store {
    /// Makes a new store in `new_dir` of everything that is sound in `dir`, and lists what is not.
    ///
    /// Nothing in the damaged store changes. Every commit is saved whose frame is sound, less what follows a gap of its
    /// own branch; a sound index fills gaps. Rules are not asked. `observe` receives the progress.
    ///
    /// # Errors
    /// [`RescueError::NotEmpty`], [`RescueError::NothingReadable`], [`StoreError::Locked`], and any error of reading and
    /// writing files.
    pub fn salvage(
        dir: &Path,
        new_dir: &Path,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<Salvage, RescueError> {
        let new = NewStore::at(new_dir)?;
        if !dir.is_dir() {
            return Err(StoreError::Missing { dir: dir.to_owned() }.into());
        }
        format::require_no_other(dir)?;
        let _lock = hold(dir)?;
        let found = find(dir, &swap::places(dir), &new.scratch())?;
        let store = new_store::create(&new.draft())?;
        let saved = save(&found.records, &store, observe)?;
        store.close()?;
        let salvage = Salvage { saved, lost: found.lost };
        if salvage.saved.matches == 0 && !salvage.lost.is_empty() {
            return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason: salvage.reason() });
        }
        drop(found.records);
        new.publish()?;
        Ok(salvage)
    }
}

impl Salvage {
    /// Reports why nothing was saved, with the names of what there was.
    fn reason(&self) -> String {
        let mut reason = self.lost.first().map_or_else(String::new, |lost| lost.reason.clone());
        let names: BTreeSet<_> = self.lost.iter().filter_map(|lost| lost.match_name.as_ref()).collect();
        for (place, name) in names.iter().take(NAMES_MAX).enumerate() {
            let separator = if place == 0 { "; lost match" } else { "," };
            let _ = write!(reason, "{separator} `{name}`");
        }
        if let Some(more) = names.len().checked_sub(NAMES_MAX).filter(|more| *more > 0) {
            let _ = write!(reason, " and {more} more");
        }
        reason
    }
}

/// Keeps writers out, as far as there is a file for that (ST-22: a lock that goes soon is waited for).
fn hold(dir: &Path) -> Result<Option<File>, StoreError> {
    let Ok(mut file) = open_regular(&dir.join(LOCK_FILE)) else { return Ok(None) };
    match try_for_a_while(|| file.try_lock_shared()) {
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { dir: dir.to_owned(), holder: holder(&mut file) })
        }
        _ => Ok(Some(file)),
    }
}

/// Gives a new store what another holds.
fn save(
    records: &Records,
    store: &dyn Engine,
    observe: &mut dyn FnMut(Totals),
) -> Result<Totals, RescueError> {
    let mut rebuild = Rebuild::new(store);
    walk(records, &mut |part| {
        rebuild.take(part)?;
        observe(rebuild.totals());
        Ok(())
    })?;
    Ok(rebuild.totals())
}

/// Finds what is sound: in the journal, and where that has gaps in an index too.
fn find(dir: &Path, places: &Places, scratch: &Path) -> Result<Found, RescueError> {
    let whole = Image::read(&places.journal).and_then(|image| View::read(&image, u64::MAX, true));
    let reason = match whole {
        Ok(view) => return Ok(Found { records: Records::new(Box::new(view), None), lost: Vec::new() }),
        Err(BackendError::Damaged(reason)) => reason,
        Err(error) => return Err(StoreError::from(error).into()),
    };
    let left = read_left(&places.journal).map_err(StoreError::from)?;
    let indexed = indexed(places, scratch);
    let Some(Left { view, misfits, notes }) = left else {
        return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason });
    };
    let mut notes: Vec<_> = notes.into_iter().map(LostEntries::of_store).collect();
    if notes.is_empty() {
        notes.push(LostEntries::of_store(reason));
    }
    let records = Records::new(Box::new(view), None);
    let lost = losses(&misfits, &records);
    let (records, mut lost) = match indexed {
        // Both begin with the same commits; whichever has more entries lacks fewer.
        Some((others, misfits)) if count(&others) >= count(&records) => {
            let lost = losses(&misfits, &others);
            (others, lost)
        }
        _ => (records, lost),
    };
    lost.extend(notes);
    Ok(Found { records, lost })
}

fn count(records: &Records) -> u64 {
    records.store_record().map_or(0, |record| record.entries)
}

/// Reads a copy of the newest index and the sound commits behind it, if the index is sound and of this journal.
fn indexed(places: &Places, scratch: &Path) -> Option<(Records, Vec<(u64, Misfit)>)> {
    copy_all(&places.sled, scratch).ok()?;
    let (tree, record) = open_newest(scratch)?;
    let mut remains = Remains::find(&places.journal)?;
    if record.journal != remains.salt {
        return None;
    }
    let memory = MemoryBackend::new();
    for record in scan(&tree, vec![0]..vec![u8::MAX]) {
        let (key, value) = record.ok()?;
        memory.tamper(&key, Some(value));
    }
    let records = Records::new(Box::new(memory.clone()), None);
    if !check(&records, &mut |_| {}).ok()?.damage.is_empty() {
        return None;
    }
    let mut misfits = Vec::new();
    let mut store = record.clone();
    let carried = remains.each_commit(&mut |point, _, body| {
        if point.number <= record.commits {
            return Ok(());
        }
        let mut staging = Staging::over(&memory, store.clone());
        replay(&mut staging, point, body, &mut |misfit| {
            misfits.push((point.number, misfit));
            Ok(())
        })?;
        let (changes, after) = staging.take_changes();
        store = after;
        memory.write(&changes)
    });
    carried.ok()?;
    Some((records, misfits))
}

/// Copies the regular files in the folder of the indexes.
fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    draft::uninterrupted(|| fs::create_dir_all(to))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy_all(&path, &target)?;
        } else if kind.is_file() {
            let mut copy = files::options().write(true).create_new(true).open(&target)?;
            std::io::copy(&mut open_regular(&path)?, &mut copy)?;
        }
    }
    Ok(())
}
