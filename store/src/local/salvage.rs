//! Salvage: makes a new store of everything sound in a damaged one, and lists the rest (ST-4).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::path::Path;

use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::backup::rebuild::Rebuild;
use crate::backup::walk::walk_without_grants;
use crate::draft;
use crate::engine::{Engine, EngineReader as _};
use crate::error::StoreError;
use crate::local::backend::{Backend, BackendError, MemoryBackend};
use crate::local::check::check;
use crate::local::files::{LOCK_FILE, Places, open_regular};
use crate::local::index::tree::IndexTree;
use crate::local::index::{missing, open_all};
use crate::local::journal::{Image, Remains};
use crate::local::lock::{LockKind, locked, open_locked, try_for_a_while};
use crate::local::losses::{LostEntries, Rescued, losses, read_left};
use crate::local::merge::merge;
use crate::local::new_store::NewStore;
use crate::local::record::StoreRecord;
use crate::local::records::Records;
use crate::local::replay::{Misfit, replay};
use crate::local::staging::Staging;
use crate::local::view::MemoryRecords;
use crate::local::{files, format, new_store, swap};
use crate::writer::store::Store;

const NAMES_MAX: usize = 8;

/// The result of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// The contents of the new store.
    pub saved: Totals,
    /// What could not be saved; empty if nothing was lost.
    pub lost: Vec<LostEntries>,
}

impl Store {
    /// Makes a new store in `new_dir` of everything sound in `dir`, and lists the rest.
    ///
    /// The damaged store does not change. Every commit with a sound frame is saved, except what follows a gap of its
    /// own branch. Sound indexes fill gaps. No rules are used. `observe` receives the progress.
    ///
    /// # Errors
    /// Returns [`RescueError::NotEmpty`], [`RescueError::NothingReadable`], [`StoreError::Locked`], or any error of
    /// reading and writing files.
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
    fn reason(&self) -> String {
        let Some(first) = self.lost.first() else { return String::new() };
        let mut reason = first.reason.clone();
        let mut names = BTreeSet::new();
        for lost in &self.lost {
            names.extend(&lost.match_name);
        }
        for (place, name) in names.iter().take(NAMES_MAX).enumerate() {
            let separator = if place == 0 { "; lost match" } else { "," };
            let _ = write!(reason, "{separator} `{name}`");
        }
        if names.len() > NAMES_MAX {
            let _ = write!(reason, " and {} more", names.len() - NAMES_MAX);
        }
        reason
    }
}

/// Keeps writers out, if the lock file can be opened. It waits a moment for a holder that is about to end (ST-22).
fn hold(dir: &Path) -> Result<Option<File>, StoreError> {
    match try_for_a_while(|| open_locked(&dir.join(LOCK_FILE), LockKind::Read)) {
        Ok(file) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(locked(dir)),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn save(
    records: &Records,
    store: &dyn Engine,
    observe: &mut dyn FnMut(Totals),
) -> Result<Totals, RescueError> {
    let mut rebuild = Rebuild::new(store);
    walk_without_grants(records, &mut |part| {
        rebuild.take(part)?;
        observe(rebuild.totals());
        Ok(())
    })?;
    Ok(rebuild.totals())
}

fn find(dir: &Path, places: &Places, scratch: &Path) -> Result<Rescued, RescueError> {
    copy_indexes(&places.sled, scratch);
    let mut indexes = open_all(scratch);
    let whole = Image::read(&places.journal).and_then(|image| MemoryRecords::read(&image, u64::MAX, true));
    let reason = match whole {
        Ok(view) => {
            let journal = view.record();
            indexes.retain(|(_, index)| index.journal == journal.journal);
            match indexes.first() {
                Some((_, index)) if index.end.number > journal.end.number => {
                    missing(index.end.number, journal.end.number).to_string()
                }
                _ => return Ok(Rescued::of(Box::new(view))),
            }
        }
        Err(BackendError::Damaged(reason)) => reason,
        Err(error) => return Err(StoreError::from(error).into()),
    };
    let remains = Remains::find(&places.journal);
    // If nothing is left of the journal, the index with the most commits decides.
    let salt = match &remains {
        Some(remains) => Some(remains.salt),
        None => indexes.first().map(|(_, index)| index.journal),
    };
    let Some(salt) = salt else {
        return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason });
    };
    indexes.retain(|(_, index)| index.journal == salt);
    let mut found = combine(&indexes, remains, &places.journal).map_err(StoreError::from)?;
    if found.lost.iter().all(|lost| lost.match_name.is_some()) {
        found.lost.push(LostEntries::of_store(reason));
    }
    Ok(found)
}

/// Combines what is left of a journal with its indexes, which must be sorted by their last commit, latest first.
fn combine(
    indexes: &[(IndexTree, StoreRecord)],
    remains: Option<Remains>,
    journal: &Path,
) -> Result<Rescued, BackendError> {
    let mut left = None;
    let mut of_files = Vec::new();
    if let Some(remains) = remains {
        let mut read = read_left(journal, remains)?;
        of_files = std::mem::take(&mut read.lost);
        left = Some(read);
    }
    let mut sources = Vec::new();
    for (tree, store) in indexes {
        let source = read_index(tree, store, journal)?;
        let is_sound = source.is_sound;
        sources.push(source);
        if is_sound {
            // A sound index has everything up to its last commit, so earlier indexes add nothing.
            break;
        }
    }
    let mut found = match left {
        Some(left) if sources.is_empty() => left,
        _ if sources.first().is_some_and(|first| first.is_sound) => sources.remove(0),
        left => merge_all(&sources, left)?,
    };
    found.lost.extend(losses(&found.misfits, &found.records));
    found.lost.extend(of_files);
    Ok(found)
}

fn merge_all(indexes: &[Rescued], left: Option<Rescued>) -> Result<Rescued, BackendError> {
    let mut sources = Vec::new();
    for source in indexes.iter().chain(&left) {
        sources.push(&source.records);
    }
    let mut merged = merge(&sources)?;
    for (commit, misfit) in left.into_iter().flat_map(|left| left.misfits) {
        if !is_there(&misfit, &merged.records) {
            merged.misfits.push((commit, misfit));
        }
    }
    Ok(merged)
}

fn is_there(misfit: &Misfit, records: &Records) -> bool {
    let Misfit::Named { match_name, branch } = misfit else { return false };
    match branch {
        Some(branch) => records.found_branch(match_name, branch).is_ok(),
        None => records.found_match(match_name).is_ok(),
    }
}

fn copy_indexes(sled: &Path, scratch: &Path) {
    // The indexes are copied because sled changes what it opens.
    let Ok(entries) = fs::read_dir(sled) else { return };
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        if let Err(error) = copy_all(&entry.path(), &scratch.join(entry.file_name())) {
            tracing::warn!(%error, "index `{}` cannot be read", entry.path().display());
        }
    }
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    draft::uninterrupted(|| fs::create_dir_all(to))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let path = entry.path();
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_all(&path, &target)?;
        } else if kind.is_file() {
            let mut copy = files::options().write(true).create_new(true).open(&target)?;
            std::io::copy(&mut open_regular(&path)?, &mut copy)?;
        }
    }
    Ok(())
}

/// Reads the sound records of an index, and over them the commits behind its last that are left of the journal.
fn read_index(tree: &IndexTree, store: &StoreRecord, journal: &Path) -> Result<Rescued, BackendError> {
    let memory = MemoryBackend::new();
    let (sound, is_all) = tree.sound_records();
    for (key, value) in sound {
        memory.tamper(&key, Some(value));
    }
    let mut read = Rescued::of(Box::new(memory.clone()));
    read.is_sound = is_all && check(&read.records, &mut |_| {}).is_ok_and(|check| check.damage.is_empty());
    let Some(mut remains) = Remains::find(journal).filter(|remains| remains.salt == store.journal) else {
        return Ok(read);
    };
    let mut reached = store.clone();
    remains.each_commit(&mut |point, _, body| {
        if point.number <= store.end.number {
            return Ok(());
        }
        let mut staging = Staging::over(&memory, reached.clone());
        replay(&mut staging, point, body, &mut |misfit| {
            read.misfits.push((point.number, misfit));
            Ok(())
        })?;
        let changes = staging.take_changes();
        reached = staging.store;
        memory.write(&changes)
    })?;
    Ok(read)
}
