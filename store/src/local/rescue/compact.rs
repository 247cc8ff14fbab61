//! Compaction: rewrites a store without what was deleted.

use std::path::Path;

use super::new_store::{self, settle};
use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::backup::rebuild::Rebuild;
use crate::backup::walk::walk;
use crate::local::dir::{format, swap};
use crate::local::journal::head::HEAD_BYTES;
use crate::local::writer::engine::Local;
use crate::local::writer::open_disk::{open_disk, require_clock};
use crate::writer::store::Store;

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
        let still_locked = locks.try_clone().map_err(|source| RescueError::io("lock", dir, source))?;
        let old = Local::start(Box::new(open_disk(&places, (locks, HEAD_BYTES), &mut |_, _| {})?), None)?;
        let draft = swap::draft(dir);
        let built = build(&old, &draft, observe);
        let totals = built.and_then(|totals| {
            old.close()?;
            let bytes_draft = Self::bytes_on_disk(&draft)?;
            Ok((totals, Self::bytes_on_disk(dir)?.saturating_sub(bytes_draft)))
        });
        let (totals, bytes_before) = totals.inspect_err(|_| {
            // An error is ignored, because the next process that opens the store removes the folder.
            let _ = std::fs::remove_dir_all(&draft);
        })?;
        swap::replace(dir).map_err(|source| RescueError::io("replace the journal of", dir, source))?;
        let bytes_after = Self::bytes_on_disk(dir)?;
        drop(still_locked);
        Ok(Compacted { totals, bytes_before, bytes_after })
    }
}

fn build(old: &Local, draft: &Path, observe: &mut dyn FnMut(Totals)) -> Result<Totals, RescueError> {
    let new = new_store::create(draft)?;
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
