//! Compaction: what a store holds, and nothing else.

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

/// What a compaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// What the store holds.
    pub totals: Totals,
    /// The bytes of its files before.
    pub bytes_before: u64,
    /// The bytes of its files now.
    pub bytes_after: u64,
}

impl Store {
    /// Writes what a store holds as a new journal with a new index, and puts them in the place of the old ones (ST-18). No
    /// byte of what was deleted is left (ST-9).
    ///
    /// It needs room for both. After a crash the old or the new is there. `observe` receives the progress.
    ///
    /// # Errors
    /// Any error of opening; what reading reports of damage, after which the store is as it was; any error of writing.
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
            // The next to open the store would do it too.
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
    // They are no part of what a store is rebuilt of otherwise: after a restore or a salvage, players are invited again.
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
