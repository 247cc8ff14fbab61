//! Builds new stores in a draft folder and renames them when they are complete, in compaction too.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::backup::rebuild::Rebuild;
use crate::backup::walk::walk;
use crate::draft;
use crate::draft::DraftDir;
use crate::local::files::{or_gone, sync_dir};
use crate::local::index::tree::sync_all;
use crate::local::journal::head::HEAD_BYTES;
use crate::local::open::{open_disk, open_or_create, require_clock};
use crate::local::writer::Local;
use crate::local::{format, swap};
use crate::writer::store::Store;

/// The draft of a store. It is removed unless it is published.
pub(crate) struct NewStore {
    dir: PathBuf,
    draft: DraftDir,
}

impl NewStore {
    pub(crate) fn at(dir: &Path) -> Result<Self, RescueError> {
        require_nothing(dir)?;
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        RescueError::on(parent, "create", fs::create_dir_all(parent))?;
        let draft = RescueError::on(parent, "create a directory in", DraftDir::dir_in(parent))?;
        Ok(Self { dir: dir.to_owned(), draft })
    }

    pub(crate) fn draft(&self) -> PathBuf {
        self.draft.path().join("store")
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.draft.path().join("scratch")
    }

    /// Moves the store, which must be closed, to its place.
    pub(crate) fn publish(self) -> Result<(), RescueError> {
        let draft = self.draft();
        settle(&draft)?;
        require_nothing(&self.dir)?;
        let renamed = draft::uninterrupted(|| {
            // Removes an empty directory first, because not every system renames over it.
            or_gone(fs::remove_dir(&self.dir))?;
            fs::rename(&draft, &self.dir)?;
            self.dir.parent().map_or(Ok(()), sync_dir)
        });
        RescueError::on(&self.dir, "create", renamed)
    }
}

fn require_nothing(dir: &Path) -> Result<(), RescueError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => {
            if entries.next().is_none() {
                return Ok(());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
        Err(source) => return RescueError::on(dir, "read", Err(source)),
    }
    Err(RescueError::NotEmpty { dir: dir.to_owned() })
}

/// Makes all files of a closed store durable.
pub(crate) fn settle(dir: &Path) -> Result<(), RescueError> {
    RescueError::on(dir, "sync", sync_all(dir))
}

pub(crate) fn create(dir: &Path) -> Result<Local, RescueError> {
    Ok(draft::uninterrupted(|| open_or_create(dir, HEAD_BYTES, &mut |_, _| {}))?)
}

/// The result of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The contents of the store.
    pub totals: Totals,
    /// The bytes of the store's files before.
    pub bytes_before: u64,
    /// The bytes of the store's files now.
    pub bytes_after: u64,
}

impl Store {
    /// Writes the contents of a store as a new journal with a new index, and replaces the old ones with them (ST-18).
    /// No byte of deleted data is left (ST-9).
    ///
    /// It needs room for both. After a crash either the old store or the new one is there. `observe` receives the
    /// progress.
    ///
    /// # Errors
    /// Returns any error of opening, reading and writing. If it finds damage, the store stays as it was.
    pub fn compact(dir: &Path, observe: &mut dyn FnMut(Totals)) -> Result<Compacted, RescueError> {
        require_clock()?;
        let (locks, places) = format::hold_existing(dir)?;
        // The second handle keeps the directory locked while neither store is open.
        let still_locked = RescueError::on(dir, "lock", locks.try_clone())?;
        let old = Local::start(Box::new(open_disk(&places, locks, HEAD_BYTES, &mut |_, _| {})?), None)?;
        let draft = swap::draft(dir);
        let rewritten = build(&old, &draft, observe).and_then(|totals| {
            old.close()?;
            let bytes_draft = Self::bytes_on_disk(&draft)?;
            let bytes_before = Self::bytes_on_disk(dir)?.saturating_sub(bytes_draft);
            Ok(Compacted { totals, bytes_before, bytes_after: 0 })
        });
        if rewritten.is_err() {
            // An error is ignored, because the next process that opens the store removes the folder.
            let _ = std::fs::remove_dir_all(&draft);
        }
        let mut compacted = rewritten?;
        RescueError::on(dir, "replace the journal of", swap::replace(dir))?;
        compacted.bytes_after = Self::bytes_on_disk(dir)?;
        drop(still_locked);
        Ok(compacted)
    }
}

fn build(old: &Local, draft: &Path, observe: &mut dyn FnMut(Totals)) -> Result<Totals, RescueError> {
    let new = create(draft)?;
    let mut rebuild = Rebuild::new(&new);
    walk(old.records(), &mut |part| {
        rebuild.take(part)?;
        observe(rebuild.totals());
        Ok(())
    })?;
    let totals = rebuild.totals();
    // A rebuild leaves grants out, because after a restore or a salvage the players are invited again. A compaction
    // keeps them.
    for found in old.records().found_matches(None)? {
        let found_match = found?;
        let grants = old.records().grants(&found_match)?;
        if !grants.is_empty() {
            new.keep_grants(&found_match.name, grants)?;
        }
    }
    new.close()?;
    settle(draft)?;
    Ok(totals)
}
